#include "weft/network/operators/tensor_operator.hpp"

#include <cstdint>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "weft/gemm/check/argument_checks.hpp"
#include "weft/network/operators/tensor_kernels.hpp"
#include "weft/network/operators/tensor_plan.hpp"
#include "weft/rtc/gpu/kernels.hpp"

WEFT_EXTERN_ON_CPU(weft::network::TensorKernels);

namespace weft::network {
namespace {

constexpr gemm::TileFacts kFacts{};  // the kernels run on any GPU

bool IsEmpty(const TensorExtents& e) {
  return e.n == 0 || e.c == 0 || e.h == 0 || e.w == 0;
}

std::string Text(const TensorType& t) {
  const TensorExtents& e = t.extents;
  return absl::StrCat(NameOf(t.element), " ", NameOf(t.format), " ", e.n, "x", e.c, "x", e.h, "x",
                      e.w);
}

gemm::TensorArgument ArgumentOf(const char* field, const void* address, const TensorType& t) {
  return {.field = field,
          .address = address,
          .alignment = static_cast<int>(BytesOf(t.element)),
          .line_bytes = t.bytes()};
}

// The channels of dst that are written: of whole blocks a part of each image, beside which others may be read.
gemm::TensorArgument DestinationOf(const void* address, const TensorProblem& p) {
  gemm::TensorArgument dst = ArgumentOf("dst", address, p.dst);
  const TensorExtents& e = p.dst.extents;
  const std::int64_t end = p.first_channel + p.src.extents.c;
  VisitFormat(p.dst.format, [&]<class Layout>() {
    constexpr std::int64_t kBlock = Layout::kInterleave;
    if (address == nullptr || kBlock < 2 || p.src.extents.c >= e.c) return;
    if (p.first_channel % kBlock != 0 || (end % kBlock != 0 && end != e.c)) return;
    const std::int64_t begin = Layout::ChannelOffset(e, p.first_channel);
    dst.address = static_cast<const char*>(address) + begin;
    dst.pitch_bytes = Layout::ImageStride(e);
    dst.line_bytes = (end == e.c ? dst.pitch_bytes : Layout::ChannelOffset(e, end)) - begin;
    dst.lines = e.n;
  });
  return dst;
}

// Writes the address, and the widest access that it allows. False if that is not the widest that the format allows.
bool SetAddress(const void* address, std::int64_t element_bytes, TensorView* view) {
  const std::int32_t widest = view->width;
  view->address = const_cast<void*>(address);
  while (reinterpret_cast<std::uintptr_t>(address) %
             static_cast<std::uintptr_t>(view->width * element_bytes) !=
         0) {
    view->width = view->width == kGroup ? 4 : 1;
  }
  return view->width == widest;
}

bool IsAligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
}

}  // namespace

struct TensorOperator::State {
  TensorProblem problem;
  TensorPlan plan;  // of what is not empty
  bool has_other = false, empty = false;
  std::shared_ptr<rtc::Archive> archive;  // or null
  std::string who;                        // that errors of runs begin with
};

absl::StatusOr<TensorOperator> TensorOperator::Create(const TensorProblem& problem,
                                                      std::shared_ptr<rtc::Archive> archive) {
  if (absl::Status s = CheckTensorProblem(problem); !s.ok()) return s;
  auto state = std::make_shared<State>();
  state->problem = problem;
  state->archive = std::move(archive);
  state->who = absl::StrCat("network: ", NameOf(problem.kind));
  state->has_other = problem.kind == Kind::kAdd || problem.kind == Kind::kMultiply;
  state->empty = IsEmpty(problem.src.extents) || IsEmpty(problem.dst.extents);
  if (!state->empty) state->plan = PlanTensorOperator(problem);
  return TensorOperator(std::move(state));
}

const TensorProblem& TensorOperator::problem() const {
  return state_->problem;
}

std::string TensorOperator::Describe() const {
  const TensorProblem& p = state_->problem;
  std::string text = absl::StrCat(NameOf(p.kind), " of ", Text(p.src));
  if (state_->has_other) absl::StrAppend(&text, " and ", Text(p.other));
  absl::StrAppend(&text, " to ", Text(p.dst));
  if (p.kind == Kind::kMaxPool || p.kind == Kind::kAveragePool) {
    absl::StrAppend(&text, ", ", p.window.h, "x", p.window.w);
  }
  if (p.src.extents.c != p.dst.extents.c) {
    absl::StrAppend(&text, " from channel ", p.first_channel, " on");
  }
  return text;
}

absl::Status TensorOperator::CheckArguments(const Arguments& args) const {
  const TensorProblem& p = state_->problem;
  if (state_->empty) return absl::OkStatus();
  gemm::TensorArgument read[] = {ArgumentOf("src", args.src, p.src),
                                 ArgumentOf("other", args.other, p.other)};
  for (gemm::TensorArgument& t : read) t.may_be_output = state_->plan.in_place;
  const gemm::OutputRun no_run;
  const gemm::EpilogueFacts no_epilogue;
  return gemm::CheckArguments(state_->who.c_str(),
                              absl::MakeConstSpan(read, state_->has_other ? 2 : 1),
                              DestinationOf(args.dst, p), {.facts = no_epilogue, .run = no_run});
}

namespace {

// The kernel of a plan for these addresses, and its launch. launch->params points to *params.
void MakeLaunch(const TensorProblem& problem, const TensorPlan& plan,
                const TensorOperator::Arguments& args, TensorParams* params, gemm::Launch* launch) {
  *params = plan.params;
  std::visit(
      [&]<class Params>(Params& p) {
        bool wide = SetAddress(args.src, BytesOf(problem.src.element), &p.src);
        wide = SetAddress(args.dst, BytesOf(problem.dst.element), &p.dst) && wide;
        if constexpr (std::is_same_v<Params, PointwiseParams>) {
          wide = SetAddress(args.other, 1, &p.other) && wide;  // null where there is none
        }
        if (plan.kernel == TensorKernel::kQuantizeImage) {
          wide = IsAligned(args.src) && IsAligned(args.dst);
        }
        wide = wide && plan.wide;
        p.units = plan.units[wide ? 1 : 0];
        launch->kernel = NumberOf(plan.kernel, wide);
        launch->params = &p;
        gemm::VisitKernel<TensorKernels>(launch->kernel, [&]<class Kernel>() {
          std::int32_t block = Kernel::kThreads;
          if constexpr (std::is_same_v<Params, GlobalAverageParams>) block >>= p.log_parts;
          launch->grid = {(p.units.count + block - 1) / block, 1, 1};
        });
      },
      *params);
}

}  // namespace

const rtc::Kernels& TensorKernelsOnGpu() {
  static const rtc::Kernels kernels({.include = "weft/network/operators/tensor_kernels.hpp",
                                     .list = "weft::network::TensorKernels",
                                     .records = rtc::KernelsOf<TensorKernels>(),
                                     .cache = rtc::Cache(rtc::Cache::Options())});
  return kernels;
}

absl::Status TensorOperator::Prepare() const {
  if (state_->empty) return absl::OkStatus();
  TensorParams params;
  gemm::Launch launch;
  MakeLaunch(state_->problem, state_->plan, {}, &params, &launch);
  return TensorKernelsOnGpu().Prepare(launch.kernel, state_->archive.get());
}

std::vector<int> TensorOperator::kernels() const {
  if (state_->empty) return {};
  const auto& [kernel, wide] = std::pair(state_->plan.kernel, state_->plan.wide);
  if (!wide) return {NumberOf(kernel, false)};
  return {NumberOf(kernel, true), NumberOf(kernel, false)};
}

absl::Status TensorOperator::Run(const Arguments& args, Stream stream,
                                 const gemm::LaunchOptions& options) const {
  if (absl::Status s = CheckArguments(args); !s.ok() || state_->empty) return s;
  TensorParams params;
  gemm::Launch launch;
  MakeLaunch(state_->problem, state_->plan, args, &params, &launch);
  return TensorKernelsOnGpu().Run(launch, stream, options, state_->archive.get());
}

absl::Status TensorOperator::RunOnCpu(const Arguments& args,
                                      const gemm::CpuOptions& options) const {
  if (absl::Status s = CheckArguments(args); !s.ok() || state_->empty) return s;
  TensorParams params;
  gemm::Launch launch;
  MakeLaunch(state_->problem, state_->plan, args, &params, &launch);
  return gemm::CpuBackEnd{options}.Run<TensorKernels>("network", kFacts, launch);
}

}  // namespace weft::network
