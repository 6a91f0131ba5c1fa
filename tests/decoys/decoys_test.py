"""Every decoy answers every request, the honest adapters train, and the fault of each decoy first
shows where its table says. The gate itself is tested elsewhere; the limits here are only those that
separate honest float32 from the faults on this small network.

    python3 decoys_test.py PLAIN_ADAPTER DECOY_ADAPTER
"""
import os
import subprocess
import sys
import tempfile
import time
import unittest

import drive
import oracle

PLAIN, DECOY = os.path.abspath(sys.argv[-2]), os.path.abspath(sys.argv[-1])
STEPS = 200
LIMITS = {"logits": 1e-5, "loss": 1e-5, "gradient": 1e-5, "update": 2e-4, "run_loss": 2e-4,
          "run_update": 2e-3, "run_state": 1e-2, "middle": 1e-2}


def cpu_seconds(pid):
    """Processor time of another process: its clock's number, as clock_getcpuclockid(3) makes it."""
    return time.clock_gettime((~pid << 3) | 2)


class Launch:
    """One adapter driven through verify, run, sync, export, one step, export, run and verify over
    the same batches; first_failure() names the first check that fails."""

    def __init__(self, argv, folder, decoy="", threads=1):
        self.folder = folder
        self.network = drive.decoy_network()
        self.fields = drive.prepare_fields(folder, self.network, threads=threads)
        environment = {"DLBENCH_DECOY": decoy} if decoy else {}
        self.replies, self.cpu = {}, {}
        with drive.Session(argv, folder, environment) as session:
            for name, kind, fields in self.script():
                cpu_before = cpu_seconds(session.process.pid)
                self.replies[name] = session.request(kind, **fields)
                self.cpu[name] = cpu_seconds(session.process.pid) - cpu_before
                if name == "short":
                    self.threads = len(os.listdir("/proc/%d/task" % session.process.pid))
                if self.replies[name]["type"] == "error":
                    break
            self.brackets = dict(zip(self.replies, session.brackets))
            self.status = session.close()

    def script(self):
        several = dict(batches=[i % drive.POOL for i in range(24)], learning_rates=[0.05] * 24,
                       weights_after=[19, 20, 22, 24], logits=False, gradients=False)
        return [("hello", "hello", {"protocol": 1}), ("prepare", "prepare", self.fields),
                ("verify", "verify", dict(drive.VERIFY, folder="verify-0")),
                ("run", "run", dict(steps=STEPS, block_steps=5, first_batch=0, reset=True)),
                ("sync", "sync", {}), ("before", "export", {"folder": "before"}),
                ("one", "run", dict(steps=1, block_steps=1, first_batch=STEPS, reset=False)),
                ("after", "export", {"folder": "after"}),
                ("short", "run", dict(steps=24, block_steps=5, first_batch=0, reset=True)),
                ("state", "export", {"folder": "state"}),
                ("again", "verify", dict(several, folder="verify-1")), ("finish", "finish", {})]

    def tensors(self, name):
        return oracle.read_doubles(os.path.join(self.folder, name + ".safetensors"))

    def first_failure(self, reference):
        """The first of decoys.cc's checks to fail and by how much, or None."""
        for check in (self.check_finite, self.check_prepared, self.check_verify, self.check_times,
                      self.check_run_losses, self.check_sync, self.check_threads,
                      self.check_run_update, self.check_run_state, self.check_middle):
            failure = check(reference)
            if failure:
                return failure
        return None

    def check_finite(self, _):
        wrong = [reply for reply in self.replies.values() if reply["type"] == "error"]
        if wrong:
            return ("finite" if "not finite" in wrong[0]["message"] else "error", wrong[0])

    def check_prepared(self, _):
        reply = self.replies["prepare"]
        if reply["batch"] != drive.BATCH or reply["precision"] != "float32":
            return ("prepared", reply)

    def check_verify(self, reference):
        """Logits, loss and gradients of the first step, updates, then the losses of later steps."""
        losses = self.replies["verify"]["losses"]
        reference.reset()
        first, updates, later = [], [], []
        steps = zip(drive.VERIFY["batches"], drive.VERIFY["learning_rates"])
        for i, (batch, rate) in enumerate(steps):
            loss, logits, gradients = reference.step(batch, rate)
            if i == 0:
                found = self.tensors("verify-0/gradients")
                first = [("logits", self.tensors("verify-0/logits")["logits"], logits),
                         ("loss", [losses[0]], [loss])]
                first += [("gradient", found[name], gradients[name]) for name in gradients]
            else:
                later.append(("loss", [losses[i]], [loss]))
            if i + 1 in (1, 5):
                updates += self.updates(self.tensors("verify-0/weights-%d" % (i + 1)),
                                        reference.initial, reference.weights, "update")
        return self.compare(first + updates + later)

    @staticmethod
    def updates(candidate, before, reference, check):
        return [(check, [a - b for a, b in zip(candidate[name], before[name])],
                 [r - b for r, b in zip(reference[name], before[name])]) for name in reference]

    @staticmethod
    def compare(pairs):
        for check, candidate, reference in pairs:
            size = oracle.error(candidate, reference)
            if not size < LIMITS[check]:
                return (check, size)

    def check_times(self, _):
        reply, (begin, end) = self.replies["run"], self.brackets["run"]
        first, last = reply["begin_ns"][0], reply["end_ns"][-1]
        taken = sum(e - b for b, e in zip(reply["begin_ns"], reply["end_ns"]))
        if sum(reply["steps"]) != STEPS or first < begin or last > end:
            return ("times", (sum(reply["steps"]), begin, first, last, end))
        if taken < 0.75 * (last - first):
            return ("times", taken / (last - first))

    def check_run_losses(self, reference):
        reference.reset()
        for i, found in enumerate(self.replies["run"]["losses"][:10]):
            failure = self.compare([("run_loss", [found],
                                     [reference.step(i % drive.POOL, 0.05)[0]])])
            if failure:
                return failure

    def check_sync(self, _):
        """Processor time does not depend on how busy the machine is, other than wall time."""
        share = self.cpu["sync"] / (self.cpu["run"] + self.cpu["sync"])
        if share > 0.2:
            return ("sync", share)

    def check_threads(self, _):
        if self.threads > self.fields["threads"]:
            return ("threads", self.threads)

    def check_run_update(self, reference):
        before = self.tensors("before/weights")
        reference.weights = {name: list(values) for name, values in before.items()}
        reference.velocity = self.tensors("before/velocity")
        reference.step(STEPS % drive.POOL, 0.05)
        return self.compare(self.updates(self.tensors("after/weights"), before, reference.weights,
                                         "run_update"))

    def check_run_state(self, reference):
        return self.compare(self.updates(self.tensors("state/weights"), reference.initial,
                                         self.tensors("verify-1/weights-24"), "run_state"))


    def check_middle(self, reference):
        """Two steps amid the 24 of verify; the velocity follows from the step before them."""
        earlier, before, after = (self.tensors("verify-1/weights-%d" % n) for n in (19, 20, 22))
        reference.weights = {name: list(values) for name, values in before.items()}
        reference.velocity = {name: [(e - b) / 0.05 for e, b in zip(earlier[name], before[name])]
                              for name in before}
        for step in (20, 21):
            reference.step(step % drive.POOL, 0.05)
        return self.compare(self.updates(after, before, reference.weights, "middle"))


class DecoysTest(unittest.TestCase):
    def launch(self, argv, **options):
        with tempfile.TemporaryDirectory() as folder:
            launch = Launch(argv, folder, **options)
            reference = oracle.Oracle(launch.network, folder)
            return launch, launch.first_failure(reference)

    def table(self):
        lines = subprocess.check_output([DECOY, "--list"]).decode().splitlines()
        return [line.split("\t")[:2] for line in lines]

    def test_honest_adapters_agree_with_the_oracle_and_learn(self):
        for argv, threads in (([PLAIN], 1), ([PLAIN], 2), ([PLAIN], 3), ([DECOY], 1)):
            launch, failure = self.launch(argv, threads=threads)
            self.assertIsNone(failure, "%s with %d threads" % (argv, threads))
            self.assertEqual(launch.status, 0)
            self.assertEqual(launch.replies["prepare"]["threads"], threads)
            losses = launch.replies["run"]["losses"]
            self.assertLess(sum(losses[-8:]), 0.5 * sum(losses[:8]))

    def test_there_are_decoys_and_their_names_differ(self):
        names = [name for name, _ in self.table()]
        self.assertGreaterEqual(len(names), 30)
        self.assertEqual(len(set(names)), len(names))

    def test_every_decoy_fails_first_where_its_table_says(self):
        for name, check in self.table():
            with self.subTest(decoy=name):
                for _ in range(5):  # The thread of early_return may be done before we look.
                    launch, failure = self.launch([DECOY], decoy=name)
                    if failure and failure[0] == check:
                        break
                self.assertIsNotNone(failure)
                self.assertEqual(failure[0], check, failure)
                self.assertEqual(launch.status, 0)

    def test_an_unknown_decoy_is_refused(self):
        environment = dict(os.environ, DLBENCH_DECOY="none_such")
        process = subprocess.run([DECOY], env=environment, stderr=subprocess.PIPE)
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"there is no decoy 'none_such'", process.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
