"""The examples of docs/writing-an-adapter.md train as a float64 oracle does.

    python3 examples_test.py EXAMPLE_PROGRAM
"""
import os
import sys
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "decoys"))
import drive  # noqa: E402
import oracle  # noqa: E402

EXAMPLES = [[os.path.abspath(sys.argv[-1])],
            [sys.executable, "-B", os.path.join(ROOT, "docs", "examples", "one_dense_layer.py")]]


class ExamplesTest(unittest.TestCase):
    def test_examples_agree_with_the_oracle(self):
        for argv in EXAMPLES:
            with self.subTest(argv=argv), tempfile.TemporaryDirectory() as folder:
                network = drive.minimal_network()
                replies, status = drive.drive(argv, folder, steps=16, network=network)
                self.assertEqual(status, 0)
                self.assertEqual(replies["finish"]["type"], "finished")
                self.compare(network, folder, replies)

    def compare(self, network, folder, replies):
        reference = oracle.Oracle(network, folder)
        gradients = oracle.read_doubles(os.path.join(folder, "verify-0", "gradients.safetensors"))
        for i, batch in enumerate(drive.VERIFY["batches"]):
            loss, _, expected = reference.step(batch, drive.VERIFY["learning_rates"][i])
            self.assertAlmostEqual(replies["verify"]["losses"][i], loss, places=5)
            if i == 0:
                for name in expected:
                    self.assertLess(oracle.error(gradients[name], expected[name]), 1e-5)
        weights = oracle.read_doubles(os.path.join(folder, "verify-1", "weights-5.safetensors"))
        for name in weights:
            self.assertLess(oracle.error(weights[name], reference.weights[name]), 1e-6)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
