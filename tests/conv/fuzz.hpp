// Bad problems and arguments of convolutions (tests/fuzz.hpp).
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "tests/conv/harness.hpp"
#include "tests/fuzz.hpp"

namespace weft::conv {

// Of a Problem or a DeconvolutionProblem, or of what has one as its base.
template <class P>
std::vector<fuzz::Field<P>> SharedFields() {
  return {{"n", &P::n},
          {"h", &P::h},
          {"w", &P::w},
          {"c", &P::c},
          {"k", &P::k},
          {"r", &P::r},
          {"s", &P::s},
          {"pad_top", &P::pad_top},
          {"pad_left", &P::pad_left},
          {"pad_bottom", &P::pad_bottom},
          {"pad_right", &P::pad_right},
          {"stride_h", &P::stride_h},
          {"stride_w", &P::stride_w},
          {"dilation_h", &P::dilation_h},
          {"dilation_w", &P::dilation_w}};
}
template <class P = Problem>
std::vector<fuzz::Field<P>> ProblemFields() {
  std::vector<fuzz::Field<P>> fields = SharedFields<P>();
  fields.push_back({"groups", &P::groups});
  return fields;
}

// Whether tests can run it.
inline bool IsSmall(const Problem& p) {
  return !p.IsEmpty() && p.macs() < 2e5 && p.n * p.c * p.h * p.w < 100000 &&
         p.n * p.k * p.p() * p.q() < 100000 &&
         p.filter().k * p.filter().c * p.r * p.s * std::max(p.n, p.p() * p.q()) < 1000000;
}

// What an operator says of itself.
struct Created {
  std::int64_t src_size, dst_size;
  std::string description;
};

// `count` bad problems made of `good`. create(p): what Create says of p; run(p) is called for
// those of the accepted ones that are small, at most `runs` times.
template <class P>
void FuzzProblemsOfAny(const P& good, const std::vector<fuzz::Field<P>>& fields, std::uint32_t seed,
                       const std::function<absl::StatusOr<Created>(const P&)>& create,
                       const std::function<bool(const P&)>& run, int count, int runs) {
  std::mt19937 engine(seed);
  int refused = 0, ran = 0;
  for (int i = 0; i < count; ++i) {
    P p = good;
    const std::vector<std::string> changed = fuzz::Spoil(engine, fields, &p);
    SCOPED_TRACE(absl::StrCat("problem ", i, " of seed ", seed, ": changed ",
                              absl::StrJoin(changed, ", "), ": ", ToString(p)));
    const absl::StatusOr<Created> op = create(p);
    if (!op.ok()) {
      ++refused;
      fuzz::ExpectRefusal(op.status(), "conv: ", p, fields, changed);
    } else {
      EXPECT_GE(op->src_size, 0);
      EXPECT_EQ(op->dst_size == 0, p.IsEmpty());
      EXPECT_FALSE(op->description.empty());
      if (ran < runs && run(p)) ++ran;
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(refused, count / 3);
  EXPECT_LT(refused, count);
  EXPECT_EQ(ran, runs);
}

// The same of operators, which run(op, p) gets.
template <class P, class Create, class Run>
void FuzzProblems(const P& good, const std::vector<fuzz::Field<P>>& fields, std::uint32_t seed,
                  const Create& create, const Run& run, int count = 5000, int runs = 10) {
  std::optional<decltype(create(good))> op;
  FuzzProblemsOfAny<P>(
      good, fields, seed,
      [&](const P& p) -> absl::StatusOr<Created> {
        op.emplace(create(p));
        if (!op->ok()) return op->status();
        return Created{(*op)->src_size(), (*op)->dst_size(), (*op)->Describe()};
      },
      [&](const P& p) { return run(**op, p); }, count, runs);
}

// What can be wrong with the numbers and with the bias, the residual and channel_alpha.
template <class Epilogue, class Args>
void AddEpilogue(const Args& good, std::int64_t k, std::int64_t residual_bytes,
                 int residual_alignment, const float* channel_values, fuzz::Breaks<Args>* breaks) {
  using Bias = std::remove_cvref_t<decltype(*good.bias)>;
  if constexpr (Epilogue::kHasBias) {
    breaks->Pointer("bias", good, &Args::bias, k * std::int64_t{sizeof(Bias)}, alignof(Bias));
  } else {
    breaks->Unread("bias", &Args::bias);
  }
  if constexpr (Epilogue::kHasResidual) {
    breaks->Pointer("residual", good, &Args::residual, residual_bytes, residual_alignment);
  } else {
    breaks->Unread("residual", &Args::residual);
  }
  if constexpr (Epilogue::kHasScale) {
    // Its address is what is wrong, or that alpha is given too.
    Args with = good;
    with.channel_alpha = channel_values;
    breaks->Pointer("channel_alpha", with, &Args::channel_alpha, 4 * k, 4, /*required=*/false);
    breaks->Add("channel_alpha", [=](Args& a, std::mt19937&) {
      a.channel_alpha = channel_values;
      a.alpha = 0.75f;
    });
  } else {
    breaks->Unread("channel_alpha", &Args::channel_alpha);
  }
  breaks->Number("alpha", &Args::alpha, Epilogue::kHasScale);
  breaks->Number("beta", &Args::beta, Epilogue::kHasBias && !Epilogue::kBiasInSum);
  breaks->Number("gamma", &Args::gamma, Epilogue::kHasResidual);
  breaks->Number("output_scale", &Args::output_scale, Epilogue::kHasOutputScale);
  breaks->Number("zero_point", &Args::zero_point, Epilogue::OutputStage::kAddsZeroPoint);
  if constexpr (Epilogue::OutputStage::kAddsZeroPoint) {
    breaks->Add("zero_point", [](Args& a, std::mt19937& engine) {
      constexpr float kNone[] = {0.5f, -300.0f, 127.25f, 256.0f};
      a.zero_point = kNone[engine() % 4];
    });
  }
}

// Banks that belong to other problems: of other extents, or of another number of filters.
template <class P>
auto OtherBanks(const Problem& good, std::int64_t filters) {
  using Prologue = typename P::Prologue;
  std::vector<Problem> problems(3, good);
  problems[0].r += 1, problems[1].k += good.groups * 4;
  problems[2].s += 2;
  if (CheckedPolicy<P>::kDepthwise) problems[1].k = 2 * good.k;
  std::vector<decltype(PackBank<Prologue, typename P::FilterLayout>(good, filters, {}))> banks;
  for (const Problem& p : problems) {
    banks.push_back(PackBank<Prologue, typename P::FilterLayout>(
        p, filters, std::vector<std::int8_t>(filters * KCRS::Size(p.filter()))));
  }
  if (!CheckedPolicy<P>::kDepthwise) {
    if (PrologueBank<Prologue>(good, 1).filters > 1) {
      banks.push_back(PackBank<Prologue, typename P::FilterLayout>(
          good, filters + 1, std::vector<std::int8_t>((filters + 1) * KCRS::Size(good.filter()))));
    }
  }
  return banks;
}

// Of a convolution without zero points.
template <class P, bool kRuns = true>
void FuzzConvolutionArguments(const Problem& problem, std::uint32_t seed) {
  using Op = Convolution<P>;
  using Args = typename Op::Arguments;
  using Epilogue = typename P::Epilogue;
  const Op op = Op::Create(problem).value();
  const Inputs<typename P::SrcLayout, typename P::FilterLayout, typename P::Prologue> inputs(
      problem, seed);
  const Results<Epilogue, typename P::DstLayout> results(problem, inputs.tensors,
                                                         {.per_tensor_alpha = true, .alpha = 1.0f});
  Args good;
  inputs.Fill(&good);
  results.Fill(&good);
  ASSERT_TRUE(op.CheckArguments(good).ok()) << op.CheckArguments(good);
  fuzz::Breaks<Args> breaks(good.dst, op.dst_bytes());
  breaks.Pointer("src", good, &Args::src, op.src_bytes(), P::config.alignment.src);
  breaks.Pointer("dst", good, &Args::dst, 0, P::config.alignment.dst);
  const auto& packed = inputs.packed;
  breaks.Tensor("filter", packed.data(), packed.bytes(), 16, true,
                [&packed](Args& a, std::uintptr_t address) {
                  a.filter = packed.At(reinterpret_cast<const void*>(address));
                });
  const auto others = OtherBanks<P>(problem, inputs.bank.filters);
  breaks.Add("filter", [&others](Args& a, std::mt19937& engine) {
    a.filter = others[engine() % others.size()].view();
  });
  AddEpilogue<Epilogue>(good, problem.k, op.dst_bytes(),
                        CheckedPolicy<P>::kWgmma ? std::max(4, P::config.alignment.dst) : 4,
                        inputs.tensors.channel_alpha.data(), &breaks);
  const SourceCorrectionBuffer table =
      SourceCorrectionBuffer::Make(problem,
                                   std::vector<std::int32_t>(problem.k * problem.r * problem.s), 3)
          .value();
  breaks.Add("source_correction",
             [&table](Args& a, std::mt19937&) { a.source_correction = table.view(); });
  breaks.Unread("filter_zero_point", &Args::filter_zero_point);
  breaks.Unread("window_sums", &Args::window_sums);
  const auto read = [&] { return results.Read(); };
  if constexpr (kRuns) {
    fuzz::FuzzArguments(op, good, breaks, "conv: ", seed, read);
  } else {
    fuzz::FuzzArguments(fuzz::ChecksAlone<Op>{op}, good, breaks, "conv: ", seed, read);
  }
}

}  // namespace weft::conv
