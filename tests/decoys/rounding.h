#pragma once

namespace dlbench::decoys {

/// The nearest bfloat16 (8 bits of significand), ties to even.
float RoundToBfloat16(float value);
/// The nearest TF32 (11 bits of significand), ties to even.
float RoundToTf32(float value);
/// The nearest IEEE half precision number.
float RoundToFloat16(float value);

}  // namespace dlbench::decoys
