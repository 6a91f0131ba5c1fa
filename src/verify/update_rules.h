#pragma once

#include <span>
#include <string>
#include <vector>

#include "network/network.h"

namespace dlbench::verify {

/// SGD with everything that frameworks and people do differently as a field. The default is the
/// rule of network::Optimizer; every known fault changes one field.
struct UpdateRule {
  std::string name;                   ///< Short, "momentum_inside"; empty for the right rule.
  std::string cause;                  ///< In words for a person.
  double rate_factor = 1.0;           ///< Times the learning rate.
  bool follows_rate_changes = true;   ///< False: keeps using the first step's rate.
  bool rate_inside_momentum = false;  ///< v <- mu v + rate g; w <- w - v.
  bool dampened = false;              ///< v <- mu v + (1 - mu) g.
  bool without_momentum = false;
  bool toggled_nesterov = false;        ///< Nesterov where the network has none, and the reverse.
  double decay_factor = 1.0;            ///< Times the network's weight decay.
  double added_decay = 0.0;             ///< Decay where the network has none.
  bool decays_everything = false;       ///< Also the tensors that do not decay.
  bool decay_after_momentum = false;    ///< Decoupled: w <- w - rate decay w, outside the momentum.
  bool decoupled_without_rate = false;  ///< The same without the rate.
  bool skips_every_second = false;      ///< Odd steps change nothing.
  bool updates_twice = false;           ///< Each step updates twice with one gradient.
  bool stale_batch = false;             ///< Uses the batch before (needs gradients of that batch).
  double clip_norm = 0.0;               ///< Gradient scaled down to this global norm; 0: never.
};

/// Every known way to get the update wrong that differs from `network`'s own rule.
std::vector<UpdateRule> KnownUpdateFaults(const network::Network& network);

/// One update of one tensor by `rule`: step number `step` from 0, the rates of this and of the
/// first step, the gradient's global norm (only for clipping). Changes `weights` and `velocity` in
/// place.
void Advance(const UpdateRule& rule, const network::Optimizer& optimizer, bool parameter_decays,
             std::size_t step, double rate, double first_rate, double global_norm,
             std::span<const double> gradient, std::span<double> weights,
             std::span<double> velocity);

}  // namespace dlbench::verify
