// Functors of the source: what comes out must be the convolution of a source that they have converted
// before, whose padding is zeros.
#pragma once

#include "tests/conv/harness.hpp"
#include "weft/conv/dispatch.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {

// Named: the GPU code of a policy without linkage cannot be found.
struct Centre {
  using Source = std::uint8_t;
  constexpr std::int8_t operator()(std::uint8_t x, int) const {
    return static_cast<std::int8_t>(x - 128);
  }
};

// Dequantises each channel with its own scale, adds its own offset, and requantises.
struct Requantise {
  using Source = std::int8_t;
  const float* scale = nullptr;
  const float* offset = nullptr;
  constexpr std::int8_t operator()(std::int8_t x, int c) const {
    const float t = epilogues::Fma(scale == nullptr ? 1.0f : scale[c], static_cast<float>(x),
                                   offset == nullptr ? 0.0f : offset[c]);
    return epilogues::ClampTo<std::int8_t>::Convert(t, epilogues::StageInputs{});
  }
};

template <class P>
struct Nc64Int4 : P {
  using SrcLayout = PairedInt4<NCxHWx<64>>;
};
template <class P>
struct OfGroups : P {
  using Prologue = prologues::Grouped;
};

namespace {

using E = epilogues::BiasRelu<>;

template <class P>
void RunSource() {
  using Functor = SourceFunctorOf<P>;
  using Source = typename Functor::Source;
  std::mt19937 engine(3);
  for (int i = 0; i < 8; ++i) {
    Problem problem = RandomProblem(engine);
    if (i == 0) problem = SquareProblem(2, 70, 6, 20, 1, 0, 2);  // a matrix, but for its padding
    if (P::SrcLayout::kChannelRun == 0) problem.c = RoundUp(problem.c, P::config.alignment.src);
    if (P::DstLayout::kChannelRun == 0) problem.k = RoundUp(problem.k, 16);
    if (P::Prologue::kDepends.group) problem.groups = 2, problem.c = 128, problem.k = 8;
    RunOptions options{.seed = static_cast<std::uint32_t>(engine())};
    SCOPED_TRACE(absl::StrCat(ToString(problem), " seed ", options.seed));
    const auto op = Convolution<P>::Create(problem);
    ASSERT_TRUE(op.ok()) << op.status();
    using Layout = typename P::FilterLayout;
    const PrologueBank<typename P::Prologue> bank(problem, options.seed);
    RandomTensors tensors(problem, options.seed, bank.filters, 8,
                          kIsInt4<typename P::SrcLayout> ? 4 : 8);
    const auto packed =
        PackBank<typename P::Prologue, Layout>(problem, bank.filters, tensors.filter);
    const OperatorMemory<std::int8_t> filter({packed.data(), packed.data() + packed.size()});
    const std::vector<Source> raw(tensors.src.begin(), tensors.src.end());
    const OperatorMemory<Source> src(
        ConvertTensor<NCHW, typename P::SrcLayout, Source>(problem.src(), raw).value());

    typename Convolution<P>::Arguments args;
    Functor here;
    std::vector<float> scales, offsets;
    for (std::int64_t c = 0; c < problem.c; ++c) {
      scales.push_back(0.5f + 0.01f * static_cast<float>(c));
      offsets.push_back(static_cast<float>(c % 7) - 20.0f);
    }
    const OperatorMemory<float> scale(scales), offset(offsets);
    if constexpr (std::is_same_v<Functor, Requantise>) {
      here = {scales.data(), offsets.data()};
      args.source_functor = {scale.get(), offset.get()};
    }
    const std::int64_t plane = problem.h * problem.w;
    for (std::size_t j = 0; j < raw.size(); ++j) {
      tensors.src[j] = here(raw[j], static_cast<int>(j / plane % problem.c));
    }
    const Results<E, typename P::DstLayout> results(problem, tensors, options);
    results.Fill(&args);
    args.src = src.get();
    args.filter = packed.At(filter.get());
    const absl::Status status = RunHere(*op, args, options);
    ASSERT_TRUE(status.ok()) << status;
    results.ExpectEqual(bank.which, reference::ReluActivation(), FullRange<std::int8_t>());
    if (testing::Test::HasFailure()) return;
  }
}

TEST(SourceFunctor, Simt) {
  RunSource<WithSource<S8Conv4<E, NCxHWx<32>, Tile32x32>, Centre>>();
  RunSource<WithSource<S8Conv4<E, NHWC, Tile64x64>, Requantise>>();
}

TEST(SourceFunctor, MmaSm75) {
  RunSource<WithSource<S8Conv32<E, NCxHWx<32>, MmaSm75Tile64x32>, Centre>>();
}

TEST(SourceFunctor, MmaSm80) {
  RunSource<WithSource<S8Conv32<E, NCxHWx<32>, Mma64x32>, Requantise>>();
  RunSource<OfGroups<WithSource<S8Conv32<E, NCxHWx<4>, Mma64x64>, Requantise>>>();
  RunSource<OfGroups<Nc64Int4<WithSource<S8Conv32<E, NCxHWx<4>, Mma64x64>, Requantise>>>>();
  RunSource<WithSource<S8ConvNhwc<E, NHWC, Mma64x64>, Requantise>>();
  RunSource<WithSource<S8ConvNhwc<E, NHWC, Mma64x64, 4>, Centre>>();
}

TEST(SourceFunctor, DispatchPassesOverWgmma) {
  using Wgmma = WithSource<S8Conv32<E, NCxHWx<32>, Wgmma64x64>, Centre>;
  using Mma = WithSource<S8Conv32<E, NCxHWx<32>, Mma64x32>, Centre>;
  const Problem problem = SquareProblem(1, 32, 5, 32, 3, 1, 1);
  EXPECT_EQ(
      Convolution<Wgmma>::Create(problem).status().message(),
      "conv: the policy has a SourceFunctor, but the copy engine that wgmma_sm90 reads through "
      "brings the source as it is; take a config of mma_sm80 (kMma...) or simt");
  const auto op = Dispatch<Family<Wgmma, Mma>>::Create(problem);
  ASSERT_TRUE(op.ok()) << op.status();
  EXPECT_NE(op->Describe().find("mma_sm80"), std::string::npos) << op->Describe();
}

}  // namespace
}  // namespace weft::conv
