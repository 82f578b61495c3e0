// Dilations as large as the padded image allows, and those of single rows and columns of taps,
// which nothing limits. The values are right in any build; with UndefinedBehaviorSanitizer (the
// preset asan) so is the arithmetic behind them.
#include "tests/conv/harness.hpp"
#include "tests/conv/nc32_policies.hpp"
#include "tests/conv/policies.hpp"

namespace weft::conv {

using DilationNc4 = TestPolicy<NCHW, epilogues::BiasRelu<>, SmallTile<1>>;
using DilationSm75 = Nc32Policy<NCxHWx<32>, epilogues::BiasRelu<>, MmaSm75Tile<32, 32, 64, 16, 32>>;
using DilationSm80 =
    Nc32Policy<NCxHWx<32>, epilogues::BiasRelu<>, MmaSm80Tile<64, 32, 64, 32, 32, 3>>;
struct DilationNhwc {
  using Element = std::int8_t;
  using SrcLayout = NHWC;
  using FilterLayout = KRSC;
  using DstLayout = NHWC;
  using Prologue = prologues::SharedFilter;
  using Epilogue = epilogues::BiasRelu<>;
  static constexpr auto config =
      WithDstAlignment(WithSrcAlignment(MmaSm80Config({64, 32, 64}, {32, 32, 64}, 3), 4), 4);
};

namespace {

constexpr std::int64_t kHuge = std::int64_t{1} << 30;

template <class P>
void RunOne(const Problem& problem) {
  ExpectMatchesReference<P>(problem, reference::ReluActivation{});
}
std::vector<Problem> Problems() {
  std::vector<Problem> all;
  for (const Mode mode : {Mode::kCrossCorrelation, Mode::kConvolution}) {
    Problem row{.n = 2, .h = 2, .w = 6, .c = 40, .k = 4, .r = 1, .s = 2, .dilation_h = kHuge};
    row.mode = mode;
    all.push_back(row);
    Problem column{.n = 2, .h = 6, .w = 2, .c = 48, .k = 4, .r = 3, .s = 1, .dilation_w = kHuge};
    column.mode = mode;
    all.push_back(column);
    // The image is a stamp in the middle of its padding; taps are as far apart as that.
    Problem far{.n = 1, .h = 3, .w = 3, .c = 16, .k = 4, .r = 2, .s = 2};
    far.mode = mode;
    far.pad_top = far.pad_bottom = far.dilation_h = far.stride_h = 2000;
    far.pad_left = far.pad_right = far.dilation_w = far.stride_w = 1500;
    all.push_back(far);
  }
  return all;
}

TEST(Dilation, Nc4) {
  for (const Problem& p : Problems()) RunOne<DilationNc4>(p);
}
TEST(Dilation, Nc32) {
  for (const Problem& p : Problems()) RunOne<DilationSm75>(p);
  for (const Problem& p : Problems()) RunOne<DilationSm80>(p);
}
TEST(Dilation, Nhwc) {
  for (const Problem& p : Problems()) RunOne<DilationNhwc>(p);
}

// Where steps of a tap would pass 2^31 packets, the operator says so.
TEST(Dilation, TooLargeIsRefused) {
  Problem p{.n = 1, .h = 3, .w = 3, .c = 64, .k = 4, .r = 2, .s = 2};
  p.pad_top = p.pad_bottom = p.dilation_h = 20000;
  p.pad_left = p.pad_right = p.dilation_w = 20000;
  for (const absl::Status& s :
       {Convolution<DilationNc4>::Create(p).status(), Convolution<DilationSm75>::Create(p).status(),
        Convolution<DilationSm80>::Create(p).status(),
        Convolution<DilationNhwc>::Create(p).status()}) {
    EXPECT_EQ(s.code(), absl::StatusCode::kOutOfRange) << s;
    EXPECT_NE(std::string(s.message()).find("conv: channel blocks of one image with its padding="),
              std::string::npos)
        << s;
  }
}

}  // namespace
}  // namespace weft::conv
