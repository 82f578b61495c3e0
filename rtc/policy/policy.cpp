#include "weft/rtc/policy/policy.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "weft/conv/policy/depthwise_config.hpp"
#include "weft/rtc/policy/bottleneck_record.hpp"

namespace weft::rtc {

struct Policy::Data {
  PolicyRecord record;
  // What the record refers to. Parameters are aligned to 64 bytes and copied, never read here.
  std::string bytes;
  std::vector<ValueRecord> values;
  std::vector<Policy> others;

  std::string_view Range(const ByteRange& range) const {
    return std::string_view(bytes).substr(static_cast<std::size_t>(range.at),
                                          static_cast<std::size_t>(range.size));
  }
};

Policy::Policy(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

const PolicyRecord& Policy::record() const {
  return data_->record;
}

KernelRecord Policy::kernel(int index) const {
  if (index < 0 || index >= kMostKernels) return {};
  return data_->record.kernel[index];
}

std::string_view Policy::part(Part part) const {
  return data_->Range(data_->record.part[static_cast<int>(part)]);
}

const Policy& Policy::other(int index) const {
  return data_->others[static_cast<std::size_t>(index)];
}

std::string_view Policy::fused() const {
  return data_->record.fused.at < 0 ? std::string_view() : data_->Range(data_->record.fused);
}

absl::Span<const ValueRecord> Policy::values() const {
  return data_->values;
}

absl::StatusOr<Policy> Policy::FromBytes(std::string_view bytes) {
  auto data = std::make_shared<Data>();
  data->bytes = std::string(bytes);
  PolicyRecord& r = data->record;
  if (bytes.size() >= sizeof(PolicyRecord)) {
    std::memcpy(static_cast<void*>(&r), bytes.data(), sizeof(PolicyRecord));
  }
  if (bytes.size() < sizeof(PolicyRecord) || r.bytes != sizeof(PolicyRecord)) {
    return absl::InternalError(
        absl::StrCat("rtc: the compiled policy is of another version of Weft: it has ",
                     bytes.size(), " bytes of facts, and ", sizeof(PolicyRecord), " are expected"));
  }
  conv::PolicyImage& image = r.image;
  image.facts.src_layout = r.src_layout;
  image.facts.dst_layout = r.dst_layout;
  image.facts.prologue.name = r.prologue;
  // Who compares descriptions of tiles compares addresses.
  image.facts.config.other = std::string_view(r.other) == conv::DepthwiseConfig::kName
                                 ? conv::DepthwiseConfig::kName
                             : r.other[0] != 0 ? r.other
                                               : nullptr;
  const auto inside = [&](std::int64_t at, std::int64_t size) {
    return at >= 0 && size >= 0 && at + size <= static_cast<std::int64_t>(bytes.size());
  };
  bool whole = inside(r.first_value, r.values * std::int64_t{sizeof(ValueRecord)});
  for (const ByteRange& part : r.part) whole = whole && inside(part.at, part.size);
  for (int i = 0; i < 3; ++i) {
    if (r.defaults[i] < 0) continue;
    whole = whole && inside(r.defaults[i], image.params[i].at.bytes);
    image.params[i].defaults = data->bytes.data() + r.defaults[i];
  }
  whole = whole && (r.fused.at < 0 || inside(r.fused.at, r.fused.size));
  for (const ByteRange& other : r.others) {
    if (!whole || other.at < 0) continue;
    whole = inside(other.at, other.size);
    if (!whole) continue;
    absl::StatusOr<Policy> made = FromBytes(data->Range(other));
    if (!made.ok()) return made.status();
    data->others.push_back(*std::move(made));
  }
  if (!whole) return absl::InternalError("rtc: the compiled policy lacks its parameters");
  data->values.resize(static_cast<std::size_t>(r.values));
  if (r.values > 0) {
    std::memcpy(static_cast<void*>(data->values.data()), bytes.data() + r.first_value,
                data->values.size() * sizeof(ValueRecord));
  }
  return Policy(std::move(data));
}

std::int64_t Policy::Filters(const prologues::BatchExtents& extents) const {
  switch (record().filters) {
    case FilterCount::kOne:
      return 1;
    case FilterCount::kOneEach:
      return extents.Count();
    default:
      return 0;
  }
}

void Policy::DescribeEpilogue(const void* epilogue, gemm::OutputRun* run) const {
  const auto read = [&]<class Type>(std::int32_t at, Type& to) {
    if (at >= 0) std::memcpy(&to, static_cast<const char*>(epilogue) + at, sizeof(Type));
  };
  const EpilogueRecord& e = record().epilogue;
  read(e.copy, run->copy);
  read(e.low, run->low);
  read(e.high, run->high);
  read(e.image_sums, run->image_sums);
  read(e.channel_values, run->channel_values);
  read(e.table, run->table);
  read(e.residual_zero_point, run->residual_zero_point);
}

// Whether operators of several convolutions have the same parameters; operators of one have none of these bytes.
static bool HaveSameLayout(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  BottleneckRecord x, y;
  std::memcpy(static_cast<void*>(&x), a.data(), sizeof x);
  std::memcpy(static_cast<void*>(&y), b.data(), sizeof y);
  return std::memcmp(&x.at, &y.at, sizeof x.at) == 0;
}

bool Policy::IsSame(const Policy& other) const {
  const PolicyRecord &a = record(), &b = other.record();
  const auto same = [](const auto& x, const auto& y) {
    return std::memcmp(static_cast<const void*>(&x), static_cast<const void*>(&y), sizeof x) == 0;
  };
  bool is_same = a.kernels == b.kernels && same(a.part, b.part) && same(a.epilogue, b.epilogue) &&
                 a.values == b.values && data_->others.size() == other.data_->others.size() &&
                 HaveSameLayout(fused(), other.fused());
  for (std::size_t i = 0; is_same && i < data_->others.size(); ++i) {
    is_same = data_->others[i].IsSame(other.data_->others[i]);
  }
  for (int i = 0; is_same && i < 3; ++i) {
    is_same = same(a.image.params[i].at, b.image.params[i].at);
  }
  for (int i = 0; is_same && i < kMostKernels; ++i) {
    is_same = a.kernel[i].threads == b.kernel[i].threads &&
              a.kernel[i].shared_bytes == b.kernel[i].shared_bytes &&
              a.kernel[i].params_bytes == b.kernel[i].params_bytes;
  }
  for (std::size_t i = 0; is_same && i < data_->values.size(); ++i) {
    const ValueRecord &x = data_->values[i], &y = other.data_->values[i];
    is_same = std::string_view(x.name) == y.name && x.part == y.part && x.offset == y.offset &&
              x.count == y.count && x.owners == y.owners && x.letter == y.letter;
  }
  return is_same;
}

}  // namespace weft::rtc
