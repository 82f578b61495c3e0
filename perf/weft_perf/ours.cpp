#include "perf/weft_perf/ours.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "perf/weft_perf/tiles.hpp"

#if WEFT_HAVE_CUDA
#include "perf/peers/convert.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/layouts/packing.hpp"
#endif

namespace weft::perf {

const std::vector<std::string>& OurLayouts() {
  static const std::vector<std::string> names = {"nc32", "nhwc"};
  return names;
}

absl::Status CheckLayout(const std::string& name) {
  const std::vector<std::string>& names = OurLayouts();
  if (std::find(names.begin(), names.end(), name) != names.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("layout '", name, "' does not exist; there are ", absl::StrJoin(names, ", ")));
}

#if WEFT_HAVE_CUDA
namespace {

using AllTiles = decltype(std::tuple_cat(FewTiles(), MoreTiles()));

template <class P>
std::string TileName() {
  const conv::Config& c = P::config;
  const std::string tile = absl::StrCat(c.threadblock.m, "x", c.threadblock.n, "x", c.threadblock.k,
                                        "_", c.warp.m, "x", c.warp.n, "_s", c.stages);
  return c.alignment.src == 16 ? absl::StrCat("mma_", tile)
                               : absl::StrCat("mma_", tile, "_a", c.alignment.src);
}

// The tensors of one layout, and an operator for each tile.
template <TensorFormat Format, FilterFormat PackedFormat>
class Ours : public OurPeer {
 public:
  explicit Ours(const std::string& name) : OurPeer(name) {
    std::apply([this](auto... policies) { (Add<decltype(policies)>(), ...); }, AllTiles());
  }

  absl::Status Prepare(const PeerProblem& problem, const PeerTensors& tensors,
                       const PeerOptions& options, Stream stream) override {
    if (!problem.relu || problem.residual) {
      return absl::UnimplementedError("this program has operators with ReLU and no residual only");
    }
    options.about_to("converting tensors");
    problem_ = problem.problem;
    tensors_ = tensors;
    if constexpr (!kNhwc) {
      absl::StatusOr<ConvertedSets> src =
          ConvertSets<Format>(tensors.src, problem_.src(), Element::kInt8, tensors.sets, stream);
      if (!src.ok()) return src.status();
      src_ = std::move(*src);
    }
    absl::StatusOr<ConvertedSets> dst =
        MakeSets(Format::Size(problem_.dst()), Element::kInt8, tensors.sets);
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
    return CudaStatus(cudaMemsetAsync(dst_.at(set), 0xB5, Format::Size(problem_.dst()), stream),
                      "poison");
  }

  absl::Status Output(int set, std::int8_t* dst, Stream stream) override {
    const TensorExtents e = problem_.dst();
    return Convert({dst_.at(set), dst, e, StridesOf<Format>(e), StridesOf<NHWC>(e)}, Element::kInt8,
                   Element::kInt8, stream);
  }

 private:
  static constexpr bool kNhwc = std::is_same_v<Format, NHWC>;
  using RunFunction = std::function<absl::Status(const Ours&, int set, Stream)>;
  using Maker = absl::StatusOr<RunFunction> (*)(const conv::Problem&);

  template <class P>
  void Add() {
    if constexpr (std::is_same_v<typename P::SrcLayout, Format>) {
      variants_.push_back({TileName<P>(), PeerScope()});
      facts_.push_back(conv::FactsOf<P>());
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
      if constexpr (kNhwc) {
        args.src = ours.tensors_.src.at(set);
      } else {
        args.src = static_cast<const std::int8_t*>(ours.src_.at(set));
      }
      args.filter = ours.packed_->At(ours.filter_.as<char>() + set * ours.filter_stride_);
      args.bias = ours.tensors_.bias;
      args.channel_alpha = ours.tensors_.channel_alpha;
      args.dst = static_cast<std::int8_t*>(ours.dst_.at(set));
      return op.Run(args, stream);
    });
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
      s = CudaStatus(cudaMemcpy(filter_.as<char>() + set * filter_stride_, from, packed_->bytes(),
                                cudaMemcpyDefault),
                     "filter");
    }
    return s;
  }

  using Packed = PackedFilterBuffer<PackedFormat, std::int8_t>;
  conv::Problem problem_;
  PeerTensors tensors_;
  ConvertedSets src_, dst_;
  std::unique_ptr<Packed> packed_;
  DeviceBuffer filter_;
  std::int64_t filter_stride_ = 0;
  std::vector<Maker> makers_;
  std::vector<RunFunction> runs_;
};

}  // namespace

std::unique_ptr<OurPeer> MakeOurs(const std::string& layout) {
  if (layout == "nhwc") return std::make_unique<Ours<NHWC, KRSC>>(layout);
  return std::make_unique<Ours<NCxHWx<32>, CxRSKx<32>>>(layout);
}

#else

std::unique_ptr<OurPeer> MakeOurs(const std::string&) {
  return nullptr;
}

#endif  // WEFT_HAVE_CUDA

}  // namespace weft::perf
