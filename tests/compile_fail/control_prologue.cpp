// The user's own prologue of prologues/prologue.hpp: its Filter reads memory that only a run has.
// EXPECT_SUCCESS
#include "weft/prologues/prologues.hpp"

struct FromBank {
  static constexpr weft::prologues::Depends kDepends{.image = true};
  static constexpr const char* kName = "FromBank";
  const std::int32_t* index = nullptr;
  constexpr std::int64_t Filter(const weft::prologues::BatchCoord& at) const { return index[at.n]; }
  static constexpr std::int64_t Filters(const weft::prologues::BatchExtents&) { return 0; }
};

static_assert(weft::prologues::CheckedPrologue<FromBank>::kValid);
