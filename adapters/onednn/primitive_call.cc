#include "primitive_call.h"

namespace dlbench::onednn {

PrimitiveCall::PrimitiveCall(const dnnl::primitive& primitive,
                             const dnnl::primitive_desc_base& description,
                             const Arguments& arguments)
    : primitive_(primitive), implementation_(description.impl_info_str()) {
  for (const auto& [index, memory] : arguments) {
    if (!memory) continue;
    memories_.push_back(memory);
    arguments_.push_back({index, memory.get()});
  }
  const dnnl::memory::desc scratchpad =
      description.query_md(dnnl::query::exec_arg_md, DNNL_ARG_SCRATCHPAD);
  scratchpad_bytes_ = scratchpad.get_size();
  if (scratchpad_bytes_ == 0) return;
  memories_.push_back(dnnl::memory(scratchpad, description.get_engine(), DNNL_MEMORY_NONE));
  arguments_.push_back({DNNL_ARG_SCRATCHPAD, memories_.back().get()});
}

void PrimitiveCall::UseScratchpad(float* memory) {
  if (scratchpad_bytes_ > 0) memories_.back().set_data_handle(memory);
}

void PrimitiveCall::Execute(const dnnl::stream& stream) const {
  dnnl::error::wrap_c_api(
      dnnl_primitive_execute(primitive_.get(), stream.get(), static_cast<int>(arguments_.size()),
                             arguments_.data()),
      "could not execute a primitive");
}

}  // namespace dlbench::onednn
