#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "worker/worker.h"

namespace dlbench::worker {

/// The version of docs/protocol.md that this program speaks.
constexpr int kProtocolVersion = 1;

// Requests, each one line with its line end.

/// `hello`.
std::string HelloLine(std::int64_t id);
/// `prepare`; `network_json` is the resolved network as network::ToProtocolJson writes it.
std::string PrepareLine(std::int64_t id, const PrepareRequest& request,
                        const std::string& network_json);
/// `verify`.
std::string VerifyLine(std::int64_t id, const VerifyRequest& request);
/// `run`.
std::string RunLine(std::int64_t id, const RunRequest& request);
/// `observer`.
std::string ObserverLine(std::int64_t id, const ObserverRequest& request);
/// `export`.
std::string ExportLine(std::int64_t id, const std::string& folder);
/// A request without fields: `sync`, `finish`.
std::string PlainLine(std::int64_t id, const std::string& type);
/// The JSON object `request` with `id` added; kInput if it is no object.
Result<std::string> RawLine(std::int64_t id, std::string_view request);

// Replies. Every field is checked against what was asked.

/// What a reply is checked against.
struct Expectation {
  std::filesystem::path folder;    ///< The launch's folder: files must exist inside it.
  bool asynchronous = false;       ///< From hello.
  std::string gradients = "none";  ///< From hello.
  bool momentum = false;           ///< Whether the network's optimiser has momentum.
};

Outcome<Hello> ParseHello(std::string_view line, std::int64_t id);
Outcome<Prepared> ParsePrepared(std::string_view line, std::int64_t id,
                                const PrepareRequest& asked);
Outcome<Verified> ParseVerified(std::string_view line, std::int64_t id, const VerifyRequest& asked,
                                const Expectation& expected);
/// Records and losses with their counts checked; times are checked by CheckTimes.
Outcome<Ran> ParseRan(std::string_view line, std::int64_t id, const RunRequest& asked,
                      const Expectation& expected);
/// As many positive times of either kind as asked for; their sum is not looked at.
Outcome<Observed> ParseObserved(std::string_view line, std::int64_t id,
                                const ObserverRequest& asked);
Outcome<Exported> ParseExported(std::string_view line, std::int64_t id,
                                const Expectation& expected);
Outcome<Finished> ParseFinished(std::string_view line, std::int64_t id);
/// Nothing but the right id and type.
std::optional<Failure> ParsePlain(std::string_view line, std::int64_t id, const std::string& type);

}  // namespace dlbench::worker
