#include "perf/network/chain.hpp"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "perf/support/status.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf {
namespace {

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

absl::StatusOr<std::unique_ptr<OurChain>> OurChain::Create(const Network& network,
                                                           const NetworkTiles& tiles,
                                                           ChainMemory* memory, Stream stream) {
  std::unique_ptr<OurChain> chain(new OurChain(network, tiles, memory));
  WEFT_TRY(chain->AllocateTensors());
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
  WEFT_LET(void* const memory, memory_->Allocate(bytes));
  WEFT_TRY(memory_->Write(memory, data, bytes));
  return memory;
}

absl::Status OurChain::AllocateTensors() {
  for (int i = 0; i < network_.tensors(); ++i) {
    const TensorExtents e = network_.Extents(i);
    WEFT_LET(void* const memory, memory_->Allocate(SizeOf(e)));
    tensors_.push_back(static_cast<std::int8_t*>(memory));
    if (i >= static_cast<int>(network_.inputs.size())) continue;
    const std::vector<std::int8_t> planar = MakeInput(network_, i);
    WEFT_LET(const auto packed, IsSmall(e)
                                    ? ConvertTensor<NCHW, NCxHWx<4>, std::int8_t>(e, planar)
                                    : ConvertTensor<NCHW, NCxHWx<32>, std::int8_t>(e, planar));
    WEFT_TRY(memory_->Write(memory, packed.data(), static_cast<std::int64_t>(packed.size())));
  }
  return absl::OkStatus();
}

template <class Format>
absl::Status OurChain::PackFilterOf(int layer) {
  Layer& l = layers_[layer];
  WEFT_LET(const auto packed, PackFilter<Format, KCRS, std::int8_t>(
                                  network_.layers[layer].problem.filter(), l.parameters.filter));
  WEFT_LET(void* const memory, Upload(packed.data(), packed.bytes()));
  l.arguments.Filter<Format>() = packed.At(memory);
  return absl::OkStatus();
}

// Parameters for what the layer's input holds now; the layer's first run.
absl::Status OurChain::Start(int layer, Stream stream) {
  const NetworkLayer& described = network_.layers[layer];
  Layer& l = layers_[layer];
  WEFT_LET(const std::vector<std::int8_t> src, ReadImage(described.src, 0));
  l.parameters = MakeParameters(network_, layer, FactsOf(src).mean_square);
  const auto floats = [&](const std::vector<float>& values) {
    return Upload(values.data(), static_cast<std::int64_t>(values.size() * sizeof(float)));
  };
  TileArguments& args = l.arguments;
  args.src = Address(described.src);
  args.dst = Address(network_.OutputOf(layer));
  args.gamma = kNetworkGamma;
  if (described.residual >= 0) args.residual = Address(described.residual);
  WEFT_LET(void* const alpha, floats(l.parameters.channel_alpha));
  WEFT_LET(void* const bias, floats(l.parameters.bias));
  args.channel_alpha = static_cast<const float*>(alpha);
  args.bias = static_cast<const float*>(bias);
  if (IsSmall(described.problem.src())) {
    WEFT_TRY(PackFilterOf<CxRSKx<4>>(layer));
    WEFT_TRY(PackFilterOf<KRSC>(layer));
  } else {
    WEFT_TRY(PackFilterOf<CxRSKx<32>>(layer));
  }
  l.runs.resize(tiles(layer).size());
  absl::Status s = absl::UnimplementedError("this program has no operator for it");
  for (int tile = 0; tile < static_cast<int>(l.runs.size()) && l.chosen < 0; ++tile) {
    s = Run(layer, tile, stream);
    if (s.ok()) l.chosen = tile;
    if (!s.ok() && !Refuses(s)) return s;
  }
  WEFT_TRY(s);
  WEFT_LET(const std::vector<std::int8_t> dst, ReadImage(network_.OutputOf(layer), 0));
  l.facts = FactsOf(dst);
  return absl::OkStatus();
}

absl::Status OurChain::Run(int layer, int tile, Stream stream) {
  Layer& l = layers_[layer];
  if (!l.runs[tile]) {
    WEFT_LET(l.runs[tile], tiles(layer)[tile].create(network_.layers[layer].problem));
  }
  return l.runs[tile](l.arguments, stream);
}

absl::Status OurChain::Enqueue(int first, Stream stream) {
  for (int i = first; i < size(); ++i) {
    WEFT_TRY(Run(i, chosen(i), stream));
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
  WEFT_TRY(memory_->Read(packed.data(), Address(tensor) + image * bytes, bytes));
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
  WEFT_LET(one.src, ReadImage(described.src, image));
  if (described.residual >= 0) {
    WEFT_LET(one.residual, ReadImage(described.residual, image));
  }
  WEFT_LET(const std::vector<std::int8_t> want, reference(one));
  WEFT_LET(const std::vector<std::int8_t> got, ReadImage(network_.OutputOf(layer), image));
  Differences found;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const int distance = std::abs(int{got[i]} - int{want[i]});
    found.count += distance != 0;
    found.largest = std::max(found.largest, distance);
  }
  return found;
}

}  // namespace weft::perf
