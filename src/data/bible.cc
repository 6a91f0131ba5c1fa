#include <array>
#include <cstdio>
#include <memory>

#include "data/corpus.h"

namespace dlbench::data {
namespace {

// Five times what the whole text takes.
constexpr std::size_t kMaxPrinted = std::size_t{32} << 20;

/// What `program` prints of the whole text; nothing where it cannot be started.
std::string Printed(const std::filesystem::path& program) {
  std::string command = "'" + program.string() + "' -f gen1:1-rev22:21 </dev/null 2>/dev/null";
  const auto close = [](std::FILE* pipe) { pclose(pipe); };
  const std::unique_ptr<std::FILE, decltype(close)> pipe(popen(command.c_str(), "r"), close);
  std::string text;
  if (!pipe) return text;
  std::array<char, 65536> buffer{};
  while (text.size() < kMaxPrinted) {
    const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe.get());
    if (got == 0) break;
    text.append(buffer.data(), got);
  }
  return text;
}

}  // namespace

Result<Dataset> LoadBible(const network::Network& network, const std::filesystem::path& program) {
  std::error_code ignored;
  if (!std::filesystem::exists(program, ignored)) {
    return Error(
        ErrorCode::kNotFound,
        "no text: '" + program.string() +
            "' is not there; install it (apt-get install bible-kjv), name your own text file "
            "(--data FILE) or use generated tokens (--data synthetic)");
  }
  auto dataset = DatasetOfText(PlainVerses(Printed(program)), network);
  if (!dataset.ok()) return dataset.error().WithContext("reading '" + program.string() + "'");
  dataset->name = "kjv";
  dataset->source = program.string();
  return dataset;
}

}  // namespace dlbench::data
