#pragma once

#include "reference/engine.h"

namespace dlbench::reference {

/// Bits of a float32 that an operand loses in this precision: 16 for bfloat16 (8 significant bits),
/// 13 for TF32 (11 significant bits), 0 otherwise.
int DroppedBits(Precision precision);
/// `value` rounded to the nearest number whose last `dropped_bits` are zero, ties to even (IEEE
/// 754, roundTiesToEven); NaN and infinity stay. `dropped_bits` is 1 to 22.
float RoundOperand(float value, int dropped_bits);

}  // namespace dlbench::reference
