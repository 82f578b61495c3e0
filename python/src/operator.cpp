#include "operator.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <dlfcn.h>

#include <cstring>

#include "weft/conv/launch/make_params.hpp"
#include "weft/conv/launch/start.hpp"
#include "weft/conv/problem/problem_name.hpp"
#include "weft/gemm/launch/launch.hpp"

namespace weft::python {
namespace {

std::vector<std::max_align_t> CopyOf(const void* bytes, std::int64_t size) {
  std::vector<std::max_align_t> copy((static_cast<std::size_t>(size) + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  if (size > 0) std::memcpy(copy.data(), bytes, static_cast<std::size_t>(size));
  return copy;
}

std::string NameOf(const TensorExtents& e) { return absl::StrCat("n=", e.n, ", c=", e.c, ", h=", e.h, ", w=", e.w); }

// Runs a launch of the unit on the CPU.
absl::Status RunOnCpu(const Unit& unit, const gemm::Launch& launch) {
  constexpr int kClusters = 3;  // as gemm::CpuBackEnd
  gemm::Launch sized = gemm::SizedLaunch(unit.image.facts, launch, kClusters * unit.image.facts.config.cluster_split_k);
  sized.attributes.dependent = true;
  arch::CpuReport report;
  if (!unit.run(sized, arch::CpuOptions::FromEnvironment(), &report)) {
    return absl::InternalError("conv: the operator lacks this kernel");
  }
  return report.ok() ? absl::OkStatus() : absl::InternalError(absl::StrCat("conv: ", report.error));
}

absl::Status Run(const Unit& unit, const conv::ConvPlan& plan, const conv::ConvRun& run) {
  if (absl::Status s = conv::CheckArguments(unit.image, plan, run); !s.ok()) return s;
  if (plan.problem.IsEmpty()) return absl::OkStatus();
  const conv::ParamsImage& params = unit.image.params[conv::ParamsOf(plan)];
  alignas(128) unsigned char bytes[arch::kMaxParamsBytes];
  std::memcpy(bytes, params.defaults, static_cast<std::size_t>(params.at.bytes));
  gemm::Launch launch = {0, bytes, plan.grid()};
  if (absl::Status s = conv::MakeParams(plan, params.at, run, &arch::MakeCpuTensorMap, gemm::ParamsWriter(bytes), &launch); !s.ok()) {
    return s;
  }
  return RunOnCpu(unit, launch);
}

}  // namespace

Kernel::Kernel(const std::string& path) {
  void* object = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) throw Error(ErrorKind::kRun, absl::StrCat("weft: ", path, " cannot be loaded: ", dlerror()));
  void* symbol = dlsym(object, "weft_unit");
  if (symbol == nullptr) throw Error(ErrorKind::kRun, absl::StrCat("weft: ", path, " is no operator of weft"));
  unit_ = &reinterpret_cast<const Unit& (*)()>(symbol)();
  if (unit_->version != kUnitVersion || unit_->bytes != static_cast<int>(sizeof(Unit))) {
    throw Error(ErrorKind::kRun, absl::StrCat("weft: ", path, " was compiled by another version of weft; remove it"));
  }
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

Operator::Operator(std::shared_ptr<Kernel> kernel, const conv::Problem& problem)
    : kernel_(std::move(kernel)),
      plan_(Value(conv::MakeConvPlan(problem, kernel_->unit().image.facts))),
      epilogue_(CopyOf(unit().epilogue, unit().epilogue_bytes)),
      functor_(CopyOf(unit().functor, unit().functor_bytes)) {}

std::string Operator::Describe() const { return conv::ConvolutionPlanner::Describe(plan_, unit().image.facts); }

Layout Operator::src() const {
  const conv::SourceFacts& source = unit().image.facts.source;
  return {source.interleave, source.nhwc ? 0 : source.interleave, source.bits};
}
Layout Operator::dst() const {
  return {unit().image.dst.interleave, unit().image.facts.output.channel_run, unit().image.dst.bits};
}
Layout Operator::residual() const { return {unit().image.residual.interleave, unit().residual_channel_run, 8}; }

std::int64_t Operator::filters() const {
  const std::int64_t needed = unit().filter_count(plan_.batch);
  return needed == 0 ? 1 : needed;
}

Shape Operator::filter() const {
  const conv::ConvFacts& facts = unit().image.facts;
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
  const Unit& unit = kernel_->unit();
  const gemm::EpilogueFacts& facts = unit.image.epilogue;
  const auto wants = [&](const char* name, const Layout& layout, const TensorExtents& e) {
    return absl::StrCat(layout.Name(), " of ", NameOf(e));
  };
  const Array x = ArrayOf(call.x, "x"), w = ArrayOf(call.w, "w");
  CheckArray(x, "x", unit.src, src().Of(problem().src()), wants("x", src(), problem().src()),
             "weft.to_layout makes it of NCHW");
  CheckArray(w, "w", unit.filter, filter(), "the packed filter", "op.pack(w) makes it of KCRS");
  conv::ConvRun run;
  const conv::SourceCorrection no_correction;
  run.source_correction = &no_correction;
  run.src = {x.data, {}};
  const FilterExtents extents = conv::PackedExtents(problem(), unit.image.facts.depthwise);
  run.filter = {.data = w.data, .bytes = w.size(), .count = filters(), .extents = extents,
                .fingerprint = 0, .needed = unit.filter_count(plan_.batch)};
  run.source_functor = functor_.data();
  gemm::OutputRun& output = run.output;
  output.epilogue = epilogue_.data();
  unit.describe_epilogue(epilogue_.data(), &output);
  const auto not_read = [&](const char* name, const nb::object& given, bool read) {
    if (given.is_none() || read) return !given.is_none();
    throw Error(ErrorKind::kArgument, absl::StrCat("weft: ", name, " is given, and no stage of this epilogue reads it"));
  };
  const auto same_device = [&](const char* name, const Array& a) {
    if (a.on_gpu == x.on_gpu && a.device == x.device) return;
    throw Error(ErrorKind::kArgument, absl::StrCat("weft: ", name, " is ", a.on_gpu ? "on a GPU" : "in host memory", " and x ",
                                                   x.on_gpu ? "on a GPU" : "in host memory", "; all arrays of a call lie in one memory"));
  };
  same_device("w", w);
  Array bias, residual, scales, out;
  if (not_read("bias", call.bias, facts.bias)) {
    bias = ArrayOf(call.bias, "bias");
    CheckArray(bias, "bias", unit.bias, {problem().k}, "one for each output channel", "");
    same_device("bias", bias);
    output.bias = {bias.data, {}};
  } else if (facts.bias) {
    throw Error(ErrorKind::kArgument, absl::StrCat("weft: bias is missing, which this epilogue adds; give ", problem().k, " numbers of ", NameOf(unit.bias)));
  }
  if (not_read("residual", call.residual, facts.residual)) {
    residual = ArrayOf(call.residual, "residual");
    CheckArray(residual, "residual", unit.residual, this->residual().Of(problem().dst()),
               wants("residual", this->residual(), problem().dst()), "");
    same_device("residual", residual);
    output.residual = {residual.data, {}};
  } else if (facts.residual && call.gamma != 0.0f) {
    throw Error(ErrorKind::kArgument, "weft: residual is missing, which this epilogue adds; give an array, or gamma=0");
  }
  float alpha = 1.0f, one;
  if (!call.alpha.is_none()) {
    if (PyFloat_Check(call.alpha.ptr()) || PyLong_Check(call.alpha.ptr())) {
      alpha = nb::cast<float>(call.alpha);
    } else {
      scales = ArrayOf(call.alpha, "alpha");
      CheckArray(scales, "alpha", 'f', {problem().k}, "one for each output channel", "a number is for all channels");
      same_device("alpha", scales);
      output.channel_alpha = {scales.data, {}};
    }
  }
  one = call.gamma;
  output.alpha = &alpha, output.gamma = &one;
  output.alpha_number = alpha, output.gamma_number = call.gamma;
  output.alpha_is_one = alpha == 1.0f, output.gamma_is_one = call.gamma == 1.0f, output.gamma_is_zero = call.gamma == 0.0f;
  output.beta = call.beta, output.output_scale = call.output_scale, output.zero_point = call.zero_point;
  for (const auto& [name, array] : arrays_) same_device(name.c_str(), array);
  nb::object result = call.out;
  if (result.is_none()) {
    const Shape shape = dst().Of(problem().dst());
    nb::list dims;
    for (int i = 0; i < shape.rank; ++i) dims.append(shape.dim[i]);
    result = nb::module_::import_("weft._arrays").attr("empty_like")(call.x, nb::tuple(dims), NameOf(unit.dst));
  }
  out = ArrayOf(result, "out");
  if (out.read_only) throw Error(ErrorKind::kArgument, "weft: out is read-only; give an array that may be written");
  CheckArray(out, "out", unit.dst, dst().Of(problem().dst()), wants("out", dst(), problem().dst()), "leave it out, and the call makes it");
  same_device("out", out);
  output.dst = {out.data, {}};
  if (x.on_gpu) {
    throw Error(ErrorKind::kRun, "weft: x is on a GPU, and this build of weft runs operators on the CPU alone; give host memory");
  }
  absl::Status status;
  {
    nb::gil_scoped_release release;
    status = Run(unit, plan_, run);
  }
  Check(status);
  return result;
}

void Operator::Plain(const Call& call, nb::handle given) const {
  const Unit& unit = kernel_->unit();
  const Array sums = ArrayOf(given, "sums"), dst = ArrayOf(call.out, "out");
  const TensorExtents e = problem().dst();
  const Shape shape = {e.n, e.c, e.h, e.w};
  CheckArray(sums, "sums", 'i', shape, "NCHW", "");
  CheckArray(dst, "out", unit.dst, shape, "NCHW", "");
  PlainRun run{.epilogue = epilogue_.data(), .sums = static_cast<const std::int32_t*>(sums.data), .n = e.n, .k = e.c, .p = e.h, .q = e.w};
  Array bias, residual, scales;
  if (!call.bias.is_none()) {
    bias = ArrayOf(call.bias, "bias");
    CheckArray(bias, "bias", unit.bias, {e.c}, "one for each output channel", "");
    run.bias = bias.data;
  } else if (unit.image.epilogue.bias) {
    throw Error(ErrorKind::kArgument, "weft: bias is missing, which this epilogue adds");
  }
  if (!call.residual.is_none()) {
    residual = ArrayOf(call.residual, "residual");
    CheckArray(residual, "residual", unit.residual, shape, "NCHW", "");
    run.residual = residual.data;
  }
  if (PyFloat_Check(call.alpha.ptr()) || PyLong_Check(call.alpha.ptr())) {
    run.alpha = nb::cast<float>(call.alpha);
  } else if (!call.alpha.is_none()) {
    scales = ArrayOf(call.alpha, "alpha");
    CheckArray(scales, "alpha", 'f', {e.c}, "one for each output channel", "");
    run.channel_alpha = static_cast<const float*>(scales.data);
  }
  run.dst = dst.data;
  run.beta = call.beta, run.gamma = call.gamma, run.output_scale = call.output_scale, run.zero_point = call.zero_point;
  unit.plain(run);
}

std::vector<std::string> Operator::names() const {
  std::vector<std::string> result;
  for (int i = 0; i < unit().epilogue_value_count; ++i) result.emplace_back(unit().epilogue_values[i].name);
  for (int i = 0; i < unit().functor_value_count; ++i) result.emplace_back(unit().functor_values[i].name);
  return result;
}

Operator::Found Operator::Find(const std::string& name) const {
  for (int i = 0; i < unit().epilogue_value_count; ++i) {
    if (unit().epilogue_values[i].name == name) return {&unit().epilogue_values[i], reinterpret_cast<const unsigned char*>(epilogue_.data())};
  }
  for (int i = 0; i < unit().functor_value_count; ++i) {
    if (unit().functor_values[i].name == name) return {&unit().functor_values[i], reinterpret_cast<const unsigned char*>(functor_.data())};
  }
  const std::vector<std::string> known = names();
  throw Error(ErrorKind::kArgument, absl::StrCat("weft: no functor of this operator has a value ", name, "; ",
                                                 known.empty() ? "they have none" : absl::StrCat("there are ", absl::StrJoin(known, ", "))));
}

nb::object Operator::Get(const std::string& name) const {
  const auto [value, bytes] = Find(name);
  nb::list all;
  for (std::int64_t i = 0; i < value->count; ++i) {
    const unsigned char* at = bytes + value->offset + 4 * i;
    if (value->letter == 'f') {
      float number;
      std::memcpy(&number, at, sizeof(number));
      all.append(number);
    } else if (value->letter == 'i') {
      std::int32_t number;
      std::memcpy(&number, at, sizeof(number));
      all.append(number);
    } else {
      for (const auto& [of, array] : arrays_) {
        if (of == name) return array.owner;
      }
      return nb::none();
    }
  }
  return value->count == 1 ? nb::object(all[0]) : nb::object(nb::tuple(all));
}

void Operator::Set(const std::string& name, nb::handle given) {
  const auto [value, bytes] = Find(name);
  unsigned char* at = const_cast<unsigned char*>(bytes) + value->offset;
  if (value->letter == 'p') {
    Array array = ArrayOf(given, name.c_str());
    CheckArray(array, name.c_str(), 'f', {problem().k}, "one for each output channel", "");
    std::memcpy(at, &array.data, sizeof(array.data));
    std::erase_if(arrays_, [&](const auto& old) { return old.first == name; });
    arrays_.emplace_back(name, array);
    return;
  }
  if (value->letter != 'f' && value->letter != 'i') {
    throw Error(ErrorKind::kType, absl::StrCat("weft: ", name, " is neither float, std::int32_t nor const float*, the types of values that a program sets by name"));
  }
  std::vector<double> numbers;
  if (value->count == 1) {
    double number;
    if (!nb::try_cast(given, number)) throw Error(ErrorKind::kType, absl::StrCat("weft: ", name, " takes a number"));
    numbers.push_back(number);
  } else {
    if (!nb::try_cast(given, numbers) || numbers.size() != static_cast<std::size_t>(value->count)) {
      throw Error(ErrorKind::kType, absl::StrCat("weft: ", name, " takes a list of ", value->count, " numbers"));
    }
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (value->letter == 'f') {
      const float number = static_cast<float>(numbers[i]);
      std::memcpy(at + 4 * i, &number, sizeof(number));
    } else {
      const std::int32_t number = static_cast<std::int32_t>(numbers[i]);
      if (static_cast<double>(number) != numbers[i]) throw Error(ErrorKind::kType, absl::StrCat("weft: ", name, " takes a whole number of 32 bits"));
      std::memcpy(at + 4 * i, &number, sizeof(number));
    }
  }
}

}  // namespace weft::python
