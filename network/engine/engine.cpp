#include "weft/network/engine/engine.hpp"

#include <set>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "weft/rtc/text/headers.hpp"

namespace weft::network {
namespace {

std::string MachineOf(const arch::DeviceLimits& gpu) {
  return gpu.compute_capability == 0 ? "the CPU"
                                     : absl::StrCat("sm_", gpu.compute_capability, " of ",
                                                    gpu.sm_count, " multiprocessors");
}

std::string TextOf(std::int64_t batch, const arch::DeviceLimits& gpu) {
  return absl::StrCat(batch, batch == 1 ? " image on " : " images on ", MachineOf(gpu));
}

}  // namespace

absl::StatusOr<std::string> WriteEngine(absl::Span<const EnginePart> parts) {
  if (parts.empty()) {
    return absl::InvalidArgumentError("network: an engine of no network; give one or more");
  }
  Model model = {.graph = *parts[0].graph, .headers = std::string(rtc::HeadersDigest())};
  const std::string graph = parts.size() > 1 ? WriteGraph(model.graph) : "";
  auto code = std::make_shared<rtc::Archive>();
  std::set<std::tuple<std::int64_t, int, int>> machines;
  for (const EnginePart& part : parts) {
    if (&part != &parts[0] && WriteGraph(*part.graph) != graph) {
      return absl::InvalidArgumentError(absl::StrCat("network: an engine of two graphs, ",
                                                     model.graph.name, " and ", part.graph->name,
                                                     "; give networks of one graph"));
    }
    const arch::DeviceLimits& gpu = part.plan.gpu;
    if (!machines.emplace(part.plan.batch, gpu.compute_capability, gpu.sm_count).second) {
      return absl::InvalidArgumentError(absl::StrCat("network: an engine with two plans for ",
                                                     TextOf(part.plan.batch, gpu), "; give one"));
    }
    model.plans.push_back(part.plan);
    code->AddAll(*part.code);
  }
  model.code = std::move(code);
  return WriteModel(model);
}

FoundPlan FindPlan(const Model& model, std::int64_t batch, const arch::DeviceLimits& gpu) {
  if (model.plans.empty()) return {};
  if (model.headers != rtc::HeadersDigest()) {
    return {.note = "the file's kernels are of another version of Weft; make it anew by this one"};
  }
  const SavedPlan* found = nullptr;
  std::string all;
  for (const SavedPlan& plan : model.plans) {
    absl::StrAppend(&all, all.empty() ? "" : ", ", TextOf(plan.batch, plan.gpu));
    if (plan.batch != batch || plan.gpu.compute_capability != gpu.compute_capability) continue;
    const bool is_same = plan.gpu.sm_count == gpu.sm_count;
    if (found == nullptr || (is_same && found->gpu.sm_count != gpu.sm_count)) found = &plan;
  }
  if (found != nullptr) {
    return {found, absl::StrCat("kernels of the file, for ", TextOf(found->batch, found->gpu))};
  }
  return {.note =
              absl::StrCat("the file has no kernels for ", TextOf(batch, gpu), ", but for ", all)};
}

}  // namespace weft::network
