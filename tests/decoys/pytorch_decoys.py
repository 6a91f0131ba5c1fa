"""The real PyTorch adapter with one planted fault, chosen by DLBENCH_DECOY; none without it.

Run with a Python that has PyTorch: PYTHON tests/decoys/pytorch_decoys.py (an adapter, as
docs/protocol.md). --list prints each decoy and the check that must fail first.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir,
                                "adapters", "pytorch"))
import adapter as real  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402


class Bf16Autocast(real.PyTorchAdapter):
    """logits: matrix products in bfloat16 while everything is stored as float32"""

    def forward(self, x, masks, states):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits, states = super().forward(x, masks, states)
        return logits.float(), states


class DropoutOn(real.PyTorchAdapter):
    """logits: a dropout of 1 % before the last layer"""

    def make_model(self, network):
        model = super().make_model(network)
        model.layers[-1].register_forward_pre_hook(lambda _, inputs: (F.dropout(inputs[0], 0.01),))
        return model


class Nesterov(real.PyTorchAdapter):
    """update: nesterov=True where plain momentum was asked for (needs momentum to show)"""

    def optimizer_options(self):
        options = super().optimizer_options()
        return dict(options, nesterov=options["momentum"] != 0.0)


class LossSum(real.PyTorchAdapter):
    """loss: summed over the batch instead of averaged"""

    def loss_of(self, logits, labels):
        return F.cross_entropy(logits, labels, reduction="sum")


class DecayOnBiases(real.PyTorchAdapter):
    """update: weight decay on biases too (needs decay to show)"""

    def decay_of(self, parameter):
        return self.spec.network.optimizer.weight_decay


class ClippedGradients(real.PyTorchAdapter):
    """gradients: clip_grad_norm_ at half of the norm"""

    def after_backward(self):
        parameters = list(self.model.parameters())
        norm = torch.sqrt(sum((p.grad ** 2).sum() for p in parameters))
        nn.utils.clip_grad_norm_(parameters, 0.5 * norm.item())


class SoftmaxTwice(real.PyTorchAdapter):
    """loss: softmax before cross_entropy, which has its own"""

    def loss_of(self, logits, labels):
        return super().loss_of(torch.softmax(logits, 1), labels)


class MomentumDampened(real.PyTorchAdapter):
    """update: dampening equal to the momentum (needs momentum to show)"""

    def optimizer_options(self):
        options = super().optimizer_options()
        return dict(options, dampening=options["momentum"])


class DetachedLayer(real.PyTorchAdapter):
    """gradients: the first activation is detached, so the first layer gets no gradient"""

    def make_model(self, network):
        model = super().make_model(network)
        first = [layer for layer in model.layers if not list(layer.parameters())][0]
        first.register_forward_hook(lambda _, inputs, output: output.detach())
        return model

    def gradients(self):
        # A detached parameter has no .grad; such adapters report zeros.
        return dict((name, torch.zeros_like(tensor).detach().numpy() if tensor.grad is None
                     else tensor.grad.numpy()) for name, tensor in self.tensors.items())


DECOYS = {
    "bf16_autocast": Bf16Autocast, "dropout_on": DropoutOn, "nesterov": Nesterov,
    "loss_sum": LossSum, "decay_on_biases": DecayOnBiases, "clipped_gradients": ClippedGradients,
    "softmax_twice": SoftmaxTwice, "momentum_dampened": MomentumDampened,
    "detached_layer": DetachedLayer,
}


def main():
    if sys.argv[1:] == ["--list"]:
        for name in sorted(DECOYS):
            print("%-18s %s" % (name, DECOYS[name].__doc__))
        return 0
    chosen = os.environ.get("DLBENCH_DECOY", "")
    if chosen and chosen not in DECOYS:
        sys.stderr.write("unknown decoy '%s'; known: %s\n" % (chosen, ", ".join(sorted(DECOYS))))
        return 2
    return real.main(DECOYS.get(chosen, real.PyTorchAdapter)(), sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
