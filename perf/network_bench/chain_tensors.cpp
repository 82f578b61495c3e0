#include "perf/network_bench/chain_tensors.hpp"

#include "perf/peers/formats.hpp"
#include "perf/peers/peer_data.hpp"
#include "tests/reference/reference.hpp"

namespace weft::perf {
namespace {

// Of the first image.
absl::StatusOr<ValueFacts> Facts(const DeviceBuffer& tensor, std::int64_t batch) {
  std::vector<std::int8_t> values(static_cast<std::size_t>(tensor.bytes() / batch));
  WEFT_TRY(tensor.CopyTo(values.data(), static_cast<std::int64_t>(values.size())));
  return FactsOf(values);
}

}  // namespace

PeerProblem PeerProblemOf(const Chain& chain, int layer, std::int64_t batch) {
  PeerProblem made;
  made.problem = chain.ProblemOf(layer, batch);
  made.relu = chain.HasRelu(layer);
  made.residual = chain.residual(layer) >= 0;
  made.gamma = 1.0f;
  return made;
}

absl::StatusOr<ChainTensors> ChainTensors::Create(Chain* chain, std::int64_t batch, Stream stream) {
  ChainTensors made;
  made.batch_ = batch;
  made.tensors_.resize(chain->graph().tensors.size());
  for (int i = 0; i < Chain::kQuantised; ++i) {
    const std::vector<std::int8_t> values = chain->MakeInput(i, batch);
    WEFT_LET(made.tensors_[static_cast<std::size_t>(chain->quantised(i))],
             DeviceBuffer::From(values));
    WEFT_LET(DeviceBuffer floats,
             DeviceBuffer::From(std::vector<float>(values.begin(), values.end())));
    made.inputs_.push_back(std::move(floats));
  }
  for (int i = 0; i < chain->layers(); ++i) WEFT_TRY(made.MakeLayer(chain, i, stream));
  return made;
}

absl::Status ChainTensors::MakeLayer(Chain* chain, int layer, Stream stream) {
  const DeviceBuffer& src = (*this)[chain->src(layer)];
  WEFT_LET(const ValueFacts facts, Facts(src, batch_));
  chain->SetScales(layer, facts.mean_square);
  const PeerProblem problem = PeerProblemOf(*chain, layer, batch_);
  const std::vector<float> scales = chain->scales(layer);
  const std::vector<std::int32_t> biases = chain->biases(layer);
  std::vector<float> bias;
  for (std::size_t k = 0; k < biases.size(); ++k) {
    bias.push_back(scales[k] * static_cast<float>(biases[k]));
  }
  Layer made;
  WEFT_LET(made.kcrs, DeviceBuffer::From(chain->filter(layer)));
  WEFT_LET(made.krsc, DeviceBuffer::Create(made.kcrs.bytes()));
  WEFT_LET(made.alpha, DeviceBuffer::From(scales));
  WEFT_LET(made.bias, DeviceBuffer::From(bias));
  WEFT_LET(made.sum_bias, DeviceBuffer::From(biases));
  const TensorExtents filter = AsTensor(problem.problem.filter());
  WEFT_TRY(Convert({made.kcrs.data(), made.krsc.data(), filter, StridesOf<NCHW>(filter),
                    StridesOf<NHWC>(filter)},
                   Element::kInt8, Element::kInt8, stream));
  reference::EpilogueData e;
  e.channel_alpha = made.alpha.as<float>();
  e.sum_bias = made.sum_bias.as<std::int32_t>();
  if (problem.residual) e.residual = (*this)[chain->residual(layer)].as<std::int8_t>();
  WEFT_LET(DeviceBuffer dst, DeviceBuffer::Create(NCHW::Size(problem.problem.dst())));
  WEFT_TRY(ReferenceOnGpu(problem, src.as<std::int8_t>(), made.kcrs.as<std::int8_t>(), e,
                          dst.as<std::int8_t>(), stream));
  WEFT_LET(made.facts, Facts(dst, batch_));
  tensors_[static_cast<std::size_t>(chain->dst(layer))] = std::move(dst);
  layers_.push_back(std::move(made));
  return absl::OkStatus();
}

}  // namespace weft::perf
