#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dlbench_adapter.h"
#include "worker_threads.h"

namespace dlbench::decoys {

namespace sdk = dlbench::adapter;

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// An honest, plain float32 framework for tests: chains of dense, sigmoid, tanh and relu, softmax
/// cross-entropy, SGD with momentum, decay and Nesterov. The batch is split by rows over the
/// threads asked for, the weights' gradients and updates by output units.
///
/// The protected virtual functions are the stages of a step; decoy_adapter.h replaces one of them.
class PlainAdapter : public sdk::Adapter {
 public:
  sdk::Description Describe() override;
  sdk::Prepared Prepare(const sdk::Spec& spec) override;
  void Reset() override;
  void Step(std::int64_t batch, double learning_rate) override;
  double Loss() override { return loss_; }
  void ReadLogits(float* out) override;
  void ReadGradient(const sdk::Parameter& parameter, float* out) override;
  void ReadWeight(const sdk::Parameter& parameter, float* out) override;
  void ReadVelocity(const sdk::Parameter& parameter, float* out) override;

 protected:
  /// A weight [out, in] or a bias [out, 1].
  struct Tensor {
    const sdk::Parameter* parameter = nullptr;
    Matrix value, gradient, velocity;
  };
  enum class Op { kDense, kSigmoid, kTanh, kRelu };
  /// One node with the batch's values: `output` and `delta`, the loss's gradient by the output.
  struct Layer {
    Op op = Op::kDense;
    Tensor* weight = nullptr;  ///< Dense alone.
    Tensor* bias = nullptr;    ///< Null where there is none.
    Matrix output, delta;
  };
  using Rows = Eigen::Ref<Matrix>;

  /// Copies the pool of batches, as a framework moves it to its device.
  virtual void LoadBatches();
  /// One dense layer's output for some rows of the batch.
  virtual void DenseForward(const Layer& layer, const Eigen::Ref<const Matrix>& input, Rows output);
  /// An activation function, in place.
  virtual void Activate(Op op, Rows values);
  /// Row losses and d loss / d logits of some rows, the first of which is `first`.
  virtual void LossGradient(std::int64_t batch, Eigen::Index first, Rows logits, Rows delta);
  /// After the gradients are complete and before the update.
  virtual void FinishGradients() {}
  /// The update of rows [begin, begin + count) of one tensor.
  virtual void Update(Tensor& tensor, Eigen::Index begin, Eigen::Index count, float learning_rate);

  const sdk::Spec& spec() const { return *spec_; }
  /// The tensor `name`, which exists.
  Tensor& Find(const std::string& name);
  /// Sum or mean of the row losses.
  double ReducedLoss() const;
  /// Forward and loss of batch `batch` with the present weights.
  void Forward(std::int64_t batch);
  /// Gradients of what Forward has left.
  void Backward(std::int64_t batch);
  /// The update of all tensors.
  void UpdateAll(double learning_rate);
  /// `count` divided among the threads: first and number of thread `index`.
  std::pair<Eigen::Index, Eigen::Index> Share(Eigen::Index count, int index) const;
  /// Rounds the operands of products; null, as here, leaves them.
  float (*operand_rounding_)(float) = nullptr;

  std::vector<float> x_;                          ///< [pool, batch, sample size].
  std::vector<std::int32_t> labels_;              ///< [pool, batch].
  std::vector<std::unique_ptr<Tensor>> tensors_;  ///< In canonical order.
  std::vector<Layer> layers_;
  std::vector<float> row_losses_;
  double loss_ = 0.0;

 private:
  void BuildLayer(const sdk::Node& node, const std::string& expected_input);
  Eigen::Map<const Matrix> Input(std::int64_t batch) const;
  void BackwardRows(Eigen::Index begin, Eigen::Index count);
  void WeightGradients(const Eigen::Ref<const Matrix>& input, Layer& layer, int thread);

  const sdk::Spec* spec_ = nullptr;
  std::unique_ptr<WorkerThreads> threads_;
};

}  // namespace dlbench::decoys
