// Tuning tables: which policy was the quickest on a GPU, by measurement. Dispatch reads them
// (DispatchOptions), weft_perf --sweep and gemm_bench --sweep write them.
//
// A file is text, one record a line, its fields in any order; `#` starts a comment:
//
//     device="NVIDIA H200" sms=132 operator=s8_NCxHWx<32>_to_s8_NCxHWx<32>_bias
//         problem=n16c64h92w160k32r3s1p1 policy=mma_sm80_128x32x64_w32x32x64_s4_a16_d8 us=36.2
//     device="NVIDIA H200" sms=132 operator=s8_row_x_column_to_s32_row problem=m4096n4096k4096
//         policy=wgmma_sm90_128x256x128_w128x128x128_b1_a16_d16 us=107.9
//
// (each on one line). Records of several GPUs and operators may share a file.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "weft/gemm/check/problem_name.hpp"
#include "weft/gemm/policy/family.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/layouts/element/complex.hpp"
#include "weft/layouts/element/float16.hpp"

namespace weft::gemm {

// The name of a policy within its family, from every number in which policies of one operator
// differ: mma_sm80_128x128x64_w64x32x64_s3_a16_d8 for threadblock, warp, stages and the widths of
// loads and stores in bytes; simt tiles have t<m>x<n>, a thread's tile, instead of the stages.
std::string PolicyName(const TileDescription& config);

namespace internal {

template <class Type>
constexpr const char* ElementName() {
  if constexpr (std::is_same_v<Type, std::int8_t>) {
    return "s8";
  } else if constexpr (std::is_same_v<Type, std::uint8_t>) {
    return "u8";
  } else if constexpr (std::is_same_v<Type, float>) {
    return "f32";
  } else if constexpr (std::is_same_v<Type, double>) {
    return "f64";
  } else if constexpr (std::is_same_v<Type, Complex<float>>) {
    return "c32";
  } else if constexpr (std::is_same_v<Type, Complex<double>>) {
    return "c64";
  } else if constexpr (std::is_same_v<Type, std::int32_t>) {
    return "s32";
  } else if constexpr (std::is_same_v<Type, Float8E4m3>) {
    return "e4m3";
  } else if constexpr (std::is_same_v<Type, Float8E5m2>) {
    return "e5m2";
  } else if constexpr (std::is_same_v<Type, Tf32>) {
    return "tf32";
  } else if constexpr (std::is_same_v<Type, Bfloat16>) {
    return "bf16";
  } else {
    static_assert(std::is_same_v<Type, Half>, "weft: an output type without a name");
    return "f16";
  }
}

}  // namespace internal

// The operator of policy PolicyT as tables name it: types, layouts, and what the epilogue reads;
// s8_NCxHWx<32>_to_s8_NCxHWx<32>_bias, f16_row_x_column_to_f32_row. All policies of a family share it.
// Activations do not count, since they hardly change which tile is the quickest: what was measured
// with ReLU serves hard swish too.
template <class PolicyT>
std::string OperatorName() {
  using Kind = OperatorKind<PolicyT>;
  using Epilogue = typename PolicyT::Epilogue;
  return absl::StrCat(internal::ElementName<typename PolicyT::Element>(), "_", Kind::kFrom,
                      Kind::kBy, "_to_", internal::ElementName<typename Epilogue::Output>(), "_",
                      Kind::kTo, Epilogue::kHasBias ? "_bias" : "",
                      Epilogue::kHasResidual ? "_residual" : "");
}

template <class Problem>
concept NamedProblem = requires(const Problem& p) {
  { ProblemName(p) } -> std::same_as<std::string>;
};

// A problem as tables know it, by its name. Made of any operator's problem that has one.
struct TunedProblem {
  TunedProblem() = default;
  template <NamedProblem Problem>
  TunedProblem(const Problem& problem) : name(ProblemName(problem)) {}  // NOLINT(runtime/explicit)

  std::string name;

  friend bool operator==(const TunedProblem&, const TunedProblem&) = default;
};

// One line of a table.
struct TuningRecord {
  std::string device;         // as CUDA names the GPU: "NVIDIA H200"
  int sm_count = 0;           // its multiprocessors; a part of a GPU has fewer than the whole
  std::string operator_name;  // OperatorName<PolicyT>()
  TunedProblem problem;
  std::string policy;         // PolicyName() of the quickest
  double microseconds = 0.0;  // that it took

  friend bool operator==(const TuningRecord&, const TuningRecord&) = default;
};

// Names of products are checked; those of other operators' problems are taken as they are
// (conv::TuningTable checks convolutions' too).
class TuningTable {
 public:
  TuningTable() = default;

  // The table in `text`; `source` is its name in messages. InvalidArgument names source, line and
  // field, the value and what would be accepted; two records of one device, operator and problem
  // are an error too.
  static absl::StatusOr<TuningTable> Parse(const std::string& source, const std::string& text);

  // The table in a file. NotFound if it cannot be opened or is a folder, Unavailable if
  // reading fails, else as Parse.
  static absl::StatusOr<TuningTable> Read(const std::string& path);

  // Adds a record, or replaces the one of the same device, operator and problem. InvalidArgument
  // names the field that a file could not hold: an empty name, a quotation mark or line break in
  // the device's name, white space in others, the name of an impossible problem, and numbers that
  // are not positive.
  absl::Status Put(const TuningRecord& record);

  // Null if there is none.
  const TuningRecord* Find(const std::string& device, int sm_count,
                           const std::string& operator_name, const TunedProblem& problem) const;

  // In the order of device, sm_count, operator and problem's name.
  std::vector<TuningRecord> records() const;
  std::size_t size() const { return records_.size(); }

  // What Parse reads, `comment` (any number of lines) first. A record's microseconds keep four
  // digits after the point.
  std::string Text(const std::string& comment = "") const;

  // Text to a file, whole or not at all: written beside it and renamed. Unavailable if that fails.
  absl::Status Write(const std::string& path, const std::string& comment = "") const;

 protected:
  // The one name of the problem that is called `name`, or what is wrong with it.
  using OneName = absl::StatusOr<std::string> (*)(const std::string& name);
  static absl::StatusOr<std::string> OneNameOf(const std::string& name);

  explicit TuningTable(OneName one_name) : one_name_(one_name) {}

  // What Parse and Read do.
  absl::Status AddText(const std::string& source, const std::string& text);
  absl::Status AddFile(const std::string& path);

 private:
  using Key = std::tuple<std::string, int, std::string, std::string>;
  OneName one_name_ = &OneNameOf;
  std::map<Key, TuningRecord> records_;
};

}  // namespace weft::gemm
