#include "worker/failure.h"

#include <utility>

#include "core/text.h"

namespace dlbench::worker {

std::string ToString(FailureKind kind) {
  switch (kind) {
    case FailureKind::kSpawnFailed:
      return "spawn_failed";
    case FailureKind::kProtocolError:
      return "protocol_error";
    case FailureKind::kTimeout:
      return "timeout";
    case FailureKind::kCrashed:
      return "crashed";
    case FailureKind::kExited:
      return "exited";
    case FailureKind::kOutOfMemory:
      return "out_of_memory";
    case FailureKind::kUnsupported:
      return "unsupported";
    case FailureKind::kWrongResult:
      return "wrong_result";
    case FailureKind::kWrongThreads:
      return "wrong_threads";
    case FailureKind::kAdapterFailed:
      return "adapter_failed";
    case FailureKind::kInterrupted:
      return "interrupted";
  }
  return "unknown";
}

Failure MakeFailure(FailureKind kind, std::string message) {
  Failure failure;
  failure.kind = kind;
  failure.message = std::move(message);
  return failure;
}

std::string Quoted(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return Printable(text);
  std::size_t end = limit;
  // Not in the middle of a character: UTF-8 continuation bytes are 10xxxxxx.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return Printable(text.substr(0, end)) + " [" + std::to_string(text.size() - end) +
         " more bytes cut]";
}

}  // namespace dlbench::worker
