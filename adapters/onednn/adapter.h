#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "dlbench_adapter.h"
#include "engine.h"

namespace dlbench::onednn {

/// The engine as an adapter of dlbench.
class OnednnAdapter : public adapter::Adapter {
 public:
  adapter::Description Describe() override;
  adapter::Prepared Prepare(const adapter::Spec& spec) override;
  void Reset() override;
  void Step(std::int64_t batch, double learning_rate) override;
  double Loss() override { return loss_; }
  void ReadLogits(float* out) override;
  void ReadGradient(const adapter::Parameter& parameter, float* out) override;
  void ReadWeight(const adapter::Parameter& parameter, float* out) override;
  void ReadVelocity(const adapter::Parameter& parameter, float* out) override;
  void ReadBuffer(const adapter::Buffer& buffer, float* out) override;
  std::map<std::string, std::string> EffectiveSettings() override;

 private:
  std::size_t IndexOf(const adapter::Parameter& parameter) const;

  const adapter::Spec* spec_ = nullptr;  ///< Outlives the adapter's use (SDK).
  std::optional<Engine> engine_;
  Buffer batches_;  ///< The pool's x in the engine's own aligned memory.
  std::map<std::string, std::size_t> index_;
  std::vector<const adapter::Node*> dropouts_;  ///< In the network's order.
  StepInput input_;
  double loss_ = 0.0;
};

}  // namespace dlbench::onednn
