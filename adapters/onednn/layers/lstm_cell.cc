#include "lstm_cell.h"

#include "../parallel.h"
#include "../vector_math.h"

namespace dlbench::onednn {
namespace {

DLBENCH_SIMD_BODY void ForwardBody(std::int64_t units, float* __restrict gates,
                                   const float* __restrict before, float* __restrict cell,
                                   float* __restrict hidden) {
  DLBENCH_INDEPENDENT
  for (std::int64_t k = 0; k < units; ++k) {
    const float i = Sigmoid(gates[k]);
    const float f = Sigmoid(gates[units + k]);
    const float g = Tanh(gates[2 * units + k]);
    const float o = Sigmoid(gates[3 * units + k]);
    gates[k] = i;
    gates[units + k] = f;
    gates[2 * units + k] = g;
    gates[3 * units + k] = o;
    const float c = f * before[k] + i * g;
    cell[k] = c;
    hidden[k] = o * Tanh(c);
  }
}

DLBENCH_SIMD_BODY void BackwardBody(std::int64_t units, float* __restrict gates,
                                    const float* __restrict before, const float* __restrict cell,
                                    const float* __restrict from_output,
                                    const float* __restrict from_next,
                                    float* __restrict cell_gradient) {
  DLBENCH_INDEPENDENT
  for (std::int64_t k = 0; k < units; ++k) {
    const float i = gates[k];
    const float f = gates[units + k];
    const float g = gates[2 * units + k];
    const float o = gates[3 * units + k];
    const float c = Tanh(cell[k]);
    const float dh = from_output[k] + from_next[k];
    const float dc = cell_gradient[k] + dh * o * (1.0F - c * c);
    gates[k] = dc * g * i * (1.0F - i);
    gates[units + k] = dc * before[k] * f * (1.0F - f);
    gates[2 * units + k] = dc * i * (1.0F - g * g);
    gates[3 * units + k] = dh * c * o * (1.0F - o);
    cell_gradient[k] = dc * f;
  }
}

DLBENCH_SIMD_VERSIONS(ForwardRow, ForwardBody,
                      (std::int64_t units, float* gates, const float* before, float* cell,
                       float* hidden),
                      (units, gates, before, cell, hidden))
DLBENCH_SIMD_VERSIONS(BackwardRow, BackwardBody,
                      (std::int64_t units, float* gates, const float* before, const float* cell,
                       const float* from_output, const float* from_next, float* cell_gradient),
                      (units, gates, before, cell, from_output, from_next, cell_gradient))

}  // namespace

void CellForward(int threads, CellShape shape, float* gates, const float* before, float* cell,
                 float* hidden) {
  const std::int64_t units = shape.units;
  ParallelRanges(threads, shape.rows, 4, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row * units;
      ForwardRow(units, gates + 4 * at, before + at, cell + at, hidden + at);
    }
  });
}

void CellBackward(int threads, CellShape shape, float* gates, const float* before,
                  const float* cell, const float* from_output, const float* from_next,
                  float* cell_gradient) {
  const std::int64_t units = shape.units;
  ParallelRanges(threads, shape.rows, 4, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t at = row * units;
      BackwardRow(units, gates + 4 * at, before + at, cell + at, from_output + at, from_next + at,
                  cell_gradient + at);
    }
  });
}

}  // namespace dlbench::onednn
