#pragma once

// Everything in which oneDNN 2.x and 3.x differ and which the engine uses. 2.x describes an
// operation first (operation::desc) and then looks for an implementation; 3.x does both in one
// constructor.

#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>

namespace dlbench::onednn::compat {

/// The sizes of a tensor as oneDNN describes it.
inline dnnl::memory::dims Dims(const dnnl::memory::desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return desc.get_dims();
#else
  return desc.dims();
#endif
}

/// Layout in words: "blocked 16i64o" or "plain, strides 1,2048". Dimension 0 is "o", 1 is "i".
inline std::string LayoutName(const dnnl::memory::desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::memory::dims strides = desc.get_strides();
  const dnnl::memory::dims blocks = desc.get_inner_blks();
  const dnnl::memory::dims indices = desc.get_inner_idxs();
  const std::size_t block_count = blocks.size();
  const std::size_t rank = strides.size();
#else
  const dnnl_blocking_desc_t& blocking = desc.data.format_desc.blocking;
  const dnnl_dim_t* strides = blocking.strides;
  const dnnl_dim_t* blocks = blocking.inner_blks;
  const dnnl_dim_t* indices = blocking.inner_idxs;
  const auto block_count = static_cast<std::size_t>(blocking.inner_nblks);
  const auto rank = static_cast<std::size_t>(desc.data.ndims);
#endif
  std::string name = block_count > 0 ? "blocked " : "plain, strides ";
  if (block_count > 0) {
    for (std::size_t i = 0; i < block_count; ++i) {
      name += std::to_string(blocks[i]) + (indices[i] == 0 ? "o" : "i");
    }
    return name;
  }
  for (std::size_t i = 0; i < rank; ++i) name += (i > 0 ? "," : "") + std::to_string(strides[i]);
  return name;
}

/// Appends `scale 1 * algorithm(x)` to the operations done on the result.
inline void AppendEltwise(dnnl::post_ops& operations, dnnl::algorithm algorithm) {
#if DNNL_VERSION_MAJOR >= 3
  operations.append_eltwise(algorithm, 0.0F, 0.0F);
#else
  operations.append_eltwise(1.0F, algorithm, 0.0F, 0.0F);
#endif
}

/// y = x W' (+ b); an empty `bias` leaves the bias out.
inline dnnl::inner_product_forward::primitive_desc InnerProductForward(
    const dnnl::engine& engine, const dnnl::memory::desc& source, const dnnl::memory::desc& weights,
    const dnnl::memory::desc* bias, const dnnl::memory::desc& destination,
    const dnnl::primitive_attr& attributes) {
  constexpr auto kKind = dnnl::prop_kind::forward_training;
  using Forward = dnnl::inner_product_forward;
#if DNNL_VERSION_MAJOR >= 3
  if (bias == nullptr) {
    return Forward::primitive_desc(engine, kKind, source, weights, destination, attributes);
  }
  return Forward::primitive_desc(engine, kKind, source, weights, *bias, destination, attributes);
#else
  const Forward::desc description = bias == nullptr
                                        ? Forward::desc(kKind, source, weights, destination)
                                        : Forward::desc(kKind, source, weights, *bias, destination);
  return {description, attributes, engine};
#endif
}

/// dx = dy W.
inline dnnl::inner_product_backward_data::primitive_desc InnerProductBackwardData(
    const dnnl::engine& engine, const dnnl::memory::desc& source_gradient,
    const dnnl::memory::desc& weights, const dnnl::memory::desc& gradient,
    const dnnl::primitive_attr& attributes,
    const dnnl::inner_product_forward::primitive_desc& forward) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, source_gradient, weights, gradient, forward, attributes};
#else
  return {{source_gradient, weights, gradient}, attributes, engine, forward};
#endif
}

/// dW = dy' x and db = the sum of dy over the batch; an empty `bias` leaves db out.
inline dnnl::inner_product_backward_weights::primitive_desc InnerProductBackwardWeights(
    const dnnl::engine& engine, const dnnl::memory::desc& source, const dnnl::memory::desc& weights,
    const dnnl::memory::desc* bias, const dnnl::memory::desc& gradient,
    const dnnl::primitive_attr& attributes,
    const dnnl::inner_product_forward::primitive_desc& forward) {
  using Backward = dnnl::inner_product_backward_weights;
#if DNNL_VERSION_MAJOR >= 3
  if (bias == nullptr) {
    return Backward::primitive_desc(engine, source, weights, gradient, forward, attributes);
  }
  return Backward::primitive_desc(engine, source, weights, *bias, gradient, forward, attributes);
#else
  const Backward::desc description = bias == nullptr
                                         ? Backward::desc(source, weights, gradient)
                                         : Backward::desc(source, weights, *bias, gradient);
  return {description, attributes, engine, forward};
#endif
}

/// y = algorithm(x).
inline dnnl::eltwise_forward::primitive_desc EltwiseForward(
    const dnnl::engine& engine, dnnl::algorithm algorithm, const dnnl::memory::desc& data,
    const dnnl::primitive_attr& attributes) {
  constexpr auto kKind = dnnl::prop_kind::forward_training;
#if DNNL_VERSION_MAJOR >= 3
  return {engine, kKind, algorithm, data, data, 0.0F, 0.0F, attributes};
#else
  return {{kKind, algorithm, data, 0.0F, 0.0F}, attributes, engine};
#endif
}

/// dx = dy * algorithm'(...), from y where the algorithm is one of the use_dst_for_bwd kind.
inline dnnl::eltwise_backward::primitive_desc EltwiseBackward(
    const dnnl::engine& engine, dnnl::algorithm algorithm, const dnnl::memory::desc& data,
    const dnnl::primitive_attr& attributes, const dnnl::eltwise_forward::primitive_desc& forward) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, algorithm, data, data, data, 0.0F, 0.0F, forward, attributes};
#else
  return {{algorithm, data, data, 0.0F, 0.0F}, attributes, engine, forward};
#endif
}

}  // namespace dlbench::onednn::compat
