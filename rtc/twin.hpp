// A twin: a policy that is given as text, compiled by g++ for the CPU and loaded.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/twin_table.hpp"

namespace weft::rtc {

struct TwinOptions {
  std::string policy;               // the name of the type that the source defines
  std::vector<std::string> values;  // names of members of its functors
  // The folder that weft/version.hpp is in the folder weft of. Empty: $WEFT_INCLUDE, or else where
  // the headers of this library were when it was built, or are installed.
  std::string include;
  std::string compiler;  // empty: $CXX, or else g++ or c++ on the PATH
};

// Copies share the shared object, which stays loaded as long as one of them exists. Thread-safe.
class Twin {
 public:
  // The source has weft/conv/ready_made.hpp included before its first line. It takes 2 s of a CPU.
  // InvalidArgument, with the first lines of what the compiler says, by the lines of the source, if
  // it does not compile or defines no policy of that name; NotFound if there is no compiler or there
  // are no headers; FailedPrecondition if they are of another version of Weft, or the shared object
  // cannot be written or loaded.
  static absl::StatusOr<Twin> Compile(std::string_view source, const TwinOptions& options);

  const TwinTable& table() const { return *table_; }

 private:
  Twin(std::shared_ptr<void> library, const TwinTable* table)
      : library_(std::move(library)), table_(table) {}
  static absl::StatusOr<Twin> Load(const std::string& path);

  std::shared_ptr<void> library_;
  const TwinTable* table_;
};

}  // namespace weft::rtc
