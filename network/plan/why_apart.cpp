#include "weft/network/plan/why_apart.hpp"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "weft/network/graph/names.hpp"

namespace weft::network {

std::string WhyByFormat(const Tensor& tensor, Format has, Format takes) {
  if (has == takes) return "";
  return absl::StrCat("\"", tensor.name, "\" is ", NameOf(has), ", and one kernel takes ",
                      NameOf(takes));
}

std::optional<std::string> WhyByOptions(const PlanOptions& options) {
  if (options.blocks == Blocks::kNever) return "blocks are off";
  const int capability = options.gpu.compute_capability;
  // No option makes a kernel run where it cannot.
  if (capability != 0 && capability != 90) {
    return absl::StrCat("the one kernel is for compute capability 9.0, and the GPU's is ",
                        capability / 10, ".", capability % 10);
  }
  if (options.blocks == Blocks::kAlways) return "";
  if (capability == 0) return "on the CPU kernels of their own are quicker";
  if (!options.time) return "";  // nothing says that it is slower
  return std::nullopt;
}

std::string WhyByTimes(double one, double apart) {
  if (one < apart) return "";
  const auto tenths = [](double time) { return std::ceil(10.0 * time) / 10.0; };
  return absl::StrCat("the model expects ", tenths(apart), " us of kernels of their own, and ",
                      tenths(one), " us of one");
}

}  // namespace weft::network
