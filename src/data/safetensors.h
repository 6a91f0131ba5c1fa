#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/file.h"
#include "core/result.h"

namespace dlbench::data {

/// Element types that dlbench exchanges. Little-endian.
enum class DType { kF32, kF64, kI32, kI64, kU8, kBF16, kF16 };
/// Bytes per element.
std::size_t SizeOf(DType type);
/// The safetensors spelling: "F32".
std::string ToString(DType type);
/// The type that safetensors spells `name`; nothing for types that dlbench does not exchange.
std::optional<DType> ParseDType(std::string_view name);

/// A tensor whose bytes belong to somebody else (a mapped file, a vector).
struct TensorView {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;

  /// Number of elements.
  std::int64_t count() const;
  /// The elements as float32; only for kF32, and only while the owner of `bytes` lives.
  std::span<const float> f32() const;
  /// The elements as int32; only for kI32.
  std::span<const std::int32_t> i32() const;
};

/// A safetensors file mapped read-only: 8 bytes of header length, a JSON header, raw tensors.
/// Every header is checked (lengths, offsets, overlaps, gaps, sizes that do not fit, names given
/// twice): it may be hostile. Format: huggingface/safetensors, README "Format".
class SafetensorsFile {
 public:
  /// kNotFound or kIo where `path` cannot be read, kInput where it is not a valid file; the message
  /// names the file, the tensor and the fault.
  static Result<SafetensorsFile> Open(const std::filesystem::path& path);
  /// Null where the file has no such tensor. Valid while this object lives.
  const TensorView* Find(const std::string& name) const;
  const std::map<std::string, TensorView>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  explicit SafetensorsFile(MappedFile file) : file_(std::move(file)) {}
  void AlignTensors();

  MappedFile file_;
  // Copies of tensors that lie at an odd address in the file (some writers do not pad).
  std::vector<std::unique_ptr<std::byte[]>> aligned_copies_;
  std::map<std::string, TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

/// What a safetensors header says; the views point into the bytes given.
struct SafetensorsContent {
  std::map<std::string, TensorView> tensors;
  std::map<std::string, std::string> metadata;
};
/// Checks and reads the bytes of a whole file. kInput says what is wrong with it.
Result<SafetensorsContent> ParseSafetensors(std::span<const std::byte> file);

/// Writes the tensors in the given order, atomically. kInput if two have the same name or a view's
/// bytes do not fit its shape.
Status WriteSafetensors(const std::filesystem::path& path, std::span<const TensorView> tensors,
                        const std::map<std::string, std::string>& metadata = {});

/// A float32 view of `values` under `name`; `values` must outlive it.
TensorView ViewOf(std::string name, std::vector<std::int64_t> shape, std::span<const float> values);
/// An int32 view of `values` under `name`; `values` must outlive it.
TensorView ViewOf(std::string name, std::vector<std::int64_t> shape,
                  std::span<const std::int32_t> values);
/// A view of the bytes `values` under `name`; `values` must outlive it.
TensorView ViewOf(std::string name, std::vector<std::int64_t> shape,
                  std::span<const std::uint8_t> values);

}  // namespace dlbench::data
