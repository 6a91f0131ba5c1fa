#include "verify/update_rules.h"

#include <algorithm>
#include <functional>

namespace dlbench::verify {
namespace {

/// The decay that a person would add by habit (the original benchmark's scripts used 1e-4 and
/// 5e-4).
constexpr double kHabitualDecay = 5e-4;

bool HasTensorsThatDoNotDecay(const network::Network& network) {
  for (const network::Parameter* parameter : network.Parameters()) {
    if (!parameter->decays) return true;
  }
  return false;
}

using Change = std::function<void(UpdateRule&)>;
/// Adds the right rule with one change to a list of faults.
using AddRule = std::function<void(const char* name, const char* cause, const Change& change)>;

void AddDecayFaults(const network::Network& network, const AddRule& add) {
  if (network.optimizer.weight_decay == 0.0) {
    add("decay_added", "a weight decay of 5e-4 that the network does not have",
        [](UpdateRule& r) { r.added_decay = kHabitualDecay; });
    return;
  }
  add("decay_missing", "the weight decay is left out", [](UpdateRule& r) { r.decay_factor = 0.0; });
  add("decay_doubled", "the weight decay is applied twice as strongly (penalty decay * w^2)",
      [](UpdateRule& r) { r.decay_factor = 2.0; });
  add("decay_without_rate", "the weight decay is not multiplied by the learning rate",
      [](UpdateRule& r) { r.decoupled_without_rate = true; });
  add("decay_after_momentum",
      "the weight decay is added after the momentum instead of before (decoupled, as in AdamW)",
      [](UpdateRule& r) { r.decay_after_momentum = true; });
  if (HasTensorsThatDoNotDecay(network)) {
    add("decay_everywhere", "the weight decay also applies to biases",
        [](UpdateRule& r) { r.decays_everything = true; });
  }
}

}  // namespace

std::vector<UpdateRule> KnownUpdateFaults(const network::Network& network) {
  std::vector<UpdateRule> rules;
  const AddRule add = [&rules](const char* name, const char* cause, const Change& change) {
    UpdateRule rule;
    rule.name = name;
    rule.cause = cause;
    change(rule);
    rules.push_back(rule);
  };
  add("rate_doubled", "the learning rate is twice what it should be",
      [](UpdateRule& r) { r.rate_factor = 2.0; });
  add("rate_halved", "the learning rate is half of what it should be",
      [](UpdateRule& r) { r.rate_factor = 0.5; });
  add("rate_tenfold", "the learning rate is ten times what it should be",
      [](UpdateRule& r) { r.rate_factor = 10.0; });
  add("rate_tenth", "the learning rate is a tenth of what it should be",
      [](UpdateRule& r) { r.rate_factor = 0.1; });
  add("sign", "the update has the wrong sign", [](UpdateRule& r) { r.rate_factor = -1.0; });
  add("rate_constant", "changes of the learning rate are ignored",
      [](UpdateRule& r) { r.follows_rate_changes = false; });
  if (network.optimizer.momentum != 0.0) {
    add("momentum_inside", "the momentum accumulates learning rate times gradient",
        [](UpdateRule& r) { r.rate_inside_momentum = true; });
    add("momentum_dampened", "the momentum scales the gradient by 1 - momentum",
        [](UpdateRule& r) { r.dampened = true; });
    add("momentum_missing", "there is no momentum",
        [](UpdateRule& r) { r.without_momentum = true; });
    add("nesterov",
        network.optimizer.nesterov ? "the momentum is not Nesterov's"
                                   : "the momentum is Nesterov's",
        [](UpdateRule& r) { r.toggled_nesterov = true; });
  }
  AddDecayFaults(network, add);
  add("skipped", "every second update is skipped",
      [](UpdateRule& r) { r.skips_every_second = true; });
  add("updates_twice", "every update is applied twice",
      [](UpdateRule& r) { r.updates_twice = true; });
  add("stale_batch", "each step uses the batch before (from the second step on)",
      [](UpdateRule& r) { r.stale_batch = true; });
  return rules;
}

void Advance(const UpdateRule& rule, const network::Optimizer& optimizer, bool parameter_decays,
             std::size_t step, double rate, double first_rate, double global_norm,
             std::span<const double> gradient, std::span<double> weights,
             std::span<double> velocity) {
  if (rule.skips_every_second && step % 2 == 1) return;
  if (rule.updates_twice) {
    UpdateRule once = rule;
    once.updates_twice = false;
    Advance(once, optimizer, parameter_decays, step, rate, first_rate, global_norm, gradient,
            weights, velocity);
  }
  const double used_rate = rule.rate_factor * (rule.follows_rate_changes ? rate : first_rate);
  const double momentum = rule.without_momentum ? 0.0 : optimizer.momentum;
  const bool nesterov = optimizer.nesterov != rule.toggled_nesterov;
  const bool decays = parameter_decays || rule.decays_everything;
  const double decay = decays ? optimizer.weight_decay * rule.decay_factor + rule.added_decay : 0.0;
  const bool decay_in_gradient = !rule.decoupled_without_rate && !rule.decay_after_momentum;
  const double clip = rule.clip_norm > 0.0 ? std::min(1.0, rule.clip_norm / global_norm) : 1.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    double g = gradient[i] * clip;
    if (decay_in_gradient) g += decay * weights[i];
    const double gain =
        (rule.dampened ? 1.0 - momentum : 1.0) * (rule.rate_inside_momentum ? used_rate : 1.0);
    velocity[i] = momentum * velocity[i] + gain * g;
    double move = nesterov ? gain * g + momentum * velocity[i] : velocity[i];
    if (rule.decay_after_momentum) move += decay * weights[i];
    double change = rule.rate_inside_momentum ? move : used_rate * move;
    if (rule.decoupled_without_rate) change += decay * weights[i];
    weights[i] -= change;
  }
}

}  // namespace dlbench::verify
