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


def files_in(folder):
    result = {}
    for parent, _, names in os.walk(folder):
        for name in names:
            with open(os.path.join(parent, name), "rb") as handle:
                result[os.path.relpath(os.path.join(parent, name), folder)] = handle.read()
    return result


def converse(language, lines, asynchronous=False):
    """Raw replies without times, the files made, exit status."""
    with tempfile.TemporaryDirectory() as folder:
        # A path that is not ASCII, in a locale that cannot spell it.
        folder = os.path.join(folder, "d\u00e9p\u00f4t")
        os.mkdir(folder)
        environment = {"DLBENCH_SDK": os.path.join(ROOT, "adapters", "sdk"), "LC_ALL": "C",
                       "MINIMAL_ASYNCHRONOUS": "1" if asynchronous else "0"}
        with drive.Session(argv_of(language), folder, environment) as session:
            prepare = drive.prepare_fields(folder, drive.minimal_network())
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
        self.assertRegex(reply["message"], r"^label \d is outside of 2 classes$")

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
