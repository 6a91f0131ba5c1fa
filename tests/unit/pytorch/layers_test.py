"""adapters/pytorch/layers.py against the definitions of docs/networks.md, written out in loops over
Python's numbers. Skipped (exit status 77) where no Python with PyTorch is found.

    python3 layers_test.py [TEST...]
"""
import itertools
import math
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..", "..")
sys.path.insert(0, HERE)
import environment  # noqa: E402

environment.run_with_pytorch(__file__)
import torch  # noqa: E402

for folder in ("sdk", "pytorch"):
    sys.path.insert(0, os.path.join(ROOT, "adapters", folder))
import dlbench_adapter as sdk  # noqa: E402
import layers  # noqa: E402


def make_node(op, input_shape, output_shape, parameters=(), buffers=(), **attributes):
    return sdk.Node({
        "name": "n", "op": op, "inputs": ["input"], "attributes": attributes,
        "output_shape": list(output_shape),
        "parameters": [{"name": "n." + suffix, "shape": shape, "decays": True}
                       for suffix, shape in parameters],
        "buffers": [{"name": "n." + suffix, "shape": shape, "initial": 0.0, "per_sample": False}
                    for suffix, shape in buffers]}, 2)


def random_tensor(*shape):
    return torch.randn(shape, dtype=torch.float64)


def windows(size, kernel, stride, before, after, ceil_mode):
    """[first, end) of a pool's windows along one axis, counted from the first input element."""
    steps = (size + before + after - kernel) / stride
    count = (math.ceil(steps) if ceil_mode else math.floor(steps)) + 1
    starts = [i * stride - before for i in range(count)]
    if ceil_mode and starts[-1] >= size:
        starts.pop()  # The last window must start inside the input or its leading padding.
    return [(start, start + kernel) for start in starts]


POOLS = [dict(kernel=kernel, stride=stride, padding=padding, ceil_mode=ceil_mode)
         for kernel, stride, padding, ceil_mode in itertools.product(
             ([2, 2], [3, 3], [3, 2]), ([1, 1], [2, 2], [2, 3]),
             ([0, 0, 0, 0], [1, 1, 1, 1], [0, 1, 1, 0], [1, 0, 0, 1], [0, 0, 1, 1]),
             (False, True))]


class LayersTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        torch.set_default_dtype(torch.float64)

    def layer(self, node, input_shape, batch=2):
        layer = layers.MAKERS[node.op](node, input_shape, batch)
        for tensor in layer.tensors.values():
            if tensor is not None:
                tensor.data.copy_(random_tensor(*tensor.shape))
        return layer

    def assert_close(self, actual, expected, message=None):
        expected = torch.as_tensor(expected, dtype=torch.float64)
        self.assertEqual(tuple(actual.shape), tuple(expected.shape), message)
        self.assertLess((actual - expected).abs().max().item(), 1e-12, message)

    def test_conv2d_with_groups_and_uneven_padding(self):
        for padding in ([1, 1, 1, 1], [0, 1, 2, 0]):
            top, left, bottom, right = padding
            rows, columns = (5 + top + bottom - 3) // 2 + 1, 6 + left + right - 2 + 1
            node = make_node("conv2d", [4, 5, 6], [6, rows, columns],
                             [("weight", [6, 2, 3, 2]), ("bias", [6])], channels=6, kernel=[3, 2],
                             stride=[2, 1], padding=padding, groups=2, bias=True)
            layer, x = self.layer(node, (4, 5, 6)), random_tensor(2, 4, 5, 6)
            weight, bias = layer.tensors["weight"].tolist(), layer.tensors["bias"].tolist()
            self.assertEqual(layer.tensors["weight"].shape, (6, 2, 3, 2))

            def value(b, c, i, j):
                total = bias[c]
                for k, di, dj in itertools.product(range(2), range(3), range(2)):
                    row, column = 2 * i + di - top, j + dj - left
                    if 0 <= row < 5 and 0 <= column < 6:
                        total += weight[c][k][di][dj] * x[b, c // 3 * 2 + k, row, column].item()
                return total

            self.assert_close(layer.module(x), [[[[value(b, c, i, j) for j in range(columns)]
                                                  for i in range(rows)] for c in range(6)]
                                                for b in range(2)])

    def pooled(self, x, attributes, reduce):
        """By loops: reduce(values inside, padded size) of every window."""
        (kh, kw), (sh, sw) = attributes["kernel"], attributes["stride"]
        top, left, bottom, right = attributes["padding"]
        height, width = x.shape[2:]
        rows = windows(height, kh, sh, top, bottom, attributes["ceil_mode"])
        columns = windows(width, kw, sw, left, right, attributes["ceil_mode"])
        return [[[[reduce([x[b, c, i, j].item() for i in range(max(r[0], 0), min(r[1], height))
                           for j in range(max(k[0], 0), min(k[1], width))],
                          (min(r[1], height + bottom) - r[0]) * (min(k[1], width + right) - k[0]))
                   for k in columns] for r in rows] for c in range(x.shape[1])]
                for b in range(x.shape[0])]

    def test_max_pools(self):
        x = random_tensor(2, 2, 6, 7) - 10.0  # Padding with zeros would be the largest.
        for attributes in POOLS:
            expected = self.pooled(x, attributes, lambda inside, _: max(inside))
            shape = (2, len(expected[0][0]), len(expected[0][0][0]))
            node = make_node("max_pool2d", x.shape[1:], shape, **attributes)
            self.assert_close(self.layer(node, x.shape[1:]).module(x), expected, attributes)

    def test_the_gradient_of_equal_maxima_goes_to_the_first(self):
        for padding in ([0, 0, 0, 0], [0, 0, 1, 1]):
            node = make_node("max_pool2d", [1, 2, 2], [1, 1, 1], kernel=[2, 2], stride=[2, 2],
                             padding=padding, ceil_mode=False)
            x = torch.ones(2, 1, 2, 2, dtype=torch.float64, requires_grad=True)
            self.layer(node, (1, 2, 2)).module(x).sum().backward()
            self.assertEqual(x.grad[0].tolist(), [[[1.0, 0.0], [0.0, 0.0]]])

    def test_average_pools(self):
        x = random_tensor(2, 2, 6, 7)
        for attributes, count_padding in itertools.product(POOLS, (False, True)):
            expected = self.pooled(x, attributes, lambda inside, padded: sum(inside) / (
                padded if count_padding else len(inside)))
            shape = (2, len(expected[0][0]), len(expected[0][0][0]))
            node = make_node("avg_pool2d", x.shape[1:], shape, count_padding=count_padding,
                             **attributes)
            self.assert_close(self.layer(node, x.shape[1:]).module(x), expected,
                              (attributes, count_padding))

    def test_global_average(self):
        x = random_tensor(2, 3, 4, 5)
        node = make_node("global_avg_pool", [3, 4, 5], [3, 1, 1])
        self.assert_close(self.layer(node, (3, 4, 5)).module(x), [
            [[[sum(x[b, c].flatten().tolist()) / 20]] for c in range(3)] for b in range(2)])

    def test_lrn_divides_alpha_by_the_size(self):
        x = random_tensor(2, 7, 1, 2)
        node = make_node("lrn", [7, 1, 2], [7, 1, 2], size=5, alpha=0.3, beta=0.75, k=2.0)

        def value(b, c, j):
            total = sum(x[b, i, 0, j].item() ** 2 for i in range(max(c - 2, 0), min(c + 3, 7)))
            return x[b, c, 0, j].item() / (2.0 + 0.3 / 5 * total) ** 0.75

        self.assert_close(self.layer(node, (7, 1, 2)).module(x), [
            [[[value(b, c, j) for j in range(2)]] for c in range(7)] for b in range(2)])
        node.attributes["size"] = 4
        self.assertRaises(sdk.Unsupported, self.layer, node, (7, 1, 2))

    def batch_norm_node(self, shape, running_variance="unbiased"):
        return make_node("batch_norm", shape, shape, [("weight", shape[:1]), ("bias", shape[:1])],
                         [("running_mean", shape[:1]), ("running_variance", shape[:1])],
                         epsilon=0.01, momentum=0.3, running_variance=running_variance)

    def test_batch_norm(self):
        for shape in ([3], [3, 2, 2]):
            layer = self.layer(self.batch_norm_node(shape), tuple(shape))
            x = random_tensor(4, *shape)
            result = layer.module(x)
            for c in range(3):
                values = x[:, c].flatten().tolist()
                mean = sum(values) / len(values)
                squares = sum((value - mean) ** 2 for value in values)
                scale = layer.tensors["weight"][c].item() / math.sqrt(squares / len(values) + 0.01)
                self.assert_close(result[:, c].flatten(), [
                    (value - mean) * scale + layer.tensors["bias"][c].item() for value in values])
                self.assertAlmostEqual(layer.buffers["running_mean"][c].item(), 0.3 * mean)
                self.assertAlmostEqual(layer.buffers["running_variance"][c].item(),
                                       0.7 + 0.3 * squares / (len(values) - 1))

    def test_what_pytorch_has_not_is_unsupported_with_a_reason(self):
        with self.assertRaisesRegex(sdk.Unsupported, "keeps the unbiased running variance"):
            self.layer(self.batch_norm_node([3], "biased"), (3,))
        with self.assertRaisesRegex(sdk.Unsupported, "more than one value a channel"):
            self.layer(self.batch_norm_node([3]), (3,), batch=1)
        self.layer(self.batch_norm_node([3, 2, 1]), (3, 2, 1), batch=1)

    def test_shortcut_and_flatten(self):
        x = random_tensor(2, 2, 3, 5)
        node = make_node("subsample_pad", [2, 3, 5], [5, 2, 3], stride=2, channels_before=1,
                         channels_after=2)
        zeros = [[0.0] * 3] * 2
        self.assert_close(self.layer(node, (2, 3, 5)).module(x), [
            [zeros] + [[[x[b, c, 2 * i, 2 * j].item() for j in range(3)] for i in range(2)]
                       for c in range(2)] + [zeros] * 2 for b in range(2)])
        flatten = self.layer(make_node("flatten", [2, 3, 5], [30]), (2, 3, 5)).module
        for memory_format in (torch.contiguous_format, torch.channels_last):
            self.assert_close(flatten(x.contiguous(memory_format=memory_format)), [
                [x[b, c, i, j].item() for c in range(2) for i in range(3) for j in range(5)]
                for b in range(2)])

    def test_dropout_takes_the_scaled_mask(self):
        layer = self.layer(make_node("dropout", [2], [2], probability=0.5), (2,))
        x = random_tensor(1, 2)
        self.assert_close(layer.module(x, torch.tensor([[0.0, 2.0]])), [[0.0, 2 * x[0, 1].item()]])

    def lstm(self, state):
        node = make_node("lstm", [4, 3], [4, 2], [("weight_ih", [8, 3]), ("weight_hh", [8, 2]),
                                                  ("bias", [8])], units=2, state=state)
        return self.layer(node, (4, 3))

    def lstm_by_hand(self, layer, x, hidden, cell):
        """Gates i, f, g, o of one sample x [T][3]; every output."""
        weight_ih, weight_hh, bias = (layer.tensors[name].tolist() for name in (
            "weight_ih", "weight_hh", "bias"))

        def sigmoid(value):
            return 1.0 / (1.0 + math.exp(-value))

        outputs = []
        for word in x:
            gates = [bias[r] + sum(w * v for w, v in zip(weight_ih[r], word))
                     + sum(w * v for w, v in zip(weight_hh[r], hidden)) for r in range(8)]
            i, f, g, o = (gates[2 * k:2 * k + 2] for k in range(4))
            cell = [sigmoid(f[u]) * cell[u] + sigmoid(i[u]) * math.tanh(g[u]) for u in range(2)]
            hidden = [sigmoid(o[u]) * math.tanh(cell[u]) for u in range(2)]
            outputs.append(hidden)
        return outputs, hidden, cell

    def test_lstm(self):
        layer, x = self.lstm("reset"), random_tensor(2, 4, 3)
        output, (hidden, cell) = layer.module(x)
        for b in range(2):
            expected = self.lstm_by_hand(layer, x[b].tolist(), [0.0] * 2, [0.0] * 2)
            self.assert_close(output[b], expected[0])
            self.assert_close(hidden[b], expected[1])
            self.assert_close(cell[b], expected[2])
        self.assertEqual(layer.module.lstm.bias_hh_l0.tolist(), [0.0] * 8)

    def test_a_carried_state_continues_without_a_gradient(self):
        layer, x = self.lstm("carried"), random_tensor(2, 4, 3)
        first = random_tensor(2, 2).requires_grad_(), random_tensor(2, 2).requires_grad_()
        _, state = layer.module(x, first)
        self.assertFalse(state[0].requires_grad or state[1].requires_grad)
        output, _ = layer.module(x, state)
        for b in range(2):
            _, hidden, cell = self.lstm_by_hand(layer, x[b].tolist(), first[0][b].tolist(),
                                                first[1][b].tolist())
            self.assert_close(output[b], self.lstm_by_hand(layer, x[b].tolist(), hidden, cell)[0])
        output.sum().backward()
        self.assertIsNone(first[0].grad)
        self.assertIsNone(layer.module.lstm.bias_hh_l0.grad)

    def test_dense_and_embedding_work_word_by_word(self):
        node = make_node("dense", [4, 3], [4, 2], [("weight", [2, 3])], units=2, bias=False)
        layer, x = self.layer(node, (4, 3)), random_tensor(2, 4, 3)
        weight = layer.tensors["weight"].tolist()
        self.assert_close(layer.module(x), [
            [[sum(w * v for w, v in zip(row, word)) for row in weight] for word in sample]
            for sample in x.tolist()])
        node = make_node("embedding", [4], [4, 3], [("weight", [5, 3])], units=3)
        layer = self.layer(node, (4,))
        ids = [[4, 0, 1, 1], [2, 3, 4, 0]]
        weight = layer.tensors["weight"].tolist()
        self.assert_close(layer.module(torch.tensor(ids)), [[weight[i] for i in row] for row in ids])

    def test_a_value_is_dropped_after_its_last_reader(self):
        """Two readers of one value, the loss's input read by another node as well."""
        nodes = [dict(name="a", op="relu", inputs=["input"]), dict(name="b", op="tanh", inputs=["a"]),
                 dict(name="c", op="add", inputs=["a", "b"]),
                 dict(name="d", op="sigmoid", inputs=["c"])]
        network = sdk.Network({
            "name": "x", "variant": "", "classes": 3, "input": {"shape": [3]},
            "nodes": [dict(node, attributes={}, output_shape=[3], parameters=[]) for node in nodes],
            "loss": {"kind": "softmax_cross_entropy", "reduction": "mean", "input": "c"},
            "optimizer": {"kind": "sgd", "learning_rate": 1, "momentum": 0, "weight_decay": 0,
                          "nesterov": False}}, 2)
        x = random_tensor(2, 3)
        result, _ = layers.Net(network, 2)(x, [], [])
        self.assert_close(result, [[max(v, 0.0) + math.tanh(max(v, 0.0)) for v in row]
                                   for row in x.tolist()])


if __name__ == "__main__":
    unittest.main()
