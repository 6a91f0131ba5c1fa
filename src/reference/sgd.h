#pragma once

#include <span>

#include "network/network.h"

namespace dlbench::reference {

/// One update of one parameter tensor, as network::Optimizer defines it:
///   d = g + decay * w                 (only where the parameter decays)
///   v <- momentum * v + d
///   w <- w - learning_rate * v        (Nesterov: w - learning_rate * (d + momentum * v))
/// The learning rate stands outside the velocity, decay comes before momentum, and decay is the
/// gradient of decay/2 * w^2. Source: PyTorch, torch.optim.SGD ("Algorithm"), dampening 0;
/// Sutskever, Martens, Dahl, Hinton 2013 for Nesterov's form, with PyTorch's placing of the rate.
template <class Scalar>
void SgdUpdate(const network::Optimizer& optimizer, bool decays, double learning_rate,
               std::span<const Scalar> gradient, std::span<Scalar> weight,
               std::span<Scalar> velocity);

extern template void SgdUpdate(const network::Optimizer&, bool, double, std::span<const float>,
                               std::span<float>, std::span<float>);
extern template void SgdUpdate(const network::Optimizer&, bool, double, std::span<const double>,
                               std::span<double>, std::span<double>);

}  // namespace dlbench::reference
