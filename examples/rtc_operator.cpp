// An operator that is made of a string while the program runs; checked against the plain reference. For a
// GPU NVRTC compiles it, for the CPU g++.
#include <cstdint>
#include <iostream>
#include <vector>

#include "examples/support/backend.hpp"
#include "tests/reference/reference.hpp"
#include "weft/gemm/buffer.hpp"
#include "weft/rtc/operator.hpp"

namespace {

using weft::Backend, weft::Buffer;

constexpr char kSource[] = R"(
struct SquaredRelu {
  float scale = 0.1f;
  constexpr float operator()(float x) const {
    return x > 0.0f ? weft::epilogues::Mul(scale, weft::epilogues::Mul(x, x)) : 0.0f;
  }
};
using Squared = weft::epilogues::BiasActivation<SquaredRelu>;
struct SquaredConv : weft::conv::S8Conv4<Squared, weft::NCHW> {
  static constexpr auto config = weft::conv::WithDstAlignment(weft::conv::kSimt32x32, 1);
};
)";

absl::Status Run(Backend backend) {
  const auto op = weft::rtc::Compile(
      kSource, {.back_end = backend == Backend::kCuda ? weft::rtc::BackEnd::kGpu
                                                      : weft::rtc::BackEnd::kCpu});
  if (!op.ok()) return op.status();
  const weft::conv::Problem problem = weft::conv::SquareProblem(2, 10, 9, 7, 3, 1, 2);
  const auto plan = op->Plan(problem);
  if (!plan.ok()) return plan.status();

  std::vector<std::int8_t> src(2 * 10 * 9 * 9), filter(7 * 10 * 3 * 3);
  for (std::size_t i = 0; i < src.size(); ++i) src[i] = static_cast<std::int8_t>(i * 37);
  for (std::size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<std::int8_t>(i * 101);
  const std::vector<float> bias = {-3.0f, -2.0f, -1.0f, 0.0f, 1.0f, 2.0f, 3.0f};
  const auto blocked = weft::ConvertTensor<weft::NCHW, weft::NCxHWx<4>>(problem.src(), src);
  if (!blocked.ok()) return blocked.status();
  const auto packed = weft::PackFilter<weft::CxRSKx<4>>(problem.filter(), filter);
  if (!packed.ok()) return packed.status();

  const auto src_memory = Buffer<std::int8_t>::CopyOf(*blocked, backend).value();
  const auto filter_memory = Buffer<std::int8_t>::CopyOf(*packed, backend).value();
  const auto bias_memory = Buffer<float>::CopyOf(bias, backend).value();
  const auto dst_memory = Buffer<std::int8_t>::Zeros(op->dst_bytes(*plan), backend).value();

  // The functor's member, by its name.
  weft::rtc::Values values = op->values();
  if (absl::Status s = values.Set("scale", 0.25); !s.ok()) return s;
  const float alpha = 0.0001f, sy = 0.1f;
  const weft::rtc::Arguments args = {
      .src = src_memory.data(),
      .filter = weft::rtc::FilterOf(packed->At(filter_memory.data())),
      .bias = bias_memory.data(),
      .dst = dst_memory.data(),
      .alpha = alpha,
      .output_scale = sy,
      .values = &values};
  const absl::Status status =
      backend == Backend::kCuda ? op->Run(*plan, args, nullptr) : op->RunOnCpu(*plan, args);
  if (!status.ok()) return status;

  const auto squared = [](float x) {
    const float square = x * x;
    return x > 0.0f ? 0.25f * square : 0.0f;
  };
  const std::vector<std::int8_t> want = weft::reference::Convolve<std::int8_t>(
      problem, src.data(), filter.data(), {.alpha = alpha, .bias = bias.data(), .output_scale = sy},
      squared, weft::reference::kInt8);
  const std::vector<std::int8_t> dst = dst_memory.Read().value();
  std::int64_t positive = 0, different = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    positive += dst[i] > 0;
    different += dst[i] != want[i];
  }
  std::cout << op->Describe(*plan) << "\non the " << (backend == Backend::kCuda ? "GPU: " : "CPU: ")
            << want.size() << " outputs, " << positive << " above zero, " << different
            << " differ from the reference\n";
  return different == 0 ? absl::OkStatus() : absl::InternalError("rtc_operator: wrong outputs");
}

}  // namespace

int main(int argc, char** argv) {
  const auto choice = examples::ChooseBackend(argc, argv);
  if (!choice.ok()) return std::cerr << choice.status() << "\n", 1;
  const absl::Status status = Run(choice->backend);
  if (!status.ok()) return std::cerr << status << "\n", 1;
  return 0;
}
