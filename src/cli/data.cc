#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.h"
#include "core/text.h"
#include "data/dataset.h"
#include "data/registry.h"

namespace dlbench::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A kind of data set: what networks ask for, and what dlbench has without the user's files.
struct Kind {
  const char* name;
  const char* good_for;
  const char* otherwise;  ///< What is used where the user has added nothing.
};

constexpr Kind kKinds[] = {
    {"mnist", "images of 28x28 in 10 classes: fcn-r", "Debian's package dataset-fashion-mnist"},
    {"cifar10", "images of 3x32x32 in 10 classes: alexnet-r, resnet-56", "generated values"},
    {"text", "words of the 10,000 most frequent: lstm-ptb",
     "Debian's package bible-kjv, else generated tokens"},
};

struct Options {
  std::string kind;
  std::string path;
  std::string format = "table";
};

data::DataRegistry RegistryOf(const Context& context) {
  return data::DataRegistry(data::RegistryFile(context.places.data_home));
}

Status CheckKind(const std::string& kind) {
  std::vector<std::string> names;
  for (const Kind& known : kKinds) {
    if (kind == known.name) return {};
    names.emplace_back(known.name);
  }
  return Error(ErrorCode::kInput, "unknown kind of data '" + Printable(kind) + "'" +
                                      SuggestionFor(kind, names) + "; there are " +
                                      Join(names, ", "));
}

void List(Context& context, const Options& options) {
  const auto sets = RegistryOf(context).All();
  if (!sets.ok()) return Fail(context, sets.error());
  Json all = Json::array();
  if (options.format == "table") {
    *context.out << fmt::format("{:<9} {:<52} {}\n", "kind", "good for", "used");
  }
  for (const Kind& kind : kKinds) {
    std::string used = kind.otherwise;
    std::string path;
    for (const data::RegisteredSet& set : *sets) {
      if (set.kind == kind.name) used = path = set.path.string();
    }
    if (options.format == "json") {
      all.push_back({{"kind", kind.name},
                     {"good_for", kind.good_for},
                     {"added", !path.empty()},
                     {"used", used}});
    } else {
      *context.out << fmt::format("{:<9} {:<52} {}\n", kind.name, kind.good_for, Printable(used));
    }
  }
  if (options.format == "json") {
    *context.out << Json{{"data", all}}.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  } else {
    *context.out << "\nAny network: --data synthetic. Add your own: dlbench data add KIND PATH\n";
  }
}

void Add(Context& context, const Options& options) {
  if (const Status known = CheckKind(options.kind); !known.ok()) {
    return Fail(context, known.error());
  }
  const auto summary = data::Inspect(options.kind, options.path);
  if (!summary.ok()) return Fail(context, summary.error());
  std::error_code error;
  const auto path = std::filesystem::canonical(options.path, error);
  if (error) {
    return Fail(context, Error(ErrorCode::kIo, "'" + options.path + "': " + error.message()));
  }
  const Status put = RegistryOf(context).Put({options.kind, path, summary->content_hash});
  if (!put.ok()) return Fail(context, put.error());
  *context.out << fmt::format("{}: {}\nsha256 {}\n", options.kind, summary->text,
                              summary->content_hash);
}

void Remove(Context& context, const Options& options) {
  if (const Status removed = RegistryOf(context).Remove(options.kind); !removed.ok()) {
    return Fail(context, removed.error());
  }
  *context.out << options.kind << ": forgotten; its files are as they were\n";
}

/// Reads every added set again and compares it with what it was.
void Check(Context& context) {
  const auto sets = RegistryOf(context).All();
  if (!sets.ok()) return Fail(context, sets.error());
  if (sets->empty()) *context.out << "no data set has been added\n";
  for (const data::RegisteredSet& set : *sets) {
    const auto summary = data::Inspect(set.kind, set.path);
    if (!summary.ok()) {
      *context.out << set.kind << ": BROKEN: " << Printable(summary.error().message()) << "\n";
      context.exit_status = kBadResult;
    } else if (summary->content_hash != set.content_hash) {
      *context.out << set.kind << ": CHANGED since it was added: sha256 " << summary->content_hash
                   << ", was " << set.content_hash << "; if that is right, add it again\n";
      context.exit_status = kBadResult;
    } else {
      *context.out << set.kind << ": as it was added, " << summary->text << "\n";
    }
  }
}

}  // namespace

void AddDataCommand(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("data", "List, add and check data sets");
  command->require_subcommand(1);
  CLI::App* list = command->add_subcommand("list", "Kinds of data and what is used for each");
  list->add_option("--format", options->format, "table (default) or json")
      ->check(CLI::IsMember({"table", "json"}));
  list->callback([options, &context] { List(context, *options); });
  CLI::App* add = command->add_subcommand("add", "Use your own files wherever a network asks");
  add->add_option("kind", options->kind, "mnist, cifar10 or text")->required();
  add->add_option("path", options->path, "Folder with the set's files, or a text file")->required();
  add->callback([options, &context] { Add(context, *options); });
  CLI::App* remove = command->add_subcommand("remove", "Forget an added set; its files stay");
  remove->add_option("kind", options->kind, "mnist, cifar10 or text")->required();
  remove->callback([options, &context] { Remove(context, *options); });
  CLI::App* check = command->add_subcommand("check", "Read all added sets again and compare them");
  check->callback([&context] { Check(context); });
}

}  // namespace dlbench::cli
