// Tuning tables say which policy was measured to be the quickest for a problem on a GPU. Dispatch
// reads them (DispatchOptions); weft_perf --sweep and gemm_bench --sweep write them.
//
// A file is text, one record a line, its fields in any order; `#` starts a comment:
//
//     device="NVIDIA H200" sms=132 operator=s8_NCxHWx<32>_to_s8_NCxHWx<32>_bias
//         problem=n16c64h92w160k32r3s1p1 policy=mma_sm80_128x32x64_w32x32x64_s4_a16_d8 us=36.2
//     device="NVIDIA H200" sms=132 operator=s8_row_x_column_to_s32_row problem=m4096n4096k4096
//         policy=wgmma_sm90_128x256x128_w128x128x128_b1_a16_d16 us=107.9
//
// (each record on one line). Records of several GPUs and operators may share a file.
#pragma once

#include <concepts>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "weft/gemm/check/problem_name.hpp"
#include "weft/gemm/policy/family.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/layouts/element/element_traits.hpp"

namespace weft::gemm {

// The name of a policy within its family, from every number in which policies of one operator
// differ: mma_sm80_128x128x64_w64x32x64_s3_a16_d8 for threadblock, warp, stages and the widths of
// loads and stores in bytes. Instead of the stages simt tiles have t<m>x<n>, a thread's tile, and
// wgmma_sm90 tiles b<blocks of a multiprocessor>, then _c<cluster split-K>, _t<packed output rows>
// and _p2 (ping-pong) where they have these.
std::string PolicyName(const TileDescription& config);

template <class ElementT>
concept NamedElement = requires { ElementTraits<ElementT>::kName; };

// The operator of policy PolicyT as tables name it: types, layouts, and what the epilogue reads;
// s8_NCxHWx<32>_to_s8_NCxHWx<32>_bias, f16_row_x_column_to_f32_row. All policies of a family share
// it. Activations do not count, since they hardly change which tile is the quickest: what was
// measured with ReLU serves hard swish too.
template <class PolicyT>
inline std::string OperatorName() {
  using Kind = OperatorKind<PolicyT>;
  using Epilogue = typename PolicyT::Epilogue;
  static_assert(NamedElement<typename Epilogue::Output>,
                "weft: an output type that is no row of layouts/element/elements.def");
  return absl::StrCat(ElementTraits<typename PolicyT::Element>::kName, "_", Kind::kFrom, Kind::kBy,
                      "_to_", ElementTraits<typename Epilogue::Output>::kName, "_", Kind::kTo,
                      Epilogue::kHasBias ? "_bias" : "", Epilogue::kHasResidual ? "_residual" : "");
}

template <class Problem>
concept NamedProblem = requires(const Problem& p) {
  { ProblemName(p) } -> std::same_as<std::string>;
};

// A problem as tables know it, by its name. It converts from the problem of any kind of operator
// that has a ProblemName.
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
  int sm_count = 0;           // its multiprocessors, of which a MIG slice has fewer than the GPU
  std::string operator_name;  // OperatorName<PolicyT>()
  TunedProblem problem;
  std::string policy;         // PolicyName() of the quickest policy
  double microseconds = 0.0;  // the time that it took

  friend bool operator==(const TuningRecord&, const TuningRecord&) = default;
};

// A table in memory. It checks the names of matrix products; names of other operators' problems it
// takes as they are (conv::TuningTable checks those of convolutions, too).
class TuningTable {
 public:
  TuningTable() = default;

  // The table in `text`; `source` is its name in messages. InvalidArgument names source, line and
  // field, the value and what would be accepted; two records of one device, operator and problem
  // are an error too.
  static absl::StatusOr<TuningTable> Parse(const std::string& source, const std::string& text);

  // The table in a file. NotFound if it cannot be opened or is a folder, Unavailable if
  // reading fails, else the errors of Parse.
  static absl::StatusOr<TuningTable> Read(const std::string& path);

  // Adds a record, or replaces the one of the same device, operator and problem. InvalidArgument
  // names the field that a file could not hold: an empty name, a quotation mark or line break in
  // the device's name, white space in others, the name of an impossible problem, and numbers that
  // are not positive.
  absl::Status Put(const TuningRecord& record);

  // The record of this device, operator and problem; null if there is none.
  const TuningRecord* Find(const std::string& device, int sm_count,
                           const std::string& operator_name, const TunedProblem& problem) const;

  // All records, sorted by device, sm_count, operator and the problem's name.
  std::vector<TuningRecord> records() const;
  std::size_t size() const { return records_.size(); }

  // The table as text that Parse reads, with the lines of `comment` before it. Microseconds keep
  // four digits after the point.
  std::string Text(const std::string& comment = "") const;

  // Writes Text to a file, whole or not at all: it writes path.new and renames that. Unavailable if
  // either fails.
  absl::Status Write(const std::string& path, const std::string& comment = "") const;

 protected:
  // The canonical name of the problem that is called `name`, or what is wrong with the name.
  using OneName = absl::StatusOr<std::string> (*)(const std::string& name);
  static absl::StatusOr<std::string> OneNameOf(const std::string& name);

  explicit TuningTable(OneName one_name) : one_name_(one_name) {}

  // Add the records of a text or file to the table, as Parse and Read do to an empty one.
  absl::Status AddText(const std::string& source, const std::string& text);
  absl::Status AddFile(const std::string& path);

 private:
  using Key = std::tuple<std::string, int, std::string, std::string>;
  OneName one_name_ = &OneNameOf;
  std::map<Key, TuningRecord> records_;
};

}  // namespace weft::gemm
