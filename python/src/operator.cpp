#include "operator.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <optional>

#include "stream.hpp"
#include "weft/conv/deconvolution/deconvolution_plan.hpp"
#include "weft/conv/launch/start.hpp"

namespace weft::python {
namespace {

std::string NameOf(const TensorExtents& e) {
  return absl::StrCat("n=", e.n, ", c=", e.c, ", h=", e.h, ", w=", e.w);
}

// layout: says what the shape is, where that has to be said.
template <class Says>
Array Read(const nb::object& given, const char* name, char letter, const Shape& shape,
           const Says& layout, const char* remedy) {
  Array array = ArrayOf(given, name);
  if (!Fits(array, letter, shape)) CheckArray(array, name, letter, shape, layout(), remedy);
  return array;
}

void CheckSameMemory(const char* name, const Array& a, const Array& x) {
  if (a.on_gpu == x.on_gpu && a.device == x.device) return;
  const auto memory = [](const Array& array) {
    return array.on_gpu ? absl::StrCat("on GPU ", array.device) : "in host memory";
  };
  throw Error(ErrorKind::kArgument,
              absl::StrCat("weft: ", name, " is ", memory(a), " and x ", memory(x),
                           "; all arrays of a call lie in one memory"));
}

// Whether an argument is given, and an error if it is in vain.
bool IsGiven(const nb::object& given, const char* name, bool read) {
  if (given.is_none() || read) return !given.is_none();
  throw Error(ErrorKind::kArgument,
              absl::StrCat("weft: ", name, " is given, and no stage of this epilogue reads it"));
}

// A number of numpy is one, too, and so is an array of numpy without dimensions.
bool IsNumber(const nb::object& given) {
  return PyFloat_Check(given.ptr()) || PyLong_Check(given.ptr()) ||
         (nb::hasattr(given, "ndim") && nb::cast<int>(given.attr("ndim")) == 0);
}

}  // namespace

float NumberOf(nb::handle given, const char* name) {
  float number = 0.0f;
  if (nb::try_cast(given, number)) return number;
  throw Error(ErrorKind::kType, absl::StrCat("weft: ", name, "=", ReprOf(given),
                                             " is no number of float32; give one"));
}

std::string Layout::Name() const {
  const std::string whole = channel_run == 0   ? "NHWC"
                            : channel_run == 1 ? "NCHW"
                                               : absl::StrCat("NCxHWx<", channel_run, ">");
  return bits == 4 ? absl::StrCat("PairedInt4<", whole, ">") : whole;
}

Shape Layout::Of(const TensorExtents& e) const {
  const int pair = bits == 4 ? 2 : 1;
  if (channel_run == 0) return {e.n, e.h, e.w, e.c / pair};
  if (channel_run == 1) return {e.n, e.c, e.h, e.w / pair};
  return {e.n, RoundUp(e.c, channel_run) / channel_run, e.h, e.w, channel_run / pair};
}

Operator::Operator(const rtc::Operator& compiled, const conv::Problem& problem, bool matrices,
                   std::int64_t source_zero_point)
    : compiled_(compiled),
      problem_(problem),
      matrices_(matrices),
      src_extents_(problem.src()),
      dst_extents_(problem.dst()),
      values_(std::make_shared<Values>(Values{compiled.values(), {}})) {
  prologues::PerPhase all;
  all.rows = static_cast<std::int32_t>(problem.p());
  all.columns = static_cast<std::int32_t>(problem.q());
  steps_.push_back({.plan = Value(compiled_.Plan(problem)), .place = all});
  dst_extents_ = steps_.back().plan.dst();  // pooled where the epilogue has a MaxPool
  CountFilters();
  LayOutCorrections(source_zero_point);
  dst_shape_ = TupleOf(ShapeOf(dst(), dst_extents_));
}

Operator::Operator(const rtc::Operator& compiled, const conv::DeconvolutionProblem& problem,
                   std::int64_t source_zero_point)
    : compiled_(compiled),
      problem_({.n = problem.n,
                .h = problem.h,
                .w = problem.w,
                .c = problem.c,
                .k = problem.k,
                .r = problem.r,
                .s = problem.s,
                .pad_top = problem.pad_top,
                .pad_left = problem.pad_left,
                .pad_bottom = problem.pad_bottom,
                .pad_right = problem.pad_right,
                .stride_h = problem.stride_h,
                .stride_w = problem.stride_w,
                .dilation_h = problem.dilation_h,
                .dilation_w = problem.dilation_w}),
      values_(std::make_shared<Values>(Values{compiled.values(), {}})) {
  Check(conv::CheckDeconvolution(problem));
  src_extents_ = problem.src(), dst_extents_ = problem.dst();
  const conv::FilterParts parts = conv::PartsOf(problem);
  for (std::int64_t i = 0; i < parts.count(); ++i) {  // the offsets are those of conv::PartOffsets
    parts_.push_back({.offset = filter_bytes_,
                      .extents = parts.At(i),
                      .row = i / parts.columns(),
                      .column = i % parts.columns(),
                      .step_h = parts.step_h(),
                      .step_w = parts.step_w(),
                      .zeros = i >= parts.rows() * parts.columns()});
    filter_bytes_ += RoundUp(PackedShape(parts.At(i)).size(), 64);
  }
  const std::vector<conv::Phase> phases = conv::PhasesOf(problem);
  for (const conv::Phase& phase : phases) {
    absl::StatusOr<conv::ConvPlan> plan = compiled_.Plan(phase.problem);
    if (!plan.ok()) {
      Check(conv::OfPhase(plan.status(), problem, static_cast<std::int64_t>(steps_.size())));
    }
    steps_.push_back({.plan = *std::move(plan),
                      .place = phase.place,
                      .part = phase.part,
                      .filter_offset = parts_[static_cast<std::size_t>(phase.part)].offset});
  }
  phases_ = conv::DescribePhases(phases);
  CountFilters();
  LayOutCorrections(source_zero_point);
  dst_shape_ = TupleOf(ShapeOf(dst(), dst_extents_));
}

std::string Operator::Describe() const {
  if (steps_.empty()) return "nothing to do: the output has no elements";
  const std::string last = compiled_.Describe(steps_.back().plan);
  return phases_.empty() ? last : absl::StrCat(phases_, "; the last: ", last);
}

Layout Operator::src() const {
  const conv::SourceFacts& source = image().facts.source;
  return {source.interleave, source.nhwc ? 0 : source.interleave, source.bits};
}
Layout Operator::dst() const {
  return {image().dst.interleave, image().facts.output.channel_run, image().dst.bits};
}
Layout Operator::residual() const {
  const int interleave = image().residual.interleave;
  return {interleave, image().residual_as_dst ? dst().channel_run : interleave, 8};
}

Shape Operator::ShapeOf(const Layout& layout, const TensorExtents& e) const {
  return matrices_ ? Shape{e.n * e.h * e.w, e.c} : layout.Of(e);
}

absl::Status Operator::Run(rtc::Arguments args, bool on_gpu, Stream stream) const {
  std::vector<rtc::Arguments> runs;
  for (const Step& step : steps_) {
    runs.push_back(args);
    if (!phases_.empty()) runs.back().phase = &step.place;
    conv::FilterRun& filter = runs.back().filter.run;
    const auto* const packed = static_cast<const std::int8_t*>(filter.data);
    filter.data = packed + step.filter_offset;
    runs.back().source_correction = step.correction.With(
        step.correction.bytes() == 0
            ? nullptr
            : reinterpret_cast<const std::int32_t*>(packed + step.correction_offset),
        step.correction.zero_point());
    filter.bytes = BankShape(step.plan.problem).size();
    filter.extents = conv::PackedExtents(step.plan.problem, image().facts.IsDepthwise());
    // Of several steps the first ones run only if the later ones will.
    if (steps_.size() == 1) continue;
    const absl::StatusOr<conv::ConvRun> run = compiled_.RunOf(step.plan, runs.back());
    if (!run.ok()) return run.status();
    if (absl::Status s = conv::CheckArguments(image(), step.plan, *run); !s.ok()) return s;
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const absl::Status status = on_gpu ? compiled_.Run(steps_[i].plan, runs[i], stream)
                                       : compiled_.RunOnCpu(steps_[i].plan, runs[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

nb::object Operator::operator()(const Call& call) const {
  const rtc::PolicyRecord& letters = record();
  const gemm::EpilogueFacts& reads = image().epilogue;
  const Shape channels = {dst_extents_.c};
  const auto of = [this](const Layout& layout, const TensorExtents& e) {
    return matrices_ ? "rows and columns" : absl::StrCat(layout.Name(), " of ", NameOf(e));
  };
  const auto of_src = [&] { return of(src(), src_extents_); };
  const auto of_dst = [&] { return of(dst(), dst_extents_); };
  const auto of_residual = [&] { return of(residual(), dst_extents_); };
  const auto each_channel = [] { return std::string("one for each output channel"); };
  const auto packed_filter = [] { return std::string("the packed filter"); };

  const Array x = Read(call.x, "x", letters.src, ShapeOf(src(), src_extents_), of_src,
                       matrices_ ? "" : "weft.to_layout makes it of NCHW");
  const Array w =
      Read(call.w, "w", letters.filter, packed(), packed_filter, "op.pack(w) makes it of KCRS");
  CheckSameMemory("w", w, x);
  rtc::Arguments args;
  args.src = x.data;
  args.filter = {.run = {.data = w.data, .bytes = w.size(), .count = filters(), .extents = {}},
                 .layout = letters.filter_layout,
                 .letter = letters.filter};
  Array bias, added, scales;
  if (IsGiven(call.bias, "bias", reads.bias)) {
    bias = Read(call.bias, "bias", letters.bias, channels, each_channel, "");
    CheckSameMemory("bias", bias, x);
    args.bias = bias.data;
  } else if (reads.bias) {
    throw Error(ErrorKind::kArgument,
                absl::StrCat("weft: bias is missing, which this epilogue adds; give ",
                             dst_extents_.c, " numbers of ", NameOf(letters.bias)));
  }
  if (IsGiven(call.residual, "residual", reads.residual)) {
    added = Read(call.residual, "residual", letters.residual, ShapeOf(residual(), dst_extents_),
                 of_residual, "");
    CheckSameMemory("residual", added, x);
    args.residual = added.data;
  } else if (reads.residual && call.gamma != 0.0f) {
    throw Error(ErrorKind::kArgument,
                "weft: residual is missing, which this epilogue adds; give an array, or gamma=0");
  }
  if (IsNumber(call.alpha)) {
    if (!nb::try_cast(call.alpha, args.alpha)) {
      throw Error(ErrorKind::kType,
                  "weft: alpha is no number of float32; give one, or one for each output channel");
    }
  } else if (!call.alpha.is_none()) {
    scales = Read(call.alpha, "alpha", 'f', channels, each_channel, "a number is for all channels");
    CheckSameMemory("alpha", scales, x);
    args.channel_alpha = static_cast<const float*>(scales.data);
  }
  args.beta = call.beta, args.gamma = call.gamma;
  args.output_scale = call.output_scale, args.zero_point = call.zero_point;
  // A run keeps the values of now, whatever other threads set while it runs.
  const std::shared_ptr<const Values> values = values_;
  args.values = &values->numbers;
  for (const auto& [name, array] : values->arrays) CheckSameMemory(name.c_str(), array, x);
  for (const rtc::ValueRecord& value : compiled_.facts().values()) {
    if (value.letter != 'p' || value.owners != 1 || value.count != 1) continue;
    const auto is_it = [&](const auto& given) { return given.first == value.name; };
    if (std::none_of(values->arrays.begin(), values->arrays.end(), is_it)) {
      throw Error(ErrorKind::kArgument,
                  absl::StrCat("weft: ", value.name, " of a functor has no address; set op.",
                               value.name, " to ", dst_extents_.c, " numbers of float32"));
    }
  }

  nb::object result = call.out.is_none() ? NewOutput(call.x) : call.out;
  const Array out = Read(result, "out", letters.dst, ShapeOf(dst(), dst_extents_), of_dst,
                         "leave it out, and the call makes it");
  if (out.read_only) {
    throw Error(ErrorKind::kArgument, "weft: out is read-only; give an array that may be written");
  }
  CheckSameMemory("out", out, x);
  args.dst = out.data;

  std::optional<OnDeviceOf> device;
  Stream stream = nullptr;
  if (x.on_gpu) {
    device.emplace(x);
    stream = StreamOf(call.stream, x);
  } else if (!call.stream.is_none()) {
    throw Error(ErrorKind::kArgument,
                "weft: stream is given, and x is in host memory; leave it out");
  }
  absl::Status status;
  {
    nb::gil_scoped_release release;
    status = Run(args, x.on_gpu, stream);
  }
  Check(status);
  return result;
}

nb::object Operator::NewOutput(const nb::object& x) const {
  const char letter = record().dst;
  if (LibraryOf(x) == Library::kTorch) {
    static PyObject* dtypes[128] = {};
    return x.attr("new_empty")(
        dst_shape_,
        nb::arg("dtype") = Function(&dtypes[static_cast<int>(letter)], "torch", NameOf(letter)));
  }
  static PyObject* empty_like = nullptr;
  return Function(&empty_like, "weft._arrays", "empty_like")(x, dst_shape_, NameOf(letter));
}

void Operator::Prepare() const {
  absl::Status status;
  {
    nb::gil_scoped_release release;
    for (const Step& step : steps_) status.Update(compiled_.Prepare(step.plan));
  }
  Check(status);
}

nb::object Operator::Get(const std::string& name) const {
  for (const auto& [of, array] : values_->arrays) {
    if (of == name) return array.owner;
  }
  return nb::float_(Value(values_->numbers.Get(name)));
}

void Operator::Set(const std::string& name, nb::handle given) {
  auto changed = std::make_shared<Values>(*values_);
  double number = 0;
  if (nb::try_cast(given, number)) {
    Check(changed->numbers.Set(name, number));
  } else {
    Check(changed->numbers.SetAddress(name, nullptr));  // of a number no array is looked at
    const Array array = ArrayOf(given, name.c_str());
    CheckArray(array, name.c_str(), 'f', {dst_extents_.c}, "one for each output channel", "");
    Check(changed->numbers.SetAddress(name, array.data));
    std::erase_if(changed->arrays, [&](const auto& old) { return old.first == name; });
    changed->arrays.emplace_back(name, array);
  }
  values_ = std::move(changed);
}

}  // namespace weft::python
