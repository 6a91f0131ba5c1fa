#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <optional>

namespace dlbench::onednn {

/// The tag of a dense image layout that the engine's own loops know: NCHW, NHWC, or channels in
/// blocks of 16 or 8 with none left over. Empty for any other.
std::optional<dnnl::memory::format_tag> ImageTag(const dnnl::memory::desc& desc);
/// The same with the last block of channels possibly padded.
std::optional<dnnl::memory::format_tag> PaddedImageTag(const dnnl::memory::desc& desc);

}  // namespace dlbench::onednn
