#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "data/dataset.h"
#include "data/registry.h"

namespace dlbench::data {

/// A text as the ids of its words.
struct Corpus {
  std::vector<std::string> words;    ///< By id: "<eos>", "<unk>", then the most frequent first.
  std::vector<std::int32_t> tokens;  ///< The text, an "<eos>" at the end of each line.
};

/// Words are what blanks and line ends separate (bytes, so UTF-8 is kept as it is). Of the words
/// the `vocabulary - 2` most frequent ones get ids, ties in the order of their bytes; all others
/// become
/// "<unk>". Empty lines give nothing. Source of the marks: Mikolov's preparation of the Penn
/// Treebank. kInput with the line for a zero byte or a word of more than 1000 bytes, and for a text
/// without words.
Result<Corpus> MakeCorpus(std::string_view text, std::int64_t vocabulary);
/// What Debian's program `bible` (package bible-kjv) prints, as lines of lower-case words:
/// references left out, punctuation separated from words.
std::string PlainVerses(std::string_view printed);

/// The data set of a text, without its name and source, for a network with token inputs.
Result<Dataset> DatasetOfText(std::string_view text, const network::Network& network);
/// The data set of a text file (plain or gzip), for a network with token inputs.
Result<Dataset> LoadText(const std::filesystem::path& path, const network::Network& network);
/// How many tokens and different words a text file has; the hash is that of its bytes, unpacked.
Result<SetSummary> InspectText(const std::filesystem::path& path);
/// The King James Bible as Debian's program prints it; kNotFound where the package is missing.
Result<Dataset> LoadBible(const network::Network& network,
                          const std::filesystem::path& program = "/usr/bin/bible");
/// One million tokens of `network`'s vocabulary without a text: ranks about as frequent as words
/// are (density 1/rank, so half of them below the root of the vocabulary), and every second one
/// decided by the one before, so that the set can be learned. A function of the seed alone.
Dataset MakeSyntheticTokens(const network::Network& network, std::uint64_t seed);

}  // namespace dlbench::data
