#include <algorithm>
#include <cmath>

#include "reference/layers/layer.h"

namespace dlbench::reference {
namespace {

// Long short-term memory (Hochreiter and Schmidhuber 1997, with the forget gate of Gers,
// Schmidhuber, Cummins 2000; equations and gate order i, f, g, o as torch.nn.LSTM, with one bias).
// For each token t of a sequence:
//   a[t] = x[t] Wi^T + h[t-1] Wh^T + b,  i, f, o = sigmoid(a's blocks 0, 1, 3),  g = tanh(block 2)
//   c[t] = f c[t-1] + i g,  h[t] = o tanh(c[t])
// Backwards from the last token, with dh[t] = dy[t] + da[t+1] Wh and dc[t] = dc[t+1] f[t+1] + dh o
// (1 - tanh(c)^2):
//   da = dc g i (1-i), dc c[t-1] f (1-f), dc i (1-g^2), dh tanh(c) o (1-o)
//   dWi = sum da^T x,  dWh = sum da^T h[t-1],  db = sum da,  dx = da Wi
// h and c before the first token are zero or, carried, those after the last token of the batch
// before.
template <class Scalar>
class Lstm final : public UnaryLayer<Scalar> {
 public:
  Lstm(const LayerSource& source, Sums<Scalar>& sums)
      : sums_(sums),
        batch_(source.batch),
        length_(source.input_shapes[0][0]),
        units_(source.node->Int("units")),
        from_input_(TensorFor<Scalar>(source.node->parameters[0])),
        from_hidden_(TensorFor<Scalar>(source.node->parameters[1])),
        bias_(TensorFor<Scalar>(source.node->parameters[2])),
        gates_(batch_ * length_, 4 * units_),
        cells_(batch_ * length_, units_),
        before_(batch_ * length_, units_),
        zeros_(batch_, units_) {
    for (const network::Buffer& buffer : source.node->buffers) {
      state_.push_back(TensorFor<Scalar>(buffer, batch_));
    }
  }

  std::vector<ParameterTensor<Scalar>*> Parameters() override {
    return {&from_input_, &from_hidden_, &bias_};
  }
  std::vector<BufferTensor<Scalar>*> Buffers() override {
    std::vector<BufferTensor<Scalar>*> buffers;
    for (auto& buffer : state_) buffers.push_back(&buffer);
    return buffers;
  }

 protected:
  void Apply(const Matrix<Scalar>& x, Matrix<Scalar>& y) override {
    if (sums_.BiasFirst()) FillWithBias();
    sums_.TimesTransposed(x, from_input_.value, gates_, sums_.BiasFirst());
    if (!sums_.BiasFirst()) AddBias();
    Matrix<Scalar> hidden = state_.empty() ? zeros_ : state_[0].value;
    Matrix<Scalar> cell = state_.empty() ? zeros_ : state_[1].value;
    Matrix<Scalar> recurrent(batch_, 4 * units_);
    for (std::int64_t t = 0; t < length_; ++t) {
      sums_.TimesTransposed(hidden, from_hidden_.value, recurrent);
      for (std::int64_t s = 0; s < batch_; ++s) {
        const std::int64_t row = s * length_ + t;
        std::copy_n(hidden.row(s), units_, before_.row(row));
        Advance(recurrent.row(s), gates_.row(row), hidden.row(s), cell.row(s));
        std::copy_n(cell.row(s), units_, cells_.row(row));
        std::copy_n(hidden.row(s), units_, y.row(row));
      }
    }
    if (state_.empty()) return;
    state_[0].next = hidden;
    state_[1].next = cell;
  }

  void Differentiate(const Matrix<Scalar>& x, const Matrix<Scalar>&, const Matrix<Scalar>& dy,
                     Matrix<Scalar>* dx) override {
    Matrix<Scalar> gradients(batch_ * length_, 4 * units_);  // da
    Matrix<Scalar> d_hidden = zeros_;
    Matrix<Scalar> d_cell = zeros_;
    Matrix<Scalar> at_t(batch_, 4 * units_);
    for (std::int64_t t = length_ - 1; t >= 0; --t) {
      for (std::int64_t s = 0; s < batch_; ++s) {
        const std::int64_t row = s * length_ + t;
        const Scalar* cell_before =
            t > 0 ? cells_.row(row - 1) : (state_.empty() ? zeros_ : state_[1].value).row(s);
        Retreat(row, cell_before, dy.row(row), d_hidden.row(s), d_cell.row(s), at_t.row(s));
        std::copy_n(at_t.row(s), 4 * units_, gradients.row(row));
      }
      if (t > 0) sums_.Times(at_t, from_hidden_.value, d_hidden);
    }
    sums_.TransposedTimes(gradients, x, from_input_.gradient);
    sums_.TransposedTimes(gradients, before_, from_hidden_.gradient);
    sums_.AddRows(gradients, bias_.gradient.values);
    if (dx != nullptr) sums_.Times(gradients, from_input_.value, *dx);
  }

 private:
  static Scalar Sigmoid(Scalar value) { return 1 / (1 + std::exp(-value)); }

  void FillWithBias() {
    for (std::int64_t row = 0; row < gates_.rows; ++row) {
      std::copy_n(bias_.value.row(0), gates_.columns, gates_.row(row));
    }
  }
  void AddBias() {
    for (std::int64_t row = 0; row < gates_.rows; ++row) {
      for (std::int64_t j = 0; j < gates_.columns; ++j) gates_.row(row)[j] += bias_.value.row(0)[j];
    }
  }

  /// One sample's step: `gates` holds x Wi^T + b and becomes i, f, g, o.
  void Advance(const Scalar* recurrent, Scalar* gates, Scalar* hidden, Scalar* cell) const {
    for (std::int64_t u = 0; u < units_; ++u) {
      Scalar& i = gates[u];
      Scalar& f = gates[units_ + u];
      Scalar& g = gates[2 * units_ + u];
      Scalar& o = gates[3 * units_ + u];
      i = Sigmoid(i + recurrent[u]);
      f = Sigmoid(f + recurrent[units_ + u]);
      g = std::tanh(g + recurrent[2 * units_ + u]);
      o = Sigmoid(o + recurrent[3 * units_ + u]);
      cell[u] = f * cell[u] + i * g;
      hidden[u] = o * std::tanh(cell[u]);
    }
  }

  /// One sample's step backwards: `d_hidden` comes from the token after, `d_cell` too and goes to
  /// the one before; `da` is set.
  void Retreat(std::int64_t row, const Scalar* cell_before, const Scalar* dy,
               const Scalar* d_hidden, Scalar* d_cell, Scalar* da) const {
    const Scalar* gates = gates_.row(row);
    for (std::int64_t u = 0; u < units_; ++u) {
      const Scalar i = gates[u];
      const Scalar f = gates[units_ + u];
      const Scalar g = gates[2 * units_ + u];
      const Scalar o = gates[3 * units_ + u];
      const Scalar squashed = std::tanh(cells_.row(row)[u]);
      const Scalar dh = dy[u] + d_hidden[u];
      const Scalar dc = d_cell[u] + dh * o * (1 - squashed * squashed);
      da[u] = dc * g * i * (1 - i);
      da[units_ + u] = dc * cell_before[u] * f * (1 - f);
      da[2 * units_ + u] = dc * i * (1 - g * g);
      da[3 * units_ + u] = dh * squashed * o * (1 - o);
      d_cell[u] = dc * f;
    }
  }

  Sums<Scalar>& sums_;
  const std::int64_t batch_, length_, units_;
  ParameterTensor<Scalar> from_input_;   ///< Wi [4 units, features].
  ParameterTensor<Scalar> from_hidden_;  ///< Wh [4 units, units].
  ParameterTensor<Scalar> bias_;
  std::vector<BufferTensor<Scalar>> state_;  ///< h and c where they are carried, else nothing.
  Matrix<Scalar> gates_;                     ///< i, f, g, o of all tokens of the last Forward.
  Matrix<Scalar> cells_;
  Matrix<Scalar> before_;  ///< h[t-1] of all tokens.
  Matrix<Scalar> zeros_;
};

}  // namespace

template <class Scalar>
Result<LayerPtr<Scalar>> MakeLstm(const LayerSource& source, Sums<Scalar>& sums) {
  const network::Node& node = *source.node;
  const network::Shape& sequence = source.input_shapes[0];
  const std::int64_t units = node.Int("units");
  const std::size_t buffers = node.Text("state") == "carried" ? 2 : 0;
  if (sequence.size() != 2 || node.buffers.size() != buffers) {
    return Error(ErrorCode::kInput, "node '" + node.name +
                                        "': lstm takes sequences [T, features], and "
                                        "two buffers if its state is carried");
  }
  DLBENCH_RETURN_IF_ERROR(CheckOutput(source, {sequence[0], units}));
  DLBENCH_RETURN_IF_ERROR(
      CheckParameters(source, {{4 * units, sequence[1]}, {4 * units, units}, {4 * units}},
                      "lstm of " + std::to_string(units) + " units"));
  return LayerPtr<Scalar>(std::make_unique<Lstm<Scalar>>(source, sums));
}

template Result<LayerPtr<float>> MakeLstm(const LayerSource&, Sums<float>&);
template Result<LayerPtr<double>> MakeLstm(const LayerSource&, Sums<double>&);

}  // namespace dlbench::reference
