#include "perf/network/chain.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/reference/reference.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

constexpr std::int64_t kAlignment = 256;

bool IsSmall(const TensorExtents& e) {
  return e.c < 32;
}

std::int64_t SizeOf(const TensorExtents& e) {
  return IsSmall(e) ? NCxHWx<4>::Size(e) : NCxHWx<32>::Size(e);
}

TensorExtents OneImage(TensorExtents e) {
  e.n = 1;
  return e;
}

bool Refuses(const absl::Status& status) {
  return absl::IsInvalidArgument(status) || absl::IsUnimplemented(status) ||
         absl::IsOutOfRange(status) || absl::IsResourceExhausted(status) ||
         absl::IsFailedPrecondition(status);
}

}  // namespace

absl::StatusOr<void*> HostMemory::Allocate(std::int64_t bytes) {
  blocks_.push_back(std::make_unique<char[]>(bytes + kAlignment));
  const auto address = reinterpret_cast<std::uintptr_t>(blocks_.back().get());
  return reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment);
}

absl::Status HostMemory::Write(void* to, const void* from, std::int64_t bytes) {
  std::memcpy(to, from, bytes);
  return absl::OkStatus();
}

absl::Status HostMemory::Read(void* to, const void* from, std::int64_t bytes) {
  std::memcpy(to, from, bytes);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::int8_t>> ReferenceOnCpu(const ReferenceLayer& layer) {
  reference::EpilogueData e;
  e.channel_alpha = layer.parameters->channel_alpha.data();
  e.bias = layer.parameters->bias.data();
  if (layer.after == After::kResidualRelu) {
    e.residual = layer.residual.data();
    e.gamma = kNetworkGamma;
  }
  const auto run = [&](auto activation) {
    return reference::Convolve(layer.problem, layer.src.data(), layer.parameters->filter.data(), e,
                               activation, reference::kInt8);
  };
  if (layer.after == After::kNothing) return run(reference::NoActivation{});
  return run(reference::ReluActivation{});
}

absl::StatusOr<std::unique_ptr<OurChain>> OurChain::Create(const Network& network,
                                                           const NetworkTiles& tiles,
                                                           ChainMemory* memory, Stream stream) {
  if (absl::Status s = CheckNetwork(network); !s.ok()) return s;
  std::unique_ptr<OurChain> chain(new OurChain(network, tiles, memory));
  if (absl::Status s = chain->AllocateTensors(); !s.ok()) return s;
  chain->layers_.resize(network.layers.size());
  for (int i = 0; i < chain->size(); ++i) {
    if (absl::Status s = chain->Start(i, stream); !s.ok()) {
      return absl::Status(
          s.code(), absl::StrCat("layer ", network.layers[i].name, ": ", std::string(s.message())));
    }
  }
  return chain;
}

absl::StatusOr<void*> OurChain::Upload(const void* data, std::int64_t bytes) {
  absl::StatusOr<void*> memory = memory_->Allocate(bytes);
  if (!memory.ok()) return memory;
  if (absl::Status s = memory_->Write(*memory, data, bytes); !s.ok()) return s;
  return memory;
}

absl::Status OurChain::AllocateTensors() {
  for (int i = 0; i < network_.tensors(); ++i) {
    const TensorExtents e = network_.Extents(i);
    absl::StatusOr<void*> memory = absl::UnknownError("");
    if (i < static_cast<int>(network_.inputs.size())) {
      const std::vector<std::int8_t> planar = MakeInput(network_, i);
      const auto packed = IsSmall(e) ? ConvertTensor<NCHW, NCxHWx<4>, std::int8_t>(e, planar)
                                     : ConvertTensor<NCHW, NCxHWx<32>, std::int8_t>(e, planar);
      if (!packed.ok()) return packed.status();
      memory = Upload(packed->data(), static_cast<std::int64_t>(packed->size()));
    } else {
      memory = memory_->Allocate(SizeOf(e));
    }
    if (!memory.ok()) return memory.status();
    tensors_.push_back(static_cast<std::int8_t*>(*memory));
  }
  return absl::OkStatus();
}

template <class Format>
absl::Status OurChain::PackFilterOf(int layer, PackedFilter<Format>* view) {
  Layer& l = layers_[layer];
  auto packed = PackFilter<Format, KCRS, std::int8_t>(network_.layers[layer].problem.filter(),
                                                      l.parameters.filter);
  if (!packed.ok()) return packed.status();
  const absl::StatusOr<void*> memory = Upload(packed->data(), packed->bytes());
  if (!memory.ok()) return memory.status();
  *view = packed->At(*memory);
  return absl::OkStatus();
}

// Parameters for what the layer's input holds now; the layer's first run.
absl::Status OurChain::Start(int layer, Stream stream) {
  const NetworkLayer& described = network_.layers[layer];
  Layer& l = layers_[layer];
  const absl::StatusOr<std::vector<std::int8_t>> src = ReadImage(described.src, 0);
  if (!src.ok()) return src.status();
  l.parameters = MakeParameters(network_, layer, FactsOf(*src).mean_square);

  LayerArguments& args = l.arguments;
  args.src = Address(described.src);
  args.dst = Address(network_.OutputOf(layer));
  if (described.residual >= 0) {
    args.gamma = kNetworkGamma;
    args.residual = Address(described.residual);
  }
  absl::Status s;
  if (IsSmall(described.problem.src())) {
    s = PackFilterOf(layer, &args.filter4);
    if (s.ok()) s = PackFilterOf(layer, &args.filter_krsc);
  } else {
    s = PackFilterOf(layer, &args.filter32);
  }
  if (!s.ok()) return s;
  const auto floats = [&](const std::vector<float>& values, const float** to) {
    const absl::StatusOr<void*> memory =
        Upload(values.data(), static_cast<std::int64_t>(values.size() * sizeof(float)));
    if (memory.ok()) *to = static_cast<const float*>(*memory);
    return memory.status();
  };
  s = floats(l.parameters.channel_alpha, &args.channel_alpha);
  if (s.ok()) s = floats(l.parameters.bias, &args.bias);
  if (!s.ok()) return s;

  l.runs.resize(tiles(layer).size());
  s = absl::UnimplementedError("this program has no operator for it");
  for (int tile = 0; tile < static_cast<int>(l.runs.size()); ++tile) {
    s = Run(layer, tile, stream);
    if (s.ok()) {
      l.chosen = tile;
      break;
    }
    if (!Refuses(s)) return s;
  }
  if (!s.ok()) return s;
  const absl::StatusOr<std::vector<std::int8_t>> dst = ReadImage(network_.OutputOf(layer), 0);
  if (!dst.ok()) return dst.status();
  l.facts = FactsOf(*dst);
  return absl::OkStatus();
}

const std::vector<LayerTile>& OurChain::tiles(int layer) const {
  return tiles_.For(network_.layers[layer]).tiles;
}

ModelChoice OurChain::Model(int layer, const conv::GpuFacts& gpu) const {
  const NetworkLayer& l = network_.layers[layer];
  return tiles_.For(l).Choose(l.problem, gpu);
}

absl::Status OurChain::Run(int layer, int tile, Stream stream) {
  Layer& l = layers_[layer];
  if (!l.runs[tile]) {
    absl::StatusOr<LayerRun> run = tiles(layer)[tile].create(network_.layers[layer].problem);
    if (!run.ok()) return run.status();
    l.runs[tile] = *std::move(run);
  }
  return l.runs[tile](l.arguments, stream);
}

absl::Status OurChain::Enqueue(int first, Stream stream) {
  for (int i = first; i < size(); ++i) {
    if (absl::Status s = Run(i, chosen(i), stream); !s.ok()) return s;
  }
  return absl::OkStatus();
}

std::int64_t OurChain::Bytes(int tensor) const {
  return SizeOf(network_.Extents(tensor));
}

absl::StatusOr<std::vector<std::int8_t>> OurChain::ReadImage(int tensor, std::int64_t image) const {
  const TensorExtents e = OneImage(network_.Extents(tensor));
  std::vector<std::int8_t> packed(SizeOf(e));
  const auto bytes = static_cast<std::int64_t>(packed.size());
  if (absl::Status s = memory_->Read(packed.data(), Address(tensor) + image * bytes, bytes);
      !s.ok()) {
    return s;
  }
  return IsSmall(e) ? ConvertTensor<NCxHWx<4>, NCHW, std::int8_t>(e, packed)
                    : ConvertTensor<NCxHWx<32>, NCHW, std::int8_t>(e, packed);
}

absl::StatusOr<Differences> OurChain::Check(int layer, std::int64_t image,
                                            const Reference& reference) const {
  const NetworkLayer& described = network_.layers[layer];
  ReferenceLayer one;
  one.problem = described.problem;
  one.problem.n = 1;
  one.after = described.after;
  one.parameters = &layers_[layer].parameters;
  absl::StatusOr<std::vector<std::int8_t>> values = ReadImage(described.src, image);
  if (!values.ok()) return values.status();
  one.src = *std::move(values);
  if (described.residual >= 0) {
    values = ReadImage(described.residual, image);
    if (!values.ok()) return values.status();
    one.residual = *std::move(values);
  }
  const absl::StatusOr<std::vector<std::int8_t>> want = reference(one);
  if (!want.ok()) return want.status();
  const absl::StatusOr<std::vector<std::int8_t>> got = ReadImage(network_.OutputOf(layer), image);
  if (!got.ok()) return got.status();
  Differences found;
  for (std::size_t i = 0; i < want->size(); ++i) {
    const int distance = std::abs(int{(*got)[i]} - int{(*want)[i]});
    found.count += distance != 0;
    found.largest = std::max(found.largest, distance);
  }
  return found;
}

}  // namespace weft::perf
