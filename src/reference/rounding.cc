#include "reference/rounding.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace dlbench::reference {

int DroppedBits(Precision precision) {
  switch (precision) {
    case Precision::kBFloat16Operands:
      return 16;
    case Precision::kTF32Operands:
      return 13;
    case Precision::kFloat64:
    case Precision::kFloat32:
      return 0;
  }
  return 0;
}

float RoundOperand(float value, int dropped_bits) {
  if (!std::isfinite(value)) return value;
  auto bits = std::bit_cast<std::uint32_t>(value);
  // Adding just under half a step, and one more where the last kept bit is odd, carries exactly
  // when the value must go up; the exponent takes the carry, up to infinity.
  const std::uint32_t last_kept = (bits >> dropped_bits) & 1U;
  bits += (1U << (dropped_bits - 1)) - 1U + last_kept;
  bits &= ~((1U << dropped_bits) - 1U);
  return std::bit_cast<float>(bits);
}

}  // namespace dlbench::reference
