// A functor of the source: pictures as cameras give them, uint8 values of red, green and blue, are
// normalised on their way into the first layer; checked against the plain reference.
#include <cstdint>
#include <iostream>
#include <vector>

#include "tests/reference/reference.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/conv/ready_made.hpp"

struct Normalise {
  using Source = std::uint8_t;
  float scale[4] = {1.0f, 1.0f, 1.0f, 1.0f};  // of each channel, and what is added behind it
  float offset[4] = {};
  constexpr std::int8_t operator()(std::uint8_t x, int c) const {
    const float t = weft::epilogues::Fma(scale[c], static_cast<float>(x), offset[c]);
    return weft::epilogues::ClampTo<std::int8_t>::Convert(t, weft::epilogues::StageInputs{});
  }
};
using FirstConv = weft::conv::WithSource<weft::conv::S8Conv4<>, Normalise>;  // scale, bias, ReLU

int main() {
  const weft::conv::Problem problem = weft::conv::SquareProblem(2, 3, 32, 8, 7, 3, 2);
  const auto op = weft::conv::Convolution<FirstConv>::Create(problem);
  if (!op.ok()) return std::cerr << op.status() << "\n", 1;

  std::vector<std::uint8_t> picture(2 * 3 * 32 * 32);
  std::vector<std::int8_t> filter(8 * 3 * 7 * 7);
  for (std::size_t i = 0; i < picture.size(); ++i) picture[i] = static_cast<std::uint8_t>(i * 37);
  for (std::size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<std::int8_t>(i * 101);
  const std::vector<float> bias(8, 5.0f);
  const auto blocked = weft::ConvertTensor<weft::NCHW, weft::NCxHWx<4>>(problem.src(), picture);
  const auto packed = weft::PackFilter<weft::CxRSKx<4>>(problem.filter(), filter);
  if (!blocked.ok()) return std::cerr << blocked.status() << "\n", 1;
  if (!packed.ok()) return std::cerr << packed.status() << "\n", 1;

  // (x / 255 - mean) / deviation, in steps of 0.02: what is around the picture stays 0.
  const Normalise normalise{{0.856f, 0.875f, 0.871f}, {-105.9f, -101.8f, -90.2f}};
  std::vector<std::int8_t> dst(op->dst_size());
  const absl::Status status = op->RunOnCpu({.src = blocked->data(),
                                            .filter = packed->view(),
                                            .bias = bias.data(),
                                            .dst = dst.data(),
                                            .alpha = 0.0005f,
                                            .source_functor = normalise});
  if (!status.ok()) return std::cerr << status << "\n", 1;

  std::vector<std::int8_t> src(picture.size());
  for (std::size_t i = 0; i < src.size(); ++i) src[i] = normalise(picture[i], i / 1024 % 3);
  const std::vector<std::int8_t> want = weft::reference::Convolve<std::int8_t>(
      problem, src.data(), filter.data(), {.alpha = 0.0005f, .bias = bias.data()},
      weft::reference::ReluActivation(), {-128, 127});
  const auto planar = weft::ConvertTensor<weft::NCxHWx<4>, weft::NCHW>(problem.dst(), dst).value();
  std::int64_t positive = 0, different = 0;
  for (std::size_t i = 0; i < want.size(); ++i) positive += want[i] > 0;
  for (std::size_t i = 0; i < want.size(); ++i) different += planar[i] != want[i];
  std::cout << want.size() << " outputs, " << positive << " above zero, " << different
            << " differ from the reference\n";
  return different == 0 ? 0 : 1;
}
