"""An adapter that never answers; in a file of its own, since the limit of `hello` has to pass."""
import time
import unittest

from home import HomeTest

LIMIT_SECONDS = 30  # Of `hello`: it is to be answered at once.


class HangTest(HomeTest):
    def test_an_adapter_that_hangs_and_ignores_sigterm_is_a_timeout_and_the_other_is_timed(self):
        self.add_fake("hangs", "hello:stubborn", "hello:stderr:waiting for a server\n",
                      'hello:raw:{"id":1', "hello:hang")
        begin = time.monotonic()
        _, report = self.run_tiny("hangs,plain", status=1)
        row = report["results"][0]
        self.assertEqual((row["status"], row["failure_kind"]), ("failed", "timeout"))
        self.assertIn("no answer within 30 s", row["reason"])
        self.assertIn('{"id":1', row["reason"])
        self.assertIn("waiting for a server", row["log_tail"])
        # The SIGKILL is dlbench's own and no fault of the adapter's.
        self.assertIsNone(row["signal"])
        self.assertGreaterEqual(time.monotonic() - begin, LIMIT_SECONDS)
        self.assertWithoutTiming("hangs")
        self.assertTimed("plain")
        self.assertNoWorkers()


if __name__ == "__main__":
    unittest.main()
