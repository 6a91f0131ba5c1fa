#include "embedding.h"

#include <algorithm>

#include "../parallel.h"

namespace dlbench::onednn {

void EmbeddingLayer::PlanForward(Planner& plan) {
  const adapter::Node& node = plan.node();
  const adapter::Network& network = plan.graph().network();
  if (plan.graph().inputs(plan.index())[0] != Graph::kInput || network.input_kind != "tokens") {
    Refuse(node, "its input is not the network's tokens");
  }
  length_ = plan.SourceShape()[0];
  batch_ = plan.context().batch;
  units_ = node.Integer("units");
  threads_ = plan.context().threads;
  const dnnl::memory::desc table = Context::Matrix(network.vocabulary, units_);
  weight_ = &plan.NewParameter("weight", {network.vocabulary, units_}, {table, table});
  touched_.assign(static_cast<std::size_t>(length_ * batch_), 0);
  const Tensor y = plan.NewOutput(plan.context().Plain(node.output_shape));
  plan.Run({y}, [this, y](const StepInput& input) { Gather(input.tokens, y.data()); });
}

void EmbeddingLayer::PlanBackward(Planner& plan) {
  const Tensor gradient = plan.OutputGradient();
  plan.Run({gradient},
           [this, gradient](const StepInput& input) { Scatter(input.tokens, gradient.data()); });
}

/// Tokens are [batch, T], results [T, batch, units].
void EmbeddingLayer::Gather(const std::int32_t* tokens, float* y) const {
  const auto* table = static_cast<const float*>(weight_->values.get_data_handle());
  ParallelRanges(threads_, length_ * batch_, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t token = tokens[row % batch_ * length_ + row / batch_];
      std::copy_n(table + token * units_, units_, y + row * units_);
    }
  });
}

void EmbeddingLayer::Scatter(const std::int32_t* tokens, const float* gradient) {
  auto* table = static_cast<float*>(weight_->gradient.get_data_handle());
  // Every thread has columns of its own and goes through all rows.
  ParallelRanges(threads_, units_, 16, [&](std::int64_t begin, std::int64_t end) {
    for (const std::int32_t token : touched_) {
      std::fill_n(table + token * units_ + begin, end - begin, 0.0F);
    }
    for (std::int64_t row = 0; row < length_ * batch_; ++row) {
      const std::int64_t token = tokens[row % batch_ * length_ + row / batch_];
      float* const to = table + token * units_;
      const float* const from = gradient + row * units_;
      for (std::int64_t i = begin; i < end; ++i) to[i] += from[i];
    }
  });
  std::copy_n(tokens, touched_.size(), touched_.begin());
}

}  // namespace dlbench::onednn
