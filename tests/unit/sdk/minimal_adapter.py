"""The smallest adapter that trains: one dense layer's bias by plain SGD. Its twin is
minimal_adapter.cc; cross_test.py holds both to the same replies."""
import array
import math
import os
import sys

sys.path.insert(0, os.environ["DLBENCH_SDK"])
import dlbench_adapter as sdk  # noqa: E402


class MinimalAdapter(sdk.Adapter):
    def describe(self):
        return sdk.Description("minimal", "1.0", ops=["dense", "dropout", "embedding", "lstm"],
                               asynchronous=os.environ.get("MINIMAL_ASYNCHRONOUS") == "1",
                               settings={"pace": u"How fast, \u00e9 and \\ and \"."})

    def prepare(self, spec):
        self.spec = spec
        if spec.batch == 13:
            raise MemoryError()
        if spec.batch == 14:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")
        if spec.batch == 15:
            raise RuntimeError(b"bad byte \xff" if sys.version_info[0] == 2 else "bad byte \udcff")
        self.reset()
        settings = {"b": "2", "a": "1"}
        for node in spec.network.nodes:  # What else the SDK has read.
            if "state" in node.attributes:
                settings["state"] = node.attributes["state"]
            if "padding" in node.attributes:
                settings["padding"] = sdk.shape_text(node.attributes["padding"])
        return sdk.Prepared(spec.batch, spec.threads, effective_settings=settings)

    def reset(self):
        self.values = dict((p.name, p.initial.array()) for p in self.spec.network.parameters)
        self.velocities = dict((name, array.array("f", [0.0] * len(values)))
                               for name, values in self.values.items())
        self.kept = dict((buffer.name, array.array("f", [buffer.initial] * buffer.count))
                         for buffer in self.spec.network.buffers)

    def step(self, batch, learning_rate):
        """Logits are the bias alone, so the gradient of the loss is softmax - frequency."""
        bias, velocity = self.values["fc1.bias"], self.velocities["fc1.bias"]
        self.last_logits = array.array("f", list(bias) * len(self.spec.labels[batch].array()))
        exponentials = [math.exp(value) for value in bias]
        total = 0.0  # Not sum(): Python 3.12 and later compensate its rounding.
        for value in exponentials:
            total += value
        labels = self.spec.labels[batch].array()
        self.last_loss = 0.0
        gradient = [value / total for value in exponentials]
        for label in labels:
            self.last_loss -= math.log(exponentials[label] / total) / len(labels)
            gradient[label] -= 1.0 / len(labels)
        self.last_gradient = array.array("f", gradient)
        for i, g in enumerate(self.last_gradient):
            velocity[i] = self.spec.network.optimizer.momentum * velocity[i] + g
            bias[i] -= learning_rate * velocity[i]

        self.keep_sums(batch)

    def keep_sums(self, batch):
        """Buffers gain what is in a batch: its words, and 1000 for every one in its masks."""
        total = 0.0
        if self.spec.network.input_kind == "tokens":
            total += sum(self.spec.x[batch].array())
        for node in self.spec.network.nodes:
            if node.mask is not None:
                total += 1000.0 * sum(node.mask[batch].array())
        for values in self.kept.values():
            for i in range(len(values)):
                values[i] += total

    def loss(self):
        return self.last_loss

    def logits(self):
        return self.last_logits

    def gradients(self):
        gradients = dict((name, bytearray(4 * len(values))) for name, values in self.values.items())
        return dict(gradients, **{"fc1.bias": self.last_gradient})

    def weights(self):
        return self.values

    def buffers(self):
        # Functions do as well as values.
        return dict((name, lambda values=values: values) for name, values in self.kept.items())

    def velocity(self):
        return self.velocities

    def peak_memory_bytes(self):
        return 4096


if __name__ == "__main__":
    sys.exit(sdk.serve(MinimalAdapter()))
