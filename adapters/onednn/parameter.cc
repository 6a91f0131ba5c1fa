#include "parameter.h"

#include <algorithm>

namespace dlbench::onednn {

Parameter::Parameter(const Context& context, const adapter::Parameter& from, Storage how)
    : name(from.name),
      shape(from.shape),
      decays(from.decays),
      storage(std::move(how)),
      stored_elements(StoredElements(storage.stored)) {
  for (dnnl::memory* memory : {&values, &gradient, &velocity}) {
    if (memory == &velocity && context.sgd.momentum == 0.0F) continue;
    buffers.emplace_back(storage.stored.get_size());
    *memory = dnnl::memory(storage.stored, context.engine, buffers.back().data());
  }
}

void Parameter::Load(const Context& context, const float* canonical) {
  // oneDNN takes no pointers to constant memory; a reorder only reads its source.
  const dnnl::memory source(storage.canonical, context.engine, const_cast<float*>(canonical));
  if (storage.detour) {
    const Buffer between(storage.detour->first.get_size());
    Reorder(context, source, {storage.detour->first, context.engine, between.data()});
    Reorder(context, {storage.detour->second, context.engine, between.data()}, values);
  } else {
    Reorder(context, source, values);
  }
  if (!velocity) return;
  std::fill_n(static_cast<float*>(velocity.get_data_handle()), stored_elements, 0.0F);
}

void Parameter::Read(const Context& context, const dnnl::memory& from, float* out) const {
  const dnnl::memory canonical(storage.canonical, context.engine, out);
  if (storage.detour) {
    const Buffer between(storage.detour->first.get_size());
    Reorder(context, from, {storage.detour->second, context.engine, between.data()});
    Reorder(context, {storage.detour->first, context.engine, between.data()}, canonical);
  } else {
    Reorder(context, from, canonical);
  }
}

std::size_t Parameter::bytes() const {
  std::size_t total = 0;
  for (const Buffer& buffer : buffers) total += buffer.bytes();
  return total;
}

StateBuffer::StateBuffer(const adapter::Buffer& from)
    : name(from.name),
      initial(from.initial),
      count(static_cast<std::int64_t>(from.count)),
      storage(from.count * sizeof(float)) {
  Reset();
}

void StateBuffer::Reset() { std::fill_n(data(), count, initial); }

}  // namespace dlbench::onednn
