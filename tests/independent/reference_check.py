#!/usr/bin/env python3
"""Recomputes three training steps of the float64 reference with numpy.

reference_check.py WRITER NETWORK: runs WRITER (write_reference_run) on NETWORK and compares losses, logits,
gradients, weights and velocities. It shares nothing with dlbench but the file formats: it reads
safetensors itself, and does forward and backward pass by its own formulas. Exit status 0: agree; 1: they
do not; 77: skipped (no numpy), with the reason.
"""
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

LIMIT = 1e-12  # relative, by norm: float64 rounding of these sums is below 1e-14


def read_safetensors(path):
    """Tensors by name; F32 and I32 only."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    types = {"F32": "<f4", "I32": "<i4"}
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        data = np.frombuffer(raw[8 + length + begin : 8 + length + end], types[entry["dtype"]])
        tensors[name] = data.reshape(entry["shape"])
    return tensors


def forward(network, weights, x):
    """Outputs of every node by name."""
    values = {"input": x}
    for node in network["nodes"]:
        given = values[node["inputs"][0]]
        if node["op"] == "dense":
            values[node["name"]] = np.einsum("si,oi->so", given, weights[node["name"] + ".weight"])
            if node["attributes"]["bias"]:
                values[node["name"]] += weights[node["name"] + ".bias"]
        elif node["op"] == "sigmoid":
            values[node["name"]] = 0.5 * (1 + np.tanh(0.5 * given))
        elif node["op"] == "tanh":
            values[node["name"]] = np.tanh(given)
        elif node["op"] == "relu":
            values[node["name"]] = np.where(given > 0, given, 0)
        else:
            raise ValueError("op " + node["op"])
    return values


def backward(network, weights, values, gradient):
    """Gradients by parameter, from that of the last node's output; the nodes form a chain."""
    gradients = {}
    for node in reversed(network["nodes"]):
        given = values[node["inputs"][0]]
        output = values[node["name"]]
        if node["op"] == "dense":
            gradients[node["name"] + ".weight"] = np.einsum("so,si->oi", gradient, given)
            if node["attributes"]["bias"]:
                gradients[node["name"] + ".bias"] = gradient.sum(axis=0)
            gradient = np.einsum("so,oi->si", gradient, weights[node["name"] + ".weight"])
        elif node["op"] == "sigmoid":
            gradient = gradient * (output - output**2)
        elif node["op"] == "tanh":
            gradient = gradient / np.cosh(given) ** 2
        elif node["op"] == "relu":
            gradient = gradient * (given > 0)
    return gradients


def cross_entropy(logits, labels):
    """Mean loss and its gradient."""
    batch = np.arange(len(labels))
    log_sums = np.logaddexp.reduce(logits, axis=1)
    probabilities = np.exp(logits - log_sums[:, None])
    probabilities[batch, labels] -= 1
    return np.mean(log_sums - logits[batch, labels]), probabilities / len(labels)


class Comparison:
    """Collects relative errors and says which are too large."""

    def __init__(self):
        self.worst = 0.0
        self.failed = False

    def check(self, what, candidate, reference):
        reference = np.asarray(reference, dtype=np.float64).ravel()
        candidate = np.asarray(candidate, dtype=np.float64).ravel()
        error = np.linalg.norm(candidate - reference) / np.linalg.norm(reference)
        self.worst = max(self.worst, error)
        if not error < LIMIT:
            self.failed = True
            print(f"{what}: relative error {error:.3g}, limit {LIMIT:g}")


def compare(folder):
    report = json.loads((folder / "report.json").read_text())
    network = report["network"]
    optimizer = network["optimizer"]
    pool = read_safetensors(folder / "pool.safetensors")
    tensors = read_safetensors(folder / "weights.safetensors")
    weights = {name: value.astype(np.float64) for name, value in tensors.items()}
    velocity = {name: np.zeros_like(value) for name, value in weights.items()}
    decays = {p["name"]: p["decays"] for node in network["nodes"] for p in node["parameters"]}
    comparison = Comparison()
    for step, expected in enumerate(report["steps"]):
        x = pool["x"][step].astype(np.float64)
        values = forward(network, weights, x.reshape(len(x), -1))
        logits = values[network["loss"]["input"]]
        loss, gradient = cross_entropy(logits, pool["labels"][step])
        comparison.check(f"step {step}, loss", loss, expected["loss"])
        comparison.check(f"step {step}, logits", logits, expected["logits"])
        for name, value in backward(network, weights, values, gradient).items():
            comparison.check(f"step {step}, gradient of {name}", value, expected["gradients"][name])
            decay = optimizer["weight_decay"] if decays[name] else 0.0
            total = value + decay * weights[name]
            velocity[name] = optimizer["momentum"] * velocity[name] + total
            if optimizer["nesterov"]:
                total = total + optimizer["momentum"] * velocity[name]
            else:
                total = velocity[name]
            weights[name] = weights[name] - expected["learning_rate"] * total
    for name, value in weights.items():
        comparison.check(f"{name} after {len(report['steps'])} steps", value, report["weights"][name])
        comparison.check(f"velocity of {name}", velocity[name], report["velocity"][name])
    return comparison


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([sys.argv[1], sys.argv[2], name], check=True)
        comparison = compare(Path(name))
    print(f"worst relative error {comparison.worst:.3g}, limit {LIMIT:g}")
    return 1 if comparison.failed else 0


if __name__ == "__main__":
    sys.exit(main())
