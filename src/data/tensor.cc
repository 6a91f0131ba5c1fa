#include <array>
#include <bit>
#include <utility>

#include "data/safetensors.h"
#include "network/network.h"

namespace dlbench::data {
namespace {

// Files hold little-endian numbers and are read in place.
static_assert(std::endian::native == std::endian::little, "dlbench needs a little-endian machine");

struct TypeInfo {
  DType type;
  const char* name;
  std::size_t bytes;
};
constexpr std::array<TypeInfo, 7> kTypes = {{{DType::kF32, "F32", 4},
                                             {DType::kF64, "F64", 8},
                                             {DType::kI32, "I32", 4},
                                             {DType::kI64, "I64", 8},
                                             {DType::kU8, "U8", 1},
                                             {DType::kBF16, "BF16", 2},
                                             {DType::kF16, "F16", 2}}};

const TypeInfo& InfoOf(DType type) {
  for (const auto& info : kTypes) {
    if (info.type == type) return info;
  }
  return kTypes.front();  // not reached: kTypes names every value
}

template <class T>
TensorView View(std::string name, DType type, std::vector<std::int64_t> shape,
                std::span<const T> values) {
  return TensorView{std::move(name), type, std::move(shape), std::as_bytes(values)};
}

template <class T>
std::span<const T> Elements(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace

std::size_t SizeOf(DType type) { return InfoOf(type).bytes; }
std::string ToString(DType type) { return InfoOf(type).name; }

std::optional<DType> ParseDType(std::string_view name) {
  for (const auto& info : kTypes) {
    if (name == info.name) return info.type;
  }
  return std::nullopt;
}

std::int64_t TensorView::count() const { return network::ElementCount(shape); }
std::span<const float> TensorView::f32() const { return Elements<float>(bytes); }
std::span<const std::int32_t> TensorView::i32() const { return Elements<std::int32_t>(bytes); }

TensorView ViewOf(std::string name, std::vector<std::int64_t> shape,
                  std::span<const float> values) {
  return View(std::move(name), DType::kF32, std::move(shape), values);
}
TensorView ViewOf(std::string name, std::vector<std::int64_t> shape,
                  std::span<const std::int32_t> values) {
  return View(std::move(name), DType::kI32, std::move(shape), values);
}
TensorView ViewOf(std::string name, std::vector<std::int64_t> shape,
                  std::span<const std::uint8_t> values) {
  return View(std::move(name), DType::kU8, std::move(shape), values);
}

}  // namespace dlbench::data
