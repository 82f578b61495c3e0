// Random bad problems and arguments of CondConv, Deconvolution and DepthwisePointwise: each is
// refused with a sentence that names what is wrong, or is right and gives the reference's result.
#include "tests/conv/condconv/condconv_checks.hpp"
#include "tests/conv/deconvolution/deconvolution_problems.hpp"
#include "tests/conv/depthwise_pointwise/depthwise_pointwise_checks.hpp"
#include "tests/conv/launch/fuzz.hpp"
#include "tests/reference/deconvolution.hpp"
#include "weft/conv/deconvolution.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::conv {

inline std::string ToString(const DeconvolutionProblem& p) {
  return Text(p);
}

namespace {

using Simple = Nc4Prologue<PerSample, NCxHWx<4>>;

template <class T>
std::vector<T> Zeros(std::int64_t count) {
  return std::vector<T>(static_cast<std::size_t>(count));
}
template <class T>
OperatorMemory<T> ZeroMemory(std::int64_t count) {
  return OperatorMemory<T>(Zeros<T>(count));
}
OperatorMemory<std::int8_t> Pattern(std::int64_t count) {
  return OperatorMemory<std::int8_t>(
      std::vector<std::int8_t>(static_cast<std::size_t>(count), 0x77));
}

struct WithExperts : Problem {
  std::int64_t experts = 4;
};
WithExperts GoodMix() {
  return {SquareProblem(2, 8, 6, 12, 3, 1, 1)};
}

TEST(CondConvFuzz, Problems) {
  auto fields = ProblemFields<WithExperts>();
  fields.push_back({"experts", &WithExperts::experts});
  FuzzProblems(
      GoodMix(), fields, 3,
      [](const WithExperts& p) { return CondConv<Simple>::Create(p, p.experts); },
      [](const auto& op, const WithExperts& p) {
        if (!IsSmall(p)) return false;
        EXPECT_EQ(op.workspace_size() % p.n, 0);
        ExpectMixed<Simple>(p, {.experts = p.experts});
        return true;
      });
}

TEST(CondConvFuzz, Arguments) {
  using Op = CondConv<Simple>;
  using Args = Op::Arguments;
  const WithExperts p = GoodMix();
  const Op op = Op::Create(p, p.experts).value();
  const auto bank = [](const FilterExtents& e, std::int64_t count) {
    return PackFilters<prologues::Experts, CxRSKx<4>>(e, count,
                                                      Zeros<std::int8_t>(count * KCRS::Size(e)))
        .value();
  };
  const auto experts = bank(p.filter(), 4);
  const auto src = ZeroMemory<std::int8_t>(op.src_size());
  const auto floats = ZeroMemory<float>(64), scale = ZeroMemory<float>(4 * 12);
  const auto dst = Pattern(op.dst_size()), workspace = Pattern(op.workspace_size());
  Args good;
  good.src = src.get(), good.experts = experts.view(), good.routing = floats.get();
  good.workspace = workspace.get(), good.workspace_bytes = op.workspace_size();
  good.bias = floats.get(), good.dst = dst.get(), good.expert_scale = scale.get();
  ASSERT_TRUE(op.CheckArguments(good).ok()) << op.CheckArguments(good);

  fuzz::Breaks<Args> breaks(dst.get(), op.dst_bytes());
  breaks.Pointer("src", good, &Args::src, op.src_size(), 4);
  breaks.Pointer("dst", good, &Args::dst, 0, 4);
  breaks.Pointer("routing", good, &Args::routing, 4 * 2 * 4, 4);
  breaks.Pointer("expert_scale", good, &Args::expert_scale, 4 * 4 * 12, 4, /*required=*/false);
  breaks.Pointer("workspace", good, &Args::workspace, op.workspace_size(), 16);
  breaks.Add("workspace", [&](Args& a, std::mt19937& engine) {  // where something is read
    const void* const taken[] = {src.get(), floats.get(), scale.get(), experts.data()};
    a.workspace = const_cast<void*>(taken[engine() % 4]);
  });
  breaks.Add("workspace_bytes", [&](Args& a, std::mt19937& engine) {
    const std::int64_t wrong[] = {0, -1, op.workspace_size() - 1, INT64_MIN};
    a.workspace_bytes = wrong[engine() % 4];
  });
  breaks.Tensor("experts", experts.data(), experts.bytes(), 16, true,
                [&](Args& a, std::uintptr_t address) {
                  a.experts = experts.At(reinterpret_cast<const void*>(address));
                });
  const auto three = bank(p.filter(), 3), other = bank({12, 8, 3, 1}, 4),
             fewer = bank({8, 8, 3, 3}, 4);
  breaks.Add("experts", [&](Args& a, std::mt19937& engine) {
    a.experts = engine() % 3 == 0 ? three.view() : engine() % 2 == 0 ? other.view() : fewer.view();
  });
  AddEpilogue<Simple::Epilogue>(good, p.k, 0, 4, floats.get(), &breaks);
  fuzz::FuzzArguments(op, good, breaks, "conv: ", 13,
                      [&] { return std::pair(dst.Read(), workspace.Read()); });
}

std::vector<fuzz::Field<DeconvolutionProblem>> DeconvolutionFields() {
  using P = DeconvolutionProblem;
  std::vector<fuzz::Field<P>> fields = SharedFields<P>();
  fields.push_back({"output_pad_h", &P::output_pad_h});
  fields.push_back({"output_pad_w", &P::output_pad_w});
  return fields;
}
DeconvolutionProblem GoodPhases() {
  return SquareDeconvolution(2, 8, 5, 12, 3, 1, 2, 1);
}

// Accepted ones are run, and compared with the reference.
template <class P>
void FuzzDeconvolution(std::uint32_t seed, int runs) {
  using Op = Deconvolution<P>;
  FuzzProblems(
      GoodPhases(), DeconvolutionFields(), seed,
      [](const DeconvolutionProblem& p) { return Op::Create(p); },
      [](const Op& op, const DeconvolutionProblem& p) {
        if (p.IsEmpty() || p.macs() > 2e5 || op.src_size() + op.dst_size() > 100000) return false;
        if constexpr (!P::Epilogue::kSourceZeroPoint) {
          RandomTensors t(Problem{.n = p.n, .h = p.p(), .w = p.q(), .c = p.k, .k = p.k}, 5);
          const auto src = t.Bytes(NCHW::Size(p.src())), filter = t.Bytes(p.c * p.k * p.r * p.s);
          const auto packed = PackDeconvolutionFilter<CxRSKx<4>>(p, filter).value();
          const OperatorMemory<std::int8_t> memory(
              *ConvertTensor<NCHW, NCxHWx<4>, std::int8_t>(p.src(), src));
          const Results<typename P::Epilogue, typename P::DstLayout> results(
              Problem{.n = p.n, .h = p.p(), .w = p.q(), .c = p.k, .k = p.k}, t, {});
          typename Op::Arguments args;
          results.Fill(&args);
          args.src = memory.get(), args.filter = packed.view();
          const absl::Status status = op.RunOnCpu(args);
          EXPECT_TRUE(status.ok()) << status;
          results.ExpectEqual(reference::Deconvolve<std::int8_t>(
              p, src.data(), filter.data(), results.data(), reference::ReluActivation{},
              FullRange<std::int8_t>()));
        }
        return true;
      },
      5000, runs);
}
using Phases = Nc4Prologue<prologues::PerPhase, NCxHWx<4>>;
using ZeroPhases = Transposed<U8Conv4<epilogues::QLinear<>, NCxHWx<4>, Tile32x32>>;

TEST(DeconvolutionFuzz, Problems) {
  FuzzDeconvolution<Phases>(5, 10);
}
TEST(DeconvolutionFuzz, ProblemsWithZeroPoints) {
  FuzzDeconvolution<ZeroPhases>(6, 0);
}

TEST(DeconvolutionFuzz, Arguments) {
  using Op = Deconvolution<ZeroPhases>;
  using Args = Op::Arguments;
  const DeconvolutionProblem p = GoodPhases();
  const Op op = Op::Create(p).value();
  const auto pack = [](const DeconvolutionProblem& d) {
    return PackDeconvolutionFilter<CxRSKx<4>>(d, Zeros<std::int8_t>(d.c * d.k * d.r * d.s)).value();
  };
  const auto filter = pack(p);
  const auto table = MakeSourceCorrection(p, filter, 3).value();
  const auto src = ZeroMemory<std::uint8_t>(op.src_size());
  const auto bias = ZeroMemory<std::int32_t>(12);
  const auto alphas = ZeroMemory<float>(12);
  const OperatorMemory<std::uint8_t> dst(
      std::vector<std::uint8_t>(static_cast<std::size_t>(op.dst_size()), 0x77));
  Args good;
  good.src = src.get(), good.filter = filter.view(), good.bias = bias.get();
  good.source_correction = table.view(), good.dst = dst.get();
  ASSERT_TRUE(op.CheckArguments(good).ok()) << op.CheckArguments(good);

  fuzz::Breaks<Args> breaks(dst.get(), op.dst_bytes());
  breaks.Pointer("src", good, &Args::src, op.src_size(), 4);
  breaks.Pointer("dst", good, &Args::dst, 0, 4);
  breaks.Tensor("filter", filter.data(), filter.bytes(), 16, true,
                [&](Args& a, std::uintptr_t address) {
                  a.filter = filter.At(reinterpret_cast<const void*>(address));
                });
  DeconvolutionProblem stride = p, wider = p, more = p;
  stride.stride_w = 3, wider.s = 5, more.k = 16;
  const auto third = pack(stride), fifth = pack(wider), sixteen = pack(more);
  breaks.Add("filter", [&](Args& a, std::mt19937& engine) {
    a.filter = (engine() % 3 == 0 ? third : engine() % 2 == 0 ? fifth : sixteen).view();
  });
  breaks.Tensor("source_correction", table.data(), table.bytes(), 4, true,
                [&](Args& a, std::uintptr_t address) {
                  a.source_correction = table.At(reinterpret_cast<const void*>(address));
                });
  const auto of_stride = MakeSourceCorrection(stride, third, 3).value();
  const auto negative = MakeSourceCorrection(p, filter, -1).value();
  breaks.Add("source_correction", [&](Args& a, std::mt19937& engine) {
    a.source_correction = (engine() % 2 == 0 ? of_stride : negative).view();
  });
  breaks.Unread("filter_zero_point", &Args::filter_zero_point);
  breaks.Unread("window_sums", &Args::window_sums);
  AddEpilogue<ZeroPhases::Epilogue>(good, p.k, 0, 4, alphas.get(), &breaks);
  fuzz::FuzzArguments(op, good, breaks, "conv: ", 17, [&] { return dst.Read(); });
}

struct WithPointwise : Problem {
  std::int64_t pointwise_k = 24;
  bool IsEmpty() const { return DepthwisePointwiseProblem{*this, pointwise_k}.IsEmpty(); }
};
WithPointwise GoodHalves() {
  WithPointwise p{SquareProblem(2, 8, 6, 8, 3, 1, 1)};
  p.groups = 8;
  return p;
}

TEST(DepthwisePointwiseFuzz, Problems) {
  auto fields = ProblemFields<WithPointwise>();
  fields.push_back({"pointwise_k", &WithPointwise::pointwise_k});
  FuzzProblems(
      GoodHalves(), fields, 9,
      [](const WithPointwise& p) { return DepthwisePointwise<Fused32>::Create(p, p.pointwise_k); },
      [](const auto&, const WithPointwise& p) {
        Problem whole = p;
        whole.k = p.pointwise_k;
        if (!IsSmall(p) || p.n * p.p() * p.q() * p.k * p.pointwise_k > 1000000) return false;
        ExpectFused<Fused32>(whole, {.multiplier = p.k / p.c, .run = {}});
        return true;
      });
}

TEST(DepthwisePointwiseFuzz, Arguments) {
  using Op = DepthwisePointwise<Fused32>;
  using Args = Op::Arguments;
  const WithPointwise p = GoodHalves();
  const Op op = Op::Create(p, p.pointwise_k).value();
  const auto taps = [](std::int64_t k, std::int64_t rs) {
    return PackDepthwiseFilter({k, 1, rs, rs}, Zeros<std::int8_t>(k * rs * rs)).value();
  };
  const auto pack = [](std::int64_t k, std::int64_t c) {
    return PackFilter<CxRSKx<32>>({k, c, 1, 1}, Zeros<std::int8_t>(k * c)).value();
  };
  const auto depthwise = taps(8, 3), other_taps = taps(8, 5), more_taps = taps(16, 3);
  const auto filter = pack(24, 8), other = pack(24, 40), more = pack(32, 8);
  const auto src = ZeroMemory<std::int8_t>(op.src_size());
  const auto residual = ZeroMemory<std::int8_t>(op.dst_size());
  const auto bias = ZeroMemory<float>(64);
  const auto dst = Pattern(op.dst_size());
  Args good;
  good.src = src.get(), good.dst = dst.get(), good.bias = bias.get();
  good.residual = residual.get(), good.filter = filter.view();
  good.depthwise.filter = depthwise.view(), good.depthwise.bias = bias.get();
  ASSERT_TRUE(op.CheckArguments(good).ok()) << op.CheckArguments(good);

  fuzz::Breaks<Args> breaks(dst.get(), op.dst_size());
  breaks.Pointer("src", good, &Args::src, op.src_size(), 4);
  breaks.Pointer("dst", good, &Args::dst, 0, 8);
  const auto at = [](const auto& buffer, std::uintptr_t address) {
    return buffer.At(reinterpret_cast<const void*>(address));
  };
  breaks.Tensor("filter", filter.data(), filter.bytes(), 16, true,
                [&](Args& a, std::uintptr_t address) { a.filter = at(filter, address); });
  breaks.Tensor(
      "depthwise.filter", depthwise.data(), depthwise.bytes(), 16, true,
      [&](Args& a, std::uintptr_t address) { a.depthwise.filter = at(depthwise, address); });
  breaks.Add("filter", [&](Args& a, std::mt19937& engine) {
    a.filter = (engine() % 2 == 0 ? other : more).view();
  });
  breaks.Add("depthwise.filter", [&](Args& a, std::mt19937& engine) {
    a.depthwise.filter = (engine() % 2 == 0 ? other_taps : more_taps).view();
  });
  breaks.Add("bias", [&](Args& a, std::mt19937& engine) {  // of the first half
    a.depthwise.bias = engine() % 2 == 0
                           ? nullptr
                           : reinterpret_cast<const float*>(dst.get() + 64 * (engine() % 8));
  });
  const SourceCorrectionBuffer table =
      SourceCorrectionBuffer::Make(p, Zeros<std::int32_t>(8 * 9), 3).value();
  breaks.Add("source_correction",
             [&](Args& a, std::mt19937&) { a.depthwise.source_correction = table.view(); });
  breaks.Add("filter_zero_point",
             [&](Args& a, std::mt19937&) { a.depthwise.filter_zero_point = table.data(); });
  AddEpilogue<Fused32::Epilogue>(good, p.pointwise_k, op.dst_size(), 4, bias.get(), &breaks);
  fuzz::FuzzArguments(op, good, breaks, "conv: ", 19, [&] { return dst.Read(); });
}

}  // namespace
}  // namespace weft::conv
