#include "experiment/conformance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "core/text.h"
#include "data/dataset.h"
#include "experiment/conformance_tensors.h"

namespace dlbench::experiment {
namespace {

using worker::FailureKind;

constexpr std::uint64_t kSeed = 1;
constexpr std::int64_t kVerifySteps = 3;
constexpr std::int64_t kRunSteps = 50;
/// An empty exchange takes well under a millisecond; a busy machine may add this.
constexpr double kSyncSeconds = 0.02;
/// Two runs of the same float32 step may differ by rounding (threads may sum in another order).
constexpr double kSameLoss = 1e-4;

bool SameLoss(double a, double b) {
  return std::abs(a - b) <= kSameLoss * std::max(1.0, std::abs(a));
}

/// The walk: one adapter after another, since some answers end one.
class Walk {
 public:
  Walk(const ConformanceRequest& request, Clock& clock,
       const volatile std::sig_atomic_t* interrupted)
      : request_(request), clock_(clock), interrupted_(interrupted) {}

  Result<std::vector<ConformancePoint>> Go() {
    DLBENCH_ASSIGN_OR_RETURN(prepare_, MakeData());
    if (CheckHello()) {
      CheckRefusals();
      if (CheckPrepare() && CheckVerify() && CheckRun() && CheckReset() && CheckExport()) {
        CheckFinish();
      }
      CheckPaths();
    }
    if (interrupted_ != nullptr && *interrupted_ != 0) {
      return Error(ErrorCode::kInterrupted, "stopped by the user");
    }
    return std::move(points_);
  }

 private:
  Result<worker::PrepareRequest> MakeData();
  /// A living, greeted session: the present one, or a new one where that has ended.
  worker::Session* Greeted();
  bool Ok(const std::string& name, const std::string& seen);
  bool Wrong(const std::string& name, const std::string& rule, const std::string& seen);
  bool Judge(bool ok, const std::string& name, const std::string& rule, const std::string& seen);
  /// A point that a Failure has decided; the session is given up.
  bool Lost(const std::string& name, const std::string& rule, const worker::Failure& failure);
  /// A request that must be answered `unsupported`, given what came.
  void JudgeRefusal(const std::string& name, const std::string& asked,
                    const std::optional<worker::Failure>& failure);
  void CheckRefusedPrepare(const std::string& name, const std::string& asked,
                           const worker::PrepareRequest& prepare);

  bool CheckHello();
  void CheckPresets(const worker::Hello& hello);
  void CheckRefusals();
  bool CheckPrepare();
  bool CheckVerify();
  void CheckVerifyFiles(const worker::Verified& verified);
  bool CheckRun();
  bool CheckReset();
  bool CheckExport();
  void CheckFinish();
  void CheckPaths();

  const ConformanceRequest& request_;
  Clock& clock_;
  const volatile std::sig_atomic_t* interrupted_;
  worker::PrepareRequest prepare_;
  std::unique_ptr<worker::Session> session_;
  worker::Hello hello_;
  int launches_ = 0;
  std::vector<double> verify_losses_;
  std::filesystem::path exported_weights_;
  std::vector<ConformancePoint> points_;
};

bool Walk::Judge(bool ok, const std::string& name, const std::string& rule,
                 const std::string& seen) {
  points_.push_back({name, ok, ok ? seen : "the protocol says: " + rule + "; seen: " + seen});
  return ok;
}

bool Walk::Ok(const std::string& name, const std::string& seen) {
  return Judge(true, name, "", seen);
}

bool Walk::Wrong(const std::string& name, const std::string& rule, const std::string& seen) {
  return Judge(false, name, rule, seen);
}

bool Walk::Lost(const std::string& name, const std::string& rule, const worker::Failure& failure) {
  if (failure.kind != FailureKind::kUnsupported) session_.reset();
  std::string seen = worker::ToString(failure.kind) + ": " + failure.message;
  if (!failure.log_tail.empty()) seen += "\n" + failure.log_tail;
  return Wrong(name, rule, seen);
}

Result<worker::PrepareRequest> Walk::MakeData() {
  std::error_code error;
  const auto folder = std::filesystem::absolute(request_.folder, error);
  std::filesystem::create_directories(folder, error);
  const network::Network& network = *request_.network;
  data::DataRequest wanted;
  wanted.kind = "synthetic";
  wanted.seed = kSeed;
  DLBENCH_ASSIGN_OR_RETURN(const data::Dataset dataset, data::LoadDataset(wanted, network));
  DLBENCH_ASSIGN_OR_RETURN(const data::BatchPool pool,
                           data::MakeBatchPool(dataset, network, request_.batch, kSeed));
  worker::PrepareRequest prepare;
  prepare.network = &network;
  prepare.weights = folder / "weights.safetensors";
  prepare.batches = folder / "batches.safetensors";
  prepare.batch = request_.batch;
  prepare.pool = pool.count;
  prepare.threads = request_.threads;
  prepare.preset = request_.preset;
  DLBENCH_RETURN_IF_ERROR(
      data::WriteWeights(network, data::InitialWeights(network, kSeed), prepare.weights));
  DLBENCH_RETURN_IF_ERROR(data::WriteBatchPool(pool, network, prepare.batches));
  return prepare;
}

worker::Session* Walk::Greeted() {
  if (session_) return session_.get();
  worker::LaunchSpec spec;
  spec.argv = request_.argv;
  spec.environment = request_.environment;
  spec.folder = request_.folder / fmt::format("launch-{}", launches_++);
  spec.limits = request_.limits;
  spec.threads = request_.threads;
  auto started = worker::Session::Start(spec, clock_, interrupted_);
  if (!started.ok()) {
    Lost("start", "the adapter is an executable", started.failure());
    return nullptr;
  }
  session_ = std::move(*started);
  auto hello = session_->SayHello();
  if (!hello.ok()) {
    Lost("hello", "hello is answered at once, with every field of its description",
         hello.failure());
    return nullptr;
  }
  hello_ = std::move(*hello);
  return session_.get();
}

bool Walk::CheckHello() {
  if (Greeted() == nullptr) return false;
  Ok("hello", fmt::format("{} {}, {}, {} layers known", hello_.framework, hello_.framework_version,
                          hello_.language, hello_.ops.size()));
  CheckPresets(hello_);
  const auto again =
      session_->Ask(R"({"type":"hello","protocol":1,"field_of_the_future":[1]})", "hello");
  if (!again.ok()) {
    Lost("unknown fields", "unknown fields are ignored", again.failure());
  } else {
    Ok("unknown fields", "ignored");
  }
  return true;
}

void Walk::CheckPresets(const worker::Hello& hello) {
  const auto& presets = hello.presets;
  Judge(std::find(presets.begin(), presets.end(), request_.preset) != presets.end(), "presets",
        "'presets' names those of the manifest, '" + request_.preset + "' among them",
        "presets " + Join(presets, ", "));
  for (const std::string& preset : presets) {
    if (hello.mode_labels.count(preset) > 0) continue;
    Wrong("mode label", "'mode_label' says of each preset how it executes (eager, compiled ...)",
          "none for '" + preset + "': it would never be ranked beside a known one");
    return;
  }
  Ok("mode label", "every preset says how it executes");
}

void Walk::JudgeRefusal(const std::string& name, const std::string& asked,
                        const std::optional<worker::Failure>& failure) {
  const std::string rule = asked + " is answered with an error of kind 'unsupported'";
  if (!failure) {
    session_.reset();  // It has prepared something that nobody wants.
    Wrong(name, rule, "it was done as if it were possible");
  } else if (failure->kind == FailureKind::kUnsupported) {
    Ok(name, "refused: " + failure->message);
  } else {
    Lost(name, rule, *failure);
  }
}

void Walk::CheckRefusedPrepare(const std::string& name, const std::string& asked,
                               const worker::PrepareRequest& prepare) {
  worker::Session* session = Greeted();
  if (session == nullptr) return;
  const auto prepared = session->Prepare(prepare);
  JudgeRefusal(name, asked, prepared.ok() ? std::nullopt : std::optional(prepared.failure()));
}

void Walk::CheckRefusals() {
  if (worker::Session* session = Greeted()) {
    const auto answer = session->Ask(R"({"type":"no_such_request"})", "no_such_reply");
    JudgeRefusal("unknown request", "an unknown request type",
                 answer.ok() ? std::nullopt : std::optional(answer.failure()));
  }
  network::Network strange = *request_.network;
  if (!strange.nodes.empty()) strange.nodes.back().op = "no_such_layer";
  worker::PrepareRequest prepare = prepare_;
  prepare.network = &strange;
  CheckRefusedPrepare("unknown layer", "a layer that is not in 'ops'", prepare);
  prepare = prepare_;
  prepare.precision = "float24";
  CheckRefusedPrepare("unknown precision", "a precision that is not in 'precisions'", prepare);
  prepare = prepare_;
  prepare.device = "nosuch:0";
  CheckRefusedPrepare("unknown device", "a device that is not in 'devices'", prepare);
  prepare = prepare_;
  prepare.preset = "no_such_preset";
  CheckRefusedPrepare("unknown preset", "a preset that is not in 'presets'", prepare);
}

bool Walk::CheckPrepare() {
  worker::Session* session = Greeted();
  if (session == nullptr) return false;
  const auto prepared = session->Prepare(prepare_);
  if (!prepared.ok()) {
    return Lost("prepare", "the step is built for exactly what was asked, or 'unsupported'",
                prepared.failure());
  }
  Ok("prepare", fmt::format("batch {}, {}, {} settings in effect", prepared->batch,
                            prepared->precision, prepared->effective_settings.size()));
  Judge(prepared->threads == request_.threads, "threads",
        fmt::format("'threads' is read back from the framework and is what was asked for, {}",
                    request_.threads),
        fmt::format("{} read back", prepared->threads));
  return true;
}

bool Walk::CheckVerify() {
  worker::VerifyRequest verify;
  verify.folder = "verify-0";
  for (std::int64_t i = 0; i < kVerifySteps; ++i) {
    verify.batches.push_back(i % prepare_.pool);
    verify.learning_rates.push_back(request_.network->optimizer.learning_rate);
  }
  verify.weights_after = {1, kVerifySteps};
  const auto verified = session_->Verify(verify);
  if (!verified.ok()) {
    return Lost("verify", "losses and files of the steps asked for", verified.failure());
  }
  Ok("verify",
     fmt::format("{} losses, the first {:.6g}", verified->losses.size(), verified->losses.front()));
  CheckVerifyFiles(*verified);
  verify_losses_ = verified->losses;
  verify.folder = "verify-1";
  const auto again = session_->Verify(verify);
  if (!again.ok()) return Lost("verify twice", "verify begins with a reset", again.failure());
  bool same = true;
  for (std::size_t i = 0; i < verify_losses_.size(); ++i) {
    same = same && SameLoss(verify_losses_[i], again->losses[i]);
  }
  Judge(same, "verify twice", "verify begins with a reset of weights and optimiser state",
        fmt::format("last loss {:.9g} the first time, {:.9g} the second", verify_losses_.back(),
                    again->losses.back()));
  return true;
}

void Walk::CheckVerifyFiles(const worker::Verified& verified) {
  const network::Network& network = *request_.network;
  std::string fault;
  const auto note = [&](const std::string& what, const std::string& found) {
    if (fault.empty() && !found.empty()) fault = what + ": " + found;
  };
  if (verified.logits) {
    note("logits", FaultOfLogits(*verified.logits, network, request_.batch));
  }
  if (verified.gradients) note("gradients", FaultOfParameters(*verified.gradients, network));
  for (const auto& [steps, file] : verified.weights) {
    note(fmt::format("weights after {} steps", steps), FaultOfParameters(file, network));
  }
  Judge(fault.empty(), "tensor files",
        "every parameter as F32 under its canonical name and shape; logits F32 [batch, classes]",
        fault.empty() ? "names, shapes and types are right, values finite" : fault);
  if (!fault.empty()) return;
  const bool moved =
      !SameParameters(verified.weights.at(1), verified.weights.at(kVerifySteps), network);
  Judge(moved, "weights move", "each step updates the weights",
        fmt::format("the weights after 1 and after {} steps {}", kVerifySteps,
                    moved ? "differ" : "are the same"));
}

bool Walk::CheckRun() {
  worker::RunRequest run;
  run.steps = kRunSteps;
  run.reset = true;
  const auto ran = session_->Run(run);
  if (!ran.ok()) {
    return Lost("run", "as many steps as asked; CLOCK_MONOTONIC times that add up", ran.failure());
  }
  const auto& records = ran->records;
  const auto total = static_cast<double>(records.back().end_ns - records.front().begin_ns) * 1e-6;
  Ok("run", fmt::format("{} steps in {:.3f} ms, in {} records", kRunSteps, total, records.size()));
  const auto [low, high] = std::minmax_element(ran->losses.begin(), ran->losses.end());
  Judge(*low < *high || ran->losses.size() < 2, "losses move",
        "each step uses another batch and its loss is read back",
        fmt::format("losses between {:.6g} and {:.6g}", *low, *high));
  const auto threads = worker::CheckThreads(*ran, request_.threads);
  Judge(!threads, "processor time", "no more threads work than were asked for",
        threads ? threads->message : fmt::format("{:.2f} threads used", worker::ThreadsUsed(*ran)));
  const auto left = session_->Sync();
  if (!left.ok()) return Lost("sync", "answered when all work is done", left.failure());
  Judge(*left <= kSyncSeconds, "nothing left", "after the answer to run nothing is left to be done",
        fmt::format("sync took {:.3f} ms", *left * 1e3));
  return true;
}

bool Walk::CheckReset() {
  worker::RunRequest run;
  run.steps = 1;
  run.block_steps = 1;
  run.reset = true;
  const auto ran = session_->Run(run);
  if (!ran.ok()) return Lost("reset", "run resets as verify does", ran.failure());
  Judge(SameLoss(ran->losses.front(), verify_losses_.front()), "reset",
        "run and verify take the same step from the same weights after a reset",
        fmt::format("loss {:.9g} in verify, {:.9g} in run", verify_losses_.front(),
                    ran->losses.front()));
  return true;
}

bool Walk::CheckExport() {
  const auto exported = session_->Export("state-0");
  if (!exported.ok()) return Lost("export", "the state as it is, as files", exported.failure());
  std::string fault = FaultOfParameters(exported->weights, *request_.network);
  if (fault.empty() && exported->velocity) {
    fault = FaultOfParameters(*exported->velocity, *request_.network);
  }
  exported_weights_ = exported->weights;
  return Judge(fault.empty(), "export", "weights and velocity by canonical name and shape",
               fault.empty() ? "names, shapes and types are right, values finite" : fault);
}

void Walk::CheckFinish() {
  const auto finished = session_->Finish();
  if (!finished.ok()) {
    Lost("finish", "a parameter checksum, then exit with 0", finished.failure());
    return;
  }
  session_.reset();
  const std::string checksum = ParameterChecksum(exported_weights_, *request_.network);
  Judge(finished->parameter_checksum == checksum, "checksum",
        "CRC-32 of the weights in the order of the network's parameters, " + checksum + " here",
        finished->parameter_checksum);
  Judge(!finished->exit_problem, "end", "after finish the process exits with 0 and leaves nothing",
        finished->exit_problem.value_or("exited with 0"));
}

void Walk::CheckPaths() {
  const std::string rule = "no file is written outside the launch's folder";
  session_.reset();  // The answer may be `failed`, which ends a process: it gets its own.
  worker::Session* session = Greeted();
  if (session == nullptr) return;
  if (const auto prepared = session->Prepare(prepare_); !prepared.ok()) return;
  const auto answer = session->Ask(R"({"type":"export","folder":"../escaped"})", "exported");
  std::error_code error;
  const bool escaped = std::filesystem::exists(request_.folder / "escaped", error);
  const bool error_reply = !answer.ok() && (answer.failure().kind == FailureKind::kUnsupported ||
                                            answer.failure().kind == FailureKind::kAdapterFailed);
  if (error_reply || escaped || answer.ok()) {
    Judge(error_reply && !escaped, "folders", rule,
          escaped ? "the folder '../escaped' was made"
                  : (answer.ok() ? "'../escaped' was accepted"
                                 : "refused: " + answer.failure().message));
  } else {
    Lost("folders", rule, answer.failure());
  }
  session_.reset();
}

}  // namespace

Result<std::vector<ConformancePoint>> CheckFramework(
    const ConformanceRequest& request, Clock& clock,
    const volatile std::sig_atomic_t* interrupted) {
  return Walk(request, clock, interrupted).Go();
}

}  // namespace dlbench::experiment
