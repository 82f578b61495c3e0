#include "operator.hpp"

#include <absl/strings/str_cat.h>

namespace weft::python {
namespace {

std::string NameOf(const TensorExtents& e) {
  return absl::StrCat("n=", e.n, ", c=", e.c, ", h=", e.h, ", w=", e.w);
}

}  // namespace

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

Operator::Operator(const rtc::Operator& compiled, const conv::Problem& problem)
    : compiled_(compiled), plan_(Value(compiled_.Plan(problem))), values_(compiled_.values()) {}

std::string Operator::Describe() const {
  return compiled_.Describe(plan_);
}

Layout Operator::src() const {
  const conv::SourceFacts& source = image().facts.source;
  return {source.interleave, source.nhwc ? 0 : source.interleave, source.bits};
}
Layout Operator::dst() const {
  return {image().dst.interleave, image().facts.output.channel_run, image().dst.bits};
}
Layout Operator::residual() const {
  return {image().residual.interleave, table().residual_channel_run, 8};
}

std::int64_t Operator::filters() const {
  const std::int64_t needed = table().filters(plan_.batch);
  return needed == 0 ? 1 : needed;
}

Shape Operator::filter() const {
  const conv::ConvFacts& facts = image().facts;
  const FilterExtents e = conv::PackedExtents(problem(), facts.depthwise);
  const std::int64_t x = facts.filter.interleave;
  Shape shape;
  if (facts.depthwise) {
    return {RoundUp(e.k, 4) / 4, e.r, RoundUp(e.s, 4) / 4, 4, 4};
  }
  if (x == 1) {
    shape = {e.k, e.r, e.s, e.c};
  } else {
    shape = {RoundUp(e.c, x) / x, e.r, e.s, RoundUp(e.k, x), x};
  }
  if (facts.prologue.batched) {
    for (int i = shape.rank++; i > 0; --i) shape.dim[i] = shape.dim[i - 1];
    shape.dim[0] = filters();
  }
  return shape;
}

nb::object Operator::operator()(const Call& call) const {
  const rtc::TensorLetters& letters = table().letters;
  const gemm::EpilogueFacts& facts = image().epilogue;
  const auto wants = [](const Layout& layout, const TensorExtents& e) {
    return absl::StrCat(layout.Name(), " of ", NameOf(e));
  };
  const Array x = ArrayOf(call.x, "x"), w = ArrayOf(call.w, "w");
  if (!Fits(x, letters.src, src().Of(problem().src())))
    CheckArray(x, "x", letters.src, src().Of(problem().src()), wants(src(), problem().src()),
               "weft.to_layout makes it of NCHW");
  if (!Fits(w, letters.filter, filter()))
    CheckArray(w, "w", letters.filter, filter(), "the packed filter",
               "op.pack(w) makes it of KCRS");
  rtc::Arguments args;
  args.src = x.data;
  args.filter = {.run = {.data = w.data,
                         .bytes = w.size(),
                         .count = filters(),
                         .extents = conv::PackedExtents(problem(), image().facts.depthwise)},
                 .layout = table().filter_layout,
                 .letter = letters.filter};
  args.values = &values_;
  const auto not_read = [&](const char* name, const nb::object& given, bool read) {
    if (given.is_none() || read) return !given.is_none();
    throw Error(ErrorKind::kArgument,
                absl::StrCat("weft: ", name, " is given, and no stage of this epilogue reads it"));
  };
  const auto same_device = [&](const char* name, const Array& a) {
    if (a.on_gpu == x.on_gpu && a.device == x.device) return;
    throw Error(ErrorKind::kArgument,
                absl::StrCat("weft: ", name, " is ", a.on_gpu ? "on a GPU" : "in host memory",
                             " and x ", x.on_gpu ? "on a GPU" : "in host memory",
                             "; all arrays of a call lie in one memory"));
  };
  same_device("w", w);
  Array bias, residual, scales, out;
  if (not_read("bias", call.bias, facts.bias)) {
    bias = ArrayOf(call.bias, "bias");
    if (!Fits(bias, letters.bias, {problem().k}))
      CheckArray(bias, "bias", letters.bias, {problem().k}, "one for each output channel", "");
    same_device("bias", bias);
    args.bias = bias.data;
  } else if (facts.bias) {
    throw Error(ErrorKind::kArgument,
                absl::StrCat("weft: bias is missing, which this epilogue adds; give ", problem().k,
                             " numbers of ", NameOf(letters.bias)));
  }
  if (not_read("residual", call.residual, facts.residual)) {
    residual = ArrayOf(call.residual, "residual");
    if (!Fits(residual, letters.residual, this->residual().Of(problem().dst())))
      CheckArray(residual, "residual", letters.residual, this->residual().Of(problem().dst()),
                 wants(this->residual(), problem().dst()), "");
    same_device("residual", residual);
    args.residual = residual.data;
  } else if (facts.residual && call.gamma != 0.0f) {
    throw Error(ErrorKind::kArgument,
                "weft: residual is missing, which this epilogue adds; give an array, or gamma=0");
  }
  if (!call.alpha.is_none()) {
    // A number of numpy is a number, too.
    const bool plain =
        PyFloat_Check(call.alpha.ptr()) || PyLong_Check(call.alpha.ptr()) ||
        (nb::hasattr(call.alpha, "ndim") && nb::cast<int>(call.alpha.attr("ndim")) == 0);
    if (plain) {
      args.alpha = nb::cast<float>(call.alpha);
    } else {
      scales = ArrayOf(call.alpha, "alpha");
      CheckArray(scales, "alpha", 'f', {problem().k}, "one for each output channel",
                 "a number is for all channels");
      same_device("alpha", scales);
      args.channel_alpha = static_cast<const float*>(scales.data);
    }
  }
  args.beta = call.beta, args.gamma = call.gamma;
  args.output_scale = call.output_scale, args.zero_point = call.zero_point;
  for (const auto& [name, array] : arrays_) same_device(name.c_str(), array);
  nb::object result = call.out;
  if (result.is_none()) {
    const Shape shape = dst().Of(problem().dst());
    nb::list dims;
    for (int i = 0; i < shape.rank; ++i) dims.append(shape.dim[i]);
    result = nb::module_::import_("weft._arrays")
                 .attr("empty_like")(call.x, nb::tuple(dims), NameOf(letters.dst));
  }
  out = ArrayOf(result, "out");
  if (out.read_only)
    throw Error(ErrorKind::kArgument, "weft: out is read-only; give an array that may be written");
  if (!Fits(out, letters.dst, dst().Of(problem().dst())))
    CheckArray(out, "out", letters.dst, dst().Of(problem().dst()), wants(dst(), problem().dst()),
               "leave it out, and the call makes it");
  same_device("out", out);
  args.dst = out.data;
  if (x.on_gpu) {
    throw Error(ErrorKind::kRun,
                "weft: x is on a GPU, and this build of weft runs operators on the CPU alone; give "
                "host memory");
  }
  absl::Status status;
  {
    nb::gil_scoped_release release;
    status = compiled_.RunOnCpu(plan_, args);
  }
  Check(status);
  return result;
}

nb::object Operator::Get(const std::string& name) const {
  for (const auto& [of, array] : arrays_) {
    if (of == name) return array.owner;
  }
  return nb::float_(Value(values_.Get(name)));
}

void Operator::Set(const std::string& name, nb::handle given) {
  double number;
  if (nb::try_cast(given, number)) return Check(values_.Set(name, number));
  Array array = ArrayOf(given, name.c_str());
  CheckArray(array, name.c_str(), 'f', {problem().k}, "one for each output channel", "");
  Check(values_.SetAddress(name, array.data));
  std::erase_if(arrays_, [&](const auto& old) { return old.first == name; });
  arrays_.emplace_back(name, array);
}

}  // namespace weft::python
