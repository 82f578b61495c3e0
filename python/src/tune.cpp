// Which tile runs an operator quickest, by itself: candidates, and their times on a GPU.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "operator.hpp"
#include "weft/network/median.hpp"
#include "weft/network/plan/choose_tile.hpp"
#include "weft/rtc/gpu/driver.hpp"

namespace weft::python {
namespace {

constexpr int kSamples = 9;                   // of each operator, in turn with the others
constexpr double kSampleMicroseconds = 2000;  // at least
constexpr std::int64_t kMostSets = 256;       // of arrays

network::Format FormatOf(const Layout& layout) {
  switch (layout.channel_run) {
    case 0:
      return network::Format::kNhwc;
    case 1:
      return network::Format::kNchw;
    case 4:
      return network::Format::kNc4;
    default:
      return network::Format::kNc32;  // NCxHWx<64> is written by the same tiles
  }
}

std::int64_t BytesOf(char letter) {
  return letter == 'b' || letter == 'B'   ? 1
         : letter == 'e' || letter == 'E' ? 2
         : letter == 'd'                  ? 8
                                          : 4;
}

// Bytes that are all different enough, a part of which is repeated.
std::string AnyBytes(std::int64_t size) {
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

// Where the arrays of a call lie in a set of them.
class Places {
 public:
  std::int64_t Add(std::int64_t bytes) {
    const std::int64_t at = size_;
    size_ += RoundUp(std::max<std::int64_t>(bytes, 1), 256);
    return at;
  }
  std::int64_t size() const { return size_; }

 private:
  std::int64_t size_ = 0;
};

}  // namespace

std::vector<std::string> Operator::CandidateTiles(bool gpu) const {
  if (steps_.empty()) return {};
  network::TileQuestion question = {.problem = steps_[0].plan.problem,
                                    .src = FormatOf(src()),
                                    .dst = FormatOf(dst()),
                                    .depthwise = image().facts.IsDepthwise(),
                                    .source_zero_point = image().epilogue.source_zero_point,
                                    .adds = image().epilogue.residual};
  // Tiles of groups are compared as those of one filter for all channels, which has families.
  if (!question.depthwise) question.problem.groups = 1;
  network::Machine machine = conv::CpuFacts{1};
  if (gpu) machine = conv::GpuFactsOf(Value(rtc::CurrentDevice()));
  std::vector<std::string> names;
  for (const auto& candidate : Value(network::CandidateTiles(question, machine))) {
    names.push_back(candidate.tile);
  }
  return names;
}

std::vector<double> Operator::Times(const std::vector<const Operator*>& operators) {
  std::vector<double> medians(operators.size(), -1.0);
  if (operators.empty() || operators[0]->steps_.empty()) return medians;
  const Operator& first = *operators[0];
  const rtc::PolicyRecord& letters = first.record();
  const std::int64_t l2 = Value(rtc::CurrentDevice()).l2_bytes;
  Places places;
  const auto place = [&](const Shape& shape, char letter) {
    return places.Add(shape.size() * BytesOf(letter));
  };
  const std::int64_t src = place(first.ShapeOf(first.src(), first.src_extents_), letters.src);
  const std::int64_t filter = place(first.packed(), letters.filter);
  const std::int64_t bias = place({first.dst_extents_.c}, 'd');  // of any type
  const std::int64_t residual =
      place(first.ShapeOf(first.residual(), first.dst_extents_), letters.residual);
  const std::int64_t dst = place(first.ShapeOf(first.dst(), first.dst_extents_), letters.dst);
  const std::int64_t sets = std::clamp<std::int64_t>(3 * l2 / places.size(), 1, kMostSets);
  const rtc::DeviceBytes memory = Value(rtc::DeviceBytes::CopyOf(AnyBytes(sets * places.size())));

  const auto call = [&](const Operator& op, std::int64_t set, const rtc::Values& values,
                        Stream stream) {
    char* const at = const_cast<char*>(memory.data()) + set * places.size();
    rtc::Arguments args;
    args.src = at + src;
    args.filter = {.run = {.data = at + filter,
                           .bytes = op.packed().size(),
                           .count = op.filters(),
                           .extents = {}},
                   .layout = letters.filter_layout,
                   .letter = letters.filter};
    if (op.image().epilogue.bias) args.bias = at + bias;
    if (op.image().epilogue.residual) args.residual = at + residual;
    args.dst = at + dst;
    args.values = &values;
    if (op.image().epilogue.output_scale) args.output_scale = 1.0f;
    return op.Run(args, true, stream);
  };
  struct Chain {
    rtc::Recording recording;
    int runs;
    std::size_t of;
    std::vector<double> times;
  };
  std::vector<Chain> chains;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const Operator& op = *operators[i];
    rtc::Values values = op.values_->numbers;
    for (const rtc::ValueRecord& value : op.compiled_.facts().values()) {
      if (value.letter == 'p') values.SetAddress(value.name, memory.data() + bias).IgnoreError();
    }
    const absl::Status status = call(op, 0, values, nullptr);
    if (absl::IsInvalidArgument(status) || absl::IsFailedPrecondition(status)) continue;
    Check(status);
    Check(rtc::Synchronize(nullptr));
    rtc::Recording recording = Value(rtc::Recording::Of([&](Stream stream) {
      absl::Status enqueued;
      for (std::int64_t set = 0; set < sets && enqueued.ok(); ++set) {
        enqueued = call(op, set, values, stream);
      }
      return enqueued;
    }));
    const int runs = Value(recording.RunsFor(kSampleMicroseconds));
    chains.push_back({std::move(recording), runs, i, {}});
  }
  for (int sample = 0; sample < kSamples; ++sample) {
    for (Chain& chain : chains) {
      chain.times.push_back(Value(chain.recording.Microseconds(chain.runs)));
    }
  }
  for (const Chain& chain : chains) {
    medians[chain.of] = network::MedianOf(chain.times) / static_cast<double>(sets);
  }
  return medians;
}

void Operator::Adopt(const Operator& other) {
  auto values = std::make_shared<Values>(Values{other.compiled_.values(), values_->arrays});
  for (const std::string& name : values_->numbers.names()) {
    if (const auto number = values_->numbers.Get(name); number.ok()) {
      Check(values->numbers.Set(name, *number));
    }
  }
  for (const auto& [name, array] : values->arrays) {
    Check(values->numbers.SetAddress(name, array.data));
  }
  *this = other;
  values_ = std::move(values);
}

void BindTune(nb::module_& m) {
  m.def(
      "candidate_tiles", [](const Operator& op, bool gpu) { return op.CandidateTiles(gpu); },
      nb::arg("op"), nb::arg("gpu") = true,
      "The tiles of the operator's family for the current GPU, the quickest by the model first.");
  m.def(
      "times",
      [](const std::vector<const Operator*>& operators) {
        const nb::gil_scoped_release release;
        return Operator::Times(operators);
      },
      nb::arg("operators"),
      "Microseconds of a call of each on the current GPU, of operators that differ by their tiles; "
      "negative for one that cannot run.");
  m.def(
      "adopt", [](Operator& op, const Operator& other) { op.Adopt(other); }, nb::arg("op"),
      nb::arg("other"), "Makes `op` the other operator, with the values that `op` has.");
}

}  // namespace weft::python
