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

/// How a tensor lies in memory: strides of the dimensions (of whole blocks where a dimension is
/// blocked) and, from outer to inner, the sizes and dimensions of the blocks within.
struct Blocking {
  dnnl::memory::dims strides, blocks, indices;
};

inline Blocking BlockingOf(const dnnl::memory::desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return {desc.get_strides(), desc.get_inner_blks(), desc.get_inner_idxs()};
#else
  const dnnl_blocking_desc_t& from = desc.data.format_desc.blocking;
  return {{from.strides, from.strides + desc.data.ndims},
          {from.inner_blks, from.inner_blks + from.inner_nblks},
          {from.inner_idxs, from.inner_idxs + from.inner_nblks}};
#endif
}

/// Layout in words: "blocked 16i64o" or "plain, strides 1,2048". `letters` names the dimensions.
inline std::string LayoutName(const dnnl::memory::desc& desc, const char* letters = "oihw") {
  const Blocking blocking = BlockingOf(desc);
  if (!blocking.blocks.empty()) {
    std::string name = "blocked ";
    for (std::size_t i = 0; i < blocking.blocks.size(); ++i) {
      name += std::to_string(blocking.blocks[i]) + letters[blocking.indices[i]];
    }
    return name;
  }
  std::string name = "plain, strides ";
  for (std::size_t i = 0; i < blocking.strides.size(); ++i) {
    name += (i > 0 ? "," : "") + std::to_string(blocking.strides[i]);
  }
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

/// The geometry of a convolution or pooling: [height, width] each.
struct Window {
  dnnl::memory::dims kernel, strides, padding_begin, padding_end;
};

/// y = x * w (+ b); an empty `bias` leaves the bias out.
inline dnnl::convolution_forward::primitive_desc ConvolutionForward(
    const dnnl::engine& engine, const dnnl::memory::desc& source, const dnnl::memory::desc& weights,
    const dnnl::memory::desc* bias, const dnnl::memory::desc& destination, const Window& window,
    const dnnl::primitive_attr& attributes) {
  constexpr auto kKind = dnnl::prop_kind::forward_training;
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  using Forward = dnnl::convolution_forward;
  const auto& [kernel, strides, begin, end] = window;
#if DNNL_VERSION_MAJOR >= 3
  if (bias == nullptr) {
    return Forward::primitive_desc(engine, kKind, kDirect, source, weights, destination, strides,
                                   begin, end, attributes);
  }
  return Forward::primitive_desc(engine, kKind, kDirect, source, weights, *bias, destination,
                                 strides, begin, end, attributes);
#else
  const Forward::desc description =
      bias == nullptr
          ? Forward::desc(kKind, kDirect, source, weights, destination, strides, begin, end)
          : Forward::desc(kKind, kDirect, source, weights, *bias, destination, strides, begin, end);
  return {description, attributes, engine};
#endif
}

inline dnnl::convolution_backward_data::primitive_desc ConvolutionBackwardData(
    const dnnl::engine& engine, const dnnl::memory::desc& source_gradient,
    const dnnl::memory::desc& weights, const dnnl::memory::desc& gradient, const Window& window,
    const dnnl::primitive_attr& attributes,
    const dnnl::convolution_forward::primitive_desc& forward) {
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  const auto& [kernel, strides, begin, end] = window;
#if DNNL_VERSION_MAJOR >= 3
  return {engine, kDirect, source_gradient, weights,   gradient, strides,
          begin,  end,     forward,         attributes};
#else
  return {{kDirect, source_gradient, weights, gradient, strides, begin, end},
          attributes,
          engine,
          forward};
#endif
}

/// An empty `bias` leaves db out.
inline dnnl::convolution_backward_weights::primitive_desc ConvolutionBackwardWeights(
    const dnnl::engine& engine, const dnnl::memory::desc& source, const dnnl::memory::desc& weights,
    const dnnl::memory::desc* bias, const dnnl::memory::desc& gradient, const Window& window,
    const dnnl::primitive_attr& attributes,
    const dnnl::convolution_forward::primitive_desc& forward) {
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  using Backward = dnnl::convolution_backward_weights;
  const auto& [kernel, strides, begin, end] = window;
#if DNNL_VERSION_MAJOR >= 3
  if (bias == nullptr) {
    return Backward::primitive_desc(engine, kDirect, source, weights, gradient, strides, begin, end,
                                    forward, attributes);
  }
  return Backward::primitive_desc(engine, kDirect, source, weights, *bias, gradient, strides, begin,
                                  end, forward, attributes);
#else
  const Backward::desc description =
      bias == nullptr
          ? Backward::desc(kDirect, source, weights, gradient, strides, begin, end)
          : Backward::desc(kDirect, source, weights, *bias, gradient, strides, begin, end);
  return {description, attributes, engine, forward};
#endif
}

/// Maximum or average over windows.
inline dnnl::pooling_forward::primitive_desc PoolingForward(
    const dnnl::engine& engine, dnnl::algorithm algorithm, const dnnl::memory::desc& source,
    const dnnl::memory::desc& destination, const Window& window,
    const dnnl::primitive_attr& attributes) {
  constexpr auto kKind = dnnl::prop_kind::forward_training;
  const auto& [kernel, strides, begin, end] = window;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::memory::dims dilation(kernel.size(), 0);
  return {engine, kKind,    algorithm, source, destination, strides,
          kernel, dilation, begin,     end,    attributes};
#else
  return {{kKind, algorithm, source, destination, strides, kernel, begin, end}, attributes, engine};
#endif
}

inline dnnl::pooling_backward::primitive_desc PoolingBackward(
    const dnnl::engine& engine, dnnl::algorithm algorithm,
    const dnnl::memory::desc& source_gradient, const dnnl::memory::desc& gradient,
    const Window& window, const dnnl::primitive_attr& attributes,
    const dnnl::pooling_forward::primitive_desc& forward) {
  const auto& [kernel, strides, begin, end] = window;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::memory::dims dilation(kernel.size(), 0);
  return {engine, algorithm, source_gradient, gradient,  strides, kernel, dilation,
          begin,  end,       forward,         attributes};
#else
  return {{algorithm, source_gradient, gradient, strides, kernel, begin, end},
          attributes,
          engine,
          forward};
#endif
}

/// Batch normalisation with scale and shift, `data` for x, y and both gradients.
inline dnnl::batch_normalization_forward::primitive_desc BatchNormForward(
    const dnnl::engine& engine, const dnnl::memory::desc& data, float epsilon,
    dnnl::normalization_flags flags, const dnnl::primitive_attr& attributes) {
  constexpr auto kKind = dnnl::prop_kind::forward_training;
#if DNNL_VERSION_MAJOR >= 3
  return {engine, kKind, data, data, epsilon, flags, attributes};
#else
  return {{kKind, data, epsilon, flags}, attributes, engine};
#endif
}

inline dnnl::batch_normalization_backward::primitive_desc BatchNormBackward(
    const dnnl::engine& engine, const dnnl::memory::desc& data, float epsilon,
    dnnl::normalization_flags flags, const dnnl::primitive_attr& attributes,
    const dnnl::batch_normalization_forward::primitive_desc& forward) {
  constexpr auto kKind = dnnl::prop_kind::backward;
#if DNNL_VERSION_MAJOR >= 3
  return {engine, kKind, data, data, data, epsilon, flags, forward, attributes};
#else
  return {{kKind, data, data, epsilon, flags}, attributes, engine, forward};
#endif
}

/// Constants of a local response normalisation.
struct Lrn {
  dnnl::memory::dim size = 1;
  float alpha = 0.0F, beta = 0.0F, k = 1.0F;
};

/// y = x / (k + alpha / size * sum of x^2 over `size` channels)^beta.
inline dnnl::lrn_forward::primitive_desc LrnForward(const dnnl::engine& engine,
                                                    const dnnl::memory::desc& data, const Lrn& lrn,
                                                    const dnnl::primitive_attr& attributes) {
  constexpr auto kKind = dnnl::prop_kind::forward_training;
  constexpr auto kAcross = dnnl::algorithm::lrn_across_channels;
#if DNNL_VERSION_MAJOR >= 3
  return {engine, kKind, kAcross, data, data, lrn.size, lrn.alpha, lrn.beta, lrn.k, attributes};
#else
  return {{kKind, kAcross, data, lrn.size, lrn.alpha, lrn.beta, lrn.k}, attributes, engine};
#endif
}

inline dnnl::lrn_backward::primitive_desc LrnBackward(
    const dnnl::engine& engine, const dnnl::memory::desc& data, const Lrn& lrn,
    const dnnl::primitive_attr& attributes, const dnnl::lrn_forward::primitive_desc& forward) {
  constexpr auto kAcross = dnnl::algorithm::lrn_across_channels;
#if DNNL_VERSION_MAJOR >= 3
  return {engine,    kAcross,  data,  data,    data,      lrn.size,
          lrn.alpha, lrn.beta, lrn.k, forward, attributes};
#else
  return {{kAcross, data, data, lrn.size, lrn.alpha, lrn.beta, lrn.k}, attributes, engine, forward};
#endif
}

}  // namespace dlbench::onednn::compat
