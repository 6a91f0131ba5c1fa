#include "subsample_pad.h"

#include <cstring>

#include "../dnnl_compat.h"
#include "../parallel.h"
#include "image_layout.h"

namespace dlbench::onednn {

SubsamplePadLayer::Place SubsamplePadLayer::PlaceOf(const dnnl::memory::desc& image) {
  const compat::Blocking blocking = compat::BlockingOf(image);
  const std::int64_t block = blocking.blocks.empty() ? 1 : blocking.blocks[0];
  Place place{blocking.strides[0], blocking.strides[2], blocking.strides[3], {}};
  for (std::int64_t c = 0; c < compat::Dims(image)[1]; ++c) {
    place.channel.push_back(c / block * blocking.strides[1] + c % block);
  }
  return place;
}

void SubsamplePadLayer::PlanForward(Planner& plan) {
  const adapter::Node& node = plan.node();
  const adapter::Shape& from = plan.SourceShape();
  const adapter::Shape& to = node.output_shape;
  if (from.size() != 3 || to.size() != 3) Refuse(node, "its input or output is no image");
  const auto known = PaddedImageTag(plan.Input().desc());
  x_ = known ? plan.Input() : plan.InputAs(plan.context().Plain(from));
  const dnnl::memory::desc result = Context::Desc({plan.context().batch, to[0], to[1], to[2]},
                                                  known.value_or(dnnl::memory::format_tag::abcd));
  channels_ = from[0];
  before_ = node.Integer("channels_before");
  stride_ = node.Integer("stride");
  batch_ = plan.context().batch;
  rows_ = to[1];
  columns_ = to[2];
  threads_ = plan.context().threads;
  small_ = PlaceOf(result);
  large_ = PlaceOf(x_.desc());
  small_bytes_ = result.get_size();
  large_bytes_ = x_.desc().get_size();
  const Tensor y = plan.NewOutput(result);
  plan.Run({x_, y}, [this, from = x_, y](const StepInput&) { Copy(from.data(), y.data()); });
}

void SubsamplePadLayer::PlanBackward(Planner& plan) {
  if (!plan.Wants()) return;
  const Tensor target = plan.NewGradient(x_.desc(), false);
  const Tensor gradient = plan.OutputGradient();
  plan.Run({gradient, target}, [this, gradient, target](const StepInput&) {
    CopyBack(gradient.data(), target.data());
  });
  plan.Deliver(target);
}

/// Calls each(of the output, of the input) with the first element of every row of the output.
template <class Each>
void SubsamplePadLayer::ForEachRow(const Each& each) const {
  ParallelRanges(threads_, batch_ * rows_, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t sample = i / rows_, row = i % rows_;
      each(sample * small_.sample + row * small_.row,
           sample * large_.sample + row * stride_ * large_.row);
    }
  });
}

void SubsamplePadLayer::Copy(const float* from, float* to) const {
  std::memset(to, 0, small_bytes_);
  ForEachRow([&](std::int64_t of_small, std::int64_t of_large) {
    for (std::int64_t column = 0; column < columns_; ++column) {
      float* const pixel = to + of_small + column * small_.column;
      const float* const source = from + of_large + column * stride_ * large_.column;
      for (std::int64_t c = 0; c < channels_; ++c) {
        pixel[small_.channel[static_cast<std::size_t>(before_ + c)]] =
            source[large_.channel[static_cast<std::size_t>(c)]];
      }
    }
  });
}

void SubsamplePadLayer::CopyBack(const float* from, float* to) const {
  std::memset(to, 0, large_bytes_);
  ForEachRow([&](std::int64_t of_small, std::int64_t of_large) {
    for (std::int64_t column = 0; column < columns_; ++column) {
      const float* const pixel = from + of_small + column * small_.column;
      float* const target = to + of_large + column * stride_ * large_.column;
      for (std::int64_t c = 0; c < channels_; ++c) {
        target[large_.channel[static_cast<std::size_t>(c)]] =
            pixel[small_.channel[static_cast<std::size_t>(before_ + c)]];
      }
    }
  });
}

}  // namespace dlbench::onednn
