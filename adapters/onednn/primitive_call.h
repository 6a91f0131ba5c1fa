#pragma once

#include <cstddef>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>
#include <vector>

namespace dlbench::onednn {

/// A primitive with all its arguments bound once, so that executing it builds no argument list.
/// (dnnl::primitive::execute makes a hash map and a vector at every call.)
class PrimitiveCall {
 public:
  using Arguments = std::vector<std::pair<int, dnnl::memory>>;

  PrimitiveCall() = default;
  /// `description` is the primitive descriptor of `primitive`, made with a user's scratchpad.
  PrimitiveCall(const dnnl::primitive& primitive, const dnnl::primitive_desc_base& description,
                const Arguments& arguments);

  bool empty() const { return arguments_.empty(); }
  /// oneDNN's name of the implementation: "brgemm:avx512_core".
  const std::string& implementation() const { return implementation_; }
  std::size_t scratchpad_bytes() const { return scratchpad_bytes_; }
  /// Binds scratchpad_bytes() of memory, which calls that do not overlap may share.
  void UseScratchpad(float* memory);
  /// Throws dnnl::error.
  void Execute(const dnnl::stream& stream) const;

 private:
  dnnl::primitive primitive_;
  std::vector<dnnl::memory> memories_;  ///< Owners of what arguments_ points to.
  std::vector<dnnl_exec_arg_t> arguments_;
  std::size_t scratchpad_bytes_ = 0;
  std::string implementation_;
};

}  // namespace dlbench::onednn
