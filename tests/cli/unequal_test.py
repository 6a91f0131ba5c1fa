"""Adapters that do other work than was asked for, or report other times than it took: one planted
fault each (tests/decoys). That all are caught, and by which check, is tests/decoys' to test; so is
what depends on how busy the machine is, as the processor time of a thread too many."""
import os
import unittest

from home import HomeTest

#: Steps and launches that are long beside what is allowed for waking up, scheduling, answering.
LONGER = ("--launch-seconds", "0.3", "--warmup-seconds", "0.05", "--batch", "4096", "--threads",
          "1")


class DecoyTest(HomeTest):
    def run_decoy(self, decoy, **words):
        """The row of the adapter with that fault, run beside an honest one; exit status 1."""
        name = decoy.replace("_", "-")
        self.add(name, os.environ["DECOY_ADAPTER"], DLBENCH_DECOY=decoy)
        result, report = self.run_tiny(name + ",plain", status=1, **words)
        self.assertWithoutTiming(name)
        self.assertTimed("plain")
        self.assertEqual(report["comparisons"], [])
        self.assertIn(name, report["sentence"] + result.stderr)
        return {row["framework"]: row for row in report["results"]}[name]

    def test_the_same_program_without_a_fault_is_timed(self):
        self.add("honest", os.environ["DECOY_ADAPTER"])
        self.run_tiny("honest,plain", status=0)
        self.assertTimed("honest")

    def test_other_work_is_unequal_with_what_differs_and_why(self):
        for decoy, reason, diagnosis in (
                ("softmax_twice", "loss", "softmax"),
                ("half_batch", "gradient", "batch"),
                ("not_normalised", "logits", "not scaled"),
                ("rate_doubled", "update", "learning rate"),
                ("half_work_after_ten", "run", "")):
            with self.subTest(decoy):
                row = self.run_decoy(decoy)
                self.assertEqual(row["status"], "unequal")
                self.assertIn(reason, row["reason"])
                self.assertIn(diagnosis, row["verification"]["diagnosis"] or "")
                failed = [check for check in row["verification"]["worst"] if not check["passed"]]
                self.assertTrue(failed)
                for form in ("table", "markdown", "csv"):
                    self.assertIn("unequal", self.report(form))

    def test_verify_finds_it_too_without_timing_anything(self):
        self.add("wrong", os.environ["DECOY_ADAPTER"], DLBENCH_DECOY="softmax_twice")
        words = ("verify", "tiny", "--batch", "8", "--threads", "1", "--out", self.out,
                 "--frameworks")
        result = self.call(*words, "wrong,plain", status=1)
        self.assertIn("unequal", result.stdout)
        self.assertEqual(self.row("plain")["status"], "verified")
        self.assertWithoutTiming("plain")
        self.assertWithoutTiming("wrong")
        self.call(*words, "plain", status=0)

    def refused(self, decoy, kind, *words, **more):
        row = self.run_decoy(decoy, **more)
        self.assertEqual((row["status"], row["failure_kind"]), ("failed", kind), row["reason"])
        for word in words:
            self.assertIn(word, row["reason"])

    def test_C01_C02_C03_an_answer_before_the_work_is_done_is_refused(self):
        self.refused("early_return", "wrong_result", "before its work was done",
                     lengths=LONGER)
        self.refused("deferred_work", "wrong_result", "before its work was done",
                     lengths=LONGER)

    def test_C04_steps_that_were_not_taken_are_not_counted(self):
        self.refused("steps_doubled", "wrong_result", "steps")
        self.refused("times_halved", "wrong_result", "unaccounted time", lengths=LONGER)
        self.refused("times_shifted", "wrong_result", "CLOCK_MONOTONIC")

    def test_claimed_steps_are_unequal(self):
        self.assertEqual(self.run_decoy("claimed_steps")["status"], "unequal")

    def test_C14_a_batch_that_was_not_applied_is_refused_with_both_sizes(self):
        self.refused("static_batch_one", "wrong_result", "8", "1")

    def test_C43_float64_in_a_float32_run_is_refused(self):
        self.refused("precision_float64", "wrong_result", "float64", "float32")

    def test_C17_a_weight_that_becomes_nan_leaves_valid_files_and_no_figure(self):
        row = self.run_decoy("nan_later")
        self.assertIn(row["status"], ("failed", "unequal"))
        self.assertIn("finite", row["reason"])
        self.assertNotRegex(self.report("csv"), r"(^|,)-?(nan|inf)(,|\r)")


if __name__ == "__main__":
    unittest.main()
