"""The adapters of PyTorch and libtorch train a network of images and one of words alike, in every
preset, and hand out the same running statistics and carried states. Skipped (exit status 77) where
PyTorch is not installed; libtorch takes part where it is built.

    python3 adapters_test.py [TEST...]
"""
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
sys.path.insert(0, HERE)
import environment  # noqa: E402

environment.run_with_pytorch(__file__)
sys.path.insert(0, os.path.join(ROOT, "tests", "decoys"))
import drive  # noqa: E402

PYTORCH = [sys.executable, "-B", os.path.join(ROOT, "adapters", "pytorch", "adapter.py")]
LIBTORCH = os.environ.get("DLBENCH_LIBTORCH") or environment.libtorch()
COMPILE_SECONDS = 400.0  # A cold compiler on a busy machine; seconds from its cache.
VERIFY = dict(drive.VERIFY, weights_after=[0, 1, 5])


class AdaptersTest(unittest.TestCase):
    def launch(self, argv, network, preset):
        """Replies, and every tensor handed out, by file."""
        with tempfile.TemporaryDirectory() as folder, drive.Session(
                argv, folder, limit=COMPILE_SECONDS) as session:
            replies = {}
            for name, kind, fields in [
                    ("prepare", "prepare", drive.prepare_fields(folder, network, preset=preset)),
                    ("verify", "verify", dict(VERIFY, folder="one")),
                    ("run", "run", {"steps": 10, "block_steps": 5, "first_batch": 0, "reset": True}),
                    ("export", "export", {"folder": "state"}),
                    ("again", "verify", dict(VERIFY, folder="two"))]:
                replies[name] = session.request(kind, **fields)
                self.assertNotEqual(replies[name]["type"], "error", replies[name])
            tensors = {}
            for name in ("logits", "gradients", "weights-0", "weights-1", "weights-5"):
                tensors[name] = drive.read_safetensors("%s/one/%s.safetensors" % (folder, name))
            for name in ("weights", "velocity"):
                tensors[name] = drive.read_safetensors("%s/state/%s.safetensors" % (folder, name))
            return replies, tensors

    def assert_alike(self, one, other, message):
        self.assertEqual(list(one), list(other), message)
        for name in one:
            self.assertEqual(one[name][0], other[name][0], (message, name))
            scale = max(1e-3, max(abs(value) for value in one[name][1]))
            for a, b in zip(one[name][1], other[name][1]):
                self.assertLess(abs(a - b), 1e-4 * scale, (message, name))

    def compare(self, network, presets):
        launches = [(PYTORCH, preset) for preset in presets]
        if LIBTORCH:
            launches += [([LIBTORCH], "default"), ([LIBTORCH], "recommended")]
        first = None
        for argv, preset in launches:
            replies, tensors = self.launch(argv, network, preset)
            self.assertEqual(replies["verify"]["losses"], replies["again"]["losses"])
            self.assertEqual(replies["prepare"]["precision"], "float32")
            first = first or tensors
            for name in tensors:
                self.assert_alike(first[name], tensors[name], (argv[0], preset, name))
        return first

    def test_images(self):
        tensors = self.compare(drive.image_network(), ["default", "recommended"])
        self.assertEqual(set(tensors["weights-0"]["bn1.running_variance"][1]), {1.0})
        self.assertNotEqual(tensors["weights-1"]["bn1.running_mean"],
                            tensors["weights-5"]["bn1.running_mean"])
        self.assertNotIn("bn1.running_mean", tensors["gradients"])

    def test_words(self):
        tensors = self.compare(drive.words_network(), ["default", "recommended"])
        self.assertEqual(tensors["logits"]["logits"][0], [16, 6, 10])
        self.assertEqual(set(tensors["weights-0"]["memory.cell"][1]), {0.0})
        self.assertGreater(len(set(tensors["weights-5"]["memory.cell"][1])), 16)

    def test_a_reason_is_given_for_what_pytorch_has_not(self):
        network = drive.image_network()
        network["nodes"][1]["attributes"]["running_variance"] = "biased"
        for argv in [PYTORCH] + ([[LIBTORCH]] if LIBTORCH else []):
            with tempfile.TemporaryDirectory() as folder, drive.Session(argv, folder) as session:
                reply = session.request("prepare", **drive.prepare_fields(folder, network))
                self.assertEqual(reply["kind"], "unsupported")
                self.assertEqual(reply["message"], "node bn1: PyTorch's batch norm keeps the "
                                 "unbiased running variance, not the biased one")

    def test_it_learns_images(self):
        with tempfile.TemporaryDirectory() as folder, drive.Session(PYTORCH, folder) as session:
            session.request("prepare", **drive.prepare_fields(folder, drive.image_network()))
            losses = session.request("run", steps=160, block_steps=1, first_batch=0,
                                     reset=True)["losses"]
            self.assertLess(sum(losses[-8:]), 0.7 * sum(losses[:8]))


if __name__ == "__main__":
    unittest.main()
