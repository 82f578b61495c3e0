// An activation of the user's own: six lines, no CUDA macro, with a run-time value; checked against
// the plain reference.
#include <cstdint>
#include <iostream>
#include <vector>

#include "tests/reference/reference.hpp"
#include "weft/conv/convolution.hpp"

struct SquaredRelu {
  float scale = 0.1f;
  constexpr float operator()(float x) const {  // Mul: one rounding on every back end
    return x > 0.0f ? weft::epilogues::Mul(scale, weft::epilogues::Mul(x, x)) : 0.0f;
  }
};

struct SquaredConv {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NCHW;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue =
      weft::epilogues::Chain<weft::epilogues::Scale, weft::epilogues::Bias<>, SquaredRelu,
                             weft::epilogues::OutputScale, weft::epilogues::ClampTo<std::int8_t>>;
  static constexpr auto config = weft::conv::WithDstAlignment(weft::conv::kSimt32x32, 1);
};

int main() {
  const weft::conv::Problem problem = weft::conv::SquareProblem(2, 10, 9, 7, 3, 1, 2);
  const auto op = weft::conv::Convolution<SquaredConv>::Create(problem);
  if (!op.ok()) return std::cerr << op.status() << "\n", 1;

  std::vector<std::int8_t> src(2 * 10 * 9 * 9), filter(7 * 10 * 3 * 3);
  for (std::size_t i = 0; i < src.size(); ++i) src[i] = static_cast<std::int8_t>(i * 37);
  for (std::size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<std::int8_t>(i * 101);
  const std::vector<float> bias = {-3.0f, -2.0f, -1.0f, 0.0f, 1.0f, 2.0f, 3.0f};

  const auto blocked = weft::ConvertTensor<weft::NCHW, weft::NCxHWx<4>>(problem.src(), src);
  const auto packed = weft::PackFilter<weft::CxRSKx<4>>(problem.filter(), filter);
  if (!blocked.ok()) return std::cerr << blocked.status() << "\n", 1;
  if (!packed.ok()) return std::cerr << packed.status() << "\n", 1;

  // Real values of a product of steps of source and filter, and of a step of the output.
  const float alpha = 0.0001f, sy = 0.1f;
  std::vector<std::int8_t> dst(op->dst_size());
  weft::conv::Convolution<SquaredConv>::Arguments args = {.src = blocked->data(),
                                                          .filter = packed->view(),
                                                          .bias = bias.data(),
                                                          .dst = dst.data(),
                                                          .alpha = alpha,
                                                          .output_scale = sy};
  args.epilogue.Get<SquaredRelu>().scale = 0.25f;
  if (const absl::Status s = op->RunOnCpu(args); !s.ok()) return std::cerr << s << "\n", 1;

  const auto squared = [](float x) {
    const float square = x * x;
    return x > 0.0f ? 0.25f * square : 0.0f;
  };
  const std::vector<std::int8_t> want = weft::reference::Convolve<std::int8_t>(
      problem, src.data(), filter.data(), {.alpha = alpha, .bias = bias.data(), .output_scale = sy},
      squared, weft::reference::kInt8);
  std::int64_t positive = 0, different = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    positive += dst[i] > 0;
    different += dst[i] != want[i];
  }
  std::cout << want.size() << " outputs, " << positive << " above zero, " << different
            << " differ from the reference\n";
  return different == 0 ? 0 : 1;
}
