// Uses an installed Weft: a tensor format and its packing.
#include <cstdint>
#include <cstdio>

#include "weft/layouts/formats.hpp"

int main() {
  constexpr weft::TensorExtents kExtents{.n = 1, .c = 40, .h = 2, .w = 2};
  using Format = weft::NCxHWx<32>;
  const std::int64_t offset = Format::Offset(kExtents, 0, 33, 1, 0);
  if (Format::Size(kExtents) != 256 || offset != 128 + 64 + 1) {
    std::printf("wrong offset %lld\n", static_cast<long long>(offset));
    return 1;
  }
  return 0;
}
