#include "perf/weft_perf/ours.hpp"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace weft::perf {

const std::vector<std::string>& OurLayouts() {
  static const std::vector<std::string> names = {"nc4", "nc4_nc32", "nc32", "nhwc"};
  return names;
}

absl::Status CheckLayout(const std::string& name) {
  const std::vector<std::string>& names = OurLayouts();
  if (std::find(names.begin(), names.end(), name) != names.end()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("layout '", name, "' does not exist; there are ", absl::StrJoin(names, ", ")));
}

#if WEFT_HAVE_CUDA

std::unique_ptr<OurPeer> MakeOurs(const std::string& layout, Epilogue epilogue) {
  if (layout == "nc4") return internal::MakeOursNc4(layout, epilogue);
  if (layout == "nc4_nc32") return internal::MakeOursNc4To32(layout, epilogue);
  if (layout == "nhwc") return internal::MakeOursNhwc(layout, epilogue);
  return internal::MakeOursNc32(layout, epilogue);
}

#else

std::unique_ptr<OurPeer> MakeOurs(const std::string&, Epilogue) {
  return nullptr;
}

#endif  // WEFT_HAVE_CUDA

}  // namespace weft::perf
