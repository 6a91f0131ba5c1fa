#include "reference/sgd.h"

#include "reference/parallel.h"

namespace dlbench::reference {

template <class Scalar>
void SgdUpdate(const network::Optimizer& optimizer, bool decays, double learning_rate,
               std::span<const Scalar> gradient, std::span<Scalar> weight,
               std::span<Scalar> velocity) {
  const auto rate = static_cast<Scalar>(learning_rate);
  const auto momentum = static_cast<Scalar>(optimizer.momentum);
  const auto decay = static_cast<Scalar>(decays ? optimizer.weight_decay : 0.0);
  const bool nesterov = optimizer.nesterov;
  constexpr std::int64_t kPiece = 1 << 18;
  ParallelFor(
      static_cast<std::int64_t>(weight.size()), kPiece, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
          const Scalar d = gradient[i] + decay * weight[i];
          velocity[i] = momentum * velocity[i] + d;
          const Scalar direction = nesterov ? d + momentum * velocity[i] : velocity[i];
          weight[i] -= rate * direction;
        }
      });
}

template void SgdUpdate(const network::Optimizer&, bool, double, std::span<const float>,
                        std::span<float>, std::span<float>);
template void SgdUpdate(const network::Optimizer&, bool, double, std::span<const double>,
                        std::span<double>, std::span<double>);

}  // namespace dlbench::reference
