// The class behind ours.hpp. Only with WEFT_HAVE_CUDA.
#pragma once

#if WEFT_HAVE_CUDA

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "perf/peers/convert.hpp"
#include "perf/weft_perf/ours.hpp"
#include "perf/weft_perf/tiles.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/conv/family.hpp"
#include "weft/conv/tuning.hpp"
#include "weft/layouts/packing.hpp"

namespace weft::perf::internal {

using BasicTiles = decltype(std::tuple_cat(FewTiles(), FewSimtTiles()));
using AllTiles = decltype(std::tuple_cat(FewTiles(), MoreTiles(), FewSimtTiles(), MoreSimtTiles()));

template <class P>
std::string TileName() {
  const conv::Config& c = P::config;
  const std::string threadblock =
      absl::StrCat(c.threadblock.m, "x", c.threadblock.n, "x", c.threadblock.k);
  if (c.mainloop == gemm::Mainloop::kSimt) {
    return absl::StrCat("simt_", threadblock, "_", c.warp.m, "x", c.warp.n, "x", c.warp.k, "_",
                        c.thread.m, "x", c.thread.n);
  }
  if (c.mainloop != gemm::Mainloop::kMmaSm80) return conv::PolicyName(c);
  const std::string tile =
      absl::StrCat("mma_", threadblock, "_", c.warp.m, "x", c.warp.n, "_s", c.stages);
  return c.alignment.src == 16 ? tile : absl::StrCat(tile, "_a", c.alignment.src);
}

template <TensorFormat Format>
constexpr TensorFormatName kFormatName =
    std::is_same_v<Format, NHWC>        ? TensorFormatName::kNhwc
    : std::is_same_v<Format, NCxHWx<4>> ? TensorFormatName::kNc4
                                        : TensorFormatName::kNc32;

template <class... Policies>
std::vector<std::string> PolicyNames(std::type_identity<conv::Family<Policies...>>) {
  return {conv::PolicyName(Policies::config)...};
}

// The tensors of one layout, and an operator for each tile.
template <TensorFormat Format, FilterFormat PackedFormat, TensorFormat DstFormat>
class Ours : public OurPeer {
 public:
  // `family`: the policies' names that the ready-made family has.
  Ours(const std::string& name, Epilogue epilogue, const std::vector<std::string>& family)
      : OurPeer(name) {
    const auto add_all = [this](auto... policies) { (Add<decltype(policies)>(), ...); };
    const auto add_with = [this](auto epilogue_of, auto... tiles) {
      (Add<typename decltype(epilogue_of)::template type<decltype(tiles)>>(), ...);
    };
    if (epilogue == Epilogue::kBiasRelu) {
      std::apply(add_all, AllTiles());
    } else if (epilogue == Epilogue::kResidual) {
      std::apply([&](auto... tiles) { add_with(Residuals(), tiles...); }, BasicTiles());
    } else {
      std::apply([&](auto... tiles) { add_with(HSwishes(), tiles...); }, BasicTiles());
    }
    for (TileInfo& tile : tiles_.tiles) {
      tile.in_family = std::find(family.begin(), family.end(), tile.policy) != family.end();
    }
  }

  absl::Status Prepare(const PeerProblem& problem, const PeerTensors& tensors,
                       const PeerOptions& options, Stream stream) override {
    options.about_to("converting tensors");
    problem_ = problem.problem;
    gamma_ = problem.gamma;
    tensors_ = tensors;
    for (Variant& v : variants_) {
      v.scope = {true, true, problem.relu, problem.residual, problem.hswish};
    }
    const auto convert = [&](const PeerTensors::Sets& from, const TensorExtents& e, auto format,
                             ConvertedSets* to) -> absl::Status {
      absl::StatusOr<ConvertedSets> made = ConvertSets<typename decltype(format)::type>(
          from, e, Element::kInt8, tensors.sets, stream);
      if (made.ok()) *to = *std::move(made);
      return made.status();
    };
    absl::Status s;
    if constexpr (!std::is_same_v<Format, NHWC>) {
      s = convert(tensors.src, problem_.src(), std::type_identity<Format>(), &src_);
    }
    if (s.ok() && problem.residual) {
      s = convert(tensors.residual, problem_.dst(), std::type_identity<DstFormat>(), &residual_);
    }
    if (!s.ok()) return s;
    absl::StatusOr<ConvertedSets> dst =
        MakeSets(DstFormat::Size(problem_.dst()), Element::kInt8, tensors.sets);
    if (!dst.ok()) return dst.status();
    dst_ = std::move(*dst);
    return PackFilters(stream);
  }

  absl::Status Build(int variant) override {
    absl::StatusOr<RunFunction> run = makers_[variant](problem_);
    if (!run.ok()) return run.status();
    runs_[variant] = *std::move(run);
    return absl::OkStatus();
  }

  void Release(int variant) override { runs_[variant] = nullptr; }

  absl::Status Enqueue(int variant, int set, Stream stream) override {
    return runs_[variant](*this, set, stream);
  }

  absl::Status Poison(int set, Stream stream) override {
    return CudaStatus(cudaMemsetAsync(dst_.at(set), 0xB5, DstFormat::Size(problem_.dst()), stream),
                      "poison");
  }

  absl::Status Output(int set, std::int8_t* dst, Stream stream) override {
    const TensorExtents e = problem_.dst();
    return Convert({dst_.at(set), dst, e, StridesOf<DstFormat>(e), StridesOf<NHWC>(e)},
                   Element::kInt8, Element::kInt8, stream);
  }

  Place Src(int set) const override { return {SrcAddress(set), kFormatName<Format>}; }
  Place Dst(int set) const override {
    return {static_cast<std::int8_t*>(dst_.at(set)), kFormatName<DstFormat>};
  }

 private:
  using RunFunction = std::function<absl::Status(const Ours&, int set, Stream)>;
  using Maker = absl::StatusOr<RunFunction> (*)(const conv::Problem&);

  struct Residuals {
    template <class Tile>
    using type = WithResidual<Tile>;
  };
  struct HSwishes {
    template <class Tile>
    using type = WithHSwish<Tile>;
  };

  template <class P>
  void Add() {
    if constexpr (std::is_same_v<typename P::SrcLayout, Format> &&
                  std::is_same_v<typename P::DstLayout, DstFormat>) {
      variants_.push_back({TileName<P>(), PeerScope()});
      facts_.push_back(conv::FactsOf<P>());
      tiles_.operator_name = conv::OperatorName<P>();
      tiles_.tiles.push_back({TileName<P>(), conv::PolicyName(P::config), false});
      makers_.push_back(&Make<P>);
      runs_.emplace_back();
    }
  }

  template <class P>
  static absl::StatusOr<RunFunction> Make(const conv::Problem& problem) {
    using Op = conv::Convolution<P>;
    const absl::StatusOr<Op> op = Op::Create(problem);
    if (!op.ok()) return op.status();
    return RunFunction([op = *op](const Ours& ours, int set, Stream stream) {
      typename Op::Arguments args;
      args.src = ours.SrcAddress(set);
      args.filter = ours.packed_->At(ours.filter_.template as<char>() + set * ours.filter_stride_);
      args.bias = ours.tensors_.bias;
      args.channel_alpha = ours.tensors_.channel_alpha;
      if constexpr (P::Epilogue::kHasResidual) {
        args.residual = static_cast<const std::int8_t*>(ours.residual_.at(set));
        args.gamma = ours.gamma_;
      }
      args.dst = static_cast<std::int8_t*>(ours.dst_.at(set));
      return op.Run(args, stream);
    });
  }

  std::int8_t* SrcAddress(int set) const {
    if constexpr (std::is_same_v<Format, NHWC>) {
      return const_cast<std::int8_t*>(tensors_.src.at(set));
    } else {
      return static_cast<std::int8_t*>(src_.at(set));
    }
  }

  // As a user would, on the host.
  absl::Status PackFilters(Stream stream) {
    const FilterExtents e = problem_.filter();
    std::vector<std::int8_t> krsc(KRSC::Size(e));
    absl::Status s = CudaStatus(cudaStreamSynchronize(stream), "filter");
    if (s.ok()) {
      s = CudaStatus(
          cudaMemcpy(krsc.data(), tensors_.filter.at(0), krsc.size(), cudaMemcpyDeviceToHost),
          "filter");
    }
    if (!s.ok()) return s;
    auto packed = PackFilter<PackedFormat, KRSC, std::int8_t>(e, krsc);
    if (!packed.ok()) return packed.status();
    packed_ = std::make_unique<Packed>(*std::move(packed));
    filter_stride_ = RoundUp(packed_->bytes(), 256);
    absl::StatusOr<DeviceBuffer> buffer = DeviceBuffer::Create(filter_stride_ * tensors_.sets);
    if (!buffer.ok()) return buffer.status();
    filter_ = *std::move(buffer);
    for (int set = 0; set < tensors_.sets && s.ok(); ++set) {
      // Later copies come from the first, on the GPU.
      const void* const from =
          set == 0 ? static_cast<const void*>(packed_->data()) : filter_.data();
      s = CudaStatus(cudaMemcpy(filter_.template as<char>() + set * filter_stride_, from,
                                packed_->bytes(), cudaMemcpyDefault),
                     "filter");
    }
    return s;
  }

  using Packed = PackedFilterBuffer<PackedFormat, std::int8_t>;
  conv::Problem problem_;
  float gamma_ = 1.0f;
  PeerTensors tensors_;
  ConvertedSets src_, dst_, residual_;
  std::unique_ptr<Packed> packed_;
  DeviceBuffer filter_;
  std::int64_t filter_stride_ = 0;
  std::vector<Maker> makers_;
  std::vector<RunFunction> runs_;
};

}  // namespace weft::perf::internal

#endif  // WEFT_HAVE_CUDA
