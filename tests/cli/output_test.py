"""What a run writes: agreeing formats, nothing else on stdout, progress in pipes and terminals."""
import csv
import io
import os
import pty
import re
import subprocess
import unittest

from home import SHORT, HomeTest, strict_json

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/results.md")


def document():
    with open(DOCUMENT, encoding="utf-8") as file:
        return file.read()


def promised_keys():
    """The keys of docs/results.md's JSON as a tree of dicts; lists count as their elements."""
    text = re.search(r'\n    (\{"dlbench".*?\})\n\n', document(), re.S).group(1)
    tokens = iter(re.findall(r'"\w+"|[{}]', text))

    def read():
        keys, last = {}, None
        for token in tokens:
            if token == "}":
                return keys
            if token == "{":
                keys[last] = read()
            else:
                last = token.strip('"')
                keys[last] = {}
        return keys
    next(tokens)
    return read()


class FormatsTest(HomeTest):
    def assertHolds(self, promised, value, path):
        """`value` has every promised key; null stands for a whole branch."""
        if isinstance(value, list):
            for i, element in enumerate(value):
                self.assertHolds(promised, element, "%s[%d]" % (path, i))
        elif value is not None:
            for key, below in promised.items():
                self.assertIn(key, value, path)
                if below:
                    self.assertHolds(below, value[key], path + "." + key)

    def test_every_promised_field_is_there(self):
        self.add("twin", os.environ["PLAIN_ADAPTER"])
        _, json = self.run_tiny("plain,twin", rounds=6, status=0)
        promised = promised_keys()
        del promised["results"]["settings"]["name"], promised["results"]["settings"]["value"]
        self.assertGreater(len(promised["results"]), 30)
        self.assertHolds(promised, json, "")
        self.assertEqual(json["format_version"], 1)
        self.assertEqual(len(json["results"]), 2)
        for row in json["results"]:
            self.assertEqual(row["settings"], {"threads": "1"})
            self.assertEqual((row["status"], row["batch"], row["threads"], row["precision"]),
                             ("timed", 8, 1, "float32"))
            step, check = row["step_seconds"], row["verification"]
            self.assertLessEqual(step["low"], step["estimate"])
            self.assertLessEqual(step["estimate"], step["high"])
            self.assertEqual(step["launches"], 6)
            self.assertAlmostEqual(row["samples_per_second"] * step["estimate"] / 8, 1.0, 9)
            self.assertEqual(check["status"], "equal")
            self.assertEqual(check["full_launches"] + check["light_launches"], 7)
            self.assertEqual({worst["passed"] for worst in check["worst"]}, {True})
        comparison, = json["comparisons"]
        self.assertEqual({comparison["a_result"], comparison["b_result"]}, {0, 1})
        self.assertEqual(comparison["rounds"], 6)
        self.assertGreaterEqual(comparison["ratio"]["high"], comparison["ratio"]["low"])
        # Six rounds have an interval and no verdict (docs/results.md).
        self.assertEqual(comparison["verdict"], "quick_look")

    def test_the_table_has_every_promised_column(self):
        self.call(*self.run_words("plain"), status=0)
        header = next(csv.reader(io.StringIO(self.report("csv"), newline="")))
        section = document().split("## CSV")[1].split("## JSON")[0]
        names = re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", section, re.M)))
        self.assertEqual(header, names)

    def test_C20_run_and_report_write_the_same_and_formats_agree(self):
        written = {}
        for number, form in enumerate(("table", "markdown", "csv", "json"), 1):
            written[form] = self.call(*self.run_words("plain", "--format", form), status=0).stdout
            self.assertEqual(written[form], self.report(form))
            again = self.report(form, "--campaign", str(number))
            self.assertEqual(written[form], again)
        row = strict_json(self.report("json"))["results"][0]
        cells = next(csv.DictReader(io.StringIO(self.report("csv"), newline="")))
        for name, factor, value in (
                ("step_time_ms", 1e3, row["step_seconds"]["estimate"]),
                ("mean_step_time_ms", 1e3, row["mean_step_seconds"]),
                ("first_step_time_ms", 1e3, row["first_step_seconds"]),
                ("samples_per_s", 1, row["samples_per_second"]),
                ("threads_used", 1, row["threads_used"]),
                ("peak_memory_bytes", 1, row["peak_memory_bytes"])):
            self.assertAlmostEqual(float(cells[name]) / (factor * value), 1.0, 13, name)
        # The rate as people read it, in whole samples a second.
        self.assertIn("%.0f" % row["samples_per_second"], self.report("table"))
        self.assertIn("%.0f" % row["samples_per_second"], self.report("markdown"))
        stored, = self.query("SELECT median_step_seconds FROM launch "
                             "WHERE campaign = 4 AND purpose = 'timed'")
        self.assertAlmostEqual(stored[0] / row["step_seconds"]["estimate"], 1.0, 13)

    def test_C18_one_launch_has_no_interval_anywhere(self):
        _, json = self.run_tiny("plain", status=0)
        step = json["results"][0]["step_seconds"]
        self.assertEqual((step["low"], step["high"]), (None, None))
        self.assertEqual(step["interval_reason"], "fewer than 6 launches")
        cells = next(csv.DictReader(io.StringIO(self.report("csv"), newline="")))
        self.assertEqual((cells["step_time_low_ms"], cells["step_time_high_ms"]), ("", ""))
        self.assertIn("no interval", self.report("table"))

    def test_steps_of_a_microsecond_do_not_outgrow_an_answer(self):
        _, json = self.run_tiny("plain", status=0, lengths=(
            "--launch-seconds", "2", "--batch", "1", "--threads", "1"))
        self.assertEqual(json["results"][0]["status"], "timed")
        (steps, warmup), = self.query("SELECT steps, warmup_steps FROM launch "
                                      "WHERE purpose = 'timed'")
        self.assertLessEqual(steps, 150000)
        self.assertLessEqual(warmup, 50000)

    def test_results_stand_in_the_order_of_the_frameworks_asked_for(self):
        self.add("twin", os.environ["PLAIN_ADAPTER"])
        for order in ("plain,twin", "twin,plain"):  # In one store, which shares configurations.
            _, json = self.run_tiny(order, status=0)
            self.assertEqual([row["framework"] for row in json["results"]], order.split(","))

    def test_C06_every_row_shows_its_mode_and_an_unknown_one_is_not_ranked(self):
        self.add("twin", os.environ["PLAIN_ADAPTER"])
        self.add_filtered("unlabelled",
                          r'''line = re.sub(rb'"mode_label":\{[^}]*\},?', b"", line)''')
        _, json = self.run_tiny("plain,twin,unlabelled", rounds=2, status=0)
        modes = [row["mode_label"] for row in json["results"]]
        self.assertEqual(modes, ["plain", "plain", "unknown"])
        self.assertEqual([row["status"] for row in json["results"]], ["timed"] * 3)
        compared = {(c["a_result"], c["b_result"]) for c in json["comparisons"]}
        self.assertIn(compared, ({(0, 1)}, {(1, 0)}))
        self.assertNotIn("unlabelled", json["sentence"])
        for form in ("table", "markdown", "csv"):
            self.assertRegex(self.report(form), r"unlabelled.*unknown", form)


class StreamsTest(HomeTest):
    def test_C72_json_is_alone_on_stdout_at_every_verbosity(self):
        self.add("chatty", script="""echo 'WARNING loss=NaN'; echo 'samples/s: 98765.4321'
echo '{"results":[]}' >&2
exec '%s'""" % os.environ["PLAIN_ADAPTER"])
        for more, quiet in ((), False), (("--quiet",), True):
            result, json = self.run_tiny("chatty", *more, status=0)
            self.assertEqual(json["results"][0]["status"], "timed")
            self.assertEqual("[1/1] gate: chatty" in result.stderr, not quiet)
            for text in (result.stdout, result.stderr):
                self.assertNotIn("98765.4321", text)
        self.assertEqual(result.stderr, "")
        with open(os.path.join(self.out, "campaign-2/launches/round-0-1/stdout.txt")) as log:
            self.assertIn("samples/s: 98765.4321", log.read())

    def test_a_pipe_gets_plain_lines(self):
        result = self.call(*self.run_words("plain", rounds=2), status=0)
        lines = [line for line in result.stderr.splitlines() if not line.startswith("warning:")]
        label = "plain default, tiny, batch 8, 1 thread"
        self.assertEqual([re.sub(r", [\d min]+s left", "", line) for line in lines],
                         ["[1/1] reference for " + label, "[1/1] gate: " + label,
                          "[1/2] round 1: " + label, "[2/2] round 2: " + label])
        self.assertNotRegex(result.stdout + result.stderr, "[\r\x1b]")

    def test_a_terminal_has_one_line_that_is_overwritten_and_nothing_left_over(self):
        for columns in (80, 200):
            with self.subTest(columns=columns):
                shown = self.on_a_terminal(columns)
                self.assertEqual(shown.count("\n"), 0, "the line moved on")
                self.assertIn("round 2: plain", shown)
                longest = max(len(line) for line in shown.split("\r"))
                self.assertLess(longest, columns, "a line that wraps cannot be overwritten")
                self.assertEqual(screen(shown), [""])

    def on_a_terminal(self, columns):
        """Progress as a terminal of so many columns gets it."""
        ours, theirs = pty.openpty()
        subprocess.check_call(["stty", "cols", str(columns), "rows", "24"], stdin=theirs)
        self.write("networks/%s.toml" % LONG, open_text(self.network_file).replace('"tiny"',
                                                                                   '"%s"' % LONG))
        words = ("run", LONG, "--frameworks", "plain", "--rounds", "2", "--out", self.out, *SHORT)
        process = self.start(*words, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        shown = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # Linux: the other side is closed.
                chunk = b""
            if not chunk:
                break
            shown += chunk
        os.close(ours)
        self.assertEqual(process.wait(), 0)
        lines = re.split(r"(?<=\n)", shown.decode())
        return "".join(line for line in lines if not line.startswith("warning:"))


LONG = "a-network-with-a-name-that-is-longer-than-half-of-a-terminal"


def open_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def screen(text):
    """The lines that are left on a terminal; understands carriage returns only."""
    lines, column = [""], 0
    for character in text:
        if character == "\r":
            column = 0
        elif character == "\n":
            lines.append("")
            column = 0
        else:
            lines[-1] = lines[-1][:column] + character + lines[-1][column + 1:]
            column += 1
    return [line.rstrip() for line in lines]


if __name__ == "__main__":
    unittest.main()
