#include "worker/process_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/text.h"
#include "machine/disturbance.h"
#include "network/parse.h"
#include "worker/environment.h"
#include "worker/failure.h"
#include "worker/run_times.h"

namespace dlbench::worker {
namespace {

using std::chrono::milliseconds;

/// How often memory is looked at while an adapter prepares, verifies or exports.
constexpr milliseconds kWatchTick{250};
/// While it is being timed: reading a few files of /proc once a second is below 0.1 % of a core.
constexpr milliseconds kRunTick{1'000};
/// Share of the run's time that makes a thread busy (decision 18).
constexpr double kBusyShare = 0.05;

Failure SpawnFailure(const Error& error) {
  return MakeFailure(FailureKind::kSpawnFailed,
                     error.message() + "; `dlbench frameworks list` shows what is installed");
}

/// Names with how often each occurs: "python3 x 4, MainThread".
std::vector<std::string> NamesWithCounts(const std::vector<ThreadWatch::Busy>& busy) {
  std::vector<std::pair<std::string, int>> counts;
  for (const auto& thread : busy) {
    const auto same = std::find_if(counts.begin(), counts.end(),
                                   [&](const auto& entry) { return entry.first == thread.name; });
    if (same == counts.end()) {
      counts.emplace_back(thread.name, 1);
    } else {
      ++same->second;
    }
  }
  std::vector<std::string> names;
  for (const auto& [name, count] : counts) {
    names.push_back(count == 1 ? name : fmt::format("{} x {}", name, count));
  }
  return names;
}

/// Sum of all blocks; in floating point, since hostile numbers would overflow.
double TotalNs(const Observed& observed) {
  double total = 0.0;
  for (const std::int64_t time : observed.bare_ns) total += static_cast<double>(time);
  for (const std::int64_t time : observed.protocol_ns) total += static_cast<double>(time);
  return total;
}

}  // namespace

Outcome<Observed> Session::Observe(const ObserverRequest&) {
  return MakeFailure(FailureKind::kUnsupported, "this launch has no process to observe");
}

Outcome<std::string> Session::Ask(const std::string& request, const std::string& reply_type) {
  static_cast<void>(request);
  return MakeFailure(FailureKind::kUnsupported,
                     "this launch has no process to ask for a '" + reply_type + "' reply");
}

Outcome<std::unique_ptr<Session>> Session::Start(const LaunchSpec& spec, Clock& clock,
                                                 const volatile std::sig_atomic_t* interrupted) {
  return ProcessSession::Start(spec, clock, interrupted, {FindDelegatedGroup(), SystemOomKills});
}

Outcome<std::unique_ptr<Session>> ProcessSession::Start(
    const LaunchSpec& asked, Clock& clock, const volatile std::sig_atomic_t* interrupted,
    SystemView system) {
  LaunchSpec spec = asked;
  std::error_code error;
  spec.folder = std::filesystem::absolute(asked.folder, error);
  std::filesystem::create_directories(spec.folder, error);
  auto out_log = LogCapture::Open(spec.folder / "stdout.txt", spec.limits.log_bytes);
  if (!out_log.ok()) return SpawnFailure(out_log.error());
  auto err_log = LogCapture::Open(spec.folder / "stderr.txt", spec.limits.log_bytes);
  if (!err_log.ok()) return SpawnFailure(err_log.error());

  Parts parts;
  parts.spec = spec;
  parts.padding = spec.padding_bytes.value_or(RandomPadding());
  parts.mark = NewLaunchMark();
  parts.system = std::move(system);
  if (spec.limits.memory_bytes > 0 && parts.system.delegated_group) {
    const std::string name = "dlbench-" + parts.mark.substr(parts.mark.find('=') + 1);
    auto group = MemoryGroup::Create(*parts.system.delegated_group, name, spec.limits.memory_bytes);
    if (group) parts.group.emplace(std::move(*group));
  }
  AdoptOrphans();
  ProcessSpec process_spec{spec.argv, LaunchEnvironment(spec, parts.mark, parts.padding),
                           spec.folder, parts.group ? parts.group->join_fd() : -1};
  auto process = Process::Spawn(process_spec);
  if (!process.ok()) return SpawnFailure(process.error());
  Channel::Ends ends{std::move(process->request), std::move(process->reply),
                     std::move(process->out), std::move(process->err), process->pidfd()};
  Channel channel(std::move(ends), std::move(*out_log), std::move(*err_log), spec.limits.line_bytes,
                  clock, interrupted);
  return std::unique_ptr<Session>(
      new ProcessSession(std::move(parts), std::move(*process), std::move(channel)));
}

ProcessSession::ProcessSession(Parts parts, Process process, Channel channel)
    : parts_(std::move(parts)),
      process_(std::move(process)),
      channel_(std::move(channel)),
      members_(process_.pid(), parts_.mark) {
  channel_.SetAlive([this] { return !process_.Ended(); });
  expected_.folder = parts_.spec.folder;
  oom_kills_before_ = parts_.system.oom_kills();
}

ProcessSession::~ProcessSession() { End(); }

Outcome<Exchange> ProcessSession::Talk(const std::string& request, const std::string& type,
                                       Channel::Waiting waiting) {
  if (failure_) return *failure_;
  idle_ = false;
  Exchange exchange = channel_.Ask(request, waiting);
  idle_ = exchange.end == WaitEnd::kLine;
  if (!idle_) return Settle(Explain(exchange, waiting.limit), type);
  return exchange;
}

Outcome<Exchange> ProcessSession::TalkWatched(const std::string& request, const std::string& type,
                                              milliseconds limit) {
  auto exchange =
      Talk(request, type, {limit, kWatchTick, [this] { return MemoryIsFine(members_.Find()); }});
  // What was used between two looks is seen in the high-water marks.
  if (exchange.ok() && !MemoryIsFine(members_.Find())) return Settle(OverMemory(), type);
  return exchange;
}

template <class T>
Outcome<T> ProcessSession::Checked(Outcome<T> answer, const std::string& type) {
  if (!answer.ok()) return Settle(answer.failure(), type);
  return answer;
}

Outcome<Hello> ProcessSession::SayHello() {
  const std::int64_t id = NextId();
  const auto exchange = TalkWatched(HelloLine(id), "hello", parts_.spec.limits.hello);
  if (!exchange.ok()) return exchange.failure();
  auto hello = Checked(ParseHello(exchange->line, id), "hello");
  if (hello.ok()) {
    expected_.asynchronous = hello->asynchronous;
    expected_.gradients = hello->gradients;
  }
  return hello;
}

Outcome<Prepared> ProcessSession::Prepare(const PrepareRequest& request) {
  const std::int64_t id = NextId();
  const std::string line = PrepareLine(id, request, network::ToProtocolJson(*request.network));
  const auto exchange = TalkWatched(line, "prepare", parts_.spec.limits.prepare);
  if (!exchange.ok()) return exchange.failure();
  expected_.momentum = request.network->optimizer.momentum != 0.0;
  parameter_bytes_ = static_cast<std::uint64_t>(request.network->ParameterCount()) * sizeof(float);
  return Checked(ParsePrepared(exchange->line, id, request), "prepare");
}

Outcome<Verified> ProcessSession::Verify(const VerifyRequest& request) {
  const std::int64_t id = NextId();
  const auto exchange = TalkWatched(VerifyLine(id, request), "verify", parts_.spec.limits.verify);
  if (!exchange.ok()) return exchange.failure();
  return Checked(ParseVerified(exchange->line, id, request, expected_), "verify");
}

Outcome<Ran> ProcessSession::Run(const RunRequest& request) {
  const std::int64_t id = NextId();
  auto members = members_.Find();
  ThreadWatch threads;
  threads.Begin(members);
  const double cpu_before = GroupCpuSeconds(members);
  const auto machine_before = machine::BusySeconds();
  const auto look = [&] {
    members = members_.Find();
    threads.Look(members);
    return MemoryIsFine(members);
  };
  const auto exchange = Talk(RunLine(id, request), "run", {parts_.spec.limits.run, kRunTick, look});
  if (!exchange.ok()) return exchange.failure();
  // Those known first: their time is read at once, before the table is looked through.
  const double cpu_known = GroupCpuSeconds(members);
  const auto after = members_.Find();
  const double cpu_after = after.size() == members.size() ? cpu_known : GroupCpuSeconds(after);
  const auto machine_after = machine::BusySeconds();
  threads.Look(after);
  if (!MemoryIsFine(after)) return Settle(OverMemory(), "run");

  auto ran = ParseRan(exchange->line, id, request, expected_);
  if (!ran.ok()) return Settle(ran.failure(), "run");
  ran->request_ns = exchange->begin_ns;
  ran->reply_ns = exchange->end_ns;
  ran->cpu_seconds = std::max(0.0, cpu_after - cpu_before);
  if (machine_before && machine_after) {
    // Never more than the others used: threads that keep each other waiting are no excuse.
    const double others = std::max(0.0, *machine_after - *machine_before - ran->cpu_seconds);
    ran->kept_waiting_seconds = std::min(threads.WaitedSeconds(), others);
  }
  const double wall = static_cast<double>(ran->reply_ns - ran->request_ns) * 1e-9;
  const auto busy = threads.BusierThan(kBusyShare * wall);
  ran->busy_threads = static_cast<int>(busy.size());
  ran->busy_thread_names = NamesWithCounts(busy);
  // Weights, velocity and a copy of each are what a reset moves at most.
  if (auto failure = CheckTimes(*ran, request.reset ? 4 * parameter_bytes_ : 0)) {
    return Settle(std::move(*failure), "run");
  }
  return ran;
}

Outcome<Observed> ProcessSession::Observe(const ObserverRequest& request) {
  const std::int64_t id = NextId();
  // As seldom a look as during `run`: bare and protocol blocks are disturbed alike.
  const auto look = [this] { return MemoryIsFine(members_.Find()); };
  const auto exchange =
      Talk(ObserverLine(id, request), "observer", {parts_.spec.limits.run, kRunTick, look});
  if (!exchange.ok()) return exchange.failure();
  auto observed = ParseObserved(exchange->line, id, request);
  const auto bracket_ns = static_cast<double>(exchange->end_ns - exchange->begin_ns);
  if (observed.ok() && TotalNs(*observed) > bracket_ns) {
    observed = MakeFailure(FailureKind::kWrongResult,
                           "the blocks add up to more than the time from request to reply");
  }
  return Checked(std::move(observed), "observer");
}

Outcome<Exported> ProcessSession::Export(const std::string& folder) {
  const std::int64_t id = NextId();
  const auto exchange = TalkWatched(ExportLine(id, folder), "export", parts_.spec.limits.exchange);
  if (!exchange.ok()) return exchange.failure();
  return Checked(ParseExported(exchange->line, id, expected_), "export");
}

Outcome<double> ProcessSession::Sync() {
  const std::int64_t id = NextId();
  // An answer that is there at once took up to 22 ms beside a compiler on two cores: our thread and
  // the adapter's waited for a processor. That is not the adapter's work.
  const auto watched = [this] {
    auto processes = members_.Find();
    processes.emplace_back().pid = ::getpid();
    return processes;
  };
  const auto before = watched();
  ThreadWatch threads;
  threads.Begin(before);
  const double cpu_before = GroupCpuSeconds(before);
  const auto machine_before = machine::BusySeconds();
  const auto exchange = TalkWatched(PlainLine(id, "sync"), "sync", parts_.spec.limits.exchange);
  if (!exchange.ok()) return exchange.failure();
  if (auto failure = ParsePlain(exchange->line, id, "synced")) {
    return Settle(std::move(*failure), "sync");
  }
  const auto machine_after = machine::BusySeconds();
  const auto after = watched();
  threads.Look(after);
  double waited = 0.0;
  if (machine_before && machine_after) {
    const double own = std::max(0.0, GroupCpuSeconds(after) - cpu_before);
    const double others = std::max(0.0, *machine_after - *machine_before - own);
    waited = std::min(threads.WaitedSeconds(), others);
  }
  const double wall = static_cast<double>(exchange->end_ns - exchange->begin_ns) * 1e-9;
  return std::max(0.0, wall - waited);
}

Outcome<std::string> ProcessSession::Ask(const std::string& request,
                                         const std::string& reply_type) {
  const std::int64_t id = NextId();
  const auto line = RawLine(id, request);
  if (!line.ok()) return MakeFailure(FailureKind::kUnsupported, line.error().message());
  auto exchange = TalkWatched(*line, "the request", parts_.spec.limits.exchange);
  if (!exchange.ok()) return exchange.failure();
  if (!reply_type.empty()) {
    if (auto failure = ParsePlain(exchange->line, id, reply_type)) {
      return Settle(std::move(*failure), "the request");
    }
  }
  return std::move(exchange->line);
}

Outcome<Finished> ProcessSession::Finish() {
  const std::int64_t id = NextId();
  MemoryIsFine(members_.Find());  // The process may be gone by the time that its answer is here.
  const auto exchange = TalkWatched(PlainLine(id, "finish"), "finish", parts_.spec.limits.exchange);
  if (!exchange.ok()) return exchange.failure();
  auto finished = Checked(ParseFinished(exchange->line, id), "finish");
  if (!finished.ok()) return finished;
  finished->exit_problem = WaitForOrderlyEnd();
  finished->observed_peak_bytes = peak_bytes_;
  finished->stdout_bytes = channel_.out_log().total_bytes();
  finished->stderr_bytes = channel_.err_log().total_bytes();
  failure_ = MakeFailure(FailureKind::kExited, "the adapter has finished; start another launch");
  return finished;
}

}  // namespace dlbench::worker
