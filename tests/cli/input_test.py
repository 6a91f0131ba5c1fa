"""Files that a user hands in: networks, data, experiments, results folders. Every fault is named
with its place, with status 2, before anything is started or stored."""
import gzip
import os
import struct
import subprocess
import unittest

from home import NETWORK, HomeTest

IMAGES, LABELS = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"


def images(side=2, magic=2051):
    """Three images of side x side."""
    pixels = bytes(i % 251 for i in range(3 * side * side))
    return struct.pack(">4I", magic, 3, side, side) + pixels


def labels(count=3):
    return struct.pack(">2I", 2049, count) + bytes(i % 3 for i in range(count))


class InputTest(HomeTest):
    def refused(self, *words):
        """stderr of a run that is refused; nothing may have been stored or started."""
        self.out = os.path.join(self.home, "refused")
        self.add_fake("never", "start:exit:1")
        result = self.call("run", *words, "--frameworks", "never", "--threads", "1",
                           "--rounds", "1", "--out", self.out, status=2)
        self.assertEqual(result.stdout, "")
        store = os.path.join(self.out, "results.sqlite")
        if os.path.exists(store):
            self.assertEqual(self.query("SELECT * FROM campaign"), [])
        return result.stderr


class NetworkTest(InputTest):
    def faults(self, old, new):
        """What is said of the network file in which `old` is replaced by `new`."""
        self.assertIn(old, NETWORK)
        path = self.write("networks/broken.toml", NETWORK.replace(old, new))
        checked = self.call("networks", "check", path, status=2)
        self.assertEqual(checked.stdout, "")
        self.assertEqual(self.refused(path), checked.stderr)
        return path, checked.stderr

    def test_a_fault_is_named_with_file_line_and_column(self):
        line = NETWORK.splitlines().index("units = 3") + 1
        for old, new, what in (("units = 3", "units = 0", r"units"),
                               ("units = 3", "unitz = 3", r"unitz.*did you mean 'units'"),
                               ("units = 3", "units = = 3", r"."),
                               ("units = 3", 'units = "3"', r"units.*integer")):
            with self.subTest(new=new):
                path, text = self.faults(old, new)
                self.assertRegex(text, r"%s:%d:\d+: .*%s" % (path, line, what))

    def test_all_faults_are_named_at_once(self):
        path, text = self.faults('op = "dense"\nunits = 3', 'op = "danse"\nunits = 3\nmore = 1')
        self.assertRegex(text, r"danse.*did you mean 'dense'")
        self.assertGreaterEqual(text.count(path + ":"), 1)

    def test_a_missing_key_has_no_default(self):
        path, text = self.faults("momentum = 0.9\n", "")
        self.assertRegex(text, path + r":\d+:\d+: .*momentum")

    def test_no_name_in_a_file_leads_out_of_a_folder(self):
        for old, new in (('name = "tiny"', 'name = "../../escaped"'),
                         ('name = "fc1"', 'name = "../fc1"'),
                         ('dataset = "synthetic"', 'dataset = "/etc"')):
            with self.subTest(new=new):
                path, text = self.faults(old, new)
                self.assertRegex(text, path + r":\d+:\d+: ")
        self.assertFalse([name for name in os.listdir(self.home) if "escaped" in name])

    def test_a_file_that_is_not_there_or_no_text_is_refused(self):
        self.assertIn("none.toml", self.refused("networks/none.toml"))
        self.assertIn("bytes.toml", self.refused(self.write("bytes.toml", b"\xff\xfe\x00")))


class DataTest(InputTest):
    """C60 and C61 through --data, with three images: of 2x2, where they need not fit a network."""

    def setUp(self):
        super().setUp()
        text = NETWORK
        for old, new in (('"tiny"', '"small"'), ("[6]", "[784]"), ('"synthetic"', '"mnist"'),
                         ("classes = 3", "classes = 10"), ("units = 3", "units = 10")):
            text = text.replace(old, new)
        self.write("networks/small.toml", text)

    def folder(self, **files):
        """A new folder with `files`; '_' in a keyword is '-' in the file's name."""
        self.count = getattr(self, "count", 0) + 1
        name = "set-%d" % self.count
        os.makedirs(os.path.join(self.home, name))
        for key, content in files.items():
            self.write("%s/%s" % (name, key), content)
        return os.path.join(self.home, name)

    def loads(self, **files):
        result = self.call("verify", "small", "--frameworks", "plain", "--threads", "1",
                           "--batch", "1", "--data", self.folder(**files), "--out", self.out,
                           status=0)
        self.assertIn("MNIST (user)", result.stdout)

    def fault(self, **files):
        folder = self.folder(**files)
        text = self.refused("small", "--batch", "1", "--data", folder)
        self.assertIn(folder, text)
        return text

    def test_C60_raw_and_gzip_load_by_content_whatever_the_name(self):
        for name in (IMAGES, IMAGES + ".gz"):
            for content in (images(28), gzip.compress(images(28))):
                self.loads(**{name: content, LABELS: labels()})

    def test_C60_what_is_no_idx_is_refused_with_its_fault(self):
        zipped = gzip.compress(images())
        for content, what in ((images(magic=50855936), "byte order swapped"),
                              (labels(), "labels file"),
                              (images()[:-1], "cut short"),
                              (images() + b"x", "trailing bytes"),
                              (zipped[:-9], "gzip data, expected IDX"),
                              (gzip.compress(zipped), "compressed twice"),
                              (b"P5 2 2 255", "not an IDX file"), (b"", "cut short")):
            with self.subTest(what=what):
                text = self.fault(**{IMAGES: content, LABELS: labels()})
                self.assertIn(what, text)
                self.assertIn(IMAGES, text)
        self.assertIn("counts disagree", self.fault(**{IMAGES: images(), LABELS: labels(2)}))

    def test_C61_both_spellings_load_and_two_with_different_contents_are_ambiguous(self):
        dotted = {IMAGES.replace("-idx", ".idx"): images(28),
                  LABELS.replace("-idx", ".idx"): labels()}
        self.loads(**dotted)
        self.loads(**{IMAGES: images(28), LABELS: labels()})
        other = bytearray(images(28))
        other[-1] ^= 1
        text = self.fault(**dict(dotted, **{IMAGES: bytes(other), LABELS: labels()}))
        self.assertIn("ambiguous", text)
        self.assertIn(IMAGES.replace("-idx", ".idx"), text)

    def test_C61_missing_files_list_all_names_tried(self):
        text = self.fault()
        for name in (IMAGES, IMAGES.replace("-idx", ".idx")):
            self.assertIn(name, text)
            self.assertIn(name + ".gz", text)
        self.assertIn(LABELS, self.fault(**{IMAGES: images()}))
        self.assertIn("/nowhere", self.refused("small", "--data", "/nowhere"))

    def test_a_batch_larger_than_the_data_is_refused_with_both_numbers(self):
        folder = self.folder(**{IMAGES: images(28), LABELS: labels()})
        text = self.refused("small", "--batch", "4", "--data", folder)
        self.assertRegex(text, "batch of 4 is larger than .* 3")

    def test_images_of_another_shape_than_the_network_takes_are_refused(self):
        self.assertIn("samples of shape [2, 2]", self.fault(**{IMAGES: images(), LABELS: labels()}))


class ExperimentTest(InputTest):
    def refused_file(self, text):
        path = self.write("experiment.toml", text)
        self.add_fake("never", "start:exit:1")
        result = self.call("run", "--experiment", path, "--out", self.out, status=2)
        self.assertEqual(result.stdout, "")
        return path, result.stderr

    def test_an_unknown_key_is_refused_with_its_place_and_the_nearest_key(self):
        path, text = self.refused_file(
            'networks = "tiny"\nframeworks = "never"\n\nroundz = 3\n')
        self.assertRegex(text, path + r":4:\d+: unknown key 'roundz'; did you mean 'rounds'\?")

    def test_a_wrong_value_or_no_toml_is_refused_with_its_place(self):
        for line, what in (("batch = [8, -8]", "must be between 1 and"),
                           ('rounds = "many"', "must be an integer"), ("rounds = [", "")):
            with self.subTest(line=line):
                path, text = self.refused_file('networks = "tiny"\nframeworks = "never"\n' + line)
                self.assertRegex(text, path + r":3:\d+: .*" + what)
        self.assertIn("none.toml", self.call("run", "--experiment", "none.toml", status=2).stderr)

    def test_a_file_says_the_same_as_the_command_line_and_options_stand_above_it(self):
        path = self.write("experiment.toml", """networks = "tiny"
frameworks = "plain"
batch = [8, 16]
threads = 1
rounds = 2
""")
        plan = self.call("run", "--experiment", path, "--dry-run", status=0).stdout
        self.assertEqual(plan, self.call("run", "tiny", "--frameworks", "plain", "--batch", "8,16",
                                         "--threads", "1", "--rounds", "2", "--dry-run",
                                         status=0).stdout)
        part = self.call("run", "--experiment", path, "--batch", "8", "--dry-run", status=0).stdout
        self.assertNotIn("batch 16", part)


class OutTest(InputTest):
    def test_a_results_folder_that_cannot_be_made_is_refused(self):
        self.out = os.path.join(self.write("file", "x"), "results")
        result = self.call(*self.run_words("plain"), status=2)
        self.assertIn(self.out, result.stderr)
        self.assertEqual(result.stdout, "")

    def test_a_foreign_file_in_place_of_the_store_is_refused_and_left_alone(self):
        path = self.write("results/results.sqlite", b"no database" * 100)
        result = self.call("run", "tiny", "--frameworks", "plain", "--threads", "1", "--out",
                           self.out, status=2)
        self.assertIn("results.sqlite", result.stderr)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"no database" * 100)

    def test_two_runs_do_not_write_one_store_at_a_time(self):
        self.add_fake("slow", "hello:hang")
        first = self.start(*self.run_words("slow"), stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
        while not self.workers():
            self.assertIsNone(first.poll())
        second = self.call(*self.run_words("plain"), status=2)
        self.assertIn(str(first.pid), second.stderr)


if __name__ == "__main__":
    unittest.main()
