#pragma once

#include <atomic>
#include <future>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "decoys.h"
#include "plain_adapter.h"

namespace dlbench::decoys {

/// PlainAdapter with exactly one planted fault; with Decoy::kNone, PlainAdapter itself.
class DecoyAdapter final : public PlainAdapter {
 public:
  explicit DecoyAdapter(Decoy decoy) : decoy_(decoy) {}
  ~DecoyAdapter() override;

  /// Called with every request before it is answered: some faults depend on who is looking.
  void Overhear(const sdk::Json& request);
  /// The reply to be sent instead of `reply`, for faults in what is reported.
  std::string Forge(const std::string& reply) const;

  sdk::Prepared Prepare(const sdk::Spec& spec) override;
  void Reset() override;
  void Step(std::int64_t batch, double learning_rate) override;
  double Loss() override { return reported_loss_; }
  void Synchronize() override;
  void ReadLogits(float* out) override;
  void ReadWeight(const sdk::Parameter& parameter, float* out) override;
  void ReadVelocity(const sdk::Parameter& parameter, float* out) override;

 protected:
  void LoadBatches() override;
  void DenseForward(const Layer& layer, const Eigen::Ref<const Matrix>& input,
                    Rows output) override;
  void Activate(Op op, Rows values) override;
  void LossGradient(std::int64_t batch, Eigen::Index first, Rows logits, Rows delta) override;
  void FinishGradients() override;
  void Update(Tensor& tensor, Eigen::Index begin, Eigen::Index count, float learning_rate) override;

 private:
  bool Is(Decoy decoy) const { return decoy_ == decoy; }
  void TakeStep(std::int64_t batch, double learning_rate);
  void TakeDeferredSteps();
  void LookBeforeStep(std::int64_t batch);
  void SpoilAfterStep();
  std::int64_t ChosenBatch(std::int64_t batch);
  double ChosenRate(double learning_rate) const;
  bool HalvesBatch() const;
  double ReportedLoss();
  void SpoilTensor(Tensor& tensor);
  /// The second dense layer, or the last one if there is only one.
  const Layer& SecondDense() const;

  Decoy decoy_;
  bool long_run_ = false;  ///< The request is a run of more than one step.
  std::int64_t run_steps_ = 0;
  std::int64_t noted_ = 0;  ///< Steps of the run that were noted instead of taken.
  bool is_run_ = false;     ///< The request is a run.
  std::int64_t asked_ = 0;  ///< Steps of the request so far.
  int resets_ = 0;
  int taken_ = 0;  ///< Steps since the last reset.
  std::int64_t last_batch_ = 0;
  double last_rate_ = 1.0;
  double reported_loss_ = 0.0;
  double previous_loss_ = 0.0;
  double initial_weights_loss_ = 0.0;
  Matrix stale_logits_;
  std::map<std::string, Matrix> stale_weights_;
  std::vector<std::pair<std::int64_t, double>> deferred_;
  std::future<void> background_;
  std::atomic<bool> stop_{false};
  std::thread spinner_;
};

}  // namespace dlbench::decoys
