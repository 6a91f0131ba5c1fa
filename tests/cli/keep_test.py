"""What a run keeps can be checked later: --keep's files in plain Python, the store's figures by
`dlbench check`."""
import json
import math
import os
import re
import sqlite3
import struct
import sys
import unittest

from home import NETWORK, HomeTest, strict_json

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../decoys"))
import oracle  # noqa: E402: float64 training in plain Python

#: 6-4-3 with tanh, so that something flows back through a layer.
DEEPER = NETWORK.replace("[[layers]]", """[[layers]]
name = "fc0"
op = "dense"
units = 4
bias = true
[[layers]]
name = "tanh0"
op = "tanh"
[[layers]]""")
TYPES = {"F32": "f", "F64": "d", "I32": "i"}


def tensors(*path):
    """{name: values} of a safetensors file."""
    with open(os.path.join(*path), "rb") as file:
        content = file.read()
    size, = struct.unpack("<Q", content[:8])
    values = {}
    header = json.loads(content[8:8 + size].decode())
    header.pop("__metadata__", None)
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        raw = content[8 + size + begin:8 + size + end]
        values[name] = [v for v, in struct.iter_unpack("<" + TYPES[entry["dtype"]], raw)]
    return values


def chunks(values, size):
    return [values[i:i + size] for i in range(0, len(values), size)]


def change(after, before):
    return [a - b for a, b in zip(after, before)]


def figures(candidate, reference):
    """Norm-wise relative error, and the worst element over the root mean square."""
    rms = math.sqrt(sum(r * r for r in reference) / len(reference))
    return (oracle.error(candidate, reference),
            max(abs(a - r) for a, r in zip(candidate, reference)) / rms)


class KeepTest(HomeTest):
    def setUp(self):
        super().setUp()
        self.write("networks/tiny.toml", DEEPER)
        _, report = self.run_tiny("plain", "--keep", status=0)
        self.row = report["results"][0]
        self.campaign = os.path.join(self.out, "campaign-1")
        self.inputs = os.path.join(self.campaign, "inputs", "tiny-b8")
        self.reference = os.path.join(self.inputs, "reference")

    def oracle(self):
        """Plain Python on the kept network, weights and batches."""
        independent = oracle.Oracle.__new__(oracle.Oracle)
        with open(os.path.join(self.inputs, "network.json"), encoding="utf-8") as file:
            independent.network = json.load(file)
        independent.batch = 8
        independent.initial = tensors(self.inputs, "weights.safetensors")
        pool = tensors(self.inputs, "batches.safetensors")
        independent.x = chunks(chunks(pool["x"], 6), 8)
        independent.labels = chunks(pool["labels"], 8)
        independent.reset()
        return independent

    def test_the_reference_can_be_recomputed_by_following_its_readme(self):
        with open(os.path.join(self.reference, "README.md"), encoding="utf-8") as file:
            readme = file.read()
        steps = re.findall(r"(\d+)\. batch (\d+) of the pool, learning rate (\S+), loss (\S+)",
                           readme)
        self.assertEqual([int(step[0]) for step in steps], [1, 2, 3, 4, 5])
        self.assertGreater(len({rate for _, _, rate, _ in steps}), 1, "case C31")
        independent = self.oracle()
        for number, batch, rate, loss in steps:
            found, logits, gradients = independent.step(int(batch), float(rate))
            self.assertAlmostEqual(found / float(loss), 1.0, 12)
            if number == "1":
                kept = tensors(self.reference, "gradients.safetensors")
                self.assertEqual(sorted(kept), sorted(gradients))
                for name, values in gradients.items():
                    self.assertLess(oracle.error(values, kept[name]), 1e-12, name)
                self.assertLess(oracle.error(
                    logits, tensors(self.reference, "logits.safetensors")["logits"]), 1e-12)
            path = os.path.join(self.reference, "weights-%s.safetensors" % number)
            if os.path.exists(path):
                for name, values in tensors(path).items():
                    self.assertLess(oracle.error(independent.weights[name], values), 1e-12, name)
        self.assertTrue(os.path.exists(os.path.join(self.reference, "weights-5.safetensors")))

    def candidates(self, worst):
        """The figures of every launch and moment for the quantity and tensor of `worst`."""
        initial = tensors(self.inputs, "weights.safetensors")
        for launch in sorted(os.listdir(os.path.join(self.campaign, "launches"))):
            for moment in ("verify-before", "verify-after"):
                folder = os.path.join(self.campaign, "launches", launch, moment)
                name = worst["tensor"] or "logits"
                file = {"logits": "logits", "gradient": "gradients",
                        "update": "weights-%d" % worst["steps"]}[worst["what"]] + ".safetensors"
                if not os.path.exists(os.path.join(folder, file)):
                    continue  # Not asked for in a light check.
                found = tensors(folder, file)[name]
                right = tensors(self.reference, file)[name]
                if worst["what"] == "update":
                    found, right = change(found, initial[name]), change(right, initial[name])
                yield figures(found, right)

    def test_the_gates_figures_can_be_recomputed_from_the_kept_tensors(self):
        shown = {worst["what"]: worst for worst in self.row["verification"]["worst"]}
        for what in ("logits", "gradient", "update"):
            worst = shown[what]
            found = list(self.candidates(worst))
            self.assertGreaterEqual(len(found), 2, what)
            used = [max(error / worst["limit"], element / worst["worst_limit"])
                    for error, element in found]
            # Of all launches the one that came nearest to its limit is shown.
            error, element = found[used.index(max(used))]
            self.assertAlmostEqual(error / worst["error"], 1.0, 6, what)
            self.assertAlmostEqual(element / worst["worst_error"], 1.0, 6, what)
            self.assertLess(max(used), 1.0)

    def test_without_keep_the_adapters_tensors_go_and_its_output_stays(self):
        self.call(*self.run_words("plain"), status=0)
        kept = os.listdir(os.path.join(self.out, "campaign-2", "launches", "gate-1-1"))
        self.assertEqual(sorted(kept), ["stderr.txt", "stdout.txt"])


class CheckTest(HomeTest):
    def setUp(self):
        super().setUp()
        self.call(*self.run_words("plain", rounds=2), status=0)

    def change(self, sql):
        connection = sqlite3.connect(os.path.join(self.out, "results.sqlite"))
        with connection:
            self.assertEqual(connection.execute(sql).rowcount, 1)
        connection.close()

    def check(self, status):
        return self.call("check", "--out", self.out, status=status)

    def test_an_untouched_store_holds(self):
        self.assertRegex(self.check(0).stdout, r"^3 launches, \d+ figures: all re-derived$")

    def test_a_changed_figure_is_named_with_its_launch(self):
        self.change("UPDATE launch SET median_step_seconds = median_step_seconds * 1.0001 "
                    "WHERE id = 2")
        result = self.check(1)
        self.assertEqual(len(result.stdout.splitlines()), 1)
        self.assertRegex(result.stdout, r"launch 2\b.*median")
        self.assertIn("do not hold", result.stderr)

    def test_C64_half_a_record_is_named_with_its_launch_and_the_rest_is_read(self):
        self.change("UPDATE launch SET records = substr(records, 1, length(records) - 7) "
                    "WHERE id = 3")
        self.assertRegex(self.check(1).stdout, r"launch 3\b.*record")
        report = strict_json(self.report())
        self.assertEqual(report["results"][0]["launches_failed"], 1)
        self.assertRegex(report["warnings"][0], "records of launch 3 are torn")

    def test_times_of_a_launch_that_was_not_proved_equal_are_named(self):
        self.change("UPDATE verification SET status = 'unequal' WHERE launch = 2")
        self.assertRegex(self.check(1).stdout, r"launch 2\b")
        self.assertWithoutTiming("plain")


if __name__ == "__main__":
    unittest.main()
