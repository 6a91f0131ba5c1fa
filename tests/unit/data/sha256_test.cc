#include "data/sha256.h"

#include <gtest/gtest.h>

namespace dlbench::data {
namespace {

// FIPS 180-4 examples (NIST, "Cryptographic Standards and Guidelines: Example values").
TEST(Sha256, GivesTheStandardsExamples) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnThePieces) {
  const std::string text(300, 'x');
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 hash;
    hash.Add(std::string_view(text).substr(0, cut));
    hash.Add(std::string_view(text).substr(cut));
    EXPECT_EQ(hash.Finish(), Sha256Hex(text)) << cut;
  }
}

}  // namespace
}  // namespace dlbench::data
