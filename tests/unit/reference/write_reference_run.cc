// write_reference_run NETWORK FOLDER: trains NETWORK for three steps in the float64 reference and
// leaves in FOLDER what another implementation needs to do the same: the pool, the initial weights,
// and a report.json with the network, the losses and the weights afterwards. Used by
// tests/independent/reference_check.py.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/file.h"
#include "data/dataset.h"
#include "network/parse.h"
#include "reference/engine.h"

namespace dlbench {
namespace {

constexpr std::int64_t kBatch = 16;
constexpr std::uint64_t kSeed = 3;
// The rate changes, so that one inside the velocity would show (case C31).
constexpr double kRates[] = {0.05, 0.05, 0.02};

Status Run(const std::filesystem::path& network_file, const std::filesystem::path& folder) {
  DLBENCH_ASSIGN_OR_RETURN(const auto network, network::LoadNetwork(network_file));
  DLBENCH_ASSIGN_OR_RETURN(const auto dataset,
                           data::LoadDataset({"synthetic", {}, kSeed}, network));
  DLBENCH_ASSIGN_OR_RETURN(const auto pool, data::MakeBatchPool(dataset, network, kBatch, kSeed));
  const auto weights = data::InitialWeights(network, kSeed);
  DLBENCH_RETURN_IF_ERROR(data::WriteBatchPool(pool, network, folder / "pool.safetensors"));
  DLBENCH_RETURN_IF_ERROR(data::WriteWeights(network, weights, folder / "weights.safetensors"));
  DLBENCH_ASSIGN_OR_RETURN(const auto engine, reference::Engine::Create(network, kBatch, {}));
  engine->SetState(reference::StateFrom(weights));

  nlohmann::json report;
  report["network"] = nlohmann::json::parse(network::ToProtocolJson(network));
  const auto batch = static_cast<std::size_t>(kBatch);
  const auto inputs = static_cast<std::size_t>(network::ElementCount(network.input.shape));
  std::size_t step = 0;
  for (const double rate : kRates) {
    const auto result =
        engine->Step(std::span(pool.x).subspan(step * batch * inputs, batch * inputs),
                     std::span(pool.labels).subspan(step * batch, batch), rate);
    report["steps"].push_back({{"learning_rate", rate},
                               {"loss", result.loss},
                               {"logits", result.logits},
                               {"gradients", result.gradients}});
    ++step;
  }
  report["weights"] = engine->GetState().weights;
  report["velocity"] = engine->GetState().velocity;
  return WriteFileAtomically(folder / "report.json", report.dump());
}

}  // namespace
}  // namespace dlbench

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: write_reference_run NETWORK FOLDER\n", stderr);
    return 2;
  }
  const auto status = dlbench::Run(argv[1], argv[2]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.error().message().c_str());
  return 1;
}
