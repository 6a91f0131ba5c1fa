"""Float64 training of a chain of dense layers in plain Python: what the decoys' tests compare with.
Small and slow on purpose; src/reference is the project's own definition of right."""
import math
import os

import drive


def activate(op, x):
    if op == "tanh":
        return math.tanh(x)
    if op == "sigmoid":
        return 1.0 / (1.0 + math.exp(-x))
    return max(x, 0.0)


def slope(op, y):
    """The derivative of the activation, from its value."""
    return {"tanh": 1.0 - y * y, "sigmoid": y * (1.0 - y), "relu": float(y > 0.0)}[op]


class Oracle:
    """Trains `network` (the JSON of `prepare`) on the files in `folder`."""

    def __init__(self, network, folder, batch=drive.BATCH):
        self.network, self.batch = network, batch
        self.initial = read_doubles(os.path.join(folder, "weights.safetensors"))
        self.x, self.labels = read_pool(os.path.join(folder, "pool.safetensors"), batch)
        self.reset()

    def reset(self):
        self.weights = {name: list(values) for name, values in self.initial.items()}
        self.velocity = {name: [0.0] * len(values) for name, values in self.weights.items()}

    def step(self, batch, rate):
        """Loss, logits (flat) and gradients of one step; the state moves on."""
        gradients = {name: [0.0] * len(values) for name, values in self.weights.items()}
        logits, loss = [], 0.0
        for x, label in zip(self.x[batch], self.labels[batch]):
            values = self.forward(x)
            logits += values[-1]
            loss += self.backward(values, label, gradients) / self.batch
        self.update(gradients, rate)
        return loss, logits, gradients

    def forward(self, x):
        values = [x]
        for node in self.network["nodes"]:
            below = values[-1]
            if node["op"] != "dense":
                values.append([activate(node["op"], value) for value in below])
                continue
            weight, bias = self.weights[node["name"] + ".weight"], self.weights[node["name"] + ".bias"]
            width = len(below)
            values.append([b + sum(map(lambda w, v: w * v, weight[i * width:(i + 1) * width], below))
                           for i, b in enumerate(bias)])
        return values

    def backward(self, values, label, gradients):
        """Adds one sample's share of the mean's gradients; returns its loss."""
        largest = max(values[-1])
        exponentials = [math.exp(value - largest) for value in values[-1]]
        total = sum(exponentials)
        delta = [value / total / self.batch for value in exponentials]
        delta[label] -= 1.0 / self.batch
        for index in range(len(self.network["nodes"]) - 1, -1, -1):
            node, below = self.network["nodes"][index], values[index]
            if node["op"] != "dense":
                delta = [d * slope(node["op"], y) for d, y in zip(delta, values[index + 1])]
                continue
            weight, width = self.weights[node["name"] + ".weight"], len(below)
            weight_gradient = gradients[node["name"] + ".weight"]
            bias_gradient = gradients[node["name"] + ".bias"]
            passed = [0.0] * width
            for i, d in enumerate(delta):
                bias_gradient[i] += d
                for j, value in enumerate(below):
                    weight_gradient[i * width + j] += d * value
                    passed[j] += d * weight[i * width + j]
            delta = passed
        return math.log(total) - (values[-1][label] - largest)

    def update(self, gradients, rate):
        sgd = self.network["optimizer"]
        for node in self.network["nodes"]:
            for parameter in node["parameters"]:
                name = parameter["name"]
                decay = sgd["weight_decay"] if parameter["decays"] else 0.0
                weights, velocity = self.weights[name], self.velocity[name]
                for i, g in enumerate(gradients[name]):
                    velocity[i] = sgd["momentum"] * velocity[i] + g + decay * weights[i]
                    weights[i] -= rate * velocity[i]


def read_doubles(path):
    return {name: list(values) for name, (_, values) in drive.read_safetensors(path).items()}


def read_pool(path, batch):
    """x as [pool][batch] lists of numbers, labels as [pool] lists."""
    x, labels = drive.read_pool(path)
    size = drive.INPUT
    samples = [list(x[i * size:(i + 1) * size]) for i in range(drive.POOL * batch)]
    return ([samples[i * batch:(i + 1) * batch] for i in range(drive.POOL)],
            [list(labels[i * batch:(i + 1) * batch]) for i in range(drive.POOL)])


def error(candidate, reference):
    """Norm-wise relative error; infinite where the candidate is not finite."""
    difference = sum((a - r) ** 2 for a, r in zip(candidate, reference))
    scale = sum(r * r for r in reference)
    if not difference < float("inf"):
        return float("inf")
    return math.sqrt(difference / scale) if scale > 0.0 else math.sqrt(difference)
