// A prologue that does not say how many filters its bank holds.
// EXPECT: static assertion failed: weft: a prologue needs .*; at least one is missing \(see prologues/README.md\)
#include "weft/prologues/prologues.hpp"

struct Mine {
  static constexpr weft::prologues::Depends kDepends{.image = true};
  static constexpr const char* kName = "Mine";
  constexpr std::int64_t Filter(const weft::prologues::BatchCoord& at) const { return at.n; }
};

constexpr bool kAccepted = weft::prologues::CheckedPrologue<Mine>::kValid;
