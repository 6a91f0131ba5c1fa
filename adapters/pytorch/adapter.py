# -*- coding: utf-8 -*-
"""PyTorch for dlbench (docs/protocol.md); layers.py has the operations. Written for any version from 1.0 and for Python 2.7 and 3;
what a version lacks is left out and told in the effective settings. README.md explains the presets.
"""
from __future__ import print_function

import os
import sys
import sysconfig

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "sdk"))
import dlbench_adapter as sdk  # noqa: E402

def allowed_processors():
    """Processors that the process may run on; 0 where Python cannot tell (2.7)."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 0


PROCESSORS_BEFORE_IMPORT = allowed_processors()
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import layers  # noqa: E402

CAN_COMPILE = hasattr(torch, "compile")


def config_lines():
    """torch.__config__.show() as a dict: what the numbers depend on."""
    build = {}
    for line in torch.__config__.show().splitlines() if hasattr(torch, "__config__") else []:
        line = line.strip().lstrip("- ")
        for key, start in (("compiler", "GCC"), ("compiler", "clang"), ("mkl", "Intel(R) oneAPI Math"),
                           ("mkl", "Intel(R) Math Kernel"), ("onednn", "Intel(R) MKL-DNN"),
                           ("openmp", "OpenMP"), ("cpu_capability", "CPU capability usage")):
            if line.startswith(start):
                build[key] = line
        if line.startswith("Build settings:"):
            for setting in line[len("Build settings:"):].split(", "):
                key, _, value = setting.strip().partition("=")
                if key in ("BLAS_INFO", "BUILD_TYPE", "COMMIT_SHA", "USE_CUDA", "USE_OPENMP"):
                    build[key.lower()] = value
    return build


def missing_for_compile():
    """What torch.compile needs on this machine and does not find; empty if nothing."""
    from shutil import which
    if which(os.environ.get("CXX", "g++")) is None and which("clang++") is None:
        return "torch.compile needs a C++ compiler; run: apt-get install g++"
    header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
    if not os.path.exists(header):
        return "torch.compile needs '%s'; run: apt-get install python%d.%d-dev" % (
            (header,) + tuple(sys.version_info[:2]))
    return ""


def check_processors(threads):
    """Importing PyTorch under OpenMP's binding variables pins this thread, and with it all later
    ones, to one processor."""
    allowed = allowed_processors()
    if allowed >= min(threads, PROCESSORS_BEFORE_IMPORT):
        return
    pinning = ["%s=%s" % (name, os.environ[name]) for name in (
        "OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY") if name in os.environ]
    raise RuntimeError("importing PyTorch left %d of %d processors to this process; unset %s" % (
        allowed, PROCESSORS_BEFORE_IMPORT, " ".join(pinning) or "what binds its threads"))


class PyTorchAdapter(sdk.Adapter):
    """The methods from make_model to after_backward are apart so that a derived class may change one
    of them (tests/decoys/pytorch_decoys.py)."""

    def describe(self):
        return sdk.Description(
            "pytorch", torch.__version__,
            mode_label={"default": "eager", "recommended": "compiled" if CAN_COMPILE else "eager"},
            build=config_lines(), presets=["default", "recommended"],
            ops=sorted(layers.MAKERS), asynchronous=False, gradients="step", learning_rate="input")

    # What a derived class may change.

    def make_model(self, network):
        return layers.Net(network, self.spec.batch)

    def loss_of(self, logits, labels):
        return F.cross_entropy(logits, labels, reduction=self.reduction)

    def forward(self, x, masks, states):
        return self.model(x, masks, states)

    def forward_and_loss(self, x, labels, masks, states):
        """Loss, logits, and the states that the next batch starts with."""
        logits, states = self.forward(x, masks, states)
        # A loss has rows of classes: with T words a sample, batch * T of them.
        return self.loss_of(logits.reshape(-1, logits.shape[-1]), labels), logits, states

    def decay_of(self, parameter):
        return self.spec.network.optimizer.weight_decay if parameter.decays else 0.0

    def optimizer_options(self):
        sgd = self.spec.network.optimizer
        return {"lr": sgd.learning_rate, "momentum": sgd.momentum, "nesterov": sgd.nesterov}

    def after_backward(self):
        """Between the backward pass and the update: nothing."""

    # Preparation.

    def prepare(self, spec):
        self.spec = spec
        check_processors(spec.threads)
        self.compiled = spec.preset == "recommended" and CAN_COMPILE
        if self.compiled and missing_for_compile():
            raise sdk.Unsupported(missing_for_compile())
        self.set_threads(spec.threads)
        if hasattr(torch, "set_float32_matmul_precision"):
            torch.set_float32_matmul_precision("highest")
        self.reduction = spec.network.loss.reduction
        self.has_images = any(node.op == "conv2d" for node in spec.network.nodes)
        self.model = self.make_model(spec.network)
        if self.channels_last():
            self.model.to(memory_format=torch.channels_last)
        self.tensors = self.model.tensors
        for parameter in spec.network.parameters:
            assert tuple(self.tensors[parameter.name].shape) == parameter.shape, parameter.name
        self.initial = dict((parameter.name, torch.from_numpy(parameter.initial.numpy().copy()))
                            for parameter in spec.network.parameters)
        self.make_optimizer()
        self.take_batches()
        self.last_loss = self.last_logits = None
        self.learning_rate = None
        self.reset()
        self.timed_function = self.forward_and_loss
        if self.compiled:
            self.compile()
        return sdk.Prepared(batch=int(self.x[0].shape[0]), threads=torch.get_num_threads(),
                            precision=self.read_precision(),
                            effective_settings=self.effective_settings())

    def channels_last(self):
        """The Performance Tuning Guide's layout for convolutions, in the preset that follows it."""
        return (self.spec.preset == "recommended" and self.has_images
                and hasattr(torch, "channels_last"))

    def take_batches(self):
        spec = self.spec
        if spec.network.input_kind == "tokens":
            x = torch.from_numpy(spec.x.numpy().astype("int64"))  # What nn.Embedding takes.
        else:
            x = torch.from_numpy(spec.x.numpy().copy())
        self.x = [self.laid_out(batch) for batch in x.unbind(0)]
        labels = torch.from_numpy(spec.labels.numpy().astype("int64"))
        self.labels = list(labels.reshape(spec.pool, -1).unbind(0))
        dropouts = [node for node in spec.network.nodes if node.op == "dropout"]
        self.masks = [[self.scaled_mask(node, batch) for node in dropouts]
                      for batch in range(spec.pool)]

    def laid_out(self, tensor):
        """In memory as this preset wants images."""
        if tensor.dim() == 4 and self.channels_last():
            return tensor.contiguous(memory_format=torch.channels_last)
        return tensor

    def scaled_mask(self, node, batch):
        mask = torch.from_numpy(node.mask[batch].numpy().astype("float32"))
        return self.laid_out(mask / (1.0 - node.attributes["probability"]))

    def set_threads(self, threads):
        torch.set_num_threads(threads)
        if hasattr(torch, "set_num_interop_threads"):
            torch.set_num_interop_threads(1)

    def make_optimizer(self):
        """torch.optim.SGD; parameters with and without weight decay are two groups of it."""
        groups = {}
        for parameter in self.spec.network.parameters:
            groups.setdefault(self.decay_of(parameter), []).append(self.tensors[parameter.name])
        groups = [{"params": groups[decay], "weight_decay": decay} for decay in sorted(groups)]
        options = self.optimizer_options()
        self.sgd_kind = "loop"
        if self.spec.preset == "recommended":
            for kind in ("fused", "foreach"):
                try:
                    self.optimizer = torch.optim.SGD(groups, **dict(options, **{kind: True}))
                    self.sgd_kind = kind
                    break
                except (TypeError, RuntimeError):
                    continue  # This version, or its CPU build, has no such kind.
        if self.sgd_kind == "loop":
            self.optimizer = torch.optim.SGD(groups, **options)
        if options["momentum"] != 0.0:
            # With a zero buffer the first step gives what it gives with none: 0 * momentum + g.
            for tensor in self.tensors.values():
                self.optimizer.state[tensor]["momentum_buffer"] = torch.zeros_like(tensor.data)

    def compile(self):
        """Compiles forward pass and loss (their backward pass with them), and takes a step, so that
        compiling is over when `prepare` is answered: two with a carried state, which is then no longer
        the first one. A later recompilation is an error."""
        begin = sdk.monotonic_ns()
        self.full_graph = all(node.op != "lstm" for node in self.spec.network.nodes)
        self.timed_function = torch.compile(self.forward_and_loss, fullgraph=self.full_graph)
        for _ in range(2 if self.model.carried else 1):
            self.step(0, self.spec.network.optimizer.learning_rate)
        self.compile_seconds = (sdk.monotonic_ns() - begin) * 1e-9
        torch._dynamo.config.error_on_recompile = True
        self.reset()

    def read_precision(self):
        tensors = list(self.model.parameters())
        if self.spec.network.input_kind != "tokens":
            tensors += self.x
        kinds = set(str(tensor.dtype).replace("torch.", "") for tensor in tensors)
        return "+".join(sorted(kinds))

    # The timed step.

    def reset(self):
        with torch.no_grad():
            for name, tensor in self.tensors.items():
                tensor.copy_(self.initial[name])
                state = self.optimizer.state[tensor] if tensor in self.optimizer.state else {}
                if state.get("momentum_buffer") is not None:
                    state["momentum_buffer"].zero_()
                tensor.grad = None
            for node in self.spec.network.nodes:
                for buffer in node.buffers:
                    if buffer.name in self.model.kept:
                        self.model.kept[buffer.name].fill_(buffer.initial)
        self.states = [tuple(torch.full(buffer.shape, buffer.initial) for buffer in (
            node.find_buffer("hidden"), node.find_buffer("cell"))) for node in self.model.carried]

    def step(self, batch, learning_rate):
        if learning_rate != self.learning_rate:
            self.learning_rate = learning_rate
            for group in self.optimizer.param_groups:
                group["lr"] = learning_rate
        self.optimizer.zero_grad()
        self.last_loss, self.last_logits, self.states = self.timed_function(
            self.x[batch], self.labels[batch], self.masks[batch], self.states)
        self.last_loss.backward()
        self.after_backward()
        self.optimizer.step()

    def loss(self):
        return self.last_loss.item()

    # Reading back.

    def logits(self):
        return self.last_logits.detach().numpy()

    def gradients(self):
        return dict((name, tensor.grad.numpy()) for name, tensor in self.tensors.items())

    def weights(self):
        return dict((name, tensor.detach().numpy()) for name, tensor in self.tensors.items())

    def buffers(self):
        result = dict((name, tensor.numpy()) for name, tensor in self.model.kept.items())
        for node, state in zip(self.model.carried, self.states):
            for suffix, tensor in zip(("hidden", "cell"), state):
                result[node.find_buffer(suffix).name] = tensor.numpy()
        return result

    def velocity(self):
        if self.spec.network.optimizer.momentum == 0.0:
            return None
        return dict((name, self.optimizer.state[tensor]["momentum_buffer"].numpy())
                    for name, tensor in self.tensors.items())

    def effective_settings(self):
        settings = {"torch.get_num_threads": torch.get_num_threads(), "optim.SGD": self.sgd_kind,
                    "mode": "compiled" if self.compiled else "eager",
                    "processors": allowed_processors()}
        for name in ("get_num_interop_threads", "get_float32_matmul_precision"):
            if hasattr(torch, name):
                settings["torch." + name] = getattr(torch, name)()
        if hasattr(torch.backends, "mkldnn"):
            settings["mkldnn"] = torch.backends.mkldnn.is_available()
        if hasattr(torch.backends, "cpu"):
            settings["cpu_capability"] = torch.backends.cpu.get_cpu_capability()
        if self.x[0].dim() == 4:
            settings["memory_format"] = "channels_last" if self.x[0].is_contiguous(
                memory_format=torch.channels_last) and self.channels_last() else "contiguous"
        # Where it is flushed, the smallest normal number halved is 0.
        settings["denormals"] = "kept" if float(torch.tensor(1.1754944e-38) * 0.5) else "flushed"
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "GLIBC_TUNABLES"):
            if name in os.environ:
                settings[name] = os.environ[name]
        if self.compiled and hasattr(self, "compile_seconds"):
            settings.update(self.compile_settings())
        return dict((key, str(value)) for key, value in settings.items())

    def compile_settings(self):
        from torch._dynamo.utils import counters
        hits, misses = (sum(counters[group][name] for group, name in (
            ("inductor", "fxgraph_cache_" + what), ("aot_autograd", "autograd_cache_" + what)))
                        for what in ("hit", "miss"))
        return {"torch.compile": "fullgraph" if self.full_graph else "parts", "compile_cache": "warm" if hits and not misses
                else "cold", "compile_and_first_step_seconds": "%.1f" % self.compile_seconds,
                "graph_breaks": sum(counters["graph_break"].values()),
                "graphs": counters["stats"]["unique_graphs"]}


def optimizer_probe(preset):
    """One weight at 1, learning rate 0.1, momentum 0.9, decay 0.01, gradients 1, 0, -1: the weight
    after each step. 0.899000 0.807201 0.823775 if decay is added before momentum (case C40)."""
    adapter = PyTorchAdapter()
    parameter = sdk.Parameter({"name": "w", "shape": [1], "decays": True})
    adapter.spec = type("Spec", (), {})()
    adapter.spec.preset = preset
    adapter.spec.network = type("Network", (), {})()
    adapter.spec.network.optimizer = sdk.Optimizer("sgd", 0.1, 0.9, 0.01, False)
    adapter.spec.network.parameters = [parameter]
    adapter.model = nn.Module()
    adapter.model.w = nn.Parameter(torch.ones(1))
    adapter.tensors = {"w": adapter.model.w}
    adapter.make_optimizer()
    values = []
    for gradient in (1.0, 0.0, -1.0):
        adapter.model.w.grad = torch.tensor([gradient])
        adapter.optimizer.step()
        values.append("%.6f" % adapter.model.w.item())
    return " ".join(values)


def main(adapter, arguments):
    if arguments[:1] == ["--optimizer-probe"]:
        print(optimizer_probe(arguments[1]))
        return 0
    return sdk.serve(adapter)


if __name__ == "__main__":
    sys.exit(main(PyTorchAdapter(), sys.argv[1:]))
