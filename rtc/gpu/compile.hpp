// Compiles texts for a GPU, by NVRTC: those of Weft's kernels, and policies. No GPU is needed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/cache/archive.hpp"
#include "weft/rtc/policy/policy.hpp"
#include "weft/rtc/text/source_text.hpp"

namespace weft::rtc {

// What NVRTC makes of a text: code that no GPU runs yet, of which Link makes the kernel that is needed. Copies are
// cheap.
class Code {
 public:
  struct Source {
    std::string text;
    const char* file = "";               // what the compiler calls the text
    std::string include{};               // a folder of headers beside Weft's; or empty
    std::vector<std::string> kernels{};  // expressions that name them
    std::string variable{};              // whose bytes are wanted, too; or empty
    // Makes an error of what the compiler says.
    std::function<absl::Status(const std::string& messages)> error{};
  };

  // It takes a second of a CPU, or none where the code is kept. That the cache cannot be written is no error:
  // cache_status() says so. What an archive has needs no NVRTC. Source::error's error if the text does not
  // compile; InvalidArgument if the variable holds an address; NotFound if there is no NVRTC; FailedPrecondition if it
  // has no code for such a GPU.
  static absl::StatusOr<Code> Compile(const Source& source, int compute_capability,
                                      const Kept& kept);

  // The kernels' names in their cubins, in the order of Source::kernels.
  const std::vector<std::string>& names() const { return names_; }
  const std::string& variable() const { return variable_; }
  int compute_capability() const { return compute_capability_; }
  const absl::Status& cache_status() const { return cache_status_; }
  bool from_cache() const { return from_cache_; }

  // The cubin of the kernel of one of the names, in a second of a CPU, or none where it is kept.
  // InvalidArgument, with what the linker says, if it cannot be made. An archive has cubins and no code to link: of one
  // that lacks this cubin the code is compiled anew, with the errors of Compile.
  absl::StatusOr<std::string> Link(const std::string& name, const Kept& kept) const;

 private:
  Code() = default;

  int compute_capability_ = 0;
  std::string key_;        // of the code in an archive
  std::string cache_key_;  // and in the cache; empty: it is not kept there
  std::string variable_;   // its bytes
  std::string of_;         // its name
  std::vector<std::string> names_;
  std::shared_ptr<const std::string> code_;  // null: an archive's
  std::shared_ptr<const Source> source_;     // of an archive's
  absl::Status cache_status_;
  bool from_cache_ = false;
};

struct CompileOptions {
  std::string policy{};  // the name of the type that the source defines
  PolicyKind kind = PolicyKind::kConvolution;
  std::vector<std::string> values{};  // names of members of its functors
  std::string include{};  // a folder of headers that the source includes, beside Weft's; or empty
  int compute_capability = 90;  // 75, 80, 86, 89, 90, ...; of 90 with the instructions of sm_90a
};

// A policy whose text NVRTC has read: its facts, and code that no GPU runs yet, of which Link makes
// the kernel that is needed. Copies are cheap.
class Program {
 public:
  // The source has weft/conv/ready_made.hpp included before its first line. The errors, and what is kept, are those
  // of Code::Compile; an error is told by the lines of the source. InvalidArgument also if the source defines no policy
  // of that name, or a functor of the policy is not constexpr.
  static absl::StatusOr<Program> Compile(std::string_view source, const CompileOptions& options,
                                         const Kept& kept = {});

  const Policy& policy() const { return policy_; }
  int compute_capability() const { return code_.compute_capability(); }
  const absl::Status& cache_status() const { return code_.cache_status(); }
  bool from_cache() const { return code_.from_cache(); }

  // The name of kernel `index` in its cubin; empty if the policy has no such kernel.
  const std::string& entry(int index) const;

  // The cubin of one kernel, in a second of a CPU, or none where it is kept.
  absl::StatusOr<std::string> Link(int kernel, const Kept& kept = {}) const;

 private:
  Program(Policy policy, Code code) : policy_(std::move(policy)), code_(std::move(code)) {}

  Policy policy_;
  Code code_;
  std::vector<std::string> entries_;
};

}  // namespace weft::rtc
