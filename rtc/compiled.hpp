// A source that was compiled, and what was made of it: what an Operator and a Bottleneck hold.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/cpu/twin.hpp"
#include "weft/rtc/gpu/compile.hpp"
#include "weft/rtc/gpu/module.hpp"
#include "weft/rtc/operator.hpp"
#include "weft/rtc/policy/policy.hpp"
#include "weft/rtc/text/source_text.hpp"

namespace weft::rtc {

// Thread-safe. It stays where it is.
class Compiled {
 public:
  // Compiles as the options say, with the errors of rtc::Compile. tile_of: what a GPU must have for a policy's kernels.
  using TileOf = gemm::TileFacts (*)(const Policy& policy);
  static absl::StatusOr<std::shared_ptr<Compiled>> Make(std::string_view source, PolicyKind kind,
                                                        TileOf tile_of, const Options& options);
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;

  const std::string& name() const { return policy_; }  // of the policy
  const Policy& policy() const { return *facts_; }
  Kept kept() const { return {cache_.has_value() ? &*cache_ : nullptr, archive_.get()}; }
  const Module& module() const { return *module_; }  // the kernels on GPUs

  // Compiles for a GPU.
  absl::StatusOr<Program> CompileFor(int compute_capability);
  // Compiles for the CPU, once. The twin stays as long as this does.
  absl::StatusOr<const Twin*> GetTwin();
  absl::Status cache_status() const;

  // The run that arguments describe of a convolution of the policy: part 0 is its own, those behind are policy().other(part - 1).
  // Without what a phase of a transposed convolution has.
  absl::StatusOr<conv::ConvRun> RunOf(int part, const prologues::BatchExtents& batch,
                                      const Arguments& args);

 private:
  Compiled() = default;
  void Note(const absl::Status& status);
  // Finds out what the policy is, from the compiler that the options say.
  absl::Status FindFacts();

  std::string source_, policy_;
  PolicyKind kind_ = PolicyKind::kConvolution;
  std::vector<std::string> values_;
  Options options_;
  std::optional<Cache> cache_;
  std::shared_ptr<Archive> archive_;
  std::optional<Policy> facts_;
  std::optional<Module> module_;

  mutable std::mutex mutex_;  // of what follows
  absl::Status cache_status_;
  std::optional<Twin> twin_;
  std::optional<Program> program_;  // that the facts are of
};

}  // namespace weft::rtc
