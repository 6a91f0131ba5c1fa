#include "experiment/plan.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/file.h"
#include "core/text.h"

namespace dlbench::experiment {
namespace {

/// Reads keys of one table and remembers which were read, so that the others can be refused.
class Reader {
 public:
  Reader(const toml::table& table, std::string file) : table_(table), file_(std::move(file)) {}

  template <class T>
  void Read(const char* key, std::vector<T>& into) {
    const toml::node* node = Take(key);
    if (node == nullptr || failed()) return;
    into.clear();
    if (const toml::array* array = node->as_array()) {
      for (const toml::node& element : *array) Append(key, element, into);
    } else {
      Append(key, *node, into);
    }
  }

  template <class T>
  void Read(const char* key, T& into) {
    const toml::node* node = Take(key);
    if (node != nullptr && !failed()) ReadValue(key, *node, into);
  }

  void Read(const char* key, std::map<std::string, std::string>& into) {
    const toml::node* node = Take(key);
    if (node == nullptr || failed()) return;
    const toml::table* table = node->as_table();
    if (table == nullptr) return Fail(*node, fmt::format("'{}' must be a table of texts", key));
    for (const auto& [name, value] : *table) {
      ReadValue(name.str().data(), value, into[std::string(name.str())]);
    }
  }

  /// The first error, or one for a key that nothing has read.
  Status Finish() {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (known_.count(name) == 0) {
        Fail(node, fmt::format("unknown key '{}'{}", name,
                               SuggestionFor(name, {known_.begin(), known_.end()})));
      }
    }
    if (failed()) return Error(ErrorCode::kInput, error_);
    return {};
  }

 private:
  bool failed() const { return !error_.empty(); }

  const toml::node* Take(const char* key) {
    known_.insert(key);
    return table_.get(key);
  }

  void Fail(const toml::node& node, const std::string& what) {
    if (failed()) return;
    const auto& at = node.source().begin;
    error_ = fmt::format("{}:{}:{}: {}", file_, at.line, at.column, what);
  }

  template <class T>
  void Append(const char* key, const toml::node& node, std::vector<T>& into) {
    T value{};
    ReadValue(key, node, value);
    into.push_back(value);
  }

  void ReadValue(const char* key, const toml::node& node, std::string& into) {
    const auto* text = node.as_string();
    if (text == nullptr) return Fail(node, fmt::format("'{}' must be a text", key));
    into = text->get();
  }
  void ReadValue(const char* key, const toml::node& node, bool& into) {
    const auto* flag = node.as_boolean();
    if (flag == nullptr) return Fail(node, fmt::format("'{}' must be true or false", key));
    into = flag->get();
  }
  void ReadValue(const char* key, const toml::node& node, double& into) {
    if (const auto* real = node.as_floating_point()) {
      into = real->get();
    } else if (const auto* integer = node.as_integer()) {
      into = static_cast<double>(integer->get());
    } else {
      Fail(node, fmt::format("'{}' must be a number", key));
    }
  }
  void ReadInteger(const char* key, const toml::node& node, std::int64_t low, std::int64_t high,
                   std::int64_t& into) {
    const auto* integer = node.as_integer();
    if (integer == nullptr) return Fail(node, fmt::format("'{}' must be an integer", key));
    if (integer->get() < low || integer->get() > high) {
      return Fail(node, fmt::format("'{}' is {}; it must be between {} and {}", key, integer->get(),
                                    low, high));
    }
    into = integer->get();
  }
  void ReadValue(const char* key, const toml::node& node, std::int64_t& into) {
    ReadInteger(key, node, 1, 1'000'000'000, into);
  }
  void ReadValue(const char* key, const toml::node& node, int& into) {
    std::int64_t wide = 1;
    ReadInteger(key, node, 1, 100'000, wide);
    into = static_cast<int>(wide);
  }
  void ReadValue(const char* key, const toml::node& node, std::uint64_t& into) {
    std::int64_t wide = 0;
    ReadInteger(key, node, 0, INT64_MAX, wide);
    into = static_cast<std::uint64_t>(wide);
  }

  const toml::table& table_;
  const std::string file_;
  std::set<std::string> known_;
  std::string error_;
};

template <class T>
Status CheckDistinct(const char* axis, const std::vector<T>& values) {
  std::set<T> seen;
  for (const T& value : values) {
    if (!seen.insert(value).second) {
      return Error(ErrorCode::kInput, fmt::format("{}: '{}' is named twice", axis, value));
    }
  }
  return {};
}

template <class T>
Status CheckNotEmpty(const char* axis, const std::vector<T>& values) {
  if (!values.empty()) return {};
  return Error(ErrorCode::kInput, fmt::format("{}: the list is empty; leave the key out for the "
                                              "default",
                                              axis));
}

Status CheckAxes(const Plan& plan) {
  DLBENCH_RETURN_IF_ERROR(CheckNotEmpty("batch", plan.batches));
  DLBENCH_RETURN_IF_ERROR(CheckNotEmpty("mode", plan.modes));
  DLBENCH_RETURN_IF_ERROR(CheckNotEmpty("device", plan.devices));
  DLBENCH_RETURN_IF_ERROR(CheckNotEmpty("precision", plan.precisions));
  DLBENCH_RETURN_IF_ERROR(CheckNotEmpty("input", plan.inputs));
  DLBENCH_RETURN_IF_ERROR(CheckDistinct("networks", plan.networks));
  DLBENCH_RETURN_IF_ERROR(CheckDistinct("frameworks", plan.frameworks));
  DLBENCH_RETURN_IF_ERROR(CheckDistinct("presets", plan.presets));
  DLBENCH_RETURN_IF_ERROR(CheckDistinct("batch", plan.batches));
  DLBENCH_RETURN_IF_ERROR(CheckDistinct("threads", plan.threads));
  DLBENCH_RETURN_IF_ERROR(CheckDistinct("mode", plan.modes));
  DLBENCH_RETURN_IF_ERROR(CheckDistinct("device", plan.devices));
  DLBENCH_RETURN_IF_ERROR(CheckDistinct("precision", plan.precisions));
  DLBENCH_RETURN_IF_ERROR(CheckDistinct("input", plan.inputs));
  for (const std::int64_t batch : plan.batches) {
    if (batch < 1) return Error(ErrorCode::kInput, fmt::format("batch {} is not positive", batch));
  }
  for (const int threads : plan.threads) {
    if (threads < 1) {
      return Error(ErrorCode::kInput, fmt::format("threads {} is not positive", threads));
    }
  }
  return {};
}

}  // namespace

void MakeQuick(Plan& plan) {
  plan.quick = true;
  plan.rounds = 6;
  plan.warmup_seconds = 0.5;
  plan.launch_seconds = 1.0;
}

Result<Plan> ParsePlan(std::string_view text, const std::string& file_name) {
  toml::table table;
  try {
    table = toml::parse(text, file_name);
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    return Error(ErrorCode::kInput,
                 fmt::format("{}:{}:{}: {}", file_name, at.line, at.column, error.description()));
  }
  Plan plan;
  Reader reader(table, file_name);
  reader.Read("quick", plan.quick);
  if (plan.quick) MakeQuick(plan);
  reader.Read("name", plan.name);
  reader.Read("networks", plan.networks);
  reader.Read("frameworks", plan.frameworks);
  reader.Read("presets", plan.presets);
  reader.Read("batch", plan.batches);
  reader.Read("threads", plan.threads);
  reader.Read("mode", plan.modes);
  reader.Read("device", plan.devices);
  reader.Read("precision", plan.precisions);
  reader.Read("input", plan.inputs);
  reader.Read("settings", plan.settings);
  reader.Read("data", plan.data);
  reader.Read("seed", plan.seed);
  reader.Read("rounds", plan.rounds);
  reader.Read("warmup_seconds", plan.warmup_seconds);
  reader.Read("launch_seconds", plan.launch_seconds);
  reader.Read("margin", plan.margin);
  reader.Read("memory_limit_bytes", plan.memory_limit_bytes);
  DLBENCH_RETURN_IF_ERROR(reader.Finish());
  if (const Status status = CheckPlan(plan); !status.ok()) {
    return status.error().WithContext(file_name);
  }
  return plan;
}

Result<Plan> LoadPlan(const std::filesystem::path& path) {
  DLBENCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, 1 << 20));
  return ParsePlan(text, path.string());
}

Status CheckPlan(const Plan& plan) {
  if (plan.networks.empty()) {
    return Error(ErrorCode::kInput, "no network is named; 'dlbench networks list' shows them");
  }
  if (plan.frameworks.empty()) {
    return Error(ErrorCode::kInput, "no framework is named; 'dlbench frameworks list' shows them");
  }
  DLBENCH_RETURN_IF_ERROR(CheckAxes(plan));
  if (plan.rounds < 1 || plan.rounds > 1000) {
    return Error(ErrorCode::kInput,
                 fmt::format("{} rounds: it must be between 1 and 1000", plan.rounds));
  }
  for (const double seconds : {plan.warmup_seconds, plan.launch_seconds}) {
    if (!(seconds > 0.0 && seconds <= 3600.0)) {
      return Error(ErrorCode::kInput,
                   fmt::format("{} seconds: it must be more than 0 and at most 3600", seconds));
    }
  }
  if (!(plan.margin > 0.0 && plan.margin < 1.0)) {
    return Error(ErrorCode::kInput,
                 fmt::format("margin {}: it must be between 0 and 1", plan.margin));
  }
  return {};
}

std::string ToJson(const Plan& plan) {
  const nlohmann::json json = {{"networks", plan.networks},
                               {"frameworks", plan.frameworks},
                               {"presets", plan.presets},
                               {"batch", plan.batches},
                               {"threads", plan.threads},
                               {"mode", plan.modes},
                               {"device", plan.devices},
                               {"precision", plan.precisions},
                               {"input", plan.inputs},
                               {"settings", plan.settings},
                               {"data", plan.data},
                               {"seed", plan.seed},
                               {"rounds", plan.rounds},
                               {"warmup_seconds", plan.warmup_seconds},
                               {"launch_seconds", plan.launch_seconds},
                               {"margin", plan.margin},
                               {"quick", plan.quick}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace dlbench::experiment
