#include "verify/reference_files.h"

#include <fmt/format.h>

#include <system_error>

#include "core/file.h"
#include "data/safetensors.h"

namespace dlbench::verify {
namespace {

data::TensorView ViewOfDoubles(const std::string& name, const network::Shape& shape,
                               const std::vector<double>& values) {
  data::TensorView view;
  view.name = name;
  view.dtype = data::DType::kF64;
  view.shape = shape;
  view.bytes = std::as_bytes(std::span(values));
  return view;
}

Status WriteTensors(const GateData& data, const Tensors& tensors,
                    const std::filesystem::path& path) {
  std::vector<data::TensorView> views;
  for (const network::Parameter* parameter : data.network().Parameters()) {
    views.push_back(ViewOfDoubles(parameter->name, parameter->shape, tensors.at(parameter->name)));
  }
  return data::WriteSafetensors(path, views);
}

std::string Readme(const GateData& data) {
  std::string steps;
  for (std::size_t i = 0; i < data.sequence.batches.size(); ++i) {
    steps += fmt::format("{}. batch {} of the pool, learning rate {}, loss {:.17g}\n", i + 1,
                         data.sequence.batches[i], data.sequence.learning_rates[i],
                         data.reference.losses[i]);
  }
  return fmt::format(
      "# Reference results for {}\n\n"
      "Computed in float64. All files are safetensors. To recompute the check in another program:\n"
      "start from `weights.safetensors` (inputs folder), velocity zero, and take these steps on "
      "the\n"
      "batches of `batches.safetensors` (tensors `x` and `labels`, first dimension: batch of the "
      "pool):\n\n"
      "{}\n"
      "Then compare `logits.safetensors` and `gradients.safetensors` (both of step 1) and the "
      "change of\n"
      "the weights, w(n) - w(0), with `weights-n.safetensors`. The network is in `network.json`.\n",
      data.network().title, steps);
}

}  // namespace

Status WriteReferenceFiles(const GateData& data, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return Error(ErrorCode::kIo,
                 "cannot make the folder '" + folder.string() + "': " + error.message());
  }
  const data::TensorView logits = ViewOfDoubles(
      "logits", {data.gate_case.pool->batch, data.network().classes}, data.reference.logits);
  DLBENCH_RETURN_IF_ERROR(
      data::WriteSafetensors(folder / "logits.safetensors", std::span(&logits, 1)));
  DLBENCH_RETURN_IF_ERROR(
      WriteTensors(data, data.reference.gradients, folder / "gradients.safetensors"));
  for (const auto& [steps, weights] : data.reference.weights) {
    DLBENCH_RETURN_IF_ERROR(
        WriteTensors(data, weights, folder / fmt::format("weights-{}.safetensors", steps)));
  }
  return WriteFileAtomically(folder / "README.md", Readme(data));
}

}  // namespace dlbench::verify
