#include "network/input.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace dlbench::network {
namespace {

/// Scales beyond these vanish or overflow in float32.
constexpr double kSmallestScale = 1e-10;
constexpr double kLargestOffset = 1e6;
/// Ids are held exactly by float32 below 2^24.
constexpr std::int64_t kMaxVocabulary = 16'000'000;

using Kind = Input::Kind;

/// What a set of data is; an empty shape and 0 classes: any.
struct DatasetKind {
  const char* name;
  std::optional<Kind> kind;  ///< Absent: both.
  Shape shape;
  std::int64_t classes;
};

const std::vector<DatasetKind>& Datasets() {
  static const std::vector<DatasetKind> kinds = {{"mnist", Kind::kValues, {28, 28}, 10},
                                                 {"cifar10", Kind::kValues, {3, 32, 32}, 10},
                                                 {"text", Kind::kTokens, {}, 0},
                                                 {"synthetic", std::nullopt, {}, 0}};
  return kinds;
}

const char* NameOf(Kind kind) { return kind == Kind::kTokens ? "tokens" : "values"; }

/// A set's samples may also be one dimension, or have sizes of 1 before them.
bool Fits(Shape shape, const Shape& samples) {
  while (shape.size() > 1 && shape.front() == 1) shape.erase(shape.begin());
  return shape == samples || shape == Shape{ElementCount(samples)};
}

void CheckDataset(TableReader& top, TableReader& reader, const DatasetKind& dataset,
                  const std::optional<Shape>& shape, const Network& network) {
  const Input& input = network.input;
  if (dataset.kind && *dataset.kind != input.kind) {
    reader.Complain("dataset",
                    fmt::format("the input takes {}, but '{}' has {}; correct 'kind' or "
                                "'dataset'",
                                NameOf(input.kind), dataset.name, NameOf(*dataset.kind)));
    return;
  }
  if (shape && !dataset.shape.empty()) {
    const std::int64_t own = ElementCount(dataset.shape);
    if (ElementCount(*shape) != own) {
      reader.Complain("shape",
                      fmt::format("the input {} has {} elements, but '{}' has {}; correct "
                                  "'shape' or 'dataset'",
                                  ToString(*shape), ElementCount(*shape), dataset.name, own));
    } else if (!Fits(*shape, dataset.shape)) {
      reader.Complain("shape",
                      fmt::format("the input is {}, but samples of '{}' are {}; correct "
                                  "'shape' or 'dataset'",
                                  ToString(*shape), dataset.name, ToString(dataset.shape)));
    }
  }
  // The label of a word of a text is the next word.
  const bool text = dataset.kind == Kind::kTokens;
  const std::int64_t classes = text ? input.vocabulary : dataset.classes;
  if (network.classes != 0 && classes != 0 && network.classes != classes) {
    top.Complain(
        "classes",
        fmt::format("'classes' is {}, but {} {}; correct 'classes' or '{}'", network.classes,
                    text ? std::string("the words to predict are a vocabulary of")
                         : fmt::format("'{}' has", dataset.name),
                    classes, text ? "vocabulary" : "dataset"));
  }
}

void ReadTokens(TableReader& reader, const std::optional<Shape>& shape, Input& input) {
  input.kind = Kind::kTokens;
  input.vocabulary = reader.Int("vocabulary", 2, kMaxVocabulary).value_or(0);
  if (shape && shape->size() != 1) {
    reader.Complain("shape", fmt::format("tokens come in sequences [T], not as {}; correct 'shape'",
                                         ToString(*shape)));
  }
  for (const char* key : {"scale", "offset"}) {
    if (!reader.Has(key)) continue;
    reader.Complain(key, fmt::format("'{}' is for values, but tokens are ids; remove it", key));
  }
}

void ReadValues(TableReader& reader, Input& input) {
  input.scale = reader.Real("scale", kSmallestScale, 1 / kSmallestScale).value_or(1.0);
  input.offset = reader.Real("offset", -kLargestOffset, kLargestOffset).value_or(0.0);
  if (reader.Has("vocabulary")) {
    reader.Complain("vocabulary",
                    "'vocabulary' is for tokens; remove it or write kind = \"tokens\"");
  }
}

}  // namespace

std::optional<Shape> ReadInput(TableReader& top, Network& network, Diagnostics& diagnostics) {
  const Value* value = top.Table("input");
  if (value == nullptr) return std::nullopt;
  TableReader reader(*value, "[input]", diagnostics);
  Input& input = network.input;
  auto shape = reader.Sizes("shape");
  input.shape = shape.value_or(Shape{});
  std::optional<std::string> kind = NameOf(Kind::kValues);
  if (reader.Has("kind")) {
    kind = reader.Choice("kind", {NameOf(Kind::kValues), NameOf(Kind::kTokens)});
  }
  if (!kind) {  // the cause has been told
    for (const char* key : {"vocabulary", "scale", "offset"}) reader.Has(key);
  } else if (*kind == NameOf(Kind::kTokens)) {
    ReadTokens(reader, shape, input);
  } else {
    ReadValues(reader, input);
  }
  std::vector<std::string> names;
  for (const DatasetKind& dataset : Datasets()) names.emplace_back(dataset.name);
  input.dataset = reader.Choice("dataset", names).value_or("");
  reader.RejectUnknownKeys();
  for (const DatasetKind& dataset : Datasets()) {
    if (kind && input.dataset == dataset.name) CheckDataset(top, reader, dataset, shape, network);
  }
  return shape;
}

}  // namespace dlbench::network
