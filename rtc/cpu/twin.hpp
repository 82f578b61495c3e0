// A twin: a policy that is given as text, compiled by g++ for the CPU and loaded.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/cache/archive.hpp"
#include "weft/rtc/cpu/twin_table.hpp"
#include "weft/rtc/policy/policy.hpp"
#include "weft/rtc/text/source_text.hpp"

namespace weft::rtc {

struct TwinOptions {
  std::string policy{};  // the name of the type that the source defines
  PolicyKind kind = PolicyKind::kConvolution;
  std::vector<std::string> values{};  // names of members of its functors
  std::string include{};   // a folder of headers that the source includes, beside Weft's; or empty
  std::string compiler{};  // empty: $CXX, or else g++ or c++ on the PATH
};

// Copies share the shared object, which stays loaded as long as one of them exists. Thread-safe.
class Twin {
 public:
  // The source has weft/conv/ready_made.hpp included before its first line. It takes 2 s of a CPU, or
  // none where the twin is kept. One of an archive needs no compiler. InvalidArgument, with the first lines of what the compiler says,
  // by the lines of the source, if it does not compile or defines no policy of that name; NotFound if
  // there is no compiler; FailedPrecondition if the shared object cannot be written or loaded.
  // That the cache cannot be written is no error: cache_status() says so.
  static absl::StatusOr<Twin> Compile(std::string_view source, const TwinOptions& options,
                                      const Kept& kept = {});

  const Policy& policy() const { return policy_; }
  const TwinTable& table() const { return *table_; }
  const absl::Status& cache_status() const { return cache_status_; }
  bool from_cache() const { return from_cache_; }

 private:
  Twin(std::shared_ptr<void> library, const TwinTable* table, Policy policy)
      : library_(std::move(library)), table_(table), policy_(std::move(policy)) {}
  static absl::StatusOr<Twin> Load(const std::string& path);

  std::shared_ptr<void> library_;
  const TwinTable* table_;
  Policy policy_;
  absl::Status cache_status_;
  bool from_cache_ = false;
};

}  // namespace weft::rtc
