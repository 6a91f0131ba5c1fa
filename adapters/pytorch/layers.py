# -*- coding: utf-8 -*-
"""dlbench's operations (docs/networks.md) as PyTorch modules, and a network of them.

What PyTorch's own module does not do exactly is Unsupported, with the reason.
"""
from __future__ import division

import collections

import dlbench_adapter as sdk
import torch
import torch.nn as nn
import torch.nn.functional as F

# A module; its parameters and buffers by what their names end with ("weight", "running_mean").
Layer = collections.namedtuple("Layer", "module tensors buffers")


def same_on_both_sides(padding):
    top, left, bottom, right = padding
    return top == bottom and left == right


def with_padding(padding, value, module):
    """`module` after a padding that its own symmetric one cannot express."""
    top, left, bottom, right = padding
    return nn.Sequential(nn.ConstantPad2d((left, right, top, bottom), value), module)


def conv2d(node, input_shape, batch):
    a = node.attributes
    own = tuple(a["padding"][:2]) if same_on_both_sides(a["padding"]) else 0
    module = nn.Conv2d(input_shape[0], a["channels"], tuple(a["kernel"]), tuple(a["stride"]), own,
                       groups=a["groups"], bias=a["bias"])
    tensors = {"weight": module.weight, "bias": module.bias}
    if not same_on_both_sides(a["padding"]):
        module = with_padding(a["padding"], 0.0, module)
    return Layer(module, tensors, {})


def window_padding(node, input_shape):
    """[top, left, bottom, right] with which the pool's windows end where the input does, so that its
    number of windows needs no rounding: what node.attributes["padding"] and ceil_mode ask for."""
    a, result = node.attributes, list(node.attributes["padding"])
    for axis in (0, 1):
        reach = (node.output_shape[1 + axis] - 1) * a["stride"][axis] + a["kernel"][axis]
        result[2 + axis] = max(0, reach - result[axis] - input_shape[1 + axis])
    return result


def max_pool2d(node, input_shape, batch):
    a = node.attributes
    kernel, stride = tuple(a["kernel"]), tuple(a["stride"])
    if same_on_both_sides(a["padding"]):
        return Layer(nn.MaxPool2d(kernel, stride, tuple(a["padding"][:2]),
                                  ceil_mode=a["ceil_mode"]), {}, {})
    # Padding must never be the largest: with zeros it would be wherever all inputs are negative.
    padding = window_padding(node, input_shape)
    return Layer(with_padding(padding, -float("inf"), nn.MaxPool2d(kernel, stride)), {}, {})


class UnevenAvgPool2d(nn.Module):
    """Average pool with different padding on both sides: the window's sum by its own divisor."""

    def __init__(self, node, input_shape):
        super(UnevenAvgPool2d, self).__init__()
        a = node.attributes
        self.kernel, self.stride = tuple(a["kernel"]), tuple(a["stride"])
        top, left, bottom, right = window_padding(node, input_shape)
        self.padding = (left, right, top, bottom)
        counts = [torch.tensor([float(self.count(node, axis, window, input_shape[1 + axis]))
                                for window in range(node.output_shape[1 + axis])])
                  for axis in (0, 1)]
        self.register_buffer("divisor", counts[0].unsqueeze(1) * counts[1].unsqueeze(0))

    @staticmethod
    def count(node, axis, window, size):
        """Elements of a window along one axis: with the padding asked for, or inside alone."""
        a = node.attributes
        before, after = a["padding"][axis], a["padding"][2 + axis]
        begin = window * a["stride"][axis] - before
        end = begin + a["kernel"][axis]
        if a["count_padding"]:
            return min(end, size + after) - begin
        return min(end, size) - max(begin, 0)

    def forward(self, x):
        sums = F.avg_pool2d(F.pad(x, self.padding), self.kernel, self.stride, divisor_override=1)
        return sums / self.divisor


def avg_pool2d(node, input_shape, batch):
    a = node.attributes
    if not same_on_both_sides(a["padding"]):
        return Layer(UnevenAvgPool2d(node, input_shape), {}, {})
    return Layer(nn.AvgPool2d(tuple(a["kernel"]), tuple(a["stride"]), tuple(a["padding"][:2]),
                              ceil_mode=a["ceil_mode"], count_include_pad=a["count_padding"]), {}, {})


def global_avg_pool(node, input_shape, batch):
    return Layer(nn.AdaptiveAvgPool2d(1), {}, {})


def lrn(node, input_shape, batch):
    """PyTorch divides alpha by the window's size, as docs/networks.md does."""
    a = node.attributes
    if a["size"] % 2 == 0:
        raise sdk.Unsupported("node %s: PyTorch's local_response_norm centres a window of odd size "
                              "only, not of %d" % (node.name, a["size"]))
    return Layer(nn.LocalResponseNorm(a["size"], a["alpha"], a["beta"], a["k"]), {}, {})


def batch_norm(node, input_shape, batch):
    a = node.attributes
    if a["running_variance"] != "unbiased":
        raise sdk.Unsupported("node %s: PyTorch's batch norm keeps the unbiased running variance, "
                              "not the %s one" % (node.name, a["running_variance"]))
    if batch * sdk.element_count(input_shape[1:]) == 1:
        raise sdk.Unsupported("node %s: PyTorch's batch norm needs more than one value a channel"
                              % node.name)
    kind = nn.BatchNorm2d if len(input_shape) == 3 else nn.BatchNorm1d
    module = kind(input_shape[0], eps=a["epsilon"], momentum=a["momentum"])
    return Layer(module, {"weight": module.weight, "bias": module.bias},
                 {"running_mean": module.running_mean, "running_variance": module.running_var})


class Add(nn.Module):
    def forward(self, one, other):
        return one + other


class SubsamplePad(nn.Module):
    """The shortcut without parameters: every stride-th row and column, then channels of zeros."""

    def __init__(self, stride, before, after):
        super(SubsamplePad, self).__init__()
        self.stride, self.padding = stride, (0, 0, 0, 0, before, after)

    def forward(self, x):
        return F.pad(x[:, :, ::self.stride, ::self.stride], self.padding)


def subsample_pad(node, input_shape, batch):
    a = node.attributes
    return Layer(SubsamplePad(a["stride"], a["channels_before"], a["channels_after"]), {}, {})


class Flatten(nn.Module):
    def forward(self, x):
        return x.flatten(1)


def dense(node, input_shape, batch):
    weight = node.find("weight").shape
    module = nn.Linear(weight[1], weight[0], bias=node.find("bias") is not None)
    return Layer(module, {"weight": module.weight, "bias": module.bias}, {})


def embedding(node, input_shape, batch):
    module = nn.Embedding(*node.find("weight").shape)
    return Layer(module, {"weight": module.weight}, {})


class Lstm(nn.Module):
    """nn.LSTM, whose gates are in our order (i, f, g, o). It has two biases where we have one: the
    second stays zero. `state` is hidden and cell, [batch, units] each, or None for zeros."""

    def __init__(self, inputs, units):
        super(Lstm, self).__init__()
        self.lstm = nn.LSTM(inputs, units, batch_first=True)
        nn.init.zeros_(self.lstm.bias_hh_l0)
        self.lstm.bias_hh_l0.requires_grad_(False)

    def forward(self, x, state=None):
        if state is not None:
            state = tuple(tensor.unsqueeze(0) for tensor in state)
        output, (hidden, cell) = self.lstm(x, state)
        # No gradient goes through the state into the batch before.
        return output, (hidden[0].detach(), cell[0].detach())


def lstm(node, input_shape, batch):
    if node.attributes["state"] not in ("reset", "carried"):
        raise sdk.Unsupported("node %s: state %s is not known" % (
            node.name, node.attributes["state"]))
    module = Lstm(input_shape[-1], node.attributes["units"])
    return Layer(module, {"weight_ih": module.lstm.weight_ih_l0,
                          "weight_hh": module.lstm.weight_hh_l0,
                          "bias": module.lstm.bias_ih_l0}, {})


class MaskedDropout(nn.Module):
    """Dropout with a mask that is given: 0 or 1 / (1 - probability), as F.dropout has it inside."""

    def forward(self, x, scaled_mask):
        return x * scaled_mask


def without_state(kind):
    """A function that makes layers of a module without arguments, parameters or buffers."""
    return lambda node, input_shape, batch: Layer(kind(), {}, {})


MAKERS = {"conv2d": conv2d, "max_pool2d": max_pool2d, "avg_pool2d": avg_pool2d,
          "global_avg_pool": global_avg_pool, "lrn": lrn, "batch_norm": batch_norm,
          "relu": without_state(nn.ReLU), "sigmoid": without_state(nn.Sigmoid),
          "tanh": without_state(nn.Tanh), "add": without_state(Add),
          "subsample_pad": subsample_pad, "flatten": without_state(Flatten), "dense": dense,
          "embedding": embedding, "lstm": lstm, "dropout": without_state(MaskedDropout)}


class Net(nn.Module):
    """The network's nodes in execution order; a node reads the outputs of earlier ones.

    tensors and states: canonical name to parameter or kept tensor. carried: the nodes whose state
    comes in with `forward` and goes out with its result."""

    def __init__(self, network, batch):
        super(Net, self).__init__()
        self.layers = nn.ModuleList()
        self.tensors, self.kept = collections.OrderedDict(), {}
        self.ops = [node.op for node in network.nodes]
        self.carried = [node for node in network.nodes
                        if node.op == "lstm" and node.attributes["state"] == "carried"]
        self.is_carried = [node in self.carried for node in network.nodes]
        places, shapes = {"input": 0}, {"input": network.input_shape}
        self.sources = []
        for index, node in enumerate(network.nodes):
            self.add(node, MAKERS[node.op](node, shapes[node.inputs[0]], batch))
            self.sources.append([places[name] for name in node.inputs])
            places[node.name], shapes[node.name] = index + 1, node.output_shape
        self.output = places[network.loss.input]
        self.last_reads = self.find_last_reads()

    def add(self, node, layer):
        self.layers.append(layer.module)
        for parameter in node.parameters:
            suffix = parameter.name[len(node.name) + 1:]
            self.tensors[parameter.name] = layer.tensors[suffix]
        for suffix, tensor in layer.buffers.items():
            self.kept[node.find_buffer(suffix).name] = tensor

    def find_last_reads(self):
        """For each node the values that nothing reads after it: dropped, as in a program written
        out, so that memory is held by the backward pass alone."""
        last = {}
        for index, sources in enumerate(self.sources):
            last.update((source, index) for source in sources)
        last.pop(self.output, None)
        return [[place for place in sorted(last) if last[place] == index]
                for index in range(len(self.sources))]

    def forward(self, x, masks, states):
        """Logits, and the new states of self.carried. `masks`: of each dropout, scaled (see
        MaskedDropout); `states`: of each of self.carried."""
        values = [x] + [None] * len(self.layers)
        masks, states, new_states = list(masks), list(states), []
        for index, layer in enumerate(self.layers):
            inputs = [values[source] for source in self.sources[index]]
            if self.ops[index] == "dropout":
                inputs.append(masks.pop(0))
            elif self.is_carried[index]:
                inputs.append(states.pop(0))
            value = layer(*inputs)
            if self.ops[index] == "lstm":
                value, state = value
                if self.is_carried[index]:
                    new_states.append(state)
            values[index + 1] = value
            del inputs
            for place in self.last_reads[index]:
                values[place] = None
        return values[self.output], new_states
