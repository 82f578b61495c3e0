// A tile of products without sizes.
// EXPECT: static assertion failed: weft: a tile of products is a struct with `static constexpr MmaSizes kSizes`
// MAX_ERRORS: 2
#include "tests/compile_fail/gemm_base.hpp"
#include "weft/gemm/ready_made.hpp"

struct WithoutSizes {};
constexpr auto kConfig =
    weft::gemm::TiledGemm<std::int8_t, weft::epilogues::BiasRelu<>, WithoutSizes>::config;
