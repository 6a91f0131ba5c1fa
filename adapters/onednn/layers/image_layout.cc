#include "image_layout.h"

#include "../context.h"
#include "../dnnl_compat.h"

namespace dlbench::onednn {

using Tag = dnnl::memory::format_tag;

std::optional<Tag> PaddedImageTag(const dnnl::memory::desc& desc) {
  const dnnl::memory::dims dims = compat::Dims(desc);
  if (dims.size() != 4) return std::nullopt;
  for (const Tag tag : {Tag::abcd, Tag::acdb, Tag::aBcd16b, Tag::aBcd8b}) {
    if (Context::Desc(dims, tag) == desc) return tag;
  }
  return std::nullopt;
}

std::optional<Tag> ImageTag(const dnnl::memory::desc& desc) {
  return IsDense(desc) ? PaddedImageTag(desc) : std::nullopt;
}

}  // namespace dlbench::onednn
