# -*- coding: utf-8 -*-
"""Unit tests of adapters/sdk/dlbench_adapter.py; run under every interpreter, 2.7 included."""
from __future__ import division

import array
import ctypes
import os
import shutil
import struct
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "adapters", "sdk"))
import dlbench_adapter as sdk  # noqa: E402


def image_of(header, body):
    text = header.encode("utf-8")
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"\0" * body


class JsonTest(unittest.TestCase):
    def test_numbers_survive(self):
        for value in (0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -17, 1 << 62, True, None):
            self.assertEqual(sdk.from_json(sdk.to_json(value)), value)

    def test_numbers_that_are_not_finite_are_refused(self):
        for value in (float("nan"), float("inf"), -float("inf")):
            self.assertRaises(ValueError, sdk.to_json, value)
        self.assertRaises(ValueError, sdk.from_json, u'{"a":NaN}')
        self.assertRaises(ValueError, sdk.from_json, u"Infinity")

    def test_any_text_has_a_form(self):
        self.assertEqual(sdk.to_json(u"\u00e9\"\\\n\u0001"), u'"\u00e9\\"\\\\\\n\\u0001"')
        self.assertEqual(sdk.to_json(b"a\xff\xc3"), u'"a\\\\xFF\\\\xC3"')
        if not sdk.PYTHON_2:
            self.assertEqual(sdk.to_json(u"\udcff"), u'"\\\\xFF"')
            sdk.to_json(u"\ud800").encode("utf-8")

    def test_arrays_are_numbers(self):
        self.assertEqual(sdk.to_json(array.array("l", [1, 2])), u"[1,2]")
        self.assertEqual(sdk.to_json(array.array("d", [0.5])), u"[0.5]")

    def test_wrong_fields_are_named(self):
        for obj, kind, message in (({}, "text", "field 'a' is missing"),
                                   ({"a": 1}, "text", "field 'a' is not a text"),
                                   ({"a": True}, "integer", "field 'a' is not an integer"),
                                   ([], "text", "is not an object")):
            try:
                sdk.field(obj, "a", kind)
                self.fail()
            except ValueError as error:
                self.assertEqual(str(error), message)


class SafetensorsTest(unittest.TestCase):
    def test_headers_are_read(self):
        image = image_of(u'{"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2,1],'
                         u'"data_offsets":[0,8]}}', 8)
        view = sdk.parse_safetensors(image, len(image))["a"]
        self.assertEqual((view.shape, len(view.data), list(view.array())), ((2, 1), 8, [0.0, 0.0]))
        self.assertEqual(view[1].shape, (1,))
        self.assertRaises(IndexError, lambda: view[2])

    def test_wrong_headers_are_refused(self):
        for entry in (u'{"dtype":"F32","shape":[3],"data_offsets":[0,8]}',
                      u'{"dtype":"F32","shape":[2],"data_offsets":[4,12]}',
                      u'{"dtype":"F32","shape":[2],"data_offsets":[8,0]}',
                      u'{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}',
                      u'{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}',
                      u'{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}',
                      u'{"dtype":"F32","shape":[2],"data_offsets":[0]}',
                      u'{"dtype":"F32","shape":[1],"data_offsets":[1,5]}',
                      u'{"dtype":"F99","shape":[2],"data_offsets":[0,8]}',
                      u'{"dtype":"F32","shape":[2]}', u"[]", u"1"):
            image = image_of(u'{"a":%s}' % entry, 8)
            self.assertRaises(ValueError, sdk.parse_safetensors, image, len(image))
        for image in (b"", b"\0" * 7, struct.pack("<Q", 1000), image_of(u"[]", 0)):
            self.assertRaises(ValueError, sdk.parse_safetensors, image, len(image))

    def test_written_files_are_read_back(self):
        folder = tempfile.mkdtemp()
        try:
            path = os.path.join(folder, "made", "a.safetensors")
            raw = sdk.float32_bytes("w", [1.0, 2.0], 2)
            sdk.write_safetensors(path.encode("utf-8"), [(u"w", (2,), raw)])
            text = path if not sdk.PYTHON_2 else path.decode("utf-8")
            view = sdk.SafetensorsFile(text)
            self.assertEqual(list(view.at(u"w", "F32", (2,)).array()), [1.0, 2.0])
            for name, dtype, shape in (("w", "F32", (1, 2)), ("w", "I32", (2,)), ("x", "F32", (2,))):
                self.assertRaises(ValueError, view.at, name, dtype, shape)
            self.assertRaises(ValueError, sdk.write_safetensors, path.encode("utf-8"),
                              [(u"w", (2,), raw), (u"b", (2,), lambda: raw[:4])])
            self.assertEqual(os.listdir(os.path.dirname(path)), ["a.safetensors"])
            self.assertEqual(list(sdk.SafetensorsFile(text).at(u"w", "F32", (2,)).array()),
                             [1.0, 2.0])
        finally:
            shutil.rmtree(folder)

    def test_float32_is_taken_from_any_buffer_and_nothing_else(self):
        values = array.array("f", [1.0, 2.0])
        raw = values.tostring() if sdk.PYTHON_2 else values.tobytes()
        for same in (values, raw, bytearray(raw), memoryview(bytearray(raw)), [1.0, 2.0],
                     (1.0, 2.0)):
            self.assertEqual(sdk.float32_bytes("w", same, 2), raw)
        if not sdk.PYTHON_2:
            self.assertEqual(sdk.float32_bytes("w", memoryview(values), 2), raw)
            wide = array.array("f", [1.0, 9.0, 2.0, 9.0])
            self.assertEqual(sdk.float32_bytes("w", memoryview(wide)[::2], 2), raw)
            self.assertRaises(ValueError, sdk.float32_bytes, "w",
                              memoryview(array.array("d", [1.0])), 2)
        self.assertRaises(ValueError, sdk.float32_bytes, "w", array.array("d", [1.0]), 2)
        self.assertRaises(ValueError, sdk.float32_bytes, "w", array.array("i", [1, 2]), 2)
        self.assertRaises(ValueError, sdk.float32_bytes, "w", values, 3)

    def test_numpy_arrays_are_taken_and_given(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed for this interpreter")
        square = numpy.arange(4, dtype="float32").reshape(2, 2)
        self.assertEqual(sdk.float32_bytes("w", square.T, 4), square.T.tobytes())
        self.assertRaises(ValueError, sdk.float32_bytes, "w", square.astype("float64"), 4)
        image = image_of(u'{"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}', 8)
        view = sdk.parse_safetensors(image, len(image))["a"]
        self.assertEqual(view.numpy().shape, (2, 1))


class RestTest(unittest.TestCase):
    def test_the_clock_is_clock_monotonic(self):
        first = sdk.monotonic_ns()
        if hasattr(time, "CLOCK_MONOTONIC"):
            between = int(time.clock_gettime(time.CLOCK_MONOTONIC) * 1e9)
            # A double resolves less than a microsecond here.
            self.assertLess(abs(between - first), 10 ** 9)
        self.assertGreaterEqual(sdk.monotonic_ns(), first)

    def test_the_clock_of_older_pythons_agrees(self):
        if not hasattr(time, "monotonic_ns"):
            self.skipTest("this is one of them, tested above")
        original = time.monotonic_ns
        del time.monotonic_ns
        try:
            older = sdk.monotonic_clock()
        finally:
            time.monotonic_ns = original
        first, middle, last = original(), older(), original()
        self.assertTrue(first <= middle <= last)

    def test_the_observers_order_is_that_of_the_header(self):
        self.assertEqual(sdk.observer_order(5, 1), "bbpbpbbppp")
        self.assertEqual(sorted(sdk.observer_order(50, 7)), ["b"] * 50 + ["p"] * 50)

    def test_texts_of_exceptions(self):
        self.assertEqual(sdk.text_of(ValueError("a")), "a")
        self.assertEqual(sdk.text_of(ValueError()), "ValueError")
        self.assertTrue(sdk.says_out_of_memory("CUDA out of memory. Tried"))
        self.assertTrue(sdk.says_out_of_memory("DefaultCPUAllocator: can't allocate memory"))

    def test_a_description_knows_its_fields(self):
        self.assertRaises(TypeError, sdk.Description, "a", "1", opps=[])
        self.assertEqual(ctypes.sizeof(ctypes.c_long), 8)  # What the older clock relies on.


if __name__ == "__main__":
    unittest.main()
