"""A complete adapter: one dense layer, softmax cross-entropy, SGD, in plain Python.

A real adapter has its framework's layers and optimiser where this one has loops.
"""
import array
import math
import os
import sys

sys.path.insert(0, os.environ.get("DLBENCH_SDK", os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "adapters", "sdk")))
import dlbench_adapter as sdk  # noqa: E402


class OneDenseLayer(sdk.Adapter):
    def describe(self):
        return sdk.Description("example-python", "1.0", ops=["dense"],
                               mode_label={"default": "plain"})

    def prepare(self, spec):
        network = spec.network
        if len(network.nodes) != 1 or not network.nodes[0].attributes["bias"]:
            raise sdk.Unsupported("only one dense layer with a bias is built")
        if network.loss.reduction != "mean" or network.optimizer.nesterov or spec.threads != 1:
            raise sdk.Unsupported("only the mean, plain momentum and one thread are built")
        self.spec, self.sgd, self.parameters = spec, network.optimizer, network.parameters
        self.width = spec.x.shape[2]
        # "resident" input: all batches are moved before the clock runs.
        self.x = [spec.x[i].array() for i in range(spec.pool)]
        self.labels = [spec.labels[i].array() for i in range(spec.pool)]
        self.reset()
        return sdk.Prepared(batch=spec.batch, threads=1)

    def reset(self):
        self.values = dict((p.name, p.initial.array()) for p in self.parameters)
        self.velocities = dict((p.name, array.array("f", [0.0] * p.count))
                               for p in self.parameters)

    def step(self, batch, learning_rate):
        weight, bias = [self.values[p.name] for p in self.parameters]
        size, width, x = self.spec.batch, self.width, self.x[batch]
        weight_gradient, bias_gradient = [0.0] * len(weight), [0.0] * len(bias)
        self.last_logits, self.last_loss = [], 0.0
        for row, label in enumerate(self.labels[batch]):
            sample = x[row * width:(row + 1) * width]
            logits = [b + sum(w * v for w, v in zip(weight[i * width:(i + 1) * width], sample))
                      for i, b in enumerate(bias)]
            exponentials = [math.exp(value - max(logits)) for value in logits]
            total = sum(exponentials)
            self.last_loss -= math.log(exponentials[label] / total) / size
            self.last_logits += logits
            for i, exponential in enumerate(exponentials):
                delta = (exponential / total - (i == label)) / size
                bias_gradient[i] += delta
                for j, value in enumerate(sample):
                    weight_gradient[i * width + j] += delta * value
        self.last_gradients = dict(zip([p.name for p in self.parameters],
                                       [weight_gradient, bias_gradient]))
        for p in self.parameters:
            self.update(p, self.last_gradients[p.name], learning_rate)

    def update(self, p, gradient, learning_rate):
        value, velocity = self.values[p.name], self.velocities[p.name]
        decay = self.sgd.weight_decay if p.decays else 0.0
        for i, g in enumerate(gradient):
            velocity[i] = self.sgd.momentum * velocity[i] + g + decay * value[i]
            value[i] -= learning_rate * velocity[i]

    def loss(self):
        return self.last_loss

    def logits(self):
        return self.last_logits

    def gradients(self):
        return self.last_gradients

    def weights(self):
        return self.values

    def velocity(self):
        return self.velocities


if __name__ == "__main__":
    sys.exit(sdk.serve(OneDenseLayer()))
