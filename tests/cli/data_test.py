"""Data sets of the user: added, used wherever a network asks for their kind, checked, forgotten."""
import gzip
import os
import struct
import unittest

from home import SHORT, HomeTest, strict_json


def idx(kind, *shape):
    """An IDX file with bytes 0, 1, 2 ... (labels: below 10)."""
    count = 1
    for size in shape:
        count *= size
    values = bytes(i % (251 if kind == 3 else 10) for i in range(count))
    return struct.pack(">I", 0x800 + kind) + b"".join(struct.pack(">I", n) for n in shape) + values


class DataTest(HomeTest):
    def put_mnist(self, samples=40):
        """A folder with MNIST's training pair: images of 28x28."""
        self.write("mine/train-images-idx3-ubyte", idx(3, samples, 28, 28))
        self.write("mine/train-labels-idx1-ubyte.gz", gzip.compress(idx(1, samples)))
        return os.path.join(self.home, "mine")

    def test_an_added_set_is_listed_checked_and_forgotten(self):
        folder = self.put_mnist()
        self.assertIn("40 samples of [28, 28]", self.call("data", "add", "mnist", folder, status=0).stdout)
        listed = strict_json(self.call("data", "list", "--format", "json", status=0).stdout)["data"]
        self.assertEqual([(row["kind"], row["added"]) for row in listed],
                         [("mnist", True), ("cifar10", False), ("text", False)])
        self.assertEqual(listed[0]["used"], folder)
        self.assertIn("as it was added", self.call("data", "check", status=0).stdout)
        self.put_mnist(samples=41)
        self.assertIn("CHANGED", self.call("data", "check", status=1).stdout)
        os.remove(os.path.join(folder, "train-images-idx3-ubyte"))
        self.assertIn("BROKEN", self.call("data", "check", status=1).stdout)
        self.call("data", "remove", "mnist", status=0)
        self.assertIn("no data set has been added", self.call("data", "check", status=0).stdout)

    def test_what_cannot_be_added_is_refused_and_nothing_is_remembered(self):
        text = self.write("mine/binary.txt", b"a\0b")
        for words, why in ((("mnits", self.home), "mnist"),
                           (("mnist", self.home), "train-images-idx3-ubyte"),
                           (("cifar10", "/nonexistent"), "/nonexistent"),
                           (("text", text), "zero byte")):
            with self.subTest(words=words):
                result = self.call("data", "add", *words, status=2)
                self.assertIn(why, result.stderr)
        self.assertIn("no data set has been added", self.call("data", "check", status=0).stdout)
        self.call("data", "remove", "text", status=2)

    def test_a_run_uses_the_added_set_of_the_networks_kind(self):
        self.write("networks/tiny.toml", open(self.network_file).read()
                   .replace('dataset = "synthetic"', 'dataset = "mnist"')
                   .replace("shape = [6]", "shape = [784]").replace("classes = 3", "classes = 10")
                   .replace("units = 3", "units = 10"))
        folder = self.put_mnist()
        self.call("data", "add", "mnist", folder, status=0)
        result = self.call("run", "tiny", "--frameworks", "plain", *SHORT, "--rounds", "1", "--out",
                           self.out, "--format", "json", status=0)
        row = strict_json(result.stdout)["results"][0]
        self.assertEqual(row["data"], "MNIST (user)")
        self.assertFalse(row["synthetic"])


if __name__ == "__main__":
    unittest.main()
