"""`kill -9` of a real run at seeded moments: at most the launch in flight is lost (case C64)."""
import os
import random
import select
import subprocess
import unittest

from home import HomeTest, strict_json

ROUNDS = 4
#: Lines of a run left alone: a reference, a gate and a line a round, for each of two.
LINES = 2 * (2 + ROUNDS)


class KillTest(HomeTest):
    def kill(self, words, line, seconds):
        """Kills a run after so many lines of progress and some more time; true if it was running.
        Nothing depends on where exactly that is."""
        process = self.start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0)
        for _ in range(line):
            if not process.stderr.readline():
                break
        else:
            select.select([], [], [], seconds)
        process.kill()
        process.communicate()
        self.assertNoWorkers()  # The kernel ends the worker with its parent.
        return process.returncode != 0

    def launches(self):
        if not os.path.exists(os.path.join(self.out, "results.sqlite")):
            return []
        return self.query("SELECT configuration, round, purpose, hex(records) FROM launch "
                          "WHERE status = 'done' ORDER BY id")

    def assertIntact(self, before):
        """The store opens, holds, and still has all of `before`; what it has now."""
        self.call("check", "--out", self.out, status=0)
        now = self.launches()
        self.assertEqual(now[:len(before)], before)
        self.assertEqual(len({launch[:3] for launch in now}), len(now), "a launch is there twice")
        report = strict_json(self.report())
        self.assertEqual([row["status"] for row in report["results"]
                          if row["status"] not in ("timed", "verified", "failed")], [])
        return now

    def test_C64_killed_at_ten_moments_nothing_is_lost_twice_or_damaged(self):
        choose = random.Random(64)
        killed = 0
        for number in range(5):
            with self.subTest(campaign=number):
                self.out = os.path.join(self.home, "results-%d" % number)
                words = self.run_words("plain,twin", "--format", "json", rounds=ROUNDS)
                moment = choose.randrange(1, LINES), choose.uniform(0.0, 0.1)
                killed += self.kill(words, *moment)
                done = self.assertIntact([])
                moment = choose.randrange(1, LINES // 2), choose.uniform(0.0, 0.1)
                killed += self.kill((*words, "--resume"), *moment)
                done = self.assertIntact(done)

                result = self.call(*words, "--resume")
                if "nothing to resume" not in result.stderr:  # It may have been at its end.
                    self.assertEqual(result.returncode, 0, result.stderr)
                done = self.assertIntact(done)
                timed = [launch for launch in done if launch[2] == "timed"]
                self.assertEqual(len(timed), 2 * ROUNDS)
                self.assertEqual(self.query("SELECT finished FROM campaign"), [(1,)])
                self.assertEqual(self.query("SELECT * FROM in_flight"), [])
                for row in strict_json(self.report())["results"]:
                    self.assertEqual(row["step_seconds"]["launches"], ROUNDS)
        self.assertGreaterEqual(killed, 8, "most kills must have met a running campaign")

    def setUp(self):
        super().setUp()
        self.add("twin", os.environ["PLAIN_ADAPTER"])


if __name__ == "__main__":
    unittest.main()
