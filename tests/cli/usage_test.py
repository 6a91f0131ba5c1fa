"""What every command says of itself, wrong usage, and the commands that only show things."""
import os
import subprocess
import unittest

from home import NETWORK, HomeTest, strict_json

COMMANDS = (["run"], ["verify"], ["report"], ["check"], ["networks"], ["networks", "list"],
            ["networks", "show"], ["networks", "graph"], ["networks", "check"], ["frameworks"], ["frameworks", "list"],
            ["frameworks", "show"], ["frameworks", "install"], ["frameworks", "add"],
            ["frameworks", "remove"], ["frameworks", "check"], ["machine"], ["doctor"])


class UsageTest(HomeTest):
    def refused(self, *words):
        """What dlbench says of wrong usage: on stderr alone, with status 2."""
        result = self.call(*words, status=2)
        self.assertEqual(result.stdout, "")
        self.assertNotEqual(result.stderr, "")
        return result.stderr

    def test_every_command_has_help_on_stdout(self):
        overview = self.call("--help", status=0)
        for words in COMMANDS:
            with self.subTest(command=words):
                result = self.call(*words, "--help", status=0)
                self.assertIn(words[-1], result.stdout)
                self.assertIn("--help", result.stdout)
                self.assertEqual(result.stderr, "")
                self.assertIn(words[0], overview.stdout)
        self.assertIn("Exit status:", overview.stdout)
        self.assertIn("dlbench ", self.call("--version", status=0).stdout)

    def test_unknown_words_are_refused_by_name(self):
        self.assertIn("subcommand is required", self.refused())
        self.assertIn("subcommand is required", self.refused("networks"))
        self.assertIn("there is no command 'explode'", self.refused("explode"))
        self.assertIn("xml", self.refused("report", "--format", "xml"))
        self.assertIn("'0' is no number above 0",
                      self.refused("run", "tiny", "--frameworks", "plain", "--batch", "0"))
        self.assertIn("NAME=VALUE", self.refused("run", "tiny", "--frameworks", "plain",
                                                 "--set", "threads"))

    def test_a_misspelt_name_gets_the_nearest_one(self):
        self.assertIn("did you mean 'report'?", self.refused("raport"))
        self.assertIn("did you mean 'list'?", self.refused("networks", "lists"))
        self.assertIn("did you mean '--threads'?", self.refused("run", "tiny", "--thread=1"))
        self.assertIn("did you mean 'tiny'?",
                      self.refused("run", "tinny", "--frameworks", "plain"))
        self.assertIn("did you mean 'plain'?",
                      self.refused("run", "tiny", "--frameworks", "plaim"))
        self.assertIn("did you mean 'default'?",
                      self.refused("run", "tiny", "--frameworks", "plain", "--presets", "defualt"))
        self.assertIn("did you mean 'tiny'?", self.refused("networks", "show", "tinny"))
        self.assertIn("did you mean 'plain'?", self.refused("frameworks", "show", "plaim"))
        self.assertFalse(os.path.exists(os.path.join(self.home, "dlbench-results")))

    def test_numbers_out_of_range_are_refused_with_their_option(self):
        for option, value in (("--batch", "-8"), ("--batch", "0"), ("--batch", "many"),
                              ("--threads", "-1"), ("--rounds", "0"), ("--rounds", "1001"),
                              ("--launch-seconds", "-1"), ("--margin", "1.5"), ("--seed", "x")):
            with self.subTest(option=option, value=value):
                text = self.refused("run", "tiny", "--frameworks", "plain", option, value)
                self.assertIn(option, text)

    def test_more_threads_than_may_be_used_are_refused_with_both_numbers(self):
        usable = len(os.sched_getaffinity(0))
        text = self.refused("run", "tiny", "--frameworks", "plain", "--threads", "4096")
        self.assertRegex(text, r"4096 threads are more than the \d+ that")
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # Inherited by dlbench.
        self.addCleanup(os.sched_setaffinity, 0, os.sched_getaffinity(0))
        if usable > 1:
            text = self.refused("run", "tiny", "--frameworks", "plain", "--threads", "2")
            self.assertIn("more than the 1 that", text)

    def test_a_dry_run_lists_the_configurations_and_starts_and_writes_nothing(self):
        self.add_fake("never", "start:exit:1")
        result = self.call("run", "tiny", "--frameworks", "plain,never", "--threads", "1",
                           "--batch", "8,16", "--rounds", "3", "--out", self.out, "--dry-run",
                           status=0)
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 5)
        self.assertEqual(lines[0], "plain default, tiny, batch 8, 1 thread")
        self.assertIn("4 configurations, 3 rounds in random order, 16 launches", lines[4])
        self.assertFalse(os.path.exists(self.out))

    def test_output_that_cannot_be_written_is_no_success(self):
        with open("/dev/full", "wb") as full:
            result = subprocess.run([self.dlbench, "networks", "list"], stdout=full,
                                    stderr=subprocess.PIPE, env=self.environment())
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"could not be written", result.stderr)


class ShowTest(HomeTest):
    """Commands that print data; their JSON is strict and alone on stdout."""

    def json_of(self, *words):
        result = self.call(*words, "--format", "json", status=0)
        self.assertEqual(result.stderr, "")
        return strict_json(result.stdout)

    def test_networks_are_listed_shown_and_checked(self):
        listed = self.json_of("networks", "list")["networks"]
        self.assertEqual([network["name"] for network in listed], ["tiny"])
        self.assertEqual(listed[0]["parameters"], 6 * 3 + 3)
        self.assertIn("tiny", self.call("networks", "list", status=0).stdout)
        shown = self.json_of("networks", "show", "tiny", "--batch", "4")
        self.assertEqual(shown["totals"]["multiply_adds_per_sample"], 18)
        # The first layer's input needs no gradient: forward and weight gradient only.
        self.assertEqual(shown["training_step"], {"batch": 4, "flops": 2 * 4 * 2 * 18})
        self.assertEqual(self.json_of("networks", "check", self.network_file),
                         {"valid": True, "errors": []})

    def test_the_machine_is_described(self):
        machine = self.json_of("machine")
        self.assertGreaterEqual(machine["usable_threads"], 1)
        self.assertLessEqual(machine["usable_threads"], os.cpu_count())
        self.assertIn("fingerprint", self.call("machine", status=0).stdout)
        self.assertIn("--peaks", self.call("machine", "--threads", "1", status=2).stderr)

    def test_frameworks_are_listed_with_their_state(self):
        self.add_fake("fake")
        os.remove(os.path.join(self.home, "bin", "dlbench-adapter-fake"))
        rows = {row["name"]: row for row in self.json_of("frameworks", "list")["frameworks"]}
        self.assertEqual(sorted(rows), ["fake", "plain"])
        self.assertEqual(rows["plain"]["state"], "ready")
        self.assertRegex(rows["fake"]["state"], "^broken: .*is not there")
        self.assertIn("plain", self.call("frameworks", "list", status=0).stdout)
        shown = self.call("frameworks", "show", "plain", status=0).stdout
        self.assertIn("preset default: as it comes", shown)

    def test_the_doctor_reports_a_broken_framework_as_a_problem(self):
        result = self.call("doctor", "--format", "json")
        findings = strict_json(result.stdout)["findings"]
        for finding in findings:
            self.assertIn(finding["severity"], ("ok", "warning", "problem"))
            self.assertTrue(finding["what"])
        problems = [f for f in findings if f["severity"] == "problem"]
        self.assertEqual(result.returncode, 1 if problems else 0)
        os.remove(os.path.join(self.home, "bin", "dlbench-adapter-plain"))
        result = self.call("doctor", "--format", "json", status=1)
        self.assertTrue(any(f["severity"] == "problem" and "plain" in f["what"]
                            for f in strict_json(result.stdout)["findings"]))

    def test_an_adapter_is_held_against_the_protocol(self):
        self.write("networks/fcn-tiny.toml", NETWORK.replace('"tiny"', '"fcn-tiny"'))
        good = self.call("frameworks", "check", "plain", status=0)
        self.assertIn(", 0 broken", good.stdout)
        self.add_fake("garbled", "hello:line:hello there")
        bad = self.call("frameworks", "check", "garbled", status=1)
        self.assertRegex(bad.stdout, "WRONG +hello: .*not JSON")
        self.assertFalse([name for name in os.listdir(self.home) if "check" in name])

    def test_a_report_without_results_says_so(self):
        text = self.call("report", "--out", self.out, status=2).stderr
        self.assertIn(self.out, text)
        self.assertFalse(os.path.exists(self.out))


if __name__ == "__main__":
    unittest.main()
