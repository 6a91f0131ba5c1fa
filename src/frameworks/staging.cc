#include "frameworks/staging.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/clock.h"
#include "core/text.h"
#include "frameworks/record.h"

namespace dlbench::frameworks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLog = "install.log";

std::string Holder(const fs::path& file) {
  const Result<std::string> text = ReadFile(file, 4096);
  const std::string holder = text.ok() ? Printable(Trim(*text)) : "";
  return holder.empty() ? "another process" : holder;
}

}  // namespace

Result<InstallLock> InstallLock::Take(const Places& places, const std::string& name) {
  std::error_code failure;
  fs::create_directories(EnvironmentsFolder(places), failure);
  const fs::path file = EnvironmentsFolder(places) / (".lock-" + name);
  // Inherited on purpose (no O_CLOEXEC): pip, left behind by our death, still holds it.
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT, 0644));  // NOLINT(android-cloexec-open)
  if (!fd.valid()) {
    return Error(ErrorCode::kIo, "cannot open '" + file.string() + "': " + std::strerror(errno));
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      return Error(ErrorCode::kIo, "cannot lock '" + file.string() + "': " + std::strerror(errno));
    }
    return Error(ErrorCode::kFailed, Holder(file) + " is changing the environments of '" + name +
                                         "'; wait until it has ended and try again");
  }
  const std::string holder =
      fmt::format("dlbench (process {}, since {})\n", ::getpid(), SystemClock().CalendarLabel());
  if (::ftruncate(fd.get(), 0) != 0 ||
      ::pwrite(fd.get(), holder.data(), holder.size(), 0) != static_cast<ssize_t>(holder.size())) {
    return Error(ErrorCode::kIo, "cannot write '" + file.string() + "': " + std::strerror(errno));
  }
  return InstallLock(std::move(fd));
}

Result<Staging> Staging::Make(const Places& places, const std::string& name,
                              const ProgressLine& progress) {
  const fs::path folder = EnvironmentsFolder(places) / (".partial-" + name);
  std::error_code failure;
  if (fs::exists(folder, failure)) {
    progress("removing what an interrupted install left (" + SizeText(DiskBytes(folder)) + ")");
    fs::remove_all(folder, failure);
  }
  if (!failure) fs::create_directories(folder, failure);
  if (failure) {
    return Error(ErrorCode::kIo,
                 "cannot make '" + folder.string() + "' afresh: " + failure.message());
  }
  return Staging(folder, EnvironmentsFolder(places) / (".failed-" + name + ".log"));
}

Staging::Staging(fs::path folder, fs::path failed_log)
    : folder_(std::move(folder)), failed_log_(std::move(failed_log)) {}

Staging::Staging(Staging&& other) noexcept
    : folder_(std::move(other.folder_)), failed_log_(std::move(other.failed_log_)) {
  other.folder_.clear();
}

Staging::~Staging() {
  if (folder_.empty()) return;
  std::error_code ignored;
  fs::rename(folder_ / kLog, failed_log_, ignored);
  fs::remove_all(folder_, ignored);
}

void Staging::Log(const std::string& line) {
  std::ofstream(folder_ / kLog, std::ios::app) << line << "\n";
}

Result<CommandResult> Staging::Run(const std::string& what, Command command) {
  std::ofstream log(folder_ / kLog, std::ios::app);
  log << "$ " << Join(command.argv, " ") << "\n";
  const auto caller_line = command.line;
  command.line = [&log, &caller_line](const std::string& line) {
    log << line << std::endl;
    if (caller_line) caller_line(line);
  };
  Result<CommandResult> result = RunCommand(command);
  if (!result.ok()) return result.error().WithContext(what);
  if (!result->ok()) {
    const std::string tail = LastLines(result->err.empty() ? result->out : result->err, 8);
    return Error(ErrorCode::kFailed, what + ": " + result->HowItEnded() + ":\n" + Printable(tail) +
                                         "\nthe whole log: " + failed_log_.string());
  }
  return result;
}

Status Staging::Publish(const std::string& id) {
  const fs::path target = folder_.parent_path() / id;
  const fs::path old = folder_.parent_path() / (".old-" + id);
  std::error_code failure;
  fs::remove_all(old, failure);
  if (fs::exists(target)) fs::rename(target, old, failure);
  if (!failure) fs::rename(folder_, target, failure);
  if (failure) {
    return Error(ErrorCode::kIo, "cannot rename '" + folder_.string() + "' to '" + target.string() +
                                     "': " + failure.message());
  }
  folder_.clear();
  fs::remove_all(old, failure);
  fs::remove(failed_log_, failure);
  return {};
}

std::uint64_t DiskBytes(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code failure;
  fs::recursive_directory_iterator walk(folder, failure);
  while (!failure && walk != fs::recursive_directory_iterator()) {
    struct stat info {};
    if (::lstat(walk->path().c_str(), &info) == 0) {
      bytes += static_cast<std::uint64_t>(info.st_blocks) * 512;
    }
    walk.increment(failure);
  }
  return bytes;
}

std::string SizeText(std::uint64_t bytes) {
  if (bytes >= 1'000'000'000) return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
  return fmt::format("{} MB", (bytes + 500'000) / 1'000'000);
}

}  // namespace dlbench::frameworks
