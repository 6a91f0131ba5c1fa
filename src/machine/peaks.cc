#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>

#include "core/file.h"
#include "machine/environment.h"
#include "machine/peaks_here.h"

namespace dlbench::machine {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::int64_t kDisturbedLifeSeconds = 3600;

/// In the child: measures, writes the result to `fd`, ends. Never returns.
[[noreturn]] void RunChild(int fd, const PeakOptions& options) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The machine's peak, not that of the user's settings; OpenMP reads them when oneDNN is loaded.
  for (const auto& [name, value] : RelevantEnvironment(ProcessEnvironment())) {
    ::unsetenv(name.c_str());
  }
  int status = 1;
  try {
    std::vector<CachedPeak> peaks;
    for (Peak& peak : MeasurePeaksHere(options)) peaks.push_back({std::move(peak), 0});
    const std::string text = PeaksToText("", peaks);
    std::size_t written = 0;
    while (written < text.size()) {
      const ssize_t count = ::write(fd, text.data() + written, text.size() - written);
      if (count <= 0 && errno != EINTR) break;
      if (count > 0) written += static_cast<std::size_t>(count);
    }
    status = written == text.size() ? 0 : 1;
  } catch (const std::exception&) {
    status = 1;  // Out of memory or threads: no peaks.
  }
  ::_exit(status);
}

/// All that the child writes until it closes its end, or what came within `seconds`.
std::string ReadChild(int fd, double seconds) {
  std::string text;
  const std::time_t deadline = std::time(nullptr) + static_cast<std::time_t>(seconds);
  char buffer[4096];
  while (std::time(nullptr) <= deadline) {
    pollfd wait{fd, POLLIN, 0};
    const int ready = ::poll(&wait, 1, 500);
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count == 0) return text;
    if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) break;
  }
  return "";
}

std::filesystem::path CacheFile(const Machine& machine, const std::filesystem::path& folder) {
  return folder / ("peaks-" + Fingerprint(machine) + ".json");
}

/// Puts `found` into `peaks`: in place of the same quantity, unless that one is undisturbed and
/// this is not.
void Merge(std::vector<CachedPeak>& peaks, const CachedPeak& found) {
  for (CachedPeak& old : peaks) {
    if (old.peak.what != found.peak.what || old.peak.threads != found.peak.threads) continue;
    if (old.peak.disturbed || !found.peak.disturbed) old = found;
    return;
  }
  peaks.push_back(found);
}

std::optional<CachedPeak> PeakOf(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const auto has = [&](const char* key, auto is) {
    return json.contains(key) && (json[key].*is)();
  };
  if (!has("what", &Json::is_string) || !has("how", &Json::is_string) ||
      !has("threads", &Json::is_number_integer) || !has("per_second", &Json::is_number) ||
      !has("disturbed", &Json::is_boolean) || !has("measured_unix", &Json::is_number_integer)) {
    return std::nullopt;
  }
  CachedPeak entry;
  entry.peak = {json["what"], json["threads"], json["per_second"], json["how"], json["disturbed"]};
  entry.measured_unix = json["measured_unix"];
  const bool sane = entry.peak.threads >= 1 && entry.peak.per_second > 0;
  return sane ? std::optional(entry) : std::nullopt;
}

}  // namespace

std::string PeaksToText(const std::string& fingerprint, const std::vector<CachedPeak>& peaks) {
  Json list = Json::array();
  for (const CachedPeak& entry : peaks) {
    list.push_back({{"what", entry.peak.what},
                    {"threads", entry.peak.threads},
                    {"per_second", entry.peak.per_second},
                    {"how", entry.peak.how},
                    {"disturbed", entry.peak.disturbed},
                    {"measured_unix", entry.measured_unix}});
  }
  const Json json = {{"version", kVersion}, {"fingerprint", fingerprint}, {"peaks", list}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<CachedPeak>> ParsePeaks(std::string_view text, const std::string& fingerprint) {
  const auto bad = [](const char* why) {
    return Error(ErrorCode::kInput, std::string("not a file of measured peaks: ") + why);
  };
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("version") || !json.contains("fingerprint") ||
      !json.contains("peaks") || !json["peaks"].is_array()) {
    return bad("damaged");
  }
  if (json["version"] != kVersion) return bad("another version");
  if (json["fingerprint"] != fingerprint) return bad("another machine");
  std::vector<CachedPeak> peaks;
  for (const Json& entry : json["peaks"]) {
    auto peak = PeakOf(entry);
    if (!peak) return bad("damaged");
    peaks.push_back(std::move(*peak));
  }
  return peaks;
}

std::vector<Peak> MeasurePeaks(const PeakOptions& options) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child == 0) RunChild(write_end.get(), options);
  write_end.Reset();
  // Five quantities, each twice where disturbed, the slowest single runs on top.
  const double limit =
      30.0 + 20.0 * options.seconds_each * static_cast<double>(options.threads.size());
  const std::string text = ReadChild(read_end.get(), limit);
  if (text.empty()) ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  const auto parsed = ParsePeaks(text, "");
  std::vector<Peak> peaks;
  if (!parsed.ok()) return peaks;
  for (const CachedPeak& entry : *parsed) peaks.push_back(entry.peak);
  return peaks;
}

std::vector<Peak> CachedPeaksWith(const Machine& machine, const PeakOptions& options,
                                  const std::filesystem::path& cache_folder,
                                  MeasureFunction measure, std::int64_t now_unix) {
  const std::filesystem::path file = CacheFile(machine, cache_folder);
  std::vector<CachedPeak> peaks;
  if (const Result<std::string> text = ReadFile(file, 1U << 20); text.ok()) {
    if (auto parsed = ParsePeaks(*text, Fingerprint(machine)); parsed.ok()) peaks = *parsed;
  }
  PeakOptions missing = options;
  std::erase_if(missing.threads, [&](int threads) {
    bool known = false;
    for (const CachedPeak& entry : peaks) {
      if (entry.peak.threads != threads) continue;
      known = true;
      const std::int64_t age = now_unix - entry.measured_unix;
      if (entry.peak.disturbed && (age > kDisturbedLifeSeconds || age < 0)) return false;
    }
    return known;
  });
  if (!missing.threads.empty()) {
    const std::vector<Peak> found = measure(missing);
    for (const Peak& peak : found) Merge(peaks, {peak, now_unix});
    if (!found.empty()) {
      std::error_code error;
      std::filesystem::create_directories(cache_folder, error);
      (void)WriteFileAtomically(file, PeaksToText(Fingerprint(machine), peaks));
    }
  }
  const std::set<int> asked(options.threads.begin(), options.threads.end());
  std::vector<Peak> result;
  for (const CachedPeak& entry : peaks) {
    if (asked.count(entry.peak.threads) != 0) result.push_back(entry.peak);
  }
  return result;
}

std::vector<Peak> CachedPeaks(const Machine& machine, const PeakOptions& options,
                              const std::filesystem::path& cache_folder) {
  return CachedPeaksWith(machine, options, cache_folder, MeasurePeaks, std::time(nullptr));
}

std::optional<double> FindPeak(const std::vector<Peak>& peaks, const std::string& what,
                               int threads) {
  std::optional<double> best;
  for (const Peak& peak : peaks) {
    if (peak.what != what || peak.threads != threads || peak.disturbed) continue;
    best = std::max(best.value_or(0), peak.per_second);
  }
  return best;
}

}  // namespace dlbench::machine
