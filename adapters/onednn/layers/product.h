#pragma once

#include <string>

#include "../planner.h"

namespace dlbench::onednn {

/// The layout that kAuto stands for, with `rows` in a product. A rule and no trial run, so that
/// every launch of a configuration computes in the same way; README.md has the measurements.
WeightLayout LayoutFor(Preset preset, std::int64_t rows);

/// What a Product multiplies with and what it does with the result.
struct ProductSpec {
  std::string weight;  ///< The parameter's suffix; its shape is [units, inputs].
  std::string bias;    ///< Empty: no bias.
  std::int64_t rows = 0;
  std::int64_t inputs = 0;
  std::int64_t units = 0;
  dnnl::primitive_attr attributes{};
  const dnnl::memory::desc* order = nullptr;  ///< Planner::InputOrder of the inputs.
};

/// y = x W' + b for matrices x [rows, inputs], with its gradients. One layout of W for all three
/// products, chosen for `rows`.
class Product {
 public:
  Product() = default;
  /// Makes the parameters.
  Product(Planner& plan, ProductSpec spec);

  void Forward(Planner& plan, const Tensor& x, const Tensor& y) const;
  void BackwardData(Planner& plan, const Tensor& gradient, const Tensor& target) const;
  /// dW and db, as sums over all rows of x; these may be more than `rows`.
  void BackwardWeights(Planner& plan, const Tensor& x, const Tensor& gradient) const;

 private:
  /// Where a line about this product goes in the record.
  std::string Key(const std::string& what) const {
    return spec_.weight == "weight" ? what : spec_.weight + "." + what;
  }
  const dnnl::memory::desc* bias_desc() const { return bias_ == nullptr ? nullptr : &bias_desc_; }
  dnnl::inner_product_forward::primitive_desc Description(const Context& context,
                                                          const dnnl::memory::desc& x,
                                                          const dnnl::memory::desc& weights,
                                                          const dnnl::memory::desc& y) const;

  ProductSpec spec_;
  dnnl::memory::desc bias_desc_;
  Parameter* weight_ = nullptr;
  Parameter* bias_ = nullptr;
};

}  // namespace dlbench::onednn
