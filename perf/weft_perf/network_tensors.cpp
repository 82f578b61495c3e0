#include "perf/weft_perf/network_tensors.hpp"

#include <algorithm>

#include "perf/peers/peer_data.hpp"
#include "perf/support/device_data.hpp"

namespace weft::perf {

PeerProblem ProblemOf(const conv::Problem& problem, After after) {
  PeerProblem made;
  made.problem = problem;
  made.relu = after != After::kNothing;
  made.residual = after == After::kResidualRelu;
  made.gamma = kNetworkGamma;
  return made;
}

TensorFormatName NetworkTensors::FormatOf(const TensorExtents& e) const {
  return e.c < 32 ? TensorFormatName::kNc4 : format_;
}

absl::Status NetworkTensors::Init(const Network& network, TensorFormatName format, Stream stream) {
  network_ = &network;
  format_ = format;
  stream_ = stream;
  for (int i = 0; i < network.tensors(); ++i) {
    const TensorExtents e = network.Extents(i);
    WEFT_LET(DeviceBuffer tensor, DeviceBuffer::Create(SizeOf(FormatOf(e), e)));
    WEFT_TRY(tensor.Fill(0));
    if (i < static_cast<int>(network.inputs.size())) {
      WEFT_LET(const DeviceBuffer planar, DeviceBuffer::From(MakeInput(network, i)));
      WEFT_TRY(
          Convert({planar.data(), tensor.data(), e, StridesOf<NCHW>(e), StridesOf(FormatOf(e), e)},
                  Element::kInt8, Element::kInt8, stream));
      WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream), "input"));
    }
    ours_.push_back(std::move(tensor));
  }
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const conv::Problem& p = network.layers[i].problem;
    const TensorExtents e = AsTensor(p.filter());
    Operands made;
    WEFT_LET(made.kcrs, DeviceBuffer::From(MakeFilter(network, static_cast<int>(i))));
    WEFT_LET(made.krsc, DeviceBuffer::Create(made.kcrs.bytes()));
    WEFT_LET(made.alpha, DeviceBuffer::Create(4 * p.k));
    WEFT_LET(made.bias, DeviceBuffer::Create(4 * p.k));
    WEFT_TRY(
        Convert({made.kcrs.data(), made.krsc.data(), e, StridesOf<NCHW>(e), StridesOf<NHWC>(e)},
                Element::kInt8, Element::kInt8, stream));
    operands_.push_back(std::move(made));
  }
  return CudaStatus(cudaStreamSynchronize(stream), "filters");
}

PeerTensors NetworkTensors::Sets(const std::vector<int>& layers,
                                 const std::vector<DeviceBuffer>& side) const {
  PeerTensors tensors;
  tensors.one_filter = false;
  for (const int i : layers) {
    const NetworkLayer& layer = network_->layers[i];
    PeerTensors::Set set;
    set.src = side[layer.src].as<std::int8_t>();
    set.filter = operands_[i].krsc.as<std::int8_t>();
    if (layer.residual >= 0) set.residual = side[layer.residual].as<std::int8_t>();
    set.channel_alpha = operands_[i].alpha.as<float>();
    set.bias = operands_[i].bias.as<float>();
    set.dst = side[network_->OutputOf(i)].as<std::int8_t>();
    tensors.sets.push_back(set);
  }
  return tensors;
}

PeerTensors NetworkTensors::Sets(const std::vector<int>& layers) const {
  PeerTensors tensors = Sets(layers, ours_);
  tensors.src_format = FormatOf(network_->layers[layers[0]].problem.src());
  tensors.dst_format = FormatOf(network_->layers[layers[0]].problem.dst());
  return tensors;
}

absl::Status NetworkTensors::SetScales(int layer) {
  WEFT_LET(const ValueFacts facts, Facts(network_->layers[layer].src));
  const LayerParameters made = MakeParameters(*network_, layer, facts.mean_square);
  const Operands& to = operands_[layer];
  WEFT_TRY(CudaStatus(cudaMemcpy(to.alpha.data(), made.channel_alpha.data(), to.alpha.bytes(),
                                 cudaMemcpyHostToDevice),
                      "scales"));
  return CudaStatus(
      cudaMemcpy(to.bias.data(), made.bias.data(), to.bias.bytes(), cudaMemcpyHostToDevice),
      "biases");
}

// One image, in NCHW.
absl::StatusOr<DeviceBuffer> NetworkTensors::Planar(int tensor, std::int64_t image) const {
  TensorExtents e = network_->Extents(tensor);
  e.n = 1;
  WEFT_LET(DeviceBuffer planar, DeviceBuffer::Create(NCHW::Size(e)));
  const std::int8_t* const from = ours_[tensor].as<std::int8_t>() + image * SizeOf(FormatOf(e), e);
  WEFT_TRY(Convert({from, planar.data(), e, StridesOf(FormatOf(e), e), StridesOf<NCHW>(e)},
                   Element::kInt8, Element::kInt8, stream_));
  WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream_), "image"));
  return planar;
}

absl::StatusOr<ValueFacts> NetworkTensors::Facts(int tensor) const {
  WEFT_LET(const DeviceBuffer planar, Planar(tensor, 0));
  WEFT_LET(const std::vector<std::int8_t> values, planar.Read<std::int8_t>());
  return FactsOf(values);
}

absl::StatusOr<long long> NetworkTensors::Mismatches(int layer) const {
  const NetworkLayer& l = network_->layers[layer];
  const Operands& operands = operands_[layer];
  PeerProblem one = ProblemOf(l.problem, l.after);
  one.problem.n = 1;
  const std::int64_t size = NCHW::Size(one.problem.dst()), images = l.problem.n;
  WEFT_LET(const DeviceBuffer want, DeviceBuffer::Create(size));
  long long sum = 0;
  for (std::int64_t image = 0; image < images; image += std::max<std::int64_t>(images - 1, 1)) {
    WEFT_LET(const DeviceBuffer src, Planar(l.src, image));
    WEFT_LET(const DeviceBuffer got, Planar(network_->OutputOf(layer), image));
    DeviceBuffer residual;
    reference::EpilogueData e;
    e.channel_alpha = operands.alpha.as<float>();
    e.bias = operands.bias.as<float>();
    if (one.residual) {
      WEFT_LET(residual, Planar(l.residual, image));
      e.residual = residual.as<std::int8_t>();
      e.gamma = kNetworkGamma;
    }
    WEFT_TRY(ReferenceOnGpu(one, src.as<std::int8_t>(), operands.kcrs.as<std::int8_t>(), e,
                            want.as<std::int8_t>(), stream_));
    WEFT_LET(const Differences found,
             Compare(got.as<std::int8_t>(), want.as<std::int8_t>(), size, stream_));
    sum += found.count;
  }
  return sum;
}

absl::Status NetworkTensors::ToNhwc(int tensor, void* nhwc) const {
  const TensorExtents e = network_->Extents(tensor);
  return Convert({ours_[tensor].data(), nhwc, e, StridesOf(FormatOf(e), e), StridesOf<NHWC>(e)},
                 Element::kInt8, Element::kInt8, stream_);
}

}  // namespace weft::perf
