"""A small world for black-box tests of the built dlbench: its own adapters, networks and folders.

Programs come from the environment (CMakeLists.txt): DLBENCH, PLAIN_ADAPTER, DECOY_ADAPTER and
FAKE_ADAPTER; TEST_CACHE holds the measured peaks of this machine, so that they are measured once.

Adapters: tests/decoys (an honest one, and the same with one planted fault) and
tests/unit/worker/fake_adapter.cc (does what it is told and trains nothing).
"""
import csv
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

NETWORK = """format = 1
name = "tiny"
title = "Tiny"
description = "6-3, for tests"
classes = 3
[input]
shape = [6]
dataset = "synthetic"
scale = 0.00392156862745098
offset = 0.0
[initial]
weights = { distribution = "uniform_fan_average", gain = 1.0 }
biases = { distribution = "uniform", bound = 0.1 }
[[layers]]
name = "fc1"
op = "dense"
units = 3
bias = true
[loss]
kind = "softmax_cross_entropy"
reduction = "mean"
input = "fc1"
[optimizer]
kind = "sgd"
learning_rate = 0.05
momentum = 0.9
weight_decay = 0.001
decays = "weights"
nesterov = false
"""

MANIFEST = """name = "{name}"
title = "{name}"
kind = "builtin"
language = "c++"
adapter = "{name}"
[preset.default]
what = "as it comes"
source = "tests"
[environment]
{environment}
"""

FILTER = """import os, re, subprocess, sys
requests, answers = os.pipe(), os.pipe()
child = subprocess.Popen(sys.argv[1:], pass_fds=(requests[0], answers[1]), env=dict(
    os.environ, DLBENCH_FD_IN=str(requests[0]), DLBENCH_FD_OUT=str(answers[1])))
os.close(requests[0])
os.close(answers[1])
requested, answered = os.fdopen(int(os.environ["DLBENCH_FD_IN"]), "rb"), os.fdopen(answers[0], "rb")
for request in requested:
    os.write(requests[1], request)
    line = answered.readline()
    STATEMENT
    os.write(int(os.environ["DLBENCH_FD_OUT"]), line)
os.close(requests[1])
sys.exit(child.wait())
"""

#: Short launches: what is tested here does not depend on times.
SHORT = ("--launch-seconds", "0.005", "--warmup-seconds", "0.002", "--batch", "8", "--threads", "1")


def strict_json(text):
    """The one JSON value of `text`; NaN and the like, and anything beside it, are errors."""
    def refuse(word):
        raise ValueError("not JSON: " + word)
    return json.loads(text, parse_constant=refuse)


class HomeTest(unittest.TestCase):
    """Each test has a home of its own in self.home; results lie in self.out."""

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="dlbench-cli-")
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        self.out = os.path.join(self.home, "results")
        for folder in ("adapters/sdk", "networks", "bin", "data"):
            os.makedirs(os.path.join(self.home, folder))
        self.dlbench = os.path.join(self.home, "bin", "dlbench")
        try:
            os.link(os.environ["DLBENCH"], self.dlbench)
        except OSError:
            shutil.copy(os.environ["DLBENCH"], self.dlbench)
        self.network_file = self.write("networks/tiny.toml", NETWORK)
        self.add("plain", os.environ["PLAIN_ADAPTER"])

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        os.chmod(path, mode)
        return path

    def add(self, name, *argv, script=None, **environment):
        """Adds framework `name`, started by `argv` or by the shell lines `script`."""
        lines = script or "exec " + " ".join("'%s'" % word.replace("'", "'\\''") for word in argv)
        self.write("bin/dlbench-adapter-" + name, "#!/bin/sh\n%s\n" % lines, 0o755)
        settings = "\n".join('%s = "%s"' % entry for entry in sorted(environment.items()))
        self.write("adapters/%s/manifest.toml" % name,
                   MANIFEST.format(name=name, environment=settings))

    def add_fake(self, name, *orders):
        """Adds the adapter that does as it is told (tests/unit/worker/fake_adapter.cc)."""
        self.add(name, os.environ["FAKE_ADAPTER"], *orders)

    def add_filtered(self, name, statement):
        """Adds an honest one behind a filter: `statement` (Python) may change `line`, an answer."""
        path = self.write("bin/filter-%s.py" % name, FILTER.replace("STATEMENT", statement))
        self.add(name, sys.executable, path, os.environ["PLAIN_ADAPTER"])

    def add_later(self, name, first, *orders, last=10**6):
        """Adds one that is honest, but as told by `orders` in starts number `first` to `last`.
        The first start only says hello, the second is the gate launch."""
        count = os.path.join(self.home, name + ".count")
        fake = " ".join("'%s'" % order for order in orders)
        self.add(name, script="""echo >> {count}
n=$(wc -l < {count})
if [ $n -ge {first} ] && [ $n -le {last} ]; then exec {fake} {orders}; fi
exec {plain}""".format(count=count, first=first, last=last, fake=os.environ["FAKE_ADAPTER"],
                       orders=fake, plain=os.environ["PLAIN_ADAPTER"]))

    def environment(self):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("DLBENCH", "XDG_"))}
        environment.update(DLBENCH_HOME=self.home, XDG_DATA_HOME=os.path.join(self.home, "data"),
                           XDG_CACHE_HOME=os.environ["TEST_CACHE"])
        return environment

    def call(self, *words, status=None, **more):
        """Runs dlbench; fails the test if it does not end with `status`."""
        result = subprocess.run([self.dlbench, *words], env=self.environment(), cwd=self.home,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                timeout=240, **more)
        if status is not None:
            self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result

    def run_words(self, frameworks, *more, rounds=1, lengths=SHORT):
        return ("run", "tiny", "--frameworks", frameworks, "--out", self.out, "--rounds",
                str(rounds), *lengths, *more)

    def run_tiny(self, frameworks, *more, status=None, **words):
        """A short run on the tiny network; the result and its parsed JSON."""
        result = self.call(*self.run_words(frameworks, "--format", "json", *more, **words),
                           status=status)
        return result, strict_json(result.stdout)

    def report(self, form="json", *more):
        return self.call("report", "--out", self.out, "--format", form, *more, status=0).stdout

    def query(self, sql):
        connection = sqlite3.connect(os.path.join(self.out, "results.sqlite"))
        self.addCleanup(connection.close)
        with connection:
            return connection.execute(sql).fetchall()

    def start(self, *words, **more):
        """Starts dlbench without waiting for it; it is gone at the end of the test."""
        process = subprocess.Popen([self.dlbench, *words], env=self.environment(), cwd=self.home,
                                   **more)

        def end():
            if process.poll() is None:
                process.kill()
                process.wait()
            for pipe in (process.stdout, process.stderr):
                if pipe:
                    pipe.close()
        self.addCleanup(end)
        return process

    def workers(self):
        """Processes that work in a folder of this test, zombies left out."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink("/proc/%s/cwd" % pid).startswith(self.out):
                    found.append(int(pid))
            except OSError:
                pass  # Gone, another user's, or a zombie.
        return found

    def assertNoWorkers(self):
        """The kernel may need a moment to end what it has killed."""
        deadline = time.monotonic() + 60
        while self.workers():
            self.assertLess(time.monotonic(), deadline, "processes are left behind")

    def row(self, framework):
        return {r["framework"]: r for r in strict_json(self.report())["results"]}[framework]

    def assertTimed(self, framework):
        row = self.row(framework)
        self.assertEqual(row["status"], "timed", row["reason"])
        self.assertGreater(row["step_seconds"]["estimate"], 0.0)
        self.assertEqual(row["verification"]["status"], "equal")

    def assertWithoutTiming(self, framework):
        """No format shows a time of `framework`, and the store holds none."""
        row = self.row(framework)
        for key in ("step_seconds", "mean_step_seconds", "first_step_seconds",
                    "samples_per_second", "percent_of_peak", "threads_used", "peak_memory_bytes"):
            self.assertIsNone(row[key], key)
        self.assertEqual(row["step_seconds_reason"], "withheld: " + row["status"])
        for entry in csv.DictReader(io.StringIO(self.report("csv"), newline="")):
            if entry["framework"] != framework:
                continue
            for key, value in entry.items():
                if key.endswith(("_ms", "_per_s", "_of_peak")) or key == "threads_used":
                    self.assertEqual(value, "", key)
        for form in ("table", "markdown"):
            for line in self.report(form).splitlines():
                # "1.234", "1234" with a unit or a rate; versions, batch and threads are no times.
                if framework + " " in line:
                    self.assertNotRegex(line, r"\d+(\.\d+)? (to|us|ms|s)\b|samples/s.*\d", form)
        self.assertEqual([], self.query(
            "SELECT l.id FROM launch l JOIN configuration c ON c.id = l.configuration "
            "WHERE c.framework = '%s' AND l.status <> 'done' AND "
            "(l.median_step_seconds IS NOT NULL OR l.records IS NOT NULL)" % framework))
