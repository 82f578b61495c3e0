// A transposed convolution that doubles rows and columns, as a generator's layer does. Runs on the GPU,
// or on the CPU where there is none or with --backend=cpu; checked against the reference.
#include <cstdint>
#include <iostream>
#include <vector>

#include "examples/support/backend.hpp"
#include "tests/reference/deconvolution.hpp"
#include "weft/conv/deconvolution.hpp"
#include "weft/conv/ready_made.hpp"
#include "weft/gemm/buffer.hpp"

using weft::Backend;
using weft::Buffer;
using Op = weft::conv::Deconvolution<weft::conv::S8Deconv4<>>;

absl::Status Run(Backend backend) {
  weft::conv::DeconvolutionProblem problem = {
      .n = 3, .h = 7, .w = 7, .c = 20, .k = 4, .r = 4, .s = 4};
  problem.stride_h = problem.stride_w = 2;
  problem.pad_top = problem.pad_left = problem.pad_bottom = problem.pad_right = 1;
  const absl::StatusOr<Op> op = Op::Create(problem);
  if (!op.ok()) return op.status();

  std::vector<std::int8_t> planar(3 * 20 * 7 * 7), filter(20 * 4 * 4 * 4);  // [c][k][r][s]
  for (std::size_t i = 0; i < planar.size(); ++i) planar[i] = static_cast<std::int8_t>(i * 37);
  for (std::size_t i = 0; i < filter.size(); ++i) filter[i] = static_cast<std::int8_t>(i * 101);
  const std::vector<float> bias = {-3.0f, -1.0f, 1.0f, 3.0f};
  const auto src = weft::ConvertTensor<weft::NCHW, weft::NCxHWx<4>>(problem.src(), planar).value();
  const auto packed = weft::conv::PackDeconvolutionFilter<weft::CxRSKx<4>>(problem, filter).value();

  const auto x = Buffer<std::int8_t>::CopyOf(src, backend).value();
  const auto w = Buffer<std::int8_t>::CopyOf(packed, backend).value();
  const auto b = Buffer<float>::CopyOf(bias, backend).value();
  auto y = Buffer<std::int8_t>::Zeros(op->dst_size(), backend).value();
  const Op::Arguments args = {.src = x.data(),
                              .filter = packed.At(w.data()),
                              .bias = b.data(),
                              .dst = y.data(),
                              .alpha = 0.001f};
  if (absl::Status s = weft::RunOn(backend, *op, args); !s.ok()) return s;

  const auto plain = weft::reference::Deconvolve<std::int8_t>(
      problem, planar.data(), filter.data(), {.alpha = 0.001f, .bias = bias.data()},
      weft::reference::ReluActivation(), weft::reference::kInt8);
  const auto want = weft::ConvertTensor<weft::NCHW, weft::NCxHWx<4>>(problem.dst(), plain).value();
  const std::vector<std::int8_t> got = y.Read().value();
  std::int64_t positive = 0, wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i) positive += got[i] > 0, wrong += got[i] != want[i];
  std::cout << op->Describe() << "\n"
            << got.size() << " outputs, " << positive << " above zero, " << wrong
            << " differ from the reference\n";
  return wrong == 0 ? absl::OkStatus() : absl::InternalError("deconvolution: wrong outputs");
}

int main(int argc, char** argv) {
  const auto choice = examples::ChooseBackend(argc, argv);
  if (!choice.ok()) return std::cerr << choice.status() << "\n", 1;
  const absl::Status s = Run(choice->backend);
  return s.ok() ? 0 : (std::cerr << s << "\n", 1);
}
