"""The minimal adapters in C++ and in Python give the same replies, byte for byte, apart from times
and the language's name; and both refuse what they must.

    python3 cross_test.py MINIMAL_ADAPTER PYTHON...
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "decoys"))
import drive  # noqa: E402

CPP, PYTHONS = os.path.abspath(sys.argv[1]), sys.argv[2:]
TIMES = re.compile(rb'"(begin_ns|end_ns|bare_ns|protocol_ns)":\[[0-9,]*\]')
VERIFY = dict(drive.VERIFY, folder="v", weights_after=[0, 1, 5])
RUN = {"steps": 12, "block_steps": 5, "first_batch": 6, "reset": True}


def argv_of(language):
    if language == "c++":
        return [CPP]
    return [language, "-B", os.path.join(HERE, "minimal_adapter.py")]


def change_pool(name, dtype=None, shape=None, place=None, value=None):
    """For `spoil`: gives the pool's tensor `name` another type or shape, or one other element."""
    def spoil(folder):
        path = os.path.join(folder, "pool.safetensors")
        tensors = []
        for key, (old_shape, values) in drive.read_safetensors(path).items():
            old_dtype = {"f": "F32", "i": "I32", "B": "U8"}[values.typecode]
            if key == name and place is not None:
                values[place] = value
            changes = (dtype or old_dtype, shape or old_shape) if key == name else (old_dtype,
                                                                                    old_shape)
            tensors.append((key,) + changes + (values.tobytes(),))
        drive.write_safetensors(path, tensors)
    return spoil


def files_in(folder):
    result = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(parent, name), "rb") as handle:
                result[os.path.relpath(os.path.join(parent, name), folder)] = handle.read()
    return result


def converse(language, lines, asynchronous=False, network=None, spoil=None):
    """Raw replies without times, the files made, exit status. `spoil` may change the launch's
    folder before the adapter sees it."""
    with tempfile.TemporaryDirectory() as folder:
        # A path that is not ASCII, in a locale that cannot spell it.
        folder = os.path.join(folder, "d\u00e9p\u00f4t")
        os.mkdir(folder)
        environment = {"DLBENCH_SDK": os.path.join(ROOT, "adapters", "sdk"), "LC_ALL": "C",
                       "MINIMAL_ASYNCHRONOUS": "1" if asynchronous else "0"}
        with drive.Session(argv_of(language), folder, environment) as session:
            prepare = drive.prepare_fields(folder, network or drive.minimal_network())
            if spoil:
                spoil(folder)
            replies = []
            for number, (kind, fields) in enumerate(lines, 1):
                fields = dict(prepare, **fields) if kind == "prepare" else fields
                line = fields if isinstance(fields, bytes) else \
                    json.dumps(dict(fields, id=number, type=kind)).encode()
                reply = session.send_line(line)
                if reply is None:
                    replies.append(None)
                    break
                reply = reply.replace(b'"language":"python"', b'"language":"c++"')
                replies.append(TIMES.sub(rb'"\1":[]', reply))
            return replies, files_in(folder), session.close()


class CrossTest(unittest.TestCase):
    def assert_same(self, lines, **options):
        """All languages agree; returns the parsed replies."""
        replies, files, status = converse("c++", lines, **options)
        for language in PYTHONS:
            with self.subTest(python=language):
                other_replies, other_files, other_status = converse(language, lines, **options)
                self.assertEqual(other_replies, replies)
                self.assertEqual(sorted(other_files), sorted(files))
                self.assertEqual([n for n in files if other_files[n] != files[n]], [])
                self.assertEqual(other_status, status)
        return [reply and json.loads(reply.decode()) for reply in replies]

    def test_a_whole_launch(self):
        for asynchronous in (False, True):
            replies = self.assert_same(
                [("hello", {"protocol": 1}), ("prepare", {}), ("verify", VERIFY), ("run", RUN),
                 ("sync", {}), ("export", {"folder": "s/deep"}), ("run", dict(RUN, reset=False)),
                 ("observer", {"blocks": 5, "block_steps": 3, "seed": 9}), ("finish", {})],
                asynchronous=asynchronous)
            self.assertEqual(replies[3]["steps"], [5, 5, 2] if asynchronous else [1] * 12)
            self.assertEqual(len(replies[3]["losses"]), 3 if asynchronous else 12)
            self.assertEqual(replies[3]["losses"][0 if not asynchronous else 2],
                             self.assert_same([("prepare", {}), ("run", dict(RUN, steps=1 if not
                                               asynchronous else 12))],
                                              asynchronous=asynchronous)[1]["losses"][-1])
            self.assertEqual(sorted(replies[2]["weights"]), ["0", "1", "5"])
            self.assertEqual(sorted(replies[7]["order"]), ["b"] * 5 + ["p"] * 5)
            self.assertEqual(replies[8]["type"], "finished")

    def test_reset_returns_to_the_start(self):
        replies = self.assert_same([("prepare", {}), ("verify", VERIFY), ("run", RUN),
                                    ("verify", VERIFY)])
        self.assertEqual(replies[1]["losses"], replies[3]["losses"])

    def test_verify_without_batches_is_a_reset(self):
        replies = self.assert_same([("prepare", {}), ("verify", dict(
            VERIFY, batches=[], learning_rates=[], weights_after=[]))])
        self.assertEqual(replies[1], {"id": 2, "type": "verified", "losses": [], "weights": {}})

    def test_words_buffers_and_masks(self):
        network = drive.words_network()
        pools = []
        replies = self.assert_same(
            [("prepare", {}), ("verify", VERIFY), ("run", dict(RUN, steps=1)),
             ("export", {"folder": "s"}), ("verify", dict(VERIFY, folder="again")), ("finish", {})],
            network=network,
            spoil=lambda folder: pools.append(drive.read_safetensors(folder + "/pool.safetensors")))
        self.assertEqual(replies[0]["effective_settings"]["state"], "carried")
        self.assertEqual([reply["type"] for reply in replies],
                         ["prepared", "verified", "ran", "exported", "verified", "finished"])
        self.assertEqual(replies[1]["losses"], replies[4]["losses"])
        _, files, _ = converse("c++", [("prepare", {}), ("verify", VERIFY), ("export", {
            "folder": "s"})], network=network)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "tensors")

            def read(name):
                with open(path, "wb") as handle:
                    handle.write(files[name])
                return drive.read_safetensors(path)

            self.assertEqual(read("v/logits.safetensors")["logits"][0], [16, 6, 10])
            at_first = read("v/weights-0.safetensors")
            self.assertEqual(list(at_first)[-2:] + list(at_first)[2:4],
                             ["memory.hidden", "memory.cell", "memory.weight_hh", "memory.bias"])
            self.assertEqual(at_first["memory.cell"][0], [16, 5])
            self.assertEqual(set(at_first["memory.cell"][1]), {0.0})
            count = 16 * 6
            first = sum(pools[0]["x"][1][:count]) + 1000 * sum(pools[0]["mask.drop"][1][:5 * count])
            self.assertEqual(set(read("v/weights-1.safetensors")["memory.hidden"][1]), {first})
            self.assertEqual(read("s/weights.safetensors")["memory.hidden"],
                             read("v/weights-5.safetensors")["memory.hidden"])
            self.assertNotIn("memory.cell", read("s/velocity.safetensors"))

    def test_wrong_words_and_masks_are_named(self):
        network = drive.words_network()
        for spoil, message in [
                (change_pool("x", place=6 * 16 * 2 + 6 * 3 + 4, value=20),
                 "token 20 at [2, 3, 4] is outside of a vocabulary of 20"),
                (change_pool("x", place=0, value=-1),
                 "token -1 at [0, 0, 0] is outside of a vocabulary of 20"),
                (change_pool("labels", place=6 * 16 + 1, value=10),
                 "label 10 at [1, 0, 1] is outside of 10 classes"),
                (change_pool("x", dtype="F32"),
                 "tensor 'x' is F32 [8, 16, 6] instead of I32 [8, 16, 6]"),
                (change_pool("labels", shape=[8, 96]),
                 "tensor 'labels' is I32 [8, 96] instead of I32 [8, 16, 6]"),
                (change_pool("mask.drop", place=30 * 16 * 7 + 30 * 15 + 29, value=2),
                 "mask.drop is 2 at [7, 15, 5, 4] instead of 0 or 1"),
                (change_pool("mask.drop", shape=[8, 16, 30]),
                 "tensor 'mask.drop' is U8 [8, 16, 30] instead of U8 [8, 16, 6, 5]")]:
            reply = self.assert_same([("prepare", {})], network=network, spoil=spoil)[0]
            self.assertEqual((reply["kind"], reply["message"]), ("failed", message))
        network["nodes"].append(dict(network["nodes"][2], name="unknown"))
        reply = self.assert_same([("prepare", {"network": network})],
                                 network=drive.words_network())[0]
        self.assertEqual(reply["message"], "tensor 'mask.unknown' is missing in the file")

    def test_attributes_may_be_lists(self):
        network = drive.minimal_network()
        network["nodes"][0]["attributes"]["padding"] = [0, 1, 2, 3]
        reply = self.assert_same([("prepare", {"network": network})])[0]
        self.assertEqual(reply["effective_settings"]["padding"], "[0, 1, 2, 3]")

    def refuse(self, kind, message, prepared, request, fields):
        lines = ([("prepare", {})] if prepared else []) + [(request, fields)]
        reply = self.assert_same(lines)[-1]
        self.assertEqual((reply["type"], reply["kind"], reply["message"]),
                         ("error", kind, message))

    def test_what_is_not_built_is_unsupported(self):
        network = drive.minimal_network()
        for fields, message in [
                ({"mode": "infer"}, "mode infer is not built"),
                ({"device": "cuda:0"}, "device cuda:0 is not built"),
                ({"precision": "bfloat16"}, "precision bfloat16 is not built"),
                ({"input": "fed"}, "input fed is not built"),
                ({"preset": "mine"}, "preset mine is not built"),
                ({"world_size": 2}, "world_size 2 is not built"),
                ({"network": dict(network, input={"kind": "speech", "shape": [36]})},
                 "input kind speech is not built"),
                ({"settings": {"a": "1"}}, "setting a is not known"),
                ({"network": dict(network, nodes=[dict(network["nodes"][0], op="lrn")])},
                 "op lrn is not built"),
                ({"network": dict(network, loss=dict(network["loss"], kind="hinge"))},
                 "loss hinge is not built"),
                ({"network": dict(network, optimizer=dict(network["optimizer"], kind="adam"))},
                 "optimizer adam is not built")]:
            self.refuse("unsupported", message, False, "prepare", fields)
        self.refuse("unsupported", "request 'evaluate' is not known", True, "evaluate", {})
        self.refuse("unsupported", "protocol 2 is not known; this adapter speaks 1", False, "hello",
                    {"protocol": 2})

    def test_bad_requests_fail_with_a_reason(self):
        self.refuse("failed", "'run' came before 'prepare'", False, "run", RUN)
        self.refuse("failed", "'prepare' came twice: one network a process", True, "prepare", {})
        self.refuse("failed", "field 'steps' is missing", True, "run", {})
        self.refuse("failed", "field 'steps' is not an integer", True, "run", dict(RUN, steps="1"))
        self.refuse("failed", "'steps' must be from 1 to 1000000", True, "run", dict(RUN, steps=0))
        self.refuse("failed", "batch 8 is outside of the pool of 8", True, "verify",
                    dict(VERIFY, batches=[8] * 5))
        self.refuse("failed", "'batches' and 'learning_rates' differ in length", True, "verify",
                    dict(VERIFY, batches=[0]))
        for folder in ("/tmp", "..", "a/../../b", ""):
            self.refuse("failed", "folder '%s' is not inside the launch's folder" % folder, True,
                        "export", {"folder": folder})
        self.refuse("failed", "'threads' is 0, out of range", False, "prepare", {"threads": 0})
        self.refuse("failed", "cannot read '/none': No such file or directory", False, "prepare",
                    {"weights": "/none"})
        self.refuse("failed", "tensor 'labels' is I32 [8, 16] instead of I32 [8, 17]", False,
                    "prepare", {"batch": 17})
        network = drive.minimal_network()
        reply = self.assert_same([("prepare", {"network": dict(network, classes=2)})])[0]
        self.assertRegex(reply["message"], r"^label \d at \[0, \d+\] is outside of 2 classes$")

    def test_failures_of_the_framework_have_a_kind(self):
        for batch, kind, message in [
                (13, "out_of_memory", "the process could not allocate memory"),
                (14, "out_of_memory", "DefaultCPUAllocator: can't allocate memory"),
                (15, "failed", "bad byte \\xFF")]:
            with tempfile.TemporaryDirectory() as folder:
                fields = drive.prepare_fields(folder, drive.minimal_network(), batch)
                self.refuse(kind, message, False, "prepare", fields)

    def test_garbage_is_answered_and_the_end_of_requests_ends_it(self):
        for language in ["c++"] + PYTHONS:
            for garbage in (b"", b"{", b"[]", b"\xff\xfe", b'{"id":"x"}', b'{"id":1,"x":NaN}'):
                replies, _, status = converse(language, [("raw", garbage)])
                self.assertEqual(json.loads(replies[0].decode())["kind"], "failed", garbage)
                self.assertEqual(status, 0)

    def test_started_by_hand_it_says_what_it_is(self):
        for language in ["c++"] + PYTHONS:
            environment = dict(os.environ, DLBENCH_SDK=os.path.join(ROOT, "adapters", "sdk"))
            environment.pop("DLBENCH_FD_IN", None)
            process = subprocess.run(argv_of(language), env=environment, stderr=subprocess.PIPE)
            self.assertEqual(process.returncode, 2)
            self.assertIn(b"this is an adapter of dlbench", process.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
