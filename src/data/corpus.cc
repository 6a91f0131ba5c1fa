#include "data/corpus.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <unordered_map>

#include "core/file.h"
#include "data/byte_source.h"
#include "data/random.h"
#include "data/sha256.h"

namespace dlbench::data {
namespace {

constexpr std::int32_t kEndOfSentence = 0;
constexpr std::int32_t kUnknown = 1;
constexpr std::size_t kMarks = 2;
constexpr std::size_t kLongestWord = 1000;
constexpr std::size_t kMaxTextBytes = std::size_t{1} << 30;
constexpr std::int64_t kSyntheticTokens = 1'000'000;  // about as many as the Penn Treebank's

Error Bad(const std::string& what) { return Error(ErrorCode::kInput, what); }

bool IsBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Calls `on_word(word)` and `on_line_end()` in the order of the text; empty lines are left out.
template <class OnWord, class OnLineEnd>
Status Walk(std::string_view text, OnWord on_word, OnLineEnd on_line_end) {
  std::size_t at = 0;
  for (std::int64_t line = 1; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    bool any = false;
    while (at < end) {
      if (IsBlank(text[at])) {
        ++at;
        continue;
      }
      std::size_t stop = at;
      while (stop < end && !IsBlank(text[stop]) && text[stop] != '\0') ++stop;
      if (stop < end && text[stop] == '\0') {
        return Bad("line " + std::to_string(line) + " holds a zero byte: this is no text");
      }
      if (stop - at > kLongestWord) {
        return Bad("line " + std::to_string(line) + " has a word of " + std::to_string(stop - at) +
                   " bytes; words have at most " + std::to_string(kLongestWord));
      }
      on_word(text.substr(at, stop - at));
      any = true;
      at = stop;
    }
    if (any) on_line_end();
    at = end + 1;
  }
  return {};
}

using Counts = std::unordered_map<std::string_view, std::int64_t>;

/// The words that get ids, most frequent first; without the marks, which have theirs.
std::vector<std::string_view> Ranked(const Counts& counts, std::size_t most) {
  std::vector<std::pair<std::string_view, std::int64_t>> words(counts.begin(), counts.end());
  std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  std::vector<std::string_view> ranked;
  for (const auto& word : words) {
    if (ranked.size() == most) break;
    if (word.first != "<eos>" && word.first != "<unk>") ranked.push_back(word.first);
  }
  return ranked;
}

Result<std::string> ReadText(const std::filesystem::path& path) {
  DLBENCH_ASSIGN_OR_RETURN(const auto file, MappedFile::Open(path));
  std::string text;
  DLBENCH_RETURN_IF_ERROR(OpenBytes({file.data(), file.size()})->Read(kMaxTextBytes + 1, text));
  if (text.size() > kMaxTextBytes) return Bad("more than 1 GiB of text");
  return text;
}

Dataset DatasetOf(Corpus corpus, const network::Network& network) {
  Dataset dataset;
  dataset.tokens = std::move(corpus.tokens);
  dataset.sample_shape = network.input.shape;
  dataset.classes = network.classes;
  const std::int64_t length = network::ElementCount(network.input.shape);
  dataset.samples = (static_cast<std::int64_t>(dataset.tokens.size()) - 1) / length;
  Sha256 hash;
  hash.Add("tokens of " + std::to_string(network.input.vocabulary) + "\n");
  hash.AddElements(std::span<const std::int32_t>(dataset.tokens));
  dataset.content_hash = hash.Finish();
  return dataset;
}

/// Whether a printed word is a reference ("Gen1:1", "1", "23"): digits, or a name ending in digits,
/// a colon and digits.
bool IsReference(std::string_view word) {
  while (!word.empty() && std::isdigit(static_cast<unsigned char>(word.back())) != 0) {
    word.remove_suffix(1);
  }
  if (word.empty()) return true;
  if (word.back() != ':') return false;
  word.remove_suffix(1);
  return !word.empty() && std::isdigit(static_cast<unsigned char>(word.back())) != 0;
}

/// `word` in lower case, marks at its ends separated: "(Jesus," gives "( jesus ,".
void AppendPlain(std::string_view word, std::string& line) {
  const auto is_mark = [](char c) { return std::ispunct(static_cast<unsigned char>(c)) != 0; };
  std::size_t begin = 0;
  std::size_t end = word.size();
  while (begin < end && is_mark(word[begin])) ++begin;
  while (end > begin && is_mark(word[end - 1])) --end;
  const auto append = [&line](std::string_view piece) {
    if (piece.empty()) return;
    if (!line.empty()) line += ' ';
    for (const char c : piece)
      line += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  };
  for (std::size_t i = 0; i < begin; ++i) append(word.substr(i, 1));
  append(word.substr(begin, end - begin));
  for (std::size_t i = end; i < word.size(); ++i) append(word.substr(i, 1));
}

/// A whole number from 0 to bound - 1 whose density falls as 1 / (n + 1): a power of two drawn
/// evenly, then a number between it and the next one. Integers only, so equal on every machine.
std::int32_t FrequentRank(const NamedStream& stream, std::uint64_t element, std::uint64_t bound) {
  const auto powers = static_cast<std::uint64_t>(std::bit_width(bound));
  for (std::uint64_t attempt = 0;; ++attempt) {
    const std::uint64_t bits = stream.Below(element + attempt, powers << 32);
    const std::uint64_t power = std::uint64_t{1} << (bits >> 32);
    const std::uint64_t rank = power - 1 + (((bits & 0xFFFFFFFF) * power) >> 32);
    if (rank < bound) return static_cast<std::int32_t>(rank);
  }
}

}  // namespace

Result<Corpus> MakeCorpus(std::string_view text, std::int64_t vocabulary) {
  if (vocabulary <= static_cast<std::int64_t>(kMarks)) {
    return Bad("a vocabulary of " + std::to_string(vocabulary) + " leaves no room for words");
  }
  Counts counts;
  DLBENCH_RETURN_IF_ERROR(Walk(
      text, [&](std::string_view word) { ++counts[word]; }, [] {}));
  if (counts.empty()) return Bad("there are no words in it");
  Corpus corpus;
  corpus.words = {"<eos>", "<unk>"};
  std::unordered_map<std::string_view, std::int32_t> ids = {{"<eos>", kEndOfSentence},
                                                            {"<unk>", kUnknown}};
  for (const auto word : Ranked(counts, static_cast<std::size_t>(vocabulary) - kMarks)) {
    ids.emplace(word, static_cast<std::int32_t>(corpus.words.size()));
    corpus.words.emplace_back(word);
  }
  DLBENCH_RETURN_IF_ERROR(Walk(
      text,
      [&](std::string_view word) {
        const auto id = ids.find(word);
        corpus.tokens.push_back(id == ids.end() ? kUnknown : id->second);
      },
      [&] { corpus.tokens.push_back(kEndOfSentence); }));
  return corpus;
}

std::string PlainVerses(std::string_view printed) {
  std::string plain;
  std::string line;
  // The program wraps verses; a reference begins the next one.
  (void)Walk(
      printed,
      [&](std::string_view word) {
        if (IsReference(word)) {
          if (!line.empty()) plain += line + '\n';
          line.clear();
        } else {
          AppendPlain(word, line);
        }
      },
      [] {});
  if (!line.empty()) plain += line + '\n';
  return plain;
}

Result<Dataset> DatasetOfText(std::string_view text, const network::Network& network) {
  DLBENCH_ASSIGN_OR_RETURN(auto corpus, MakeCorpus(text, network.input.vocabulary));
  return DatasetOf(std::move(corpus), network);
}

Result<Dataset> LoadText(const std::filesystem::path& path, const network::Network& network) {
  const auto load = [&]() -> Result<Dataset> {
    DLBENCH_ASSIGN_OR_RETURN(const std::string text, ReadText(path));
    return DatasetOfText(text, network);
  };
  auto dataset = load();
  if (!dataset.ok()) return dataset.error().WithContext("reading '" + path.string() + "'");
  dataset->name = path.filename().string();
  dataset->source = path.string();
  return dataset;
}

Result<SetSummary> InspectText(const std::filesystem::path& path) {
  const auto inspect = [&]() -> Result<SetSummary> {
    DLBENCH_ASSIGN_OR_RETURN(const std::string text, ReadText(path));
    DLBENCH_ASSIGN_OR_RETURN(const Corpus corpus, MakeCorpus(text, INT64_MAX));
    return SetSummary{std::to_string(corpus.tokens.size()) + " tokens, " +
                          std::to_string(corpus.words.size() - kMarks) + " different words",
                      Sha256Hex(text)};
  };
  auto summary = inspect();
  if (!summary.ok()) return summary.error().WithContext("reading '" + path.string() + "'");
  return summary;
}

Dataset MakeSyntheticTokens(const network::Network& network, std::uint64_t seed) {
  const NamedStream ranks(seed, "synthetic/ranks");
  const NamedStream choices(seed, "synthetic/choices");
  const auto vocabulary = static_cast<std::uint64_t>(network.input.vocabulary);
  Corpus corpus;
  corpus.tokens.resize(static_cast<std::size_t>(kSyntheticTokens));
  // Attempts of one element must not meet those of the next.
  constexpr std::uint64_t kAttempts = 64;
  std::uint64_t before = 0;
  for (std::size_t i = 0; i < corpus.tokens.size(); ++i) {
    const bool follows = (choices.Bits(i) & 1) != 0;
    const std::uint64_t element = follows ? before : vocabulary + i;
    corpus.tokens[i] = FrequentRank(ranks, element * kAttempts, vocabulary);
    before = static_cast<std::uint64_t>(corpus.tokens[i]);
  }
  Dataset dataset = DatasetOf(std::move(corpus), network);
  dataset.name = "synthetic";
  dataset.source = "generated";
  dataset.synthetic = true;
  dataset.seed = seed;
  return dataset;
}

}  // namespace dlbench::data
