#include "context.h"

#include "dnnl_compat.h"

namespace dlbench::onednn {
namespace {
using Tag = dnnl::memory::format_tag;
constexpr auto kFloat = dnnl::memory::data_type::f32;
}  // namespace

dnnl::primitive_attr Context::Attributes() const {
  dnnl::primitive_attr attributes;
  attributes.set_fpmath_mode(dnnl::fpmath_mode::strict);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

dnnl::memory::desc Context::Desc(const dnnl::memory::dims& dims, Tag tag) {
  return {dims, kFloat, tag};
}

dnnl::memory::desc Context::Matrix(std::int64_t rows, std::int64_t columns) {
  return {{rows, columns}, kFloat, Tag::ab};
}

dnnl::memory::desc Context::Plain(const adapter::Shape& shape) const {
  if (shape.size() == 1) return Desc({batch, shape[0]}, Tag::ab);
  if (shape.size() == 2) return Desc({shape[0], batch, shape[1]}, Tag::abc);
  if (shape.size() == 3) return Desc({batch, shape[0], shape[1], shape[2]}, Tag::abcd);
  throw adapter::Unsupported("a sample of shape " + adapter::ToString(shape) + " is not built");
}

dnnl::memory::desc Context::FileOrder(const adapter::Shape& shape) const {
  if (shape.size() == 2) return Desc({shape[0], batch, shape[1]}, Tag::bac);
  return Plain(shape);
}

std::int64_t StoredElements(const dnnl::memory::desc& desc) {
  return static_cast<std::int64_t>(desc.get_size() / sizeof(float));
}

bool IsDense(const dnnl::memory::desc& desc) {
  std::int64_t elements = 1;
  for (const std::int64_t size : compat::Dims(desc)) elements *= size;
  return elements == StoredElements(desc);
}

void Reorder(const Context& context, const dnnl::memory& from, const dnnl::memory& to) {
  dnnl::stream stream = context.stream;
  dnnl::memory source = from;
  dnnl::memory destination = to;
  dnnl::reorder(source, destination).execute(stream, source, destination);
  stream.wait();
}

}  // namespace dlbench::onednn
