# -*- coding: utf-8 -*-
"""dlbench's adapter SDK for Python 2.7 and 3.6 or later: one file, no packages.

An adapter derives from Adapter and ends with `sys.exit(serve(MyAdapter()))`. This file speaks the
protocol (docs/protocol.md), reads and writes the tensor files and runs the timed loops.
docs/writing-an-adapter.md has a complete example. The C++ header beside this file does the same with
the same messages and replies.

Sections: 1 errors, 2 JSON, 3 safetensors, 4 network and specification, 5 Adapter, 6 timed loops,
7 channel, 8 server.
"""
from __future__ import division, print_function

import array
import codecs
import collections
import ctypes
import errno
import fcntl
import gc
import json
import mmap
import os
import resource
import struct
import sys
import time
import traceback
import zlib

PROTOCOL = 1
LINE_LIMIT = 16 << 20  # Longest line in either direction, in bytes.

PYTHON_2 = sys.version_info[0] == 2
if PYTHON_2:
    text_type = unicode  # noqa: F821 (Python 2 only)
    integer_types = (int, long)  # noqa: F821 (Python 2 only)
    count_up = xrange  # noqa: F821 (Python 2 only)
else:
    text_type = str
    integer_types = (int,)
    count_up = range


# 1. Errors. Raise these from an Adapter; any other exception is answered as `failed`.


class Unsupported(Exception):
    """What was asked is valid but not available here; the text is the reason shown to the user."""


class OutOfMemory(Exception):
    """Memory ran out. MemoryError, and any exception whose text says so, count as well."""


def says_out_of_memory(text):
    """Whether an exception's text is a framework's way to say that memory ran out."""
    text = text.lower()
    return "out of memory" in text or "can't allocate memory" in text


def text_of(error):
    """The text of an exception, whatever its type and encoding."""
    try:
        text = text_type(error)
    except UnicodeError:
        text = bytes(error)
    return text or type(error).__name__


# 2. JSON


def hex_bytes(error):
    """For decoders: each byte that is not UTF-8 becomes the four characters \\xXX."""
    bad = bytearray(error.object[error.start:error.end])
    return u"".join(u"\\x%02X" % byte for byte in bad), error.end


codecs.register_error("dlbench_hex", hex_bytes)


def utf8_text(value):
    """Any text or bytes as text that has a UTF-8 form."""
    if not isinstance(value, bytes):
        try:
            value = value.encode("utf-8", "strict" if PYTHON_2 else "surrogateescape")
        except UnicodeError:
            value = value.encode("utf-8", "surrogatepass")
    return value.decode("utf-8", "dlbench_hex")


def is_finite(value):
    return value - value == 0.0


def to_json(value):
    """One line of JSON as text. Numbers are written with %.17g, so that every double survives and
    both SDKs write the same."""
    if value is None:
        return u"null"
    if isinstance(value, bool):
        return u"true" if value else u"false"
    if isinstance(value, integer_types):
        return u"%d" % value
    if isinstance(value, float):
        if not is_finite(value):
            raise ValueError("a number to be sent is not finite")
        return u"%.17g" % value
    if isinstance(value, (bytes, text_type)):
        return json.dumps(utf8_text(value), ensure_ascii=False)
    if isinstance(value, (list, tuple, array.array)):
        return u"[" + u",".join([to_json(item) for item in value]) + u"]"
    if isinstance(value, dict):
        return u"{" + u",".join([to_json(key) + u":" + to_json(item)
                                 for key, item in value.items()]) + u"}"
    return to_json(str(value))  # A framework's own kind of text or number.


def refuse_constant(name):
    raise ValueError("JSON: %s is not a number" % name)


def from_json(text):
    return json.loads(text, parse_constant=refuse_constant)


def texts(mapping):
    """An object of texts, sorted by key."""
    pairs = sorted((utf8_text(key), value) for key, value in mapping.items())
    return collections.OrderedDict(
        (key, value if isinstance(value, (bytes, text_type)) else str(value))
        for key, value in pairs)


def field(obj, key, kind=None):
    """obj[key]; an error names the field. `kind`: "integer", "number", "text", "bool", "array" or
    "object"."""
    if not isinstance(obj, dict):
        raise ValueError("is not an object")
    if key not in obj:
        raise ValueError("field '%s' is missing" % key)
    value = obj[key]
    kinds = {"integer": (integer_types, "an integer"),
             "number": (integer_types + (float,), "a number"), "text": (text_type, "a text"),
             "bool": (bool, "true or false"), "array": (list, "an array"),
             "object": (dict, "an object")}
    if kind is not None:
        types, words = kinds[kind]
        if not isinstance(value, types) or (isinstance(value, bool) and kind != "bool"):
            raise ValueError("field '%s' is not %s" % (key, words))
    return value


# 3. safetensors: 8 bytes of header length (little-endian), a JSON header, the raw tensors

ELEMENT_BYTES = {"F32": 4, "F64": 8, "I32": 4, "I64": 8, "U8": 1, "F16": 2, "BF16": 2}


def element_count(shape):
    count = 1
    for size in shape:
        if not isinstance(size, integer_types) or size < 0:
            raise ValueError("a tensor has a negative size")
        count *= size
    return count


def shape_text(shape):
    return "[" + ", ".join(str(size) for size in shape) + "]"


def place_text(shape, index):
    """Where element `index` of a tensor is: "[0, 3, 5]"."""
    place = []
    for size in reversed(shape):
        place.insert(0, index % size)
        index //= size
    return shape_text(place)


class TensorView(object):
    """A tensor in a mapped file, read-only. `data` is a buffer (memoryview, or `buffer` in Python
    2.7) that numpy.frombuffer and bytes() take."""

    def __init__(self, name, dtype, shape, data):
        self.name, self.dtype, self.shape, self.data = name, dtype, tuple(shape), data

    def numpy(self):
        """As a read-only numpy array that shares the mapped memory."""
        import numpy
        kind = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "u1"}[self.dtype]
        return numpy.frombuffer(self.data, dtype=kind).reshape(self.shape)

    def array(self):
        """As an array.array, a copy; for code without numpy."""
        values = array.array({"F32": "f", "F64": "d", "I32": "i", "U8": "B"}[str(self.dtype)])
        raw = bytes(self.data)
        values.fromstring(raw) if PYTHON_2 else values.frombytes(raw)
        return values

    def __getitem__(self, index):
        """The sub-tensor `index` of the first dimension, a view."""
        if not 0 <= index < self.shape[0]:
            raise IndexError("index %d of %d" % (index, self.shape[0]))
        size = element_count(self.shape[1:]) * ELEMENT_BYTES[self.dtype]
        return TensorView(self.name, self.dtype, self.shape[1:],
                          slice_of(self.data, index * size, size))


def slice_of(data, offset, size):
    """A view of `size` bytes; mmap has no memoryview in Python 2.7, `buffer` has no copy."""
    if PYTHON_2:
        return buffer(data, offset, size)  # noqa: F821 (Python 2 only)
    return memoryview(data)[offset:offset + size]


def parse_safetensors(data, size):
    """Tensors of the file image `data` of `size` bytes. Every length and offset is checked."""
    if size < 8:
        raise ValueError("safetensors: shorter than 8 bytes")
    header_size, = struct.unpack("<Q", bytes(data[:8]))
    if header_size > size - 8 or header_size > 100 << 20:
        raise ValueError("safetensors: the header's length is wrong")
    header = from_json(bytes(data[8:8 + header_size]).decode("utf-8"))
    body_size = size - 8 - header_size
    tensors = {}
    for name, entry in header.items() if isinstance(header, dict) else refuse_header():
        if name == "__metadata__":
            continue
        dtype, shape = field(entry, "dtype", "text"), field(entry, "shape", "array")
        offsets = field(entry, "data_offsets", "array")
        if dtype not in ELEMENT_BYTES:
            raise ValueError("safetensors: '%s' has the unknown type %s" % (name, dtype))
        wanted = element_count(shape) * ELEMENT_BYTES[dtype]
        if (len(offsets) != 2 or not all(isinstance(end, integer_types) for end in offsets)
                or not 0 <= offsets[0] <= offsets[1] <= body_size
                or offsets[1] - offsets[0] != wanted):
            raise ValueError("safetensors: the offsets of '%s' are wrong" % name)
        if (8 + header_size + offsets[0]) % ELEMENT_BYTES[dtype] != 0:
            raise ValueError("safetensors: '%s' is not aligned" % name)
        view = slice_of(data, 8 + header_size + offsets[0], wanted)
        tensors[name] = TensorView(name, dtype, shape, view)
    return tensors


def refuse_header():
    raise ValueError("safetensors: the header is not an object")


class SafetensorsFile(object):
    """A safetensors file mapped read-only."""

    def __init__(self, path):
        try:
            with open(path.encode("utf-8"), "rb") as handle:  # Whatever the locale.
                size = os.fstat(handle.fileno()).st_size
                if size < 8:
                    raise ValueError("cannot read '%s': shorter than 8 bytes" % path)
                self.mapped = mmap.mmap(handle.fileno(), size, access=mmap.ACCESS_READ)
        except EnvironmentError as error:
            raise ValueError("cannot read '%s': %s" % (path, os.strerror(error.errno)))
        try:
            self.tensors = parse_safetensors(self.mapped, size)
        except ValueError as error:
            raise ValueError("'%s': %s" % (path, error))

    def at(self, name, dtype, shape):
        """The tensor `name`, which must have this type and shape."""
        view = self.tensors.get(name)
        if view is None:
            raise ValueError("tensor '%s' is missing in the file" % name)
        if view.dtype != dtype or list(view.shape) != list(shape):
            raise ValueError("tensor '%s' is %s %s instead of %s %s" % (
                name, view.dtype, shape_text(view.shape), dtype, shape_text(shape)))
        return view


def float32_bytes(name, values, count):
    """The bytes of a float32 tensor given as bytes, bytearray, memoryview, array.array, numpy array
    (any strides), a sequence of numbers, or a function without arguments that returns one of these
    (called only when the tensor's turn comes). Another type or size is refused, never converted."""
    if callable(values):
        values = values()
    if isinstance(values, (list, tuple)):
        values = array.array("f", values)
    kind = getattr(values, "dtype", None) or getattr(values, "typecode", None)
    if kind is None and isinstance(values, memoryview) and values.format not in ("B", "b", "c"):
        kind = values.format
    if kind is not None and str(kind) not in ("float32", "<f4", "f", "<f"):
        raise ValueError("tensor '%s' is %s instead of float32" % (name, kind))
    if hasattr(values, "tobytes"):
        raw = values.tobytes()
    elif hasattr(values, "tostring"):
        raw = values.tostring()  # array.array of Python 2.7
    else:
        raw = bytes(values)
    if len(raw) != 4 * count:
        raise ValueError("tensor '%s' has %d bytes instead of %d" % (name, len(raw), 4 * count))
    return raw


def safetensors_header(tensors):
    """Name, type, shape and place of every tensor: the file's first 8 bytes and its JSON header."""
    header = collections.OrderedDict()
    offset = 0
    for name, shape, _ in tensors:
        end = offset + 4 * element_count(shape)
        header[name] = collections.OrderedDict([
            ("dtype", "F32"), ("shape", list(shape)), ("data_offsets", [offset, end])])
        offset = end
    text = to_json(header).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def write_safetensors(path, tensors):
    """Writes [(name, shape, values)] to `path`, itself bytes (beside it first, then renamed), making
    its folder. Tensors are converted one after the other (float32_bytes says from what), so that the
    memory needed is that of the largest one."""
    folder = os.path.dirname(path)
    if folder and not os.path.isdir(folder):
        os.makedirs(folder)
    try:
        with open(path + b".partial", "wb") as handle:
            handle.write(safetensors_header(tensors))
            for name, shape, values in tensors:
                handle.write(float32_bytes(name, values, element_count(shape)))
        os.rename(path + b".partial", path)
    except BaseException:
        if os.path.exists(path + b".partial"):
            os.remove(path + b".partial")
        raise


# 4. Network and specification: what `prepare` asks for


class Parameter(object):
    """One trainable tensor in canonical layout: dense weight [out, in], bias [out]. `initial` is a
    TensorView of its first values; `decays` tells whether weight decay applies to it."""

    def __init__(self, json):
        self.name = field(json, "name", "text")
        self.shape = tuple(field(json, "shape", "array"))
        self.decays = field(json, "decays", "bool")
        self.count = element_count(self.shape)
        self.initial = None


class Buffer(object):
    """One tensor that a node keeps from step to step and that no gradient changes: running
    statistics, carried state. Adapter.reset gives every element `initial` again. `shape` is
    [batch, ...] where each sample has its own (`per_sample`)."""

    def __init__(self, json, batch):
        self.name = field(json, "name", "text")
        self.shape = tuple(field(json, "shape", "array"))
        self.initial = float(field(json, "initial", "number"))
        self.per_sample = field(json, "per_sample", "bool")
        if self.per_sample:
            self.shape = (batch,) + self.shape
        self.count = element_count(self.shape)


class Node(object):
    """One operation, in execution order. `attributes` is a dict in which everything is explicit
    (numbers, booleans, words, lists: kernel and stride [height, width], padding [top, left, bottom,
    right]); `output_shape` is that of one sample. `mask`, of a dropout: TensorView [pool, batch,
    output_shape...] of bytes, 0 or 1; node.mask[i] is that of batch i."""

    def __init__(self, json, batch):
        self.name = field(json, "name", "text")
        self.op = field(json, "op", "text")
        self.inputs = list(field(json, "inputs", "array"))
        self.attributes = field(json, "attributes", "object")
        self.output_shape = tuple(field(json, "output_shape", "array"))
        self.parameters = [Parameter(item) for item in field(json, "parameters", "array")]
        # Networks without any may leave it out.
        buffers = field(json, "buffers", "array") if "buffers" in json else []
        self.buffers = [Buffer(item, batch) for item in buffers]
        self.mask = None

    def find(self, suffix):
        """The parameter called "<name>.<suffix>", or None."""
        return self.named(self.parameters, suffix)

    def find_buffer(self, suffix):
        """The buffer called "<name>.<suffix>", or None."""
        return self.named(self.buffers, suffix)

    def named(self, tensors, suffix):
        for tensor in tensors:
            if tensor.name == self.name + "." + suffix:
                return tensor
        return None


Loss = collections.namedtuple("Loss", "kind reduction input")
# v <- momentum * v + (g + decay * w); w <- w - learning_rate * v (nesterov: g + decay * w +
# momentum * v instead of v). v starts at 0.
Optimizer = collections.namedtuple(
    "Optimizer", "kind learning_rate momentum weight_decay nesterov")


class Network(object):
    """The "network" of `prepare` for batches of `batch` samples. input_kind: "values", or "tokens"
    (ids from 0 to vocabulary - 1; input_shape is [T])."""

    def __init__(self, json, batch):
        self.name = field(json, "name", "text")
        self.variant = field(json, "variant", "text")
        self.classes = field(json, "classes", "integer")
        data = field(json, "input", "object")
        self.input_shape = tuple(field(data, "shape", "array"))
        self.input_kind = field(data, "kind", "text") if "kind" in data else "values"
        self.vocabulary = field(data, "vocabulary", "integer") if self.input_kind == "tokens" else 0
        self.nodes = [Node(item, batch) for item in field(json, "nodes", "array")]
        loss = field(json, "loss", "object")
        self.loss = Loss(*[field(loss, key, "text") for key in Loss._fields])
        sgd = field(json, "optimizer", "object")
        self.optimizer = Optimizer(
            field(sgd, "kind", "text"), float(field(sgd, "learning_rate", "number")),
            float(field(sgd, "momentum", "number")), float(field(sgd, "weight_decay", "number")),
            field(sgd, "nesterov", "bool"))

    @property
    def parameters(self):
        """All parameters in canonical order."""
        return [parameter for node in self.nodes for parameter in node.parameters]

    @property
    def buffers(self):
        """All buffers in canonical order."""
        return [item for node in self.nodes for item in node.buffers]

    @property
    def label_shape(self):
        """What the labels have beside the batch: (T,) where the logits are [T, classes], else ()."""
        for node in self.nodes:
            if node.name == self.loss.input and len(node.output_shape) == 2:
                return node.output_shape[:1]
        return ()


class Spec(object):
    """What `prepare` asks for, checked against the files and against what the adapter declared.

    network, batch, pool, mode, device, precision, input, preset, variant, threads, rank, world_size,
    settings (dict of texts), folder (the launch's, absolute); x: TensorView [pool, batch, ...] of
    float32, of tokens [pool, batch, T] of int32, and labels: TensorView [pool, batch] or
    [pool, batch, T] of int32. spec.x[i] and spec.labels[i] are batch i.
    """

    def __init__(self, request, folder):
        for key in ("batch", "pool"):
            setattr(self, key, field(request, key, "integer"))
        if self.batch < 1 or self.pool < 1:
            raise ValueError("'batch' and 'pool' must be at least 1")
        self.network = Network(field(request, "network", "object"), self.batch)
        for key in ("mode", "device", "precision", "input", "preset", "variant"):
            setattr(self, key, field(request, key, "text"))
        for key, least in (("threads", 1), ("rank", 0), ("world_size", 1)):
            value = field(request, key, "integer")
            if not least <= value < 1 << 31:
                raise ValueError("'%s' is %d, out of range" % (key, value))
            setattr(self, key, value)
        settings = field(request, "settings", "object")
        self.settings = dict((key, field(settings, key, "text")) for key in settings)
        self.folder = folder
        self.x = self.labels = None


# 5. Adapter: what the author of an adapter writes


class Description(object):
    """The fields of `hello`; docs/protocol.md says what they mean. The last three are checked here
    and not sent."""

    def __init__(self, framework, framework_version, **fields):
        self.framework, self.framework_version = framework, framework_version
        self.adapter_version = "1"
        self.mode_label = {}
        self.build = {}
        self.devices, self.precisions, self.modes = ["cpu"], ["float32"], ["train"]
        self.inputs, self.presets, self.ops = ["resident"], ["default"], []
        self.asynchronous = False
        self.gradients = "step"
        self.learning_rate = "input"
        self.settings = {}
        self.losses, self.optimizers, self.max_world_size = ["softmax_cross_entropy"], ["sgd"], 1
        for key, value in fields.items():
            if key not in self.__dict__:
                raise TypeError("unknown field of Description: %s" % key)
            setattr(self, key, value)


class Prepared(object):
    """The fields of `prepared`: what was really built and is really in force (read back)."""

    def __init__(self, batch, threads, precision="float32", effective_settings=None):
        self.batch, self.threads, self.precision = batch, threads, precision
        self.effective_settings = effective_settings or {}


class Adapter(object):
    """One network in one framework. An exception is an answer: Unsupported, OutOfMemory, anything
    else is `failed` with its text (and its traceback on stderr)."""

    def describe(self):
        """A Description. Must be quick and allocate nothing large."""
        raise NotImplementedError

    def prepare(self, spec):
        """Builds the step for exactly this Spec, moves the batches to the device, and returns a
        Prepared. Raises Unsupported rather than doing something else."""
        raise NotImplementedError

    def reset(self):
        """Weights, optimiser state and buffers as after prepare, building nothing anew."""
        raise NotImplementedError

    def step(self, batch, learning_rate):
        """The timed step: forward, loss, backward and update on batch `batch` of the pool.
        Synchronous adapters return when all is done; asynchronous ones may return before."""
        raise NotImplementedError

    def loss(self):
        """Loss of the last step, as the step computed it, a number. Read inside the timed interval
        (after every step, or every block if asynchronous), since a step is not done before its
        loss can be read; it must cost no more than reading one number."""
        raise NotImplementedError

    def synchronize(self):
        """Waits until all work handed to the framework is done: loss, weights, everything."""

    def logits(self):
        """Logits of the last step, [batch, classes] or [batch, T, classes]; see float32_bytes for
        what is taken."""
        raise NotImplementedError

    def gradients(self):
        """{canonical name: float32 values in canonical layout} of the last step. Not called when
        the description's gradients is "none"."""
        raise NotImplementedError

    def weights(self):
        """{canonical name: float32 values in canonical layout} as they are now."""
        raise NotImplementedError

    def buffers(self):
        """{canonical name: float32 values} of the network's buffers as they are now. Called only
        for networks that have some."""
        raise Unsupported("no buffers")

    def velocity(self):
        """The same as weights() for the velocity in the convention of Optimizer; None if none is kept."""
        return None

    def peak_memory_bytes(self):
        """Largest memory in use so far; by default the process's largest resident set."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    def effective_settings(self):
        """Settings in force at the end; by default (empty) those of prepare."""
        return {}


# 6. Timed loops. Nothing is printed or sent between the first and the last clock, and results go into
# arrays made before. Python's garbage collector stays on, as users have it; what earlier requests left
# behind is collected before their replies (Server.answer).


def monotonic_clock():
    """A function that returns CLOCK_MONOTONIC in nanoseconds; time.monotonic_ns came with 3.7."""
    if hasattr(time, "monotonic_ns"):
        return time.monotonic_ns

    class Timespec(ctypes.Structure):
        _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]

    now = Timespec()
    pointer = ctypes.byref(now)
    library = ctypes.CDLL(None)
    try:
        clock_gettime = library.clock_gettime
    except AttributeError:  # glibc before 2.17
        clock_gettime = ctypes.CDLL("librt.so.1").clock_gettime

    def read():
        clock_gettime(1, pointer)
        return now.seconds * 1000000000 + now.nanoseconds

    return read


monotonic_ns = monotonic_clock()


class Records(object):
    """Records of a run: one of one step (synchronous) or of one block (asynchronous)."""

    def __init__(self, count):
        zeros = [0] * count
        self.steps, self.begin_ns = array.array("l", zeros), array.array("l", zeros)
        self.end_ns, self.losses = array.array("l", zeros), array.array("d", zeros)


def run_blocks(adapter, spec, asynchronous, steps, block_steps, first_batch, records):
    """The protocol's loop: step i on batch (first_batch + i) mod pool. `block_steps` is the number
    of steps of a record: 1 for a synchronous adapter, which is done when step has returned."""
    step, loss, synchronize, clock = adapter.step, adapter.loss, adapter.synchronize, monotonic_ns
    begin_ns, end_ns, losses = records.begin_ns, records.end_ns, records.losses
    learning_rate, pool = spec.network.optimizer.learning_rate, spec.pool
    batch = first_batch % pool
    taken = record = 0
    while taken < steps:
        count = min(block_steps, steps - taken)
        begin_ns[record] = clock()
        for _ in count_up(count):
            step(batch, learning_rate)
            batch += 1
            if batch == pool:
                batch = 0
        if asynchronous:
            synchronize()
        losses[record] = loss()
        end_ns[record] = clock()
        records.steps[record] = count
        taken += count
        record += 1


def bare_block_ns(adapter, spec, steps, first_batch):
    """A plain loop as a user would write it, timed as a whole: what the protocol must not slow."""
    step, learning_rate, pool = adapter.step, spec.network.optimizer.learning_rate, spec.pool
    batch = first_batch % pool
    begin = monotonic_ns()
    for _ in count_up(steps):
        step(batch, learning_rate)
        batch += 1
        if batch == pool:
            batch = 0
    adapter.synchronize()
    return monotonic_ns() - begin


def observer_order(blocks, seed):
    """`blocks` times 'b' and as often 'p' in a random order (Fisher-Yates with SplitMix64, Steele,
    Lea and Flood 2014), equal in all SDKs."""
    mask = (1 << 64) - 1
    state = seed & mask
    order = ["b"] * blocks + ["p"] * blocks
    for i in range(len(order), 1, -1):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        j = (z ^ (z >> 31)) % i
        order[i - 1], order[j] = order[j], order[i - 1]
    return "".join(order)


# 7. Channel


class Channel(object):
    """Lines over the two descriptors that dlbench has opened."""

    def __init__(self, descriptor_in, descriptor_out):
        self.descriptor_in, self.descriptor_out = descriptor_in, descriptor_out
        self.buffer = bytearray()
        for descriptor in (descriptor_in, descriptor_out):
            # Programs that the framework starts (compilers) must not keep the channel open.
            fcntl.fcntl(descriptor, fcntl.F_SETFD, fcntl.FD_CLOEXEC)

    def read(self):
        """The next line without its newline; None at the end of the file."""
        searched = 0
        while True:
            newline = self.buffer.find(b"\n", searched)
            if newline >= 0:
                line = bytes(self.buffer[:newline])
                del self.buffer[:newline + 1]
                return line
            searched = len(self.buffer)
            if searched > LINE_LIMIT:
                raise ValueError("a request is too long")
            chunk = retry_interrupted(os.read, self.descriptor_in, 65536)
            if not chunk:
                return None
            self.buffer += chunk

    def write(self, line):
        rest = memoryview(line + b"\n")
        while len(rest) > 0:
            rest = rest[retry_interrupted(os.write, self.descriptor_out, rest):]


def retry_interrupted(call, *arguments):
    """Python 2.7 does not repeat an interrupted system call by itself."""
    while True:
        try:
            return call(*arguments)
        except OSError as error:
            if error.errno != errno.EINTR:
                raise


# 8. Server: from requests to calls of the Adapter


class Server(object):
    """Answers requests one by one. Adapters use serve() below."""

    def __init__(self, adapter, folder):
        """`folder` is the launch's folder, absolute, as bytes."""
        self.adapter, self.folder = adapter, folder
        self.description = self.spec = None
        self.prepared = self.finished = False
        self.prepared_settings = {}

    def answer(self, line):
        """The reply to one request as bytes without a newline. Never raises for a bad request."""
        number = 0
        try:
            request = from_json(line.decode("utf-8"))
            number = field(request, "id", "integer")
            reply = to_json(self.dispatch(number, request)).encode("utf-8")
            if len(reply) >= LINE_LIMIT:
                raise ValueError("the reply is longer than 16 MiB: ask for fewer steps")
            return reply
        except Unsupported as error:
            return self.error(number, "unsupported", text_of(error))
        except (OutOfMemory, MemoryError) as error:
            message = text_of(error) if isinstance(error, OutOfMemory) else \
                "the process could not allocate memory"
            return self.error(number, "out_of_memory", message)
        except Exception as error:  # Whatever a framework raises is an answer.
            traceback.print_exc()
            message = text_of(error)
            plain = message.decode("utf-8", "replace") if isinstance(message, bytes) else message
            kind = "out_of_memory" if says_out_of_memory(plain) else "failed"
            return self.error(number, kind, message)

    @staticmethod
    def reply(number, kind, *pairs):
        return collections.OrderedDict([("id", number), ("type", kind)] + list(pairs))

    def error(self, number, kind, message):
        return to_json(self.reply(number, "error", ("kind", kind),
                                  ("message", message))).encode("utf-8")

    def dispatch(self, number, request):
        kind = field(request, "type", "text")
        handlers = {"verify": self.verify, "run": self.run, "export": self.export,
                    "sync": self.sync, "observer": self.observe}
        if kind == "hello":
            return self.hello(number, request)
        if kind == "prepare":
            return self.prepare(number, request)
        if kind == "finish":
            return self.finish(number)
        if kind not in handlers:
            raise Unsupported("request '%s' is not known" % kind)
        if not self.prepared:
            raise ValueError("'%s' came before 'prepare'" % kind)
        return handlers[kind](number, request)

    def describe(self):
        if self.description is None:
            self.description = self.adapter.describe()
        return self.description

    def hello(self, number, request):
        protocol = field(request, "protocol", "integer")
        if protocol != PROTOCOL:
            raise Unsupported("protocol %d is not known; this adapter speaks 1" % protocol)
        d = self.describe()
        return self.reply(
            number, "hello", ("protocol", PROTOCOL), ("framework", d.framework),
            ("framework_version", d.framework_version), ("adapter_version", d.adapter_version),
            ("language", "python"), ("mode_label", texts(d.mode_label)), ("build", texts(d.build)),
            ("devices", list(d.devices)), ("precisions", list(d.precisions)),
            ("modes", list(d.modes)), ("inputs", list(d.inputs)), ("presets", list(d.presets)),
            ("ops", list(d.ops)), ("asynchronous", bool(d.asynchronous)),
            ("gradients", d.gradients), ("learning_rate", d.learning_rate),
            ("settings", texts(d.settings)))

    def prepare(self, number, request):
        if self.prepared:
            raise ValueError("'prepare' came twice: one network a process")
        self.describe()
        self.spec = Spec(request, utf8_text(self.folder))
        self.check_supported()
        self.map_files(request)
        result = self.adapter.prepare(self.spec)
        self.adapter.synchronize()
        self.prepared = True
        self.prepared_settings = texts(result.effective_settings)
        gc.collect()
        return self.reply(number, "prepared", ("batch", int(result.batch)),
                          ("precision", result.precision), ("threads", int(result.threads)),
                          ("effective_settings", self.prepared_settings))

    def check_supported(self):
        d, spec = self.description, self.spec
        required = [("mode", spec.mode, d.modes), ("device", spec.device, d.devices),
                    ("precision", spec.precision, d.precisions), ("input", spec.input, d.inputs),
                    ("preset", spec.preset, d.presets),
                    ("input kind", spec.network.input_kind, ["values", "tokens"])]
        required += [("op", node.op, d.ops) for node in spec.network.nodes]
        required += [("loss", spec.network.loss.kind, d.losses),
                     ("loss reduction", spec.network.loss.reduction, ["mean", "sum"]),
                     ("optimizer", spec.network.optimizer.kind, d.optimizers)]
        for what, value, declared in required:
            if value not in declared:
                raise Unsupported("%s %s is not built" % (what, value))
        if spec.world_size > d.max_world_size:
            raise Unsupported("world_size %d is not built" % spec.world_size)
        for key in sorted(spec.settings):
            if key not in d.settings:
                raise Unsupported("setting %s is not known" % key)

    def map_files(self, request):
        """Maps weights and batches and points the specification at them."""
        spec = self.spec
        weights = SafetensorsFile(field(request, "weights", "text"))
        batches = SafetensorsFile(field(request, "batches", "text"))
        for parameter in spec.network.parameters:
            parameter.initial = weights.at(parameter.name, "F32", parameter.shape)
        network = spec.network
        spec.labels = self.map_ids(batches, "labels", "label", network.label_shape, network.classes,
                                   "%d classes" % network.classes)
        if network.input_kind == "tokens":
            spec.x = self.map_ids(batches, "x", "token", network.input_shape, network.vocabulary,
                                  "a vocabulary of %d" % network.vocabulary)
        else:
            spec.x = batches.at("x", "F32", self.pool_shape(network.input_shape))
        for node in network.nodes:
            if node.op == "dropout":
                node.mask = self.map_mask(batches, node)

    def pool_shape(self, sample):
        return (self.spec.pool, self.spec.batch) + tuple(sample)

    def map_ids(self, batches, name, noun, sample, end, words):
        """The I32 tensor `name` of the pool, whose elements must lie in [0, end): `words`."""
        shape = self.pool_shape(sample)
        view = batches.at(name, "I32", shape)
        ids = view.array()
        if len(ids) > 0 and (min(ids) < 0 or max(ids) >= end):
            first = next(i for i, value in enumerate(ids) if not 0 <= value < end)
            raise ValueError("%s %d at %s is outside of %s" % (
                noun, ids[first], place_text(shape, first), words))
        return view

    def map_mask(self, batches, node):
        shape = self.pool_shape(node.output_shape)
        view = batches.at("mask." + node.name, "U8", shape)
        raw = bytes(view.data)
        if raw.translate(None, b"\0\1"):  # What is neither 0 nor 1.
            values = bytearray(raw)
            first = next(i for i, value in enumerate(values) if value > 1)
            raise ValueError("mask.%s is %d at %s instead of 0 or 1" % (
                node.name, values[first], place_text(shape, first)))
        return view

    def verify(self, number, request):
        folder = self.checked_folder(request)
        batches = field(request, "batches", "array")
        weights_after = field(request, "weights_after", "array")
        rates = self.learning_rates(request, len(batches))
        wants_logits = field(request, "logits", "bool") and bool(batches)
        wants_gradients = (field(request, "gradients", "bool") and bool(batches)
                           and self.description.gradients != "none")
        for batch in batches:
            if not isinstance(batch, integer_types):
                raise ValueError("field 'batches' is not an integer")
            if not 0 <= batch < self.spec.pool:
                raise ValueError("batch %d is outside of the pool of %d" % (batch, self.spec.pool))
        adapter = self.adapter
        adapter.reset()
        weights, losses = collections.OrderedDict(), []
        for taken in range(len(batches) + 1):
            if taken > 0:
                adapter.step(batches[taken - 1], rates[taken - 1])
                adapter.synchronize()
                losses.append(float(adapter.loss()))
                self.check_loss(losses[-1], taken - 1)
            if taken == 1 and wants_logits:
                self.write_logits(folder + "/logits.safetensors")
            if taken == 1 and wants_gradients:
                self.write_parameters(folder + "/gradients.safetensors", adapter.gradients())
            if taken in weights_after:
                name = "%s/weights-%d.safetensors" % (folder, taken)
                self.write_state(name)
                weights[str(taken)] = name
        adapter.synchronize()
        gc.collect()
        pairs = [("losses", losses)]
        if wants_logits:
            pairs.append(("logits", folder + "/logits.safetensors"))
        if wants_gradients:
            pairs.append(("gradients", folder + "/gradients.safetensors"))
        return self.reply(number, "verified", *(pairs + [("weights", weights)]))

    def learning_rates(self, request, count):
        rates = [float(rate) for rate in field(request, "learning_rates", "array")]
        if len(rates) != count:
            raise ValueError("'batches' and 'learning_rates' differ in length")
        fixed = self.spec.network.optimizer.learning_rate
        if self.description.learning_rate == "fixed" and any(rate != fixed for rate in rates):
            raise Unsupported("the learning rate is fixed")
        return rates

    @staticmethod
    def checked_folder(request):
        """A folder must be a relative path that stays inside the launch's folder."""
        folder = field(request, "folder", "text")
        if not folder or folder.startswith("/") or ".." in folder.split("/"):
            raise ValueError("folder '%s' is not inside the launch's folder" % folder)
        return folder

    @staticmethod
    def check_loss(loss, index):
        if not is_finite(loss):
            raise ValueError("the loss of entry %d is not finite" % index)

    def write_logits(self, name):
        network = self.spec.network
        shape = (self.spec.batch,) + network.label_shape + (network.classes,)
        write_safetensors(self.path_of(name), [("logits", shape, self.adapter.logits())])

    def path_of(self, name):
        return os.path.join(self.folder, name.encode("utf-8"))

    @staticmethod
    def in_order(wanted, tensors):
        """[(name, shape, values)] of the parameters or buffers `wanted`; none may be missing."""
        for item in wanted:
            if item.name not in tensors:
                raise ValueError("tensor '%s' is missing" % item.name)
        return [(item.name, item.shape, tensors[item.name]) for item in wanted]

    def write_parameters(self, name, tensors):
        write_safetensors(self.path_of(name), self.in_order(self.spec.network.parameters, tensors))

    def write_state(self, name):
        """Weights and, after them, the buffers."""
        network = self.spec.network
        tensors = self.in_order(network.parameters, self.adapter.weights())
        if network.buffers:
            tensors += self.in_order(network.buffers, self.adapter.buffers())
        write_safetensors(self.path_of(name), tensors)

    @staticmethod
    def positive(request, key):
        """Steps of one request are limited so that the reply fits a line."""
        value = field(request, key, "integer")
        if not 1 <= value <= 1000000:
            raise ValueError("'%s' must be from 1 to 1000000" % key)
        return value

    def run(self, number, request):
        asynchronous = bool(self.description.asynchronous)
        steps = self.positive(request, "steps")
        block_steps = self.positive(request, "block_steps") if asynchronous else 1
        first_batch = field(request, "first_batch", "integer")
        if first_batch < 0:
            raise ValueError("'first_batch' is negative")
        records = Records((steps + block_steps - 1) // block_steps)
        if field(request, "reset", "bool"):
            self.adapter.reset()
            self.adapter.synchronize()
        run_blocks(self.adapter, self.spec, asynchronous, steps, block_steps, first_batch, records)
        for index, loss in enumerate(records.losses):
            self.check_loss(loss, index)
        return self.reply(number, "ran", ("steps", records.steps), ("begin_ns", records.begin_ns),
                          ("end_ns", records.end_ns), ("losses", records.losses))

    def observe(self, number, request):
        blocks = self.positive(request, "blocks")
        steps = self.positive(request, "block_steps")
        order = observer_order(blocks, field(request, "seed", "integer"))
        asynchronous = bool(self.description.asynchronous)
        records = Records(1 if asynchronous else steps)
        bare, protocol, first = [], [], 0
        for kind in order:
            if kind == "b":
                bare.append(bare_block_ns(self.adapter, self.spec, steps, first))
            else:
                run_blocks(self.adapter, self.spec, asynchronous, steps,
                           steps if asynchronous else 1, first, records)
                protocol.append(records.end_ns[-1] - records.begin_ns[0])
            first = (first + steps) % self.spec.pool
        return self.reply(number, "observed", ("order", order), ("bare_ns", bare),
                          ("protocol_ns", protocol))

    def export(self, number, request):
        folder = self.checked_folder(request)
        self.adapter.synchronize()
        self.write_state(folder + "/weights.safetensors")
        pairs = [("weights", folder + "/weights.safetensors")]
        velocity = self.adapter.velocity()
        if velocity is not None:
            self.write_parameters(folder + "/velocity.safetensors", velocity)
            pairs.append(("velocity", folder + "/velocity.safetensors"))
        del velocity
        gc.collect()
        return self.reply(number, "exported", *pairs)

    def sync(self, number, _):
        self.adapter.synchronize()
        return self.reply(number, "synced")

    def finish(self, number):
        checksum, settings = "", {}
        if self.prepared:
            self.adapter.synchronize()
            crc = 0
            for name, shape, values in self.in_order(self.spec.network.parameters,
                                                     self.adapter.weights()):
                crc = zlib.crc32(float32_bytes(name, values, element_count(shape)), crc)
            checksum = "crc32:%08x" % (crc & 0xFFFFFFFF)
            settings = texts(self.adapter.effective_settings()) or self.prepared_settings
        self.finished = True
        return self.reply(number, "finished",
                          ("peak_memory_bytes", int(self.adapter.peak_memory_bytes())),
                          ("parameter_checksum", checksum), ("effective_settings", settings))


def serve(adapter):
    """Answers dlbench until `finish` or the end of its requests. Returns the exit status."""
    try:
        channel = Channel(int(os.environ["DLBENCH_FD_IN"]), int(os.environ["DLBENCH_FD_OUT"]))
    except (KeyError, ValueError):
        sys.stderr.write("this is an adapter of dlbench: it is started by dlbench, which sets "
                         "DLBENCH_FD_IN and DLBENCH_FD_OUT\n")
        return 2
    server = Server(adapter, os.getcwd() if PYTHON_2 else os.getcwdb())
    try:
        while not server.finished:
            line = channel.read()
            if line is None:
                return 0
            channel.write(server.answer(line))
        return 0
    except (EnvironmentError, ValueError) as error:
        sys.stderr.write("adapter: %s\n" % error)
        return 1
