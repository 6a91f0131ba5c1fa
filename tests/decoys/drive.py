"""Speaks the adapter protocol (docs/protocol.md) by hand, with nothing of dlbench and no packages.

As a module: Session (one adapter process), small safetensors functions, networks as the JSON that
`prepare` carries. As a program: drives one adapter through every request and prints what it did:

    python3 drive.py [--decoy NAME] [--steps N] ADAPTER [ARGUMENT...]
"""
import argparse
import array
import json
import os
import random
import select
import struct
import subprocess
import sys
import tempfile
import time

BATCH, POOL, CLASSES, INPUT = 16, 8, 10, 36


class Session:
    """One adapter process, started in `folder`; ended and reaped by close()."""

    def __init__(self, argv, folder, environment=None, limit=60.0):
        """`limit`: seconds to wait for a reply."""
        requests_read, self.requests = os.pipe()
        self.replies, replies_write = os.pipe()
        environment = dict(os.environ, DLBENCH_FD_IN=str(requests_read),
                           DLBENCH_FD_OUT=str(replies_write), **(environment or {}))
        self.process = subprocess.Popen(argv, cwd=folder, env=environment,
                                        pass_fds=(requests_read, replies_write))
        os.close(requests_read)
        os.close(replies_write)
        self.folder, self.buffer, self.number = folder, b"", 0
        self.limit = limit
        self.brackets = []  # Our clock before and after each request, in ns.

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send_line(self, line):
        """Sends raw bytes and returns the raw reply; None if the adapter ended."""
        os.write(self.requests, line + b"\n")
        while b"\n" not in self.buffer:
            if not select.select([self.replies], [], [], self.limit)[0]:
                raise TimeoutError("no reply within %g s" % self.limit)
            chunk = os.read(self.replies, 1 << 16)
            if not chunk:
                return None
            self.buffer += chunk
        reply, self.buffer = self.buffer.split(b"\n", 1)
        return reply

    def request(self, kind, **fields):
        """The parsed reply to a request of type `kind`; its id must be the request's."""
        self.number += 1
        line = json.dumps(dict(fields, id=self.number, type=kind)).encode()
        begin = time.monotonic_ns()
        reply = self.send_line(line)
        self.brackets.append((begin, time.monotonic_ns()))
        if reply is None:
            raise EOFError("the adapter ended with status %s" % self.process.wait())
        parsed = json.loads(reply.decode())
        if parsed["id"] != self.number:
            raise ValueError("reply to request %s instead of %d" % (parsed["id"], self.number))
        return parsed

    def close(self):
        """Exit status of the adapter, after the end of its requests."""
        for descriptor in ("requests", "replies"):
            if getattr(self, descriptor) is not None:
                os.close(getattr(self, descriptor))
                setattr(self, descriptor, None)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def write_safetensors(path, tensors):
    """tensors: [(name, dtype, shape, bytes)]"""
    header, offset = {}, 0
    for name, dtype, shape, raw in tensors:
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + len(raw)]}
        offset += len(raw)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as handle:
        handle.write(struct.pack("<Q", len(text)) + text + b"".join(raw for *_, raw in tensors))


def read_safetensors(path):
    """{name: (shape, array of float32, int32 or bytes)}"""
    with open(path, "rb") as handle:
        content = handle.read()
    size, = struct.unpack("<Q", content[:8])
    result = {}
    for name, entry in json.loads(content[8:8 + size].decode()).items():
        begin, end = entry["data_offsets"]
        values = array.array({"F32": "f", "I32": "i", "U8": "B"}[entry["dtype"]])
        values.frombytes(content[8 + size + begin:8 + size + end])
        result[name] = (entry["shape"], values)
    return result


def read_pool(path):
    """x and labels of a pool of batches, flat."""
    tensors = read_safetensors(path)
    return tensors["x"][1], tensors["labels"][1]


def dense(name, source, inputs, units):
    return {"name": name, "op": "dense", "inputs": [source],
            "attributes": {"units": units, "bias": True}, "output_shape": [units],
            "parameters": [
                {"name": name + ".weight", "shape": [units, inputs], "decays": True},
                {"name": name + ".bias", "shape": [units], "decays": False}]}


def activation(name, source, units):
    return {"name": name, "op": name.rstrip("0123456789"), "inputs": [source], "attributes": {},
            "output_shape": [units], "parameters": []}


def decoy_network():
    """The network of tests/networks/decoy.toml, except for a smaller input: a square layer (so that
    a transposed weight fits), each activation, momentum, decay on weights only."""
    nodes = [dense("fc1", "input", INPUT, 32), activation("tanh1", "fc1", 32),
             dense("fc2", "tanh1", 32, 32), activation("relu2", "fc2", 32),
             dense("fc3", "relu2", 32, 32), activation("sigmoid3", "fc3", 32),
             dense("fc4", "sigmoid3", 32, CLASSES)]
    return network_of(nodes, "fc4")


def minimal_network():
    """One dense layer."""
    return network_of([dense("fc1", "input", INPUT, CLASSES)], "fc1")


def words_network(tokens=6, units=5, vocabulary=20):
    """Words in, a class for every word out: an embedding, a recurrent layer with carried state, a
    dropout and a dense layer."""
    def node(name, op, source, attributes, width, parameters, buffers=()):
        return {"name": name, "op": op, "inputs": [source], "attributes": attributes,
                "output_shape": [tokens, width],
                "parameters": [{"name": "%s.%s" % (name, suffix), "shape": shape, "decays": True}
                               for suffix, shape in parameters],
                "buffers": [{"name": "%s.%s" % (name, suffix), "shape": [units], "initial": initial,
                             "per_sample": True} for suffix, initial in buffers]}

    nodes = [node("words", "embedding", "input", {"units": units}, units,
                  [("weight", [vocabulary, units])]),
             node("memory", "lstm", "words", {"units": units, "state": "carried"}, units,
                  [("weight_ih", [4 * units, units]), ("weight_hh", [4 * units, units]),
                   ("bias", [4 * units])], [("hidden", 0), ("cell", 0.0)]),
             node("drop", "dropout", "memory", {"probability": 0.25}, units, []),
             node("fc1", "dense", "drop", {"units": CLASSES, "bias": True}, CLASSES,
                  [("weight", [CLASSES, units]), ("bias", [CLASSES])])]
    return dict(network_of(nodes, "fc1"),
                input={"kind": "tokens", "shape": [tokens], "vocabulary": vocabulary})


def image_network(height=6, width=6):
    """Images in: every operation on images, with padding that differs between sides, a shortcut, a
    dropout and running statistics."""
    def node(name, op, inputs, shape, attributes=None, parameters=(), buffers=()):
        return {"name": name, "op": op, "inputs": inputs.split(), "attributes": attributes or {},
                "output_shape": shape,
                "parameters": [{"name": "%s.%s" % (name, suffix), "shape": size,
                                "decays": suffix == "weight"} for suffix, size in parameters],
                "buffers": [{"name": "%s.%s" % (name, suffix), "shape": shape[:1],
                             "initial": initial, "per_sample": False}
                            for suffix, initial in buffers]}

    def conv(name, source, channels, into, stride, padding, groups=1):
        shape = [into, (height + padding[0] + padding[2] - 3) // stride + 1,
                 (width + padding[1] + padding[3] - 3) // stride + 1]
        return node(name, "conv2d", source, shape,
                    {"channels": into, "kernel": [3, 3], "stride": [stride, stride],
                     "padding": padding, "groups": groups, "bias": groups > 1},
                    [("weight", [into, channels // groups, 3, 3])] + (
                        [("bias", [into])] if groups > 1 else []))

    def norm(name, source, shape):
        return node(name, "batch_norm", source, shape,
                    {"epsilon": 1e-5, "momentum": 0.1, "running_variance": "unbiased"},
                    [("weight", shape[:1]), ("bias", shape[:1])],
                    [("running_mean", 0.0), ("running_variance", 1.0)])

    def pool(kind, name, source, shape, padding, **more):
        return node(name, kind, source, shape, dict(more, kernel=[3, 3], stride=[2, 2],
                                                    padding=padding, ceil_mode=True))

    half = [8, 3, 3]
    nodes = [conv("conv1", "input", 1, 4, 1, [1, 1, 1, 1]), norm("bn1", "conv1", [4, 6, 6]),
             node("relu1", "relu", "bn1", [4, 6, 6]),
             conv("conv2", "relu1", 4, 8, 2, [0, 0, 1, 1], 2), norm("bn2", "conv2", half),
             node("short", "subsample_pad", "relu1", half,
                  {"stride": 2, "channels_before": 2, "channels_after": 2}),
             node("sum", "add", "bn2 short", half), node("relu2", "relu", "sum", half),
             node("lrn1", "lrn", "relu2", half, {"size": 5, "alpha": 1e-2, "beta": 0.75, "k": 2.0}),
             pool("max_pool2d", "max1", "lrn1", [8, 2, 2], [0, 0, 1, 1]),
             pool("avg_pool2d", "avg1", "lrn1", [8, 2, 2], [1, 0, 1, 1], count_padding=False),
             node("sum2", "add", "max1 avg1", [8, 2, 2]), node("flat", "flatten", "sum2", [32]),
             node("drop1", "dropout", "flat", [32], {"probability": 0.25}),
             dense("fc1", "drop1", 32, 16), norm("bn3", "fc1", [16]),
             activation("sigmoid4", "bn3", 16), dense("fc5", "sigmoid4", 16, CLASSES)]
    return dict(network_of(nodes, "fc5"), input={"kind": "values", "shape": [1, height, width]})


def network_of(nodes, logits):
    return {"name": "decoy", "variant": "", "classes": CLASSES, "input": {"shape": [INPUT]},
            "nodes": nodes,
            "loss": {"kind": "softmax_cross_entropy", "reduction": "mean", "input": logits},
            "optimizer": {"kind": "sgd", "learning_rate": 0.05, "momentum": 0.9,
                          "weight_decay": 0.01, "nesterov": False}}


def write_inputs(folder, network, batch=BATCH, seed=1):
    """Weights and batches (classes with different means) for `network`; their two paths."""
    random_numbers = random.Random(seed)
    weights = []
    for node in network["nodes"]:
        for parameter in node["parameters"]:
            count = 1
            for size in parameter["shape"]:
                count *= size
            bound = 1.7 / parameter["shape"][-1] ** 0.5
            values = array.array("f", [random_numbers.uniform(-bound, bound) for _ in range(count)])
            weights.append((parameter["name"], "F32", parameter["shape"], values.tobytes()))
    weights_path = os.path.join(folder, "weights.safetensors")
    batches_path = os.path.join(folder, "pool.safetensors")
    write_safetensors(weights_path, weights)
    if network["input"].get("kind") == "tokens":
        pool = word_batches(network, batch, random_numbers)
    else:
        pool = value_batches(network, batch, random_numbers)
    pool += masks(network, batch, random_numbers)
    write_safetensors(batches_path, pool)
    return weights_path, batches_path


def value_batches(network, batch, random_numbers):
    means = [[random_numbers.uniform(-1, 1) for _ in range(INPUT)] for _ in range(CLASSES)]
    labels = array.array("i", [random_numbers.randrange(CLASSES) for _ in range(POOL * batch)])
    x = array.array("f")
    for label in labels:
        x.extend(mean + random_numbers.gauss(0, 0.3) for mean in means[label])
    return [("x", "F32", [POOL, batch] + network["input"]["shape"], x.tobytes()),
            ("labels", "I32", [POOL, batch], labels.tobytes())]


def word_batches(network, batch, random_numbers):
    """Words and their classes."""
    shape = [POOL, batch] + network["input"]["shape"]
    count = shape[0] * shape[1] * shape[2]
    ids = array.array("i", [random_numbers.randrange(network["input"]["vocabulary"])
                            for _ in range(count)])
    labels = array.array("i", [random_numbers.randrange(CLASSES) for _ in range(count)])
    return [("x", "I32", shape, ids.tobytes()), ("labels", "I32", shape, labels.tobytes())]


def masks(network, batch, random_numbers):
    """One for each dropout."""
    tensors = []
    for node in network["nodes"]:
        if node["op"] == "dropout":
            shape = [POOL, batch] + node["output_shape"]
            count = 1
            for size in shape:
                count *= size
            mask = bytes(bytearray(int(random_numbers.random() >= node["attributes"]["probability"])
                                   for _ in range(count)))
            tensors.append(("mask." + node["name"], "U8", shape, mask))
    return tensors


def prepare_fields(folder, network, batch=BATCH, **changes):
    """All fields of `prepare`, some of them changed."""
    weights, batches = write_inputs(folder, network, batch)
    fields = {"network": network, "weights": weights, "batches": batches, "batch": batch,
              "pool": POOL, "mode": "train", "device": "cpu", "precision": "float32", "threads": 1,
              "rank": 0, "world_size": 1, "input": "resident", "preset": "default", "variant": "",
              "settings": {}}
    fields.update(changes)
    return fields


VERIFY = {"batches": [0, 1, 2, 3, 4], "learning_rates": [0.05, 0.05, 0.05, 0.025, 0.025],
          "weights_after": [1, 5], "logits": True, "gradients": True}


def drive(argv, folder, environment=None, steps=64, network=None):
    """Every request once, in the order of a gate launch; {request: reply} and the exit status."""
    replies = {}
    network = network or decoy_network()
    with Session(argv, folder, environment) as session:
        for name, kind, fields in [
                ("hello", "hello", {"protocol": 1}),
                ("prepare", "prepare", prepare_fields(folder, network)),
                ("verify", "verify", dict(VERIFY, folder="verify-0")),
                ("run", "run", {"steps": steps, "block_steps": 5, "first_batch": 0, "reset": True}),
                ("sync", "sync", {}),
                ("export", "export", {"folder": "state-0"}),
                ("one", "run", {"steps": 1, "block_steps": 1, "first_batch": steps, "reset": False}),
                ("after", "export", {"folder": "state-1"}),
                ("again", "verify", dict(VERIFY, folder="verify-1")),
                ("observer", "observer", {"blocks": 3, "block_steps": 4, "seed": 7}),
                ("evaluate", "evaluate", {}),
                ("finish", "finish", {})]:
            replies[name] = session.request(kind, **fields)
            if replies[name]["type"] == "error" and kind != "evaluate":
                break
        return replies, session.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--decoy", default="")
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("argv", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    environment = {"DLBENCH_DECOY": options.decoy} if options.decoy else {}
    with tempfile.TemporaryDirectory() as folder:
        replies, status = drive(options.argv, folder, environment, options.steps)
    for name, reply in replies.items():
        print("%-9s %s" % (name, json.dumps(reply)[:300]))
    print("exit status %d" % status)
    return 0 if status == 0 and "finish" in replies else 1


if __name__ == "__main__":
    sys.exit(main())
