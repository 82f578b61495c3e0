// Compiles a policy that is given as text for a GPU, by NVRTC. No GPU is needed.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/cache/cache.hpp"
#include "weft/rtc/policy/policy.hpp"

namespace weft::rtc {

struct CompileOptions {
  std::string policy{};               // the name of the type that the source defines
  std::vector<std::string> values{};  // names of members of its functors
  std::string include{};  // a folder of headers that the source includes, beside Weft's; or empty
  int compute_capability = 90;  // 75, 80, 86, 89, 90, ...; of 90 with the instructions of sm_90a
};

// A policy whose text NVRTC has read: its facts, and code that no GPU runs yet, of which Link makes
// the kernel that is needed. Copies are cheap.
class Program {
 public:
  // The source has weft/conv/ready_made.hpp included before its first line. It takes a second of a CPU, or
  // none where the cache has the program. InvalidArgument, with what the compiler says, by the lines of
  // the source, if it does not compile, defines no policy of that name, or a functor of the policy is
  // not constexpr; NotFound if there is no NVRTC. cache: where compiled policies are kept; null:
  // nowhere. That the cache cannot be written is no error: cache_status() says so.
  static absl::StatusOr<Program> Compile(std::string_view source, const CompileOptions& options,
                                         const Cache* cache = nullptr);

  const Policy& policy() const { return policy_; }
  int compute_capability() const { return compute_capability_; }
  const absl::Status& cache_status() const { return cache_status_; }
  bool from_cache() const { return from_cache_; }

  // The name of kernel `index` in its cubin; empty if the policy has no such kernel.
  const std::string& entry(int index) const;

  // The cubin of one kernel, in a second of a CPU, or none where the cache has it.
  absl::StatusOr<std::string> Link(int kernel, const Cache* cache = nullptr) const;

 private:
  Program(Policy policy, int compute_capability)
      : policy_(std::move(policy)), compute_capability_(compute_capability) {}

  Policy policy_;
  int compute_capability_;
  std::string key_;  // of the program in the cache; empty: it is not kept
  std::shared_ptr<const std::string> code_;
  std::vector<std::string> entries_;
  absl::Status cache_status_;
  bool from_cache_ = false;
};

}  // namespace weft::rtc
