#pragma once

#include "network/ops/op.h"

namespace dlbench::network {

// One function per op; those of a family share a file.
Op AddOp();
Op AvgPool2dOp();
Op BatchNormOp();
Op Conv2dOp();
Op DenseOp();
Op DropoutOp();
Op EmbeddingOp();
Op FlattenOp();
Op GlobalAvgPoolOp();
Op LrnOp();
Op LstmOp();
Op MaxPool2dOp();
Op ReluOp();
Op SigmoidOp();
Op SubsamplePadOp();
Op TanhOp();

}  // namespace dlbench::network
