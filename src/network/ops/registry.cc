#include "network/ops/registry.h"

namespace dlbench::network {

const std::map<std::string, Op>& AllOps() {
  static const std::map<std::string, Op> ops = [] {
    std::map<std::string, Op> by_name;
    for (Op op : {
             AddOp(),
             AvgPool2dOp(),
             BatchNormOp(),
             Conv2dOp(),
             DenseOp(),
             DropoutOp(),
             EmbeddingOp(),
             FlattenOp(),
             GlobalAvgPoolOp(),
             LrnOp(),
             LstmOp(),
             MaxPool2dOp(),
             ReluOp(),
             SigmoidOp(),
             SubsamplePadOp(),
             TanhOp(),
         }) {
      const std::string name = op.name;
      by_name.emplace(name, std::move(op));
    }
    return by_name;
  }();
  return ops;
}

const Op* FindOp(std::string_view name) {
  const auto found = AllOps().find(std::string(name));
  return found == AllOps().end() ? nullptr : &found->second;
}

}  // namespace dlbench::network
