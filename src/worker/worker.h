#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "core/result.h"
#include "measure/measure.h"
#include "network/network.h"

namespace dlbench::worker {

/// Why a launch has no result. Stored with it; never turned into a number.
enum class FailureKind {
  kSpawnFailed,    ///< The program could not be started.
  kProtocolError,  ///< Garbage, a half line, an over-long line, a wrong id or type, a bad field.
  kTimeout,        ///< No answer within the limit.
  kCrashed,        ///< Ended by a signal (see signal).
  kExited,         ///< Ended by itself before it had answered (see exit_status).
  kOutOfMemory,    ///< Over the memory limit, or killed for memory.
  kUnsupported,    ///< The adapter cannot do what was asked.
  kWrongResult,    ///< Non-finite values, wrong shapes, times that do not add up, no work done.
  kWrongThreads,   ///< Used more processor time than the threads asked for allow.
  kAdapterFailed,  ///< The adapter answered with an error of kind failed.
  kInterrupted,    ///< The user asked to stop.
};
/// "spawn_failed", "protocol_error", ...
std::string ToString(FailureKind kind);

struct Failure {
  FailureKind kind = FailureKind::kProtocolError;
  std::string message;  ///< What happened, during which request, and what to do.
  std::optional<int> signal;
  std::optional<int> exit_status;
  std::string log_tail;  ///< Last lines of the framework's stderr and stdout, printable.
};

/// A value or the Failure that took its place.
template <class T>
class [[nodiscard]] Outcome {
 public:
  Outcome(T value) : value_(std::move(value)) {}              // NOLINT: implicit on purpose
  Outcome(Failure failure) : failure_(std::move(failure)) {}  // NOLINT: implicit on purpose
  bool ok() const { return value_.has_value(); }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const Failure& failure() const { return *failure_; }

 private:
  std::optional<T> value_;
  std::optional<Failure> failure_;
};

struct Limits {
  std::chrono::milliseconds hello{30'000};
  std::chrono::milliseconds prepare{300'000};
  std::chrono::milliseconds verify{600'000};  ///< Holds the first, compiling step.
  std::chrono::milliseconds run{120'000};
  std::chrono::milliseconds exchange{120'000};       ///< export, sync, finish.
  std::chrono::milliseconds end{30'000};             ///< From the last answer to the exit.
  std::chrono::milliseconds terminate_grace{2'000};  ///< Between SIGTERM and SIGKILL.
  std::uint64_t memory_bytes = 0;  ///< Of the whole process group; 0 means no limit.
  std::uint64_t line_bytes = 16ULL << 20;
  std::uint64_t log_bytes =
      1ULL << 20;  ///< Kept of each stream: first and last half; the rest counted.
};

/// How to start one adapter process.
struct LaunchSpec {
  std::vector<std::string> argv;                   ///< argv[0] is looked up as a path.
  std::map<std::string, std::string> environment;  ///< Added to a small allow-list of ours.
  std::filesystem::path folder;                    ///< The launch's folder; created if missing.
  Limits limits;
  int threads = 1;  ///< Also exported as OMP_, MKL_ and OPENBLAS_NUM_THREADS unless given above.
  /// Bytes of a variable that moves the process's stack about; drawn at random where not given.
  std::optional<std::uint32_t> padding_bytes;
};

struct Hello {
  int protocol = 0;
  std::string framework;
  std::string framework_version;
  std::string adapter_version;
  std::string language;
  std::map<std::string, std::string> mode_labels;  ///< By preset; absent means unknown.
  std::map<std::string, std::string> build;
  std::vector<std::string> devices, precisions, modes, inputs, presets, ops;
  bool asynchronous = false;
  std::string gradients = "none";
  std::string learning_rate = "fixed";
  std::map<std::string, std::string> settings;
};

struct PrepareRequest {
  const network::Network* network = nullptr;  ///< Not owned.
  std::filesystem::path weights;              ///< Absolute.
  std::filesystem::path batches;              ///< Absolute.
  std::int64_t batch = 0;
  std::int64_t pool = 0;
  std::string mode = "train";
  std::string device = "cpu";
  std::string precision = "float32";
  int threads = 1;
  int rank = 0;
  int world_size = 1;
  std::string input = "resident";
  std::string preset = "default";
  std::string variant;
  std::map<std::string, std::string> settings;
};
struct Prepared {
  std::int64_t batch = 0;
  std::string precision;
  int threads = 0;
  std::map<std::string, std::string> effective_settings;
};

struct VerifyRequest {
  std::string folder;
  std::vector<std::int64_t> batches;
  std::vector<double> learning_rates;
  std::vector<std::int64_t> weights_after;
  bool logits = true;
  bool gradients = true;
};
struct Verified {
  std::vector<double> losses;
  std::optional<std::filesystem::path> logits;     ///< Absolute, inside the launch's folder.
  std::optional<std::filesystem::path> gradients;  ///< Absent where the adapter hands out none.
  std::map<std::int64_t, std::filesystem::path> weights;  ///< By number of steps taken.
};

struct RunRequest {
  std::int64_t steps = 0;
  std::int64_t block_steps = 5;
  std::int64_t first_batch = 0;
  bool reset = false;
};
struct Ran {
  std::vector<measure::StepRecord> records;
  std::vector<double> losses;
  std::int64_t request_ns = 0;  ///< Our clock just before the request was written.
  std::int64_t reply_ns = 0;    ///< Our clock when the reply had been read.
  double cpu_seconds = 0.0;     ///< Of the process group between the two.
  /// For how long other processes kept the group's threads from running between the two, at most.
  double kept_waiting_seconds = 0.0;
  int busy_threads = 0;  ///< Threads with more than 5 % CPU of that time.
  std::vector<std::string> busy_thread_names;
};

/// What the protocol's clock readings cost (docs/protocol.md, `observer`).
struct ObserverRequest {
  std::int64_t blocks = 50;  ///< Of each kind.
  std::int64_t block_steps = 20;
  std::uint64_t seed = 1;  ///< Of the order.
};
/// Times of whole blocks, each list in the order in which blocks of its kind ran.
struct Observed {
  std::string order;  ///< "b" and "p", as they ran.
  std::vector<std::int64_t> bare_ns, protocol_ns;
};

struct Exported {
  std::filesystem::path weights;
  std::optional<std::filesystem::path> velocity;
};
struct Finished {
  std::uint64_t peak_memory_bytes = 0;    ///< As the adapter says; 0 where it does not.
  std::uint64_t observed_peak_bytes = 0;  ///< Largest resident set of the group that we sampled.
  std::string parameter_checksum;
  std::map<std::string, std::string> effective_settings;
  std::uint64_t stdout_bytes = 0, stderr_bytes = 0;  ///< Printed in all, kept or not.
  /// What was wrong with the end: another exit status than 0, a signal, no end at all, processes
  /// left behind (ended by us). Absent where all was well. The answers before it stand.
  std::optional<std::string> exit_problem;
};

/// One adapter process from start to end. Every call waits for its answer with the limit of its
/// kind. After a Failure the process group has been ended and further calls fail the same way;
/// kUnsupported alone leaves the adapter alive, to be asked something else. Answers are checked
/// here: ids, types, finite numbers, counts, paths inside the folder, times inside our own bracket
/// and in order. The destructor ends the whole process group, and whatever has left it, and reaps.
class Session {
 public:
  /// `clock` and `interrupted` must outlive it. `*interrupted` becoming true (a signal handler's
  /// flag) ends the wait with kInterrupted. The calling thread must outlive the session too: the
  /// adapter is killed when it ends, so that no adapter survives a killed dlbench.
  static Outcome<std::unique_ptr<Session>> Start(const LaunchSpec& spec, Clock& clock,
                                                 const volatile std::sig_atomic_t* interrupted);
  virtual ~Session() = default;

  virtual Outcome<Hello> SayHello() = 0;
  virtual Outcome<Prepared> Prepare(const PrepareRequest& request) = 0;
  virtual Outcome<Verified> Verify(const VerifyRequest& request) = 0;
  virtual Outcome<Ran> Run(const RunRequest& request) = 0;
  virtual Outcome<Exported> Export(const std::string& folder) = 0;
  /// Seconds that the adapter still needed although it had answered, without those for which other
  /// processes kept it or us waiting for a processor.
  virtual Outcome<double> Sync() = 0;
  virtual Outcome<Finished> Finish() = 0;

  /// Bare blocks against blocks of the protocol, in one process; kUnsupported where the adapter
  /// does not offer it. Has `limits.run` to answer. The standard body suits sessions without a
  /// process.
  virtual Outcome<Observed> Observe(const ObserverRequest& request);

  /// Sends any JSON object, with an `id` added, and returns the reply's line as it came. Only its
  /// being one line is checked, and its being an answer of type `reply_type` unless that is empty.
  /// For the conformance test and for requests that this class does not know. The standard body
  /// suits sessions without a process.
  virtual Outcome<std::string> Ask(const std::string& request, const std::string& reply_type);
  /// Length of the random environment variable of this launch, for the record.
  virtual std::uint32_t padding_bytes() const { return 0; }
};

/// Verdict on the processor time of a run (decision 18): above 1.1 x asked is a failure with the
/// threads' names; below 0.9 x is only reported.
std::optional<Failure> CheckThreads(const Ran& ran, int threads_asked);
/// Threads used on average: CPU seconds over wall seconds of the run.
double ThreadsUsed(const Ran& ran);

}  // namespace dlbench::worker
