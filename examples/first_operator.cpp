// The smallest complete program: an int8 convolution with bias and HSwish, its result reformatted
// from channel blocks of 4 to channel blocks of 32 on the way out.
#include <cstdint>
#include <iostream>
#include <vector>

#include "weft/conv/convolution.hpp"

struct MyConv {
  using Element = std::int8_t;
  using SrcLayout = weft::NCxHWx<4>;
  using FilterLayout = weft::CxRSKx<4>;
  using DstLayout = weft::NCxHWx<32>;
  using Prologue = weft::prologues::SharedFilter;
  using Epilogue = weft::epilogues::BiasHSwish<>;
  static constexpr auto config = weft::conv::kSimt64x64;
};

int main() {
  // 1 image of 16 channels, 12 x 12 pixels; 32 output channels, 3 x 3 filter, padding 1, stride 1.
  const weft::conv::Problem problem = weft::conv::SquareProblem(1, 16, 12, 32, 3, 1, 1);
  const auto op = weft::conv::Convolution<MyConv>::Create(problem);
  if (!op.ok()) return std::cerr << op.status() << "\n", 1;

  std::vector<std::int8_t> filter(32 * 16 * 3 * 3, 1);  // in PyTorch's order, K x C x R x S
  const auto packed = weft::PackFilter<weft::CxRSKx<4>>(problem.filter(), filter);
  if (!packed.ok()) return std::cerr << packed.status() << "\n", 1;

  std::vector<std::int8_t> src(op->src_size(), 3), dst(op->dst_size());
  std::vector<float> bias(32, 0.5f);
  // What a step of the source, of the filter and of the output is in real numbers.
  const float sx = 0.05f, sw = 0.1f, sy = 0.05f;
  const absl::Status status = op->RunOnCpu({.src = src.data(),
                                            .filter = packed->view(),
                                            .bias = bias.data(),
                                            .dst = dst.data(),
                                            .alpha = sx * sw,
                                            .output_scale = sy});
  if (!status.ok()) return std::cerr << status << "\n", 1;

  // Inside, hswish(16 channels * 9 taps * 3 * 0.005 + 0.5) is 2.51, 50 steps of 0.05; fewer taps meet
  // the picture at its border.
  std::cout << op->Describe() << "\n"
            << "corner " << +dst[0] << ", border " << +dst[32] << ", inside " << +dst[13 * 32]
            << "\n";
}
