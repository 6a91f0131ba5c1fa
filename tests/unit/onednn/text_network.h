#pragma once

#include <gtest/gtest.h>

#include <string>

#include "../network/network_text.h"
#include "dlbench_adapter.h"
#include "network/parse.h"

namespace dlbench::onednn {

inline adapter::Network FromParsed(const Result<network::Network>& parsed, std::int64_t batch) {
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message());
  const auto json = adapter::Json::Parse(network::ToProtocolJson(parsed.value()));
  return adapter::ReadNetwork(json, batch);
}

/// The text of a network file as `prepare` would bring it.
inline adapter::Network NetworkOf(const std::string& text, std::int64_t batch) {
  return FromParsed(network::ParseNetwork(text, "test.toml"), batch);
}

}  // namespace dlbench::onednn
