#pragma once

#include "network/ops/op.h"

namespace dlbench::network {

// One function per op, each in its own file.
Op DenseOp();
Op SigmoidOp();
Op TanhOp();
Op ReluOp();

}  // namespace dlbench::network
