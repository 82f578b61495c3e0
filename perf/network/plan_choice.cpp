#include "perf/network/plan_choice.hpp"

#if WEFT_HAVE_CUDNN

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "perf/support/device_data.hpp"

namespace weft::perf {
namespace {

constexpr int kRoundingAllowance = 1;  // a plan that is further off is none

std::string Message(const absl::Status& status) {
  return std::string(status.message());
}

}  // namespace

absl::Status PlanChooser::ChooseAll() {
  for (int i = 0; i < ours_.size(); ++i) {
    const int first = cudnn_.SameAs(i);
    if (first == i) {
      if (absl::Status s = Choose(i); !s.ok()) {
        return absl::Status(s.code(),
                            absl::StrCat("layer ", row_.layer[i].name.chars, ": ", Message(s)));
      }
      continue;
    }
    NetworkLayerRow& r = row_.layer[i];
    const NetworkLayerRow& same = row_.layer[first];
    r.plan = same.plan, r.plan_us = same.plan_us, r.plans = same.plans;
    const absl::StatusOr<Differences> found = Try(i, plans_[first]);
    if (!found.ok()) return found.status();
    r.plan_differences = found->count;
    r.plan_largest = found->largest;
  }
  return absl::OkStatus();
}

absl::StatusOr<Differences> PlanChooser::Try(int layer, int plan) {
  const Stream stream = timer_.stream();
  absl::Status s = cudnn_.Build(layer, plan);
  if (s.ok()) s = cudnn_.Poison(layer, stream);
  if (s.ok()) s = cudnn_.Run(layer, stream);
  if (s.ok()) s = CudaStatus(cudaStreamSynchronize(stream), "the plan's run");
  if (s.ok()) s = cudnn_.Output(layer, scratch_, stream);
  if (!s.ok()) return s;
  const int tensor = ours_.network().OutputOf(layer);
  absl::StatusOr<Differences> found =
      Compare(scratch_, ours_.Address(tensor), ours_.Bytes(tensor), stream);
  // The next layers' plans are to read what ours read.
  if (s = cudnn_.CopyTensor(tensor, stream); !s.ok()) return s;
  return found;
}

absl::Status PlanChooser::Choose(int layer) {
  NetworkLayerRow& r = row_.layer[layer];
  const std::string prefix = absl::StrCat("cudnn/", r.name.chars, "/");
  PeerOptions peer;
  peer.build_threads = options_.skip.empty() ? options_.build_threads : 1;
  peer.about_to = [&](const std::string& what) { options_.about_to(prefix + what); };
  for (const std::string& skip : options_.skip) {
    if (absl::StartsWith(skip, prefix)) peer.skip.insert(skip.substr(prefix.size()));
  }
  if (const auto found = options_.chosen.find(r.name.Get()); found != options_.chosen.end()) {
    peer.only = {found->second};
  }
  if (absl::Status s = cudnn_.Prepare(layer, peer); !s.ok()) return s;
  std::string why = "no plan ran";
  int best = -1;
  for (int i = 0; i < cudnn_.variants(layer); ++i) {
    const std::string name = cudnn_.VariantName(layer, i);
    peer.about_to(name);
    const absl::StatusOr<Differences> found = Try(layer, i);
    absl::Status s = found.status();
    if (s.ok() && found->largest > kRoundingAllowance) {
      s = absl::DataLossError(
          absl::StrCat("differs at ", found->count, " outputs, by up to ", found->largest));
    }
    absl::StatusOr<double> time = 0.0;
    if (s.ok()) {
      time = timer_.Alone([&] { return cudnn_.Run(layer, timer_.stream()); });
    } else {
      time = s;
    }
    if (!time.ok()) {
      why = absl::StrCat(name, ": ", Message(time.status()));
      if (s = CudaStatus(cudaDeviceSynchronize(), name.c_str()); !s.ok()) return s;
      continue;
    }
    ++r.plans;
    if (best >= 0 && *time >= r.plan_us) continue;
    best = i;
    r.plan.Set(name);
    r.plan_us = *time;
    r.plan_differences = found->count;
    r.plan_largest = found->largest;
  }
  if (best < 0) return absl::UnimplementedError(why);
  plans_[layer] = best;
  options_.chose(layer, r.plan.Get());
  return Try(layer, best).status();  // the chosen one stays built
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDNN
