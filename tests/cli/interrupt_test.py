"""Ctrl-C: what is done is kept, nothing is left running, --resume goes on."""
import signal
import subprocess
import unittest

from home import HomeTest, strict_json


class InterruptTest(HomeTest):
    def interrupt(self, words, line, number=signal.SIGINT):
        """Runs `words` until stderr holds a line with `line` and a worker is there, then
        interrupts. stdout and stderr."""
        process = self.start(*words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        shown = ""
        while line not in shown:
            got = process.stderr.readline()
            self.assertTrue(got, shown)
            shown += got
        while not self.workers():
            self.assertIsNone(process.poll())
        process.send_signal(number)
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, shown + err)
        self.assertNoWorkers()
        return out, shown + err

    def launches(self):
        return self.query("SELECT id, configuration, round, purpose, status, hex(records) "
                          "FROM launch ORDER BY id")

    def test_C64_what_was_done_is_kept_and_a_resumed_run_makes_only_the_rest(self):
        # Starts of "later": hello, gate, rounds 1 and 2, and this one, which never answers.
        self.add_later("later", 5, "hello:hang", last=5)
        words = self.run_words("plain,later", "--format", "json", rounds=4)
        out, _ = self.interrupt(words, "round 3: later")
        report = strict_json(out)
        self.assertFalse(report["finished"])
        self.assertIn("--resume", report["warnings"][0])
        for row in report["results"]:
            self.assertEqual(row["status"], "timed")
            self.assertGreaterEqual(row["step_seconds"]["launches"], 2)
        before = self.launches()
        self.assertEqual({launch[4] for launch in before}, {"done"})
        self.call("check", "--out", self.out, status=0)

        result = self.call(*words, "--resume", status=0)
        self.assertIn("going on with campaign 1", result.stderr)
        report = strict_json(result.stdout)
        self.assertTrue(report["finished"])
        self.assertEqual([row["step_seconds"]["launches"] for row in report["results"]], [4, 4])
        after = self.launches()
        self.assertEqual(after[:len(before)], before)
        timed = [launch[1:3] for launch in after if launch[3] == "timed"]
        self.assertEqual(len(timed), 8)
        self.assertEqual(len(set(timed)), 8, "a launch was made twice")
        self.assertEqual(self.query("SELECT count(*) FROM campaign"), [(1,)])

    def test_an_interrupted_gate_leaves_nothing_that_looks_like_a_result(self):
        self.add_fake("hangs", "prepare:stubborn", "prepare:hang")
        out, _ = self.interrupt(self.run_words("hangs", "--format", "json"), "gate: hangs",
                                signal.SIGTERM)
        report = strict_json(out)
        self.assertFalse(report["finished"])
        for row in report["results"]:
            self.assertEqual((row["status"], row["failure_kind"]), ("failed", "interrupted"))
            self.assertIsNone(row["step_seconds"])

    def test_interrupted_before_the_first_hello(self):
        self.add_fake("hangs", "hello:hang")
        process = self.start(*self.run_words("hangs"), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        while not self.workers():
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130)
        self.assertNoWorkers()

    def test_a_finished_campaign_or_another_plan_is_not_resumed(self):
        words = self.run_words("plain")
        text = self.call(*words, "--resume", status=2).stderr
        self.assertIn("nothing to resume", text)
        self.call(*words, status=0)
        self.assertIn("nothing to resume", self.call(*words, "--resume", status=2).stderr)
        self.assertEqual(self.query("SELECT count(*) FROM campaign"), [(1,)])


if __name__ == "__main__":
    unittest.main()
