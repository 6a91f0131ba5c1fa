#pragma once

#include <cstdint>
#include <optional>

#include "worker/worker.h"

namespace dlbench::worker {

/// Checks the adapter's times against each other and against our own clock (Ran::request_ns and
/// reply_ns): each record has begin < end, records follow one another, all lie between request and
/// reply, and they add up to at least 95 % of the time from the first begin to the last end and of
/// the time from request to reply. `reset_bytes`: weights and state that the adapter had to restore
/// before the first step, 0 without a reset. Time for which other processes kept the adapter
/// waiting (Ran::kept_waiting_seconds) may pass before the first step and after the last one, and
/// in the longest gaps between steps, one in a hundred. kWrongResult with the numbers otherwise.
std::optional<Failure> CheckTimes(const Ran& ran, std::uint64_t reset_bytes);

}  // namespace dlbench::worker
