// The adapter with the fault that DLBENCH_DECOY names. `--list` prints the table: name, check,
// fault, reason, separated by tabs.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>

#include "decoy_adapter.h"

namespace {

namespace decoys = dlbench::decoys;
namespace sdk = dlbench::adapter;

void PrintTable() {
  for (const decoys::DecoyInfo& info : decoys::AllDecoys()) {
    std::printf("%s\t%s\t%s\t%s\n", info.name.data(), info.check.data(), info.what.data(),
                info.reason.data());
  }
}

/// sdk::Serve, but a decoy hears every request and may forge every reply.
void ServeDecoy(const std::string& name) {
  decoys::DecoyAdapter adapter(decoys::FindDecoy(name));
  sdk::Channel channel(sdk::DescriptorFrom("DLBENCH_FD_IN"), sdk::DescriptorFrom("DLBENCH_FD_OUT"));
  sdk::Server server(adapter, std::filesystem::current_path().string());
  std::string line;
  while (!server.finished() && channel.Read(line)) {
    adapter.Overhear(sdk::Json::Parse(line));
    channel.Write(adapter.Forge(server.Answer(line)));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--list") == 0) {
    PrintTable();
    return 0;
  }
  const char* name = std::getenv("DLBENCH_DECOY");
  try {
    ServeDecoy(name == nullptr ? "" : name);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "decoy: %s\n", error.what());
    return 1;
  }
}
