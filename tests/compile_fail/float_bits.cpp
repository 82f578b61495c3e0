// An integer is neither a value nor bits.
// EXPECT: use of deleted function 'weft::Half::Half\(
#include "weft/layouts/element/float16.hpp"

static_assert(weft::Half(1.5f).ToFloat() == 1.5f && weft::Bfloat16(2.0f).ToFloat() == 2.0f);
static_assert(weft::Half::FromBits(0x3c00).ToFloat() == 1.0f);
constexpr weft::Half one(1);
