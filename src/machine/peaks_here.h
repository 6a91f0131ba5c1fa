#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "machine/machine.h"

namespace dlbench::machine {

/// Measures in this very process; loads OpenMP into it. MeasurePeaks calls it in a child.
std::vector<Peak> MeasurePeaksHere(const PeakOptions& options);

/// A peak and when it was measured.
struct CachedPeak {
  Peak peak;
  std::int64_t measured_unix = 0;  ///< Seconds since 1970, by the calendar.
};
/// The cache file's text for the machine of `fingerprint`.
std::string PeaksToText(const std::string& fingerprint, const std::vector<CachedPeak>& peaks);
/// The peaks in `text`; kInput for text of another machine, another version, or damaged.
Result<std::vector<CachedPeak>> ParsePeaks(std::string_view text, const std::string& fingerprint);

/// CachedPeaks with its measuring and its calendar given.
using MeasureFunction = std::vector<Peak> (*)(const PeakOptions&);
std::vector<Peak> CachedPeaksWith(const Machine& machine, const PeakOptions& options,
                                  const std::filesystem::path& cache_folder,
                                  MeasureFunction measure, std::int64_t now_unix);

}  // namespace dlbench::machine
