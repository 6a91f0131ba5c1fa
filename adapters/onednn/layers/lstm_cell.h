#pragma once

#include <cstdint>

namespace dlbench::onednn {

/// One time of an LSTM: rows (samples) of `units`, gates in the order i, f, g, o.
struct CellShape {
  std::int64_t rows = 0, units = 0;
};

/// i, f, o = sigmoid, g = tanh of `gates` [rows, 4 units], in place; cell = f before + i g;
/// hidden = o tanh(cell), each [rows, units].
void CellForward(int threads, CellShape shape, float* gates, const float* before, float* cell,
                 float* hidden);

/// From the gradient of hidden, `from_output` + `from_next`, and of the cell
/// (`cell_gradient`, which becomes that of `before`) to that of the sums in the gates, in place.
void CellBackward(int threads, CellShape shape, float* gates, const float* before,
                  const float* cell, const float* from_output, const float* from_next,
                  float* cell_gradient);

}  // namespace dlbench::onednn
