// A prologue of the user's own (own_prologue/operators.hpp): six images, each of which picks one of
// four filters. Runs on the GPU, or on the CPU where there is none or with --backend=cpu; checked
// against the plain reference.
#include <cstdint>
#include <iostream>
#include <vector>

#include "examples/own_prologue/operators.hpp"
#include "examples/support/backend.hpp"
#include "tests/reference/reference.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/gemm/buffer.hpp"

namespace {

using weft::Backend;
using weft::Buffer;
using Op = weft::conv::Convolution<BankConv>;

std::vector<std::int8_t> Numbers(std::int64_t count, int step) {
  std::vector<std::int8_t> v(count);
  for (std::int64_t i = 0; i < count; ++i) v[i] = static_cast<std::int8_t>(i * step);
  return v;
}

absl::Status Run(Backend backend) {
  constexpr std::int64_t kFilters = 4;
  const weft::conv::Problem problem = weft::conv::SquareProblem(6, 10, 9, 7, 3, 1, 2);
  const absl::StatusOr<Op> op = Op::Create(problem);
  if (!op.ok()) return op.status();

  const std::vector<std::int32_t> index = {2, 0, 3, 3, 0, 1};
  const std::vector<float> bias = {-3.0f, -2.0f, -1.0f, 0.0f, 1.0f, 2.0f, 3.0f};
  const std::vector<std::int8_t> src = Numbers(6 * 10 * 9 * 9, 37);
  const std::vector<std::int8_t> filters =
      Numbers(kFilters * 7 * 10 * 3 * 3, 101);  // [4][K][C][R][S]

  const auto blocked = weft::ConvertTensor<weft::NCHW, weft::NCxHWx<4>>(problem.src(), src);
  if (!blocked.ok()) return blocked.status();
  const auto bank =
      weft::PackFilters<FromBank, weft::CxRSKx<4>>(problem.filter(), kFilters, filters);
  if (!bank.ok()) return bank.status();

  const auto src_memory = Buffer<std::int8_t>::CopyOf(*blocked, backend).value();
  const auto bank_memory = Buffer<std::int8_t>::CopyOf(*bank, backend).value();
  const auto index_memory = Buffer<std::int32_t>::CopyOf(index, backend).value();
  const auto bias_memory = Buffer<float>::CopyOf(bias, backend).value();
  auto dst_memory = Buffer<float>::Zeros(op->dst_size(), backend).value();

  Op::Arguments args;
  args.src = src_memory.data();
  args.filter = bank->At(bank_memory.data());
  args.bias = bias_memory.data();
  args.dst = dst_memory.data();
  args.alpha = 0.001f;
  args.prologue = {.index = index_memory.data()};
  if (absl::Status s = weft::RunOn(backend, *op, args); !s.ok()) {
    return s;
  }

  const auto filter_of_image = [&](std::int64_t n, auto...) { return index[n]; };
  const std::vector<float> want = weft::reference::Convolve<float>(
      problem, src.data(), filters.data(), {.alpha = 0.001f, .bias = bias.data()},
      weft::reference::ReluActivation(), weft::reference::kFloat, 1, filter_of_image);
  const std::vector<float> dst = dst_memory.Read().value();
  std::int64_t positive = 0, different = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    positive += dst[i] > 0.0f;
    different += dst[i] != want[i];
  }
  std::cout << op->Describe() << "\n"
            << "on the " << (backend == Backend::kCuda ? "GPU: " : "CPU: ") << want.size()
            << " outputs, " << positive << " above zero, " << different
            << " differ from the reference\n";
  return different == 0 ? absl::OkStatus() : absl::InternalError("own_prologue: wrong outputs");
}

}  // namespace

int main(int argc, char** argv) {
  const auto choice = examples::ChooseBackend(argc, argv);
  if (!choice.ok()) return std::cerr << choice.status() << "\n", 1;
  const absl::Status status = Run(choice->backend);
  if (!status.ok()) return std::cerr << status << "\n", 1;
  return 0;
}
