// A reply line of any bytes is parsed or refused with a message; numbers that pass are usable.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "worker/messages.h"
#include "worker/run_times.h"

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

/// A refusal without words would leave the user alone.
template <class T>
void RequireWords(const dlbench::worker::Outcome<T>& outcome) {
  Require(outcome.ok() || !outcome.failure().message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dlbench::worker;  // NOLINT: a fuzz target's only function
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  Expectation expected;
  expected.folder = "/nonexistent";
  PrepareRequest prepare;
  VerifyRequest verify;
  RunRequest run;
  run.steps = 3;
  RequireWords(ParseHello(line, 1));
  RequireWords(ParsePrepared(line, 1, prepare));
  RequireWords(ParseVerified(line, 1, verify, expected));
  RequireWords(ParseExported(line, 1, expected));
  RequireWords(ParseFinished(line, 1));
  RequireWords(ParseObserved(line, 1, {2, 3, 1}));
  for (const bool asynchronous : {false, true}) {
    expected.asynchronous = asynchronous;
    auto ran = ParseRan(line, 1, run, expected);
    RequireWords(ran);
    if (!ran.ok()) continue;
    std::int64_t steps = 0;
    for (const auto& record : ran->records) steps += record.steps;
    Require(steps == run.steps);
    Require(ran->losses.size() == ran->records.size());
    for (const double loss : ran->losses) Require(std::isfinite(loss));
    ran->reply_ns = 1'000'000'000;
    if (const auto failure = CheckTimes(*ran, 0)) Require(!failure->message.empty());
  }
  return 0;
}
