#include "weft/rtc/gpu/module.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/conv/launch/make_params.hpp"
#include "weft/conv/launch/start.hpp"
#include "weft/rtc/gpu/driver.hpp"
#include "weft/rtc/gpu/kernels.hpp"

namespace weft::rtc {

struct Module::State {
  State(Policy of, const gemm::TileFacts& wants, Compiler by, std::optional<Cache> in,
        std::shared_ptr<Archive> also)
      : policy(std::move(of)),
        facts(wants),
        compile(std::move(by)),
        cache(std::move(in)),
        archive(std::move(also)) {}

  const Policy policy;
  const gemm::TileFacts facts;
  const Compiler compile;
  const std::optional<Cache> cache;
  const std::shared_ptr<Archive> archive;
  LoadedKernels loaded;
  std::mutex mutex;                 // of what follows
  std::map<int, Program> programs;  // by compute capability

  // The kernel in the current context, loaded if it was not yet.
  absl::StatusOr<LoadedKernels::Found> Get(int kernel) {
    return loaded.Get(kernel, archive.get(),
                      [this](int number, const arch::DeviceLimits& device, Archive* in) {
                        return Make(number, device, in);
                      });
  }

  absl::Status Start(const LoadedKernels::Found& loaded, const gemm::TileFacts& of,
                     const gemm::Launch& made, Stream stream,
                     const gemm::LaunchOptions& options) const {
    const auto& [code, device] = loaded;
    gemm::Launch launch = gemm::SizedLaunch(of, made, device.sm_count * of.resident_blocks);
    launch.attributes.dependent = options.dependent && device.compute_capability >= 90 &&
                                  policy.kernel(launch.kernel).dependent;
    return Enqueue(code, launch.grid, launch.params, launch.attributes, stream);
  }

 private:
  absl::StatusOr<LoadedKernels::Cubin> Make(int kernel, const arch::DeviceLimits& device,
                                            Archive* in) {
    if (absl::Status s = gemm::CheckDevice("conv", facts, device); !s.ok()) {
      return s;
    }
    const absl::StatusOr<const Program*> program = ProgramFor(device.compute_capability);
    if (!program.ok()) return program.status();
    absl::StatusOr<std::string> cubin =
        (*program)->Link(kernel, {cache.has_value() ? &*cache : nullptr, in});
    if (!cubin.ok()) return cubin.status();
    const KernelRecord record = policy.kernel(kernel);
    return LoadedKernels::Cubin{*std::move(cubin), (*program)->entry(kernel), record.threads,
                                record.shared_bytes};
  }

  // The program of a compute capability, compiled if it was not yet.
  absl::StatusOr<const Program*> ProgramFor(int compute_capability) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (const auto at = programs.find(compute_capability); at != programs.end()) {
      return &at->second;
    }
    absl::StatusOr<Program> made = compile(compute_capability);
    if (!made.ok()) return made.status();
    if (!made->policy().IsSame(policy)) {
      return absl::InternalError(
          "rtc: NVRTC and g++ lay the policy out differently; please report it, with the source");
    }
    return &programs.emplace(compute_capability, *std::move(made)).first->second;
  }
};

Module::Module(Policy policy, const gemm::TileFacts& facts, Compiler compile,
               std::optional<Cache> cache, std::shared_ptr<Archive> archive)
    : state_(std::make_shared<State>(std::move(policy), facts, std::move(compile), std::move(cache),
                                     std::move(archive))) {}

absl::Status Module::Prepare(int kernel) const {
  return state_->Get(kernel).status();
}

absl::Status Module::Run(const conv::ConvPlan& plan, const conv::ConvRun& run, Stream stream,
                         const gemm::LaunchOptions& options) const {
  const conv::PolicyImage& image = state_->policy.image();
  if (absl::Status s = conv::CheckArguments(image, plan, run); !s.ok()) return s;
  if (plan.problem.IsEmpty()) return absl::OkStatus();
  const auto loaded = state_->Get(plan.number());
  if (!loaded.ok()) return loaded.status();
  const conv::ConvLaunch made(image, plan, run, &EncodeByDriver);
  return made.status.ok() ? state_->Start(*loaded, image.facts, made.launch, stream, options)
                          : made.status;
}

absl::Status Module::Run(const gemm::TileFacts& facts, const gemm::Launch& made, Stream stream,
                         const gemm::LaunchOptions& options) const {
  const auto loaded = state_->Get(made.kernel);
  return loaded.ok() ? state_->Start(*loaded, facts, made, stream, options) : loaded.status();
}

}  // namespace weft::rtc
