// A list of products in one launch: experts of different widths, each of which multiplies the tokens that
// were sent to it. Runs on the GPU, or on the CPU where there is none or with --backend=cpu.
#include <cstdint>
#include <iostream>
#include <vector>

#include "examples/experts/operators.hpp"
#include "examples/support/backend.hpp"
#include "weft/gemm/buffer.hpp"
#include "weft/gemm/gemm_list.hpp"

using weft::Backend;
using weft::Buffer;
using Op = weft::gemm::Gemm<Experts>;

int main(int argc, char** argv) {
  const auto choice = examples::ChooseBackend(argc, argv);
  if (!choice.ok()) return std::cerr << choice.status() << "\n", 1;
  const Backend backend = choice->backend;

  constexpr std::int64_t kDepth = 96, kTokens = 200;
  const std::int64_t ends[] = {70, 70, 73,
                               kTokens};            // behind each expert's last token; one has none
  const std::int64_t width[] = {128, 64, 256, 64};  // columns
  std::vector<std::int8_t> a(kTokens * kDepth), b(512 * kDepth);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int8_t>(i * 37);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::int8_t>(i * 101);
  const auto of_a = Buffer<std::int8_t>::CopyOf(a, backend).value();
  const auto of_b = Buffer<std::int8_t>::CopyOf(b, backend).value();
  auto of_c = Buffer<std::int32_t>::Zeros(kTokens * 256, backend).value();  // rows of the widest

  std::vector<weft::gemm::GemmProblem> problems;
  std::vector<Op::Arguments> args;
  std::vector<std::int32_t> want(kTokens * 256);
  for (std::int64_t e = 0, row = 0, column = 0; e < 4; column += width[e], row = ends[e], ++e) {
    problems.push_back({.m = ends[e] - row, .n = width[e], .k = kDepth, .ldc = 256});
    args.push_back({.a = of_a.data() + row * kDepth,
                    .b = of_b.data() + column * kDepth,
                    .c = of_c.data() + row * 256});
    for (std::int64_t i = row; i < ends[e]; ++i) {
      for (std::int64_t j = 0; j < width[e] * kDepth; ++j) {
        want[i * 256 + j / kDepth] += a[i * kDepth + j % kDepth] * b[column * kDepth + j];
      }
    }
  }
  const auto op = Op::Create(problems);
  if (!op.ok()) return std::cerr << op.status() << "\n", 1;
  const auto run_on_gpu = [&]() -> absl::Status {
    const auto table = op->Table(args);  // as long as matrices stay where they are
    if (!table.ok()) return table.status();
    const auto of_table = Buffer<Op::Product>::CopyOf(*table, backend).value();
    const absl::Status status = op->Run(of_table.data(), /*stream=*/nullptr);
    // The table must stay until the run has ended.
    return status.ok() ? of_c.Read().status() : status;
  };
  const absl::Status status = backend == Backend::kCuda ? run_on_gpu() : op->RunOnCpu(args);
  if (!status.ok()) return std::cerr << status << "\n", 1;
  const std::vector<std::int32_t> c = of_c.Read().value();
  std::int64_t different = 0;
  for (std::size_t i = 0; i < want.size(); ++i) different += c[i] != want[i];
  std::cout << op->Describe() << "\n" << different << " outputs differ from plain loops\n";
  return different == 0 ? 0 : 1;
}
