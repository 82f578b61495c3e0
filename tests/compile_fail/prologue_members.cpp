// A prologue that does not say how many filters its bank holds.
// EXPECT: static assertion failed: weft: a prologue needs .*; at least one is missing \(see prologues/README.md\)
// MAX_ERRORS: 1
#include "weft/prologues/prologues.hpp"

struct Mine {
  static constexpr weft::prologues::Depends kDepends{.image = true};
  static constexpr const char* kName = "Mine";
  constexpr std::int64_t Filter(const weft::prologues::BatchCoord& at) const { return at.n; }
};

static_assert(weft::prologues::CheckedPrologue<Mine>::kValid);
