// Uses an installed Weft: a tensor format, and an operator of its own on the CPU. One pixel of four
// channels; output channel k adds up the first k + 1 of them.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "operators.hpp"
#include "weft/conv/convolution.hpp"
#include "weft/layouts/formats.hpp"

int main() {
  using Format = weft::NCxHWx<32>;
  const std::int64_t offset = Format::Offset({.n = 1, .c = 40, .h = 2, .w = 2}, 0, 33, 1, 0);
  if (offset != 128 + 64 + 1) {
    std::printf("wrong offset %lld\n", static_cast<long long>(offset));
    return 1;
  }

  const weft::conv::Problem problem{.n = 1, .h = 1, .w = 1, .c = 4, .k = 4, .r = 1, .s = 1};
  auto op = weft::conv::Convolution<Fprop>::Create(problem);
  if (!op.ok()) {
    std::printf("%s\n", op.status().ToString().c_str());
    return 1;
  }
  const std::vector<std::int8_t> weights = {1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1};
  auto filter = weft::PackFilter<weft::CxRSKx<4>>(problem.filter(), absl::MakeConstSpan(weights));
  if (!filter.ok()) {
    std::printf("%s\n", filter.status().ToString().c_str());
    return 1;
  }
  alignas(16) const std::int8_t src[4] = {1, 20, -3, 100};
  alignas(16) std::int8_t dst[4] = {};
  const absl::Status status = op->RunOnCpu({.src = src, .filter = filter->view(), .dst = dst});
  if (!status.ok()) {
    std::printf("%s\n", status.ToString().c_str());
    return 1;
  }
  std::printf("%d %d %d %d\n", dst[0], dst[1], dst[2], dst[3]);
  return dst[0] == 1 && dst[1] == 21 && dst[2] == 18 && dst[3] == 118 ? 0 : 1;
}
