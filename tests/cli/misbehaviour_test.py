"""Adapters that misbehave. Each is a typed failure with a clear message and without a figure, the
exit status is 1, and what stands beside it is measured as if nothing had happened."""
import csv
import io
import json
import os
import struct
import subprocess
import sys
import unittest

from home import SHORT, HomeTest, strict_json

#: Prints 300 MiB, to both streams by turns, and becomes the program of its arguments.
PRINT = """import os, sys
for _ in range(150):
    os.write(1, b"p" * 2**20)
    os.write(2, b"p" * 2**20)
os.execv(sys.argv[1], sys.argv[1:])
"""


class MisbehaviourTest(HomeTest):
    def assertFails(self, framework, kind, *words, beside="plain"):
        """Runs `framework` beside an honest one. Its row."""
        result, report = self.run_tiny("%s,%s" % (framework, beside), status=1)
        row = {r["framework"]: r for r in report["results"]}[framework]
        self.assertEqual((row["status"], row["failure_kind"]), ("failed", kind), row["reason"])
        for word in words:
            self.assertIn(word, row["reason"])
            self.assertIn(word.split("\n")[0], result.stderr)
        self.assertWithoutTiming(framework)
        self.assertTimed(beside)
        self.assertEqual(report["comparisons"], [])
        self.assertNoWorkers()
        return row

    def test_what_is_no_answer(self):
        for name, orders, words in (
                ("garbage", ["hello:line:%PDF-1.4"], ["hello", "not JSON"]),
                ("half", ['hello:raw:{"id":', "hello:exit:0"], ["in the middle of its answer"]),
                ("endless", ["hello:long-line:1024"], ["longer than 16777216 bytes"]),
                ("nan", ['prepare:fields:"batch":NaN'], ["prepare", "'batch'"]),
                ("closed", ["hello:close-reply", "hello:hang"], ["closed its reply"]),
                ("twice", ["hello:line:{}", "hello:line:{}"], ["hello"]),
                ("other", ['hello:line:{"id":9,"type":"hello"}'], ["id 9"])):
            with self.subTest(name):
                self.add_fake(name, *orders)
                self.assertFails(name, "protocol_error", *words)

    def test_C66_an_end_without_an_answer_is_no_result(self):
        self.add_fake("quits", "prepare:stderr:no licence\n", "prepare:exit:0")
        row = self.assertFails("quits", "exited", "exited with status 0", "no result")
        self.assertIn("no licence", row["log_tail"])

    def test_C65_a_crash_in_any_cell_leaves_a_valid_report_and_the_others_ranked(self):
        self.add("twin", os.environ["PLAIN_ADAPTER"])
        self.add_fake("broken", "prepare:stderr:Segmentation faults ahead\n", "prepare:signal:11")
        for order in ("broken,plain,twin", "plain,broken,twin", "plain,twin,broken"):
            with self.subTest(order):
                _, report = self.run_tiny(order, status=1)
                self.assertEqual([r["framework"] for r in report["results"]], order.split(","))
                row = report["results"][order.split(",").index("broken")]
                self.assertEqual((row["status"], row["failure_kind"], row["signal"]),
                                 ("failed", "crashed", 11))
                self.assertIn("Segmentation faults ahead", row["log_tail"])
                self.assertIn("signal 11 (Segmentation fault)", self.report("table"))
                self.assertWithoutTiming("broken")
                self.assertTimed("plain")
                self.assertTimed("twin")
                self.assertEqual(len(report["comparisons"]), 1)
        self.assertIn("re-derived", self.call("check", "--out", self.out, status=0).stdout)

    def test_a_crash_in_a_timed_launch_is_a_failure_too(self):
        self.add_later("later", 3, "run:signal:6")
        row = self.assertFails("later", "crashed", "signal 6 (Aborted)")
        self.assertEqual(row["verification"]["status"], "equal")

    def test_C66_over_the_memory_limit_is_out_of_memory_and_the_next_cell_is_unaffected(self):
        self.add_fake("greedy", "prepare:allocate:400")
        path = self.write("experiment.toml", """networks = "tiny"
frameworks = ["greedy", "plain"]
rounds = 1
memory_limit_bytes = 268435456
""")
        result = self.call("run", "--experiment", path, "--out", self.out, "--format", "json",
                           *SHORT, status=1)
        row = strict_json(result.stdout)["results"][0]
        self.assertEqual((row["status"], row["failure_kind"]), ("failed", "out_of_memory"))
        self.assertIn("256 MiB", row["reason"])
        self.assertWithoutTiming("greedy")
        self.assertTimed("plain")

    def test_C67_a_reason_with_every_kind_of_character_is_one_record(self):
        message = json.dumps("line one\nline two\t\"quoted\" \\ NUL \0 end. " + "x" * 100000)
        self.add_fake("talkative", 'prepare:error:"kind":"failed","message":' + message)
        row = self.assertFails("talkative", "adapter_failed", "line one")
        self.assertIn("line two\t\"quoted\" \\ NUL", row["reason"])
        self.assertIn("cut]", row["reason"])
        self.assertLess(len(row["reason"]), 20000)
        rows = list(csv.DictReader(io.StringIO(self.report("csv"), newline="")))
        self.assertEqual([r["framework"] for r in rows], ["talkative", "plain"])
        self.assertEqual(rows[0]["failure_kind"], "adapter_failed")

    def test_C71_printing_without_end_neither_fills_memory_nor_hides_the_answer(self):
        self.write("bin/print.py", PRINT)
        self.add("loud", sys.executable, os.path.join(self.home, "bin/print.py"),
                 os.environ["PLAIN_ADAPTER"])
        process = self.start(*self.run_words("loud", "--format", "json"),
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        row = strict_json(process.stdout.read().decode())["results"][0]
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.WEXITSTATUS(status)
        self.assertEqual(status, 0)
        self.assertEqual(row["status"], "timed")
        self.assertLess(usage.ru_maxrss, 100 * 1024)  # KiB; the largest of dlbench and adapters.
        log = os.path.join(self.out, "campaign-1", "launches", "round-0-1", "stdout.txt")
        with open(log, "rb") as file:
            self.assertIn(b"[dlbench left out", file.read())
        self.assertLess(os.path.getsize(log), (1 << 20) + 100)

    def test_a_tensor_of_another_shape_is_refused_with_both_shapes(self):
        header = json.dumps({"logits": {"dtype": "F32", "shape": [3, 8],
                                        "data_offsets": [0, 96]}}).encode()
        shaped = self.write("shaped", struct.pack("<Q", len(header)) + header + bytes(96))
        self.add_filtered("shapes", """
    for name in re.findall(rb'"logits":"([^"]*)"', line):
        open(name, "wb").write(open(%r, "rb").read())""" % shaped)
        self.assertFails("shapes", "wrong_result", "logits", "[3, 8]", "[8, 3]")

    def test_a_file_outside_of_the_launchs_folder_is_refused(self):
        self.add_filtered("escapes", """line = line.replace(b'"logits":"', b'"logits":"../../')""")
        self.assertFails("escapes", "protocol_error", "../../verify-before")

    def test_C17_a_loss_that_is_no_number_is_refused(self):
        self.add_filtered("losses", r"""
    line = re.sub(rb'"losses":\[[^],]*', b'"losses":[NaN', line)""")
        self.assertFails("losses", "wrong_result", "loss of step 0", "NaN")

    def test_an_end_that_is_not_orderly_is_not_timed(self):
        plain = os.environ["PLAIN_ADAPTER"]
        for name, script, words in (
                ("four", "'%s'; exit 4" % plain, ["finish", "exited with status 4"]),
                ("aborts", "'%s'; kill -ABRT $$" % plain, ["finish", "signal 6 (Aborted)"]),
                ("leaves", "sleep 1000 <&- >/dev/null 2>&1 & exec '%s'" % plain,
                 ["finish", "left processes behind", "sleep"])):
            with self.subTest(name):
                self.add(name, script=script)
                self.assertFails(name, "protocol_error", *words)

    def test_processes_that_hide_are_ended(self):
        self.add_fake("hides", "hello:escape:pid", "prepare:exit:3")
        self.assertFails("hides", "exited", "exited with status 3")

    def test_a_program_that_cannot_be_started(self):
        self.add("none", "x")
        self.write("bin/dlbench-adapter-none", "no program", 0o755)
        row = self.assertFails("none", "spawn_failed", "dlbench-adapter-none")
        self.assertEqual(row["mode_label"], "unknown")

    def test_unsupported_is_no_failure(self):
        self.add_fake("lacks", 'prepare:error:"kind":"unsupported","message":"no dense layer"')
        _, report = self.run_tiny("lacks,plain", status=0)
        self.assertEqual(report["results"][0]["status"], "unsupported")
        self.assertIn("no dense layer", report["results"][0]["reason"])
        self.assertWithoutTiming("lacks")
        _, report = self.run_tiny("lacks", status=3)
        _, report = self.run_tiny("plain", "--precision", "float16", status=3)
        self.assertIn("float16", report["results"][0]["reason"])


if __name__ == "__main__":
    unittest.main()
