// Conditional convolution: a kernel weighs four experts for each image (condconv/routing.hpp), and
// CondConv convolves each image with its mixture. Runs on the GPU, or on the CPU where there is
// none or with --backend=cpu; checked against the plain reference.
#include <cstdint>
#include <iostream>
#include <vector>

#include "examples/condconv/operators.hpp"
#include "examples/condconv/routing.hpp"
#include "examples/support/backend.hpp"
#include "tests/reference/reference.hpp"
#include "weft/conv/condconv.hpp"
#include "weft/gemm/buffer.hpp"

namespace {

using weft::Backend;
using weft::Buffer;
using Op = weft::conv::CondConv<MixedConv>;

std::vector<std::int8_t> Numbers(std::int64_t count, int step) {
  std::vector<std::int8_t> v(count);
  for (std::int64_t i = 0; i < count; ++i) v[i] = static_cast<std::int8_t>(i * step);
  return v;
}

absl::Status Route(const RoutingParams& params, Backend backend) {
  std::string why;
  if (backend == Backend::kCuda) {
#if WEFT_HAVE_CUDA
    why = LaunchRouting(params, /*stream=*/nullptr).message;
#endif
  } else {
    why =
        weft::arch::LaunchOnCpu<RoutingKernel>({static_cast<int>(params.extents.n)}, params).error;
  }
  return why.empty() ? absl::OkStatus() : absl::InternalError("condconv: " + why);
}

absl::Status Run(Backend backend) {
  constexpr std::int64_t kExperts = 4;
  const weft::conv::Problem problem = weft::conv::SquareProblem(5, 10, 9, 7, 3, 1, 2);
  const absl::StatusOr<Op> op = Op::Create(problem, kExperts);
  if (!op.ok()) return op.status();

  const std::vector<std::int8_t> src = Numbers(5 * 10 * 9 * 9, 37);
  const std::vector<std::int8_t> experts =
      Numbers(kExperts * 7 * 10 * 3 * 3, 101);  // [4][K][C][R][S]
  const std::vector<float> bias = {-3.0f, -2.0f, -1.0f, 0.0f, 1.0f, 2.0f, 3.0f};
  // The sum of four weights is below 4. A step of the mixed filters is 2.5 of the experts' steps
  // here, so that few of their elements are saturated, and alpha is 2.5 times as large.
  const std::vector<float> expert_scale(kExperts * 7, 1.0f / 2.5f);
  std::vector<float> weights(kExperts * 10);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = static_cast<float>(i * 7 % 11) * 0.1f - 0.5f;
  }

  const auto blocked = weft::ConvertTensor<weft::NCHW, weft::NCxHWx<4>>(problem.src(), src);
  if (!blocked.ok()) return blocked.status();
  const auto bank = weft::PackFilters<weft::prologues::Experts, weft::CxRSKx<4>>(problem.filter(),
                                                                                 kExperts, experts);
  if (!bank.ok()) return bank.status();

  const auto src_memory = Buffer<std::int8_t>::CopyOf(*blocked, backend).value();
  const auto bank_memory = Buffer<std::int8_t>::CopyOf(*bank, backend).value();
  const auto workspace = Buffer<std::int8_t>::Zeros(op->workspace_size(), backend).value();
  const auto bias_memory = Buffer<float>::CopyOf(bias, backend).value();
  const auto scale_memory = Buffer<float>::CopyOf(expert_scale, backend).value();
  const auto weights_memory = Buffer<float>::CopyOf(weights, backend).value();
  auto routing = Buffer<float>::Zeros(problem.n * kExperts, backend).value();
  auto dst = Buffer<float>::Zeros(op->dst_size(), backend).value();

  if (absl::Status s = Route({.extents = problem.src(),
                              .src = src_memory.data(),
                              .weights = weights_memory.data(),
                              .experts = kExperts,
                              .routing = routing.data()},
                             backend);
      !s.ok()) {
    return s;
  }
  Op::Arguments args;
  args.src = src_memory.data();
  args.experts = bank->At(bank_memory.data());
  args.routing = routing.data();
  args.expert_scale = scale_memory.data();
  args.workspace = workspace.data();
  args.workspace_bytes = op->workspace_size();
  args.bias = bias_memory.data();
  args.dst = dst.data();
  args.alpha = 0.0025f;
  if (absl::Status s = weft::RunOn(backend, *op, args); !s.ok()) {
    return s;
  }

  const std::vector<float> r = routing.Read().value();
  const std::vector<std::int8_t> mixed =
      weft::reference::MixExperts(problem, kExperts, experts.data(), r.data(), expert_scale.data());
  const std::vector<float> want = weft::reference::Convolve<float>(
      problem, src.data(), mixed.data(), {.alpha = 0.0025f, .bias = bias.data()},
      weft::reference::ReluActivation(), weft::reference::kFloat, 1,
      [](std::int64_t n, auto...) { return n; });
  const std::vector<float> got = dst.Read().value();
  std::int64_t positive = 0, different = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    positive += got[i] > 0.0f;
    different += got[i] != want[i];
  }
  std::cout << op->Describe() << "\nweights of the first image:";
  for (int e = 0; e < kExperts; ++e) std::cout << " " << r[e];
  std::cout << "\non the " << (backend == Backend::kCuda ? "GPU: " : "CPU: ") << want.size()
            << " outputs, " << positive << " above zero, " << different
            << " differ from the reference\n";
  return different == 0 ? absl::OkStatus() : absl::InternalError("condconv: wrong outputs");
}

}  // namespace

int main(int argc, char** argv) {
  const auto choice = examples::ChooseBackend(argc, argv);
  if (!choice.ok()) return std::cerr << choice.status() << "\n", 1;
  const absl::Status status = Run(choice->backend);
  if (!status.ok()) return std::cerr << status << "\n", 1;
  return 0;
}
