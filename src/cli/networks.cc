#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "core/text.h"
#include "network/cost.h"
#include "network/graph.h"
#include "network/parse.h"

namespace dlbench::cli {
namespace {

using Json = nlohmann::ordered_json;
using network::Initializer;
using network::Network;
using network::NodeCost;

struct Options {
  std::string name;
  std::string format = "table";
  std::string graph_format = "dot";
  std::int64_t batch = 64;
};

/// 14205962 as "14,205,962", whatever the locale.
std::string Grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

/// Columns as wide as their widest cell; the first two to the left, numbers to the right.
void PrintColumns(std::ostream& out, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += i < 2 ? fmt::format("{:<{}}", row[i], widths[i])
                    : fmt::format("{:>{}}", row[i], widths[i]);
    }
    out << "  " << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
  }
}

NodeCost Total(const std::vector<NodeCost>& costs) {
  NodeCost total;
  total.name = "total";
  for (const NodeCost& cost : costs) {
    total.parameters += cost.parameters;
    total.multiply_adds += cost.multiply_adds;
    total.backward_multiply_adds += cost.backward_multiply_adds;
    total.forward_bytes += cost.forward_bytes;
    total.backward_bytes += cost.backward_bytes;
    total.activation_bytes += cost.activation_bytes;
    total.parameter_bytes += cost.parameter_bytes;
  }
  return total;
}

std::vector<std::string> LayerRow(const NodeCost& cost) {
  return {cost.name,
          cost.op,
          cost.output_shape.empty() ? "" : network::ToString(cost.output_shape),
          Grouped(cost.parameters),
          Grouped(cost.multiply_adds),
          Grouped(cost.backward_multiply_adds),
          Grouped(cost.forward_bytes),
          Grouped(cost.backward_bytes)};
}

std::string InitialText(const Initializer& initializer) {
  return initializer.kind == Initializer::Kind::kConstant
             ? fmt::format("constant {}", initializer.value)
             : fmt::format("uniform in ({:.6g}, {:.6g})", initializer.centre - initializer.value,
                           initializer.centre + initializer.value);
}

void PrintParameters(std::ostream& out, const Network& network) {
  std::vector<std::vector<std::string>> rows{
      {"parameter", "first values", "shape", "weight decay"}};
  for (const network::Parameter* parameter : network.Parameters()) {
    rows.push_back({parameter->name, InitialText(parameter->initializer),
                    network::ToString(parameter->shape), parameter->decays ? "yes" : "no"});
  }
  PrintColumns(out, rows);
}

std::string InputText(const Network& network) {
  const network::Input& input = network.input;
  const std::string start =
      fmt::format("Input {} from '{}': ", network::ToString(input.shape), input.dataset);
  if (input.kind == network::Input::Kind::kTokens) {
    return start + fmt::format("ids of {} tokens, {} classes\n\n", Grouped(input.vocabulary),
                               Grouped(network.classes));
  }
  return start + fmt::format("{} * (value - {}), {} classes\n\n", input.scale, input.offset,
                             network.classes);
}

void ShowTable(std::ostream& out, const Network& network, std::int64_t batch) {
  out << network.title << " (" << network.FullName() << "): " << Printable(network.description)
      << '\n';
  out << InputText(network);
  const auto costs = Costs(network);
  std::vector<std::vector<std::string>> rows{{"layer", "op", "output", "parameters",
                                              "multiply-adds", "backward", "bytes moved",
                                              "backward"}};
  for (const NodeCost& cost : costs) rows.push_back(LayerRow(cost));
  rows.push_back(LayerRow(Total(costs)));
  PrintColumns(out, rows);
  const std::int64_t tokens = TokensPerSample(network);
  out << fmt::format(
      "  (for one sample{}; bytes: inputs and outputs as float32, without parameters)\n\n",
      tokens > 0 ? fmt::format(", a sequence of {} tokens", tokens) : "");
  PrintParameters(out, network);
  const network::Optimizer& optimizer = network.optimizer;
  out << fmt::format("\nLoss: {} of '{}', {} over the batch{}\n", network.loss.kind,
                     network.loss.input, network.loss.reduction,
                     network.LabelsPerSample() > 1 ? " and its tokens" : "");
  out << fmt::format("Optimiser: {}, learning rate {}, momentum {}{}, weight decay {}\n",
                     optimizer.kind, optimizer.learning_rate, optimizer.momentum,
                     optimizer.nesterov ? " (Nesterov)" : "", optimizer.weight_decay);
  out << fmt::format(
      "Work of one training step at batch {}: {} floating-point operations\n"
      "  (2 * batch * (3 * multiply-adds - those of layers whose input needs no gradient))\n",
      batch, Grouped(TrainingStepFlops(network, batch)));
}

Json LayerJson(const NodeCost& cost) {
  return {{"name", cost.name},
          {"op", cost.op},
          {"output_shape", cost.output_shape},
          {"parameters", cost.parameters},
          {"multiply_adds_per_sample", cost.multiply_adds},
          {"backward_multiply_adds_per_sample", cost.backward_multiply_adds},
          {"forward_bytes_per_sample", cost.forward_bytes},
          {"backward_bytes_per_sample", cost.backward_bytes},
          {"output_bytes_per_sample", cost.activation_bytes},
          {"parameter_bytes", cost.parameter_bytes},
          {"input_needs_gradient", cost.input_needs_gradient}};
}

Json ShowJson(const Network& network, std::int64_t batch) {
  const auto costs = Costs(network);
  Json layers = Json::array();
  for (const NodeCost& cost : costs) layers.push_back(LayerJson(cost));
  Json initial = Json::array();
  for (const network::Parameter* parameter : network.Parameters()) {
    const bool constant = parameter->initializer.kind == Initializer::Kind::kConstant;
    initial.push_back({{"parameter", parameter->name},
                       {"distribution", constant ? "constant" : "uniform"},
                       {constant ? "value" : "bound", parameter->initializer.value}});
    if (!constant) initial.back()["centre"] = parameter->initializer.centre;
  }
  const NodeCost total = Total(costs);
  Json json = Json::parse(ToProtocolJson(network));
  json["title"] = SanitizeUtf8(network.title);
  json["description"] = SanitizeUtf8(network.description);
  json["input"]["dataset"] = network.input.dataset;
  if (network.input.kind == network::Input::Kind::kValues) {
    json["input"]["scale"] = network.input.scale;
    json["input"]["offset"] = network.input.offset;
  }
  json["layers"] = layers;
  json["initial"] = initial;
  json["totals"] = {{"parameters", total.parameters},
                    {"multiply_adds_per_sample", total.multiply_adds},
                    {"backward_multiply_adds_per_sample", total.backward_multiply_adds},
                    {"forward_bytes_per_sample", total.forward_bytes},
                    {"backward_bytes_per_sample", total.backward_bytes},
                    {"output_bytes_per_sample", total.activation_bytes},
                    {"parameter_bytes", total.parameter_bytes}};
  if (const std::int64_t tokens = TokensPerSample(network); tokens > 0) {
    json["totals"]["tokens_per_sample"] = tokens;
  }
  json["training_step"] = {{"batch", batch}, {"flops", TrainingStepFlops(network, batch)}};
  return json;
}

void List(Context& context, const Options& options) {
  Json entries = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const std::string& name : network::ListNetworks(context.network_folders)) {
    const auto found = network::FindNetwork(name, context.network_folders);
    if (!found) {
      Fail(context, found.error());
      continue;
    }
    rows.push_back({name, Printable(found->description)});
    entries.push_back({{"name", SanitizeUtf8(name)},
                       {"title", SanitizeUtf8(found->title)},
                       {"description", SanitizeUtf8(found->description)},
                       {"parameters", found->ParameterCount()},
                       {"file", SanitizeUtf8(found->source)}});
  }
  if (options.format == "json") {
    *context.out << Json{{"networks", entries}}.dump(2) << '\n';
  } else {
    PrintColumns(*context.out, rows);
  }
}

void Show(Context& context, const Options& options) {
  const auto found = network::FindNetwork(options.name, context.network_folders);
  if (!found) return Fail(context, found.error());
  if (options.format == "json") {
    *context.out << ShowJson(*found, options.batch).dump(2) << '\n';
  } else {
    ShowTable(*context.out, *found, options.batch);
  }
}

void Graph(Context& context, const Options& options) {
  const auto found = network::FindNetwork(options.name, context.network_folders);
  if (!found) return Fail(context, found.error());
  *context.out << (options.graph_format == "svg" ? ToSvg(*found) : ToDot(*found));
}

void Check(Context& context, const Options& options) {
  const auto loaded = network::LoadAllVariants(options.name);
  if (!loaded) {
    if (options.format == "json") {
      const Json errors = Split(SanitizeUtf8(loaded.error().message()), '\n');
      *context.out << Json{{"valid", false}, {"errors", errors}}.dump(2) << '\n';
    }
    Fail(context, loaded.error());
    context.exit_status = kUsageError;
    return;
  }
  if (options.format == "json") {
    *context.out << Json{{"valid", true}, {"errors", Json::array()}}.dump(2) << '\n';
  } else {
    for (const Network& network : *loaded) {
      const std::string variant =
          network.variant.empty() ? "" : fmt::format(" (variant {})", network.variant);
      *context.out << fmt::format("{}{}: valid; {} layers, {} parameters\n",
                                  Printable(options.name), variant, network.nodes.size(),
                                  Grouped(network.ParameterCount()));
    }
  }
}

void AddFormat(CLI::App& command, Options& options) {
  command.add_option("--format", options.format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
}

}  // namespace

void AddNetworksCommand(CLI::App& app, Context& context) {
  // The callbacks own the options: they live as long as `app`.
  const auto options = std::make_shared<Options>();
  CLI::App* networks = app.add_subcommand("networks", "The networks that can be trained");
  networks->require_subcommand(1);

  CLI::App* list = networks->add_subcommand("list", "List the networks that ship");
  AddFormat(*list, *options);
  list->callback([options, &context] { List(context, *options); });

  CLI::App* show = networks->add_subcommand("show", "Show a network's layers, work and settings");
  show->add_option("network", options->name, "Name or path of a network file")->required();
  show->add_option("--batch", options->batch, "Samples of one training step")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31))
      ->capture_default_str();
  AddFormat(*show, *options);
  show->callback([options, &context] { Show(context, *options); });

  CLI::App* graph = networks->add_subcommand("graph", "Print a network as a graph");
  graph->add_option("network", options->name, "Name or path of a network file")->required();
  graph->add_option("--format", options->graph_format, "dot (of Graphviz) or svg (a picture)")
      ->check(CLI::IsMember({"dot", "svg"}))
      ->capture_default_str();
  graph->callback([options, &context] { Graph(context, *options); });

  CLI::App* check = networks->add_subcommand("check", "Say everything that is wrong with a file");
  check->add_option("file", options->name, "Path of a network file")->required();
  AddFormat(*check, *options);
  check->callback([options, &context] { Check(context, *options); });
}

}  // namespace dlbench::cli
