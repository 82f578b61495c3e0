// weft._weft: what the Python files of the package are made of.
#include <absl/strings/str_cat.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.hpp"
#include "network.hpp"
#include "operator.hpp"
#include "problem.hpp"
#include "weft/conv/deconvolution/deconvolution_plan.hpp"
#include "weft/conv/problem/problem_checks.hpp"
#include "weft/rtc/gpu/driver.hpp"
#include "weft/rtc/gpu/nvrtc.hpp"
#include "weft/rtc/text/source_text.hpp"

namespace weft::python {
namespace {

// The transposed convolution of which these numbers are said.
conv::DeconvolutionProblem Transposed(const conv::Problem& p, std::int64_t output_pad_h,
                                      std::int64_t output_pad_w) {
  if (p.groups != 1 || p.mode != conv::Mode::kCrossCorrelation) {
    throw Error(ErrorKind::kArgument,
                "weft: a transposed convolution has neither groups nor a flipped filter");
  }
  conv::DeconvolutionProblem t;
  t.n = p.n, t.h = p.h, t.w = p.w, t.c = p.c, t.k = p.k, t.r = p.r, t.s = p.s;
  t.pad_top = p.pad_top, t.pad_left = p.pad_left;
  t.pad_bottom = p.pad_bottom, t.pad_right = p.pad_right;
  t.stride_h = p.stride_h, t.stride_w = p.stride_w;
  t.dilation_h = p.dilation_h, t.dilation_w = p.dilation_w;
  t.output_pad_h = output_pad_h, t.output_pad_w = output_pad_w;
  return t;
}

// An error if a call has arguments beside those that it knows.
void RefuseOthers(const nb::args& nameless, const nb::kwargs& unknown) {
  if (nameless.size() > 0) {
    throw Error(ErrorKind::kType,
                absl::StrCat("weft: the call has ", 2 + nameless.size(),
                             " arguments without a name; x and w have none, and the others are "
                             "named, as in op(x, w, bias=b)"));
  }
  for (const auto& [name, value] : unknown) {
    throw Error(ErrorKind::kType,
                absl::StrCat("weft: a call has no argument ", nb::cast<std::string>(name),
                             "; it has x, w, bias, residual, alpha, beta, gamma, output_scale, "
                             "zero_point, out and stream"));
  }
}

std::string NameOfValue(nb::handle name) {
  if (nb::isinstance<nb::str>(name)) return nb::cast<std::string>(name);
  throw Error(ErrorKind::kType, absl::StrCat("weft: name=", ReprOf(name),
                                             " is no text; give the name of a functor's member"));
}

std::string Nvrtc() {
  const absl::StatusOr<const rtc::Nvrtc*> nvrtc = rtc::Nvrtc::Get();
  return nvrtc.ok() ? (*nvrtc)->version() : SentenceOf(nvrtc.status());
}

std::string Gpu() {
  const absl::StatusOr<int> capability = rtc::ComputeCapability();
  return capability.ok()
             ? absl::StrCat("compute capability ", *capability / 10, ".", *capability % 10)
             : SentenceOf(capability.status());
}

}  // namespace

void Bind(nb::module_& m) {
  // Operators that a program still has at its end are no leak.
  nb::set_leak_warnings(false);
  m.attr("__version__") = WEFT_PYTHON_VERSION;
  BindErrors(m);
  BindProblem(m);
  BindNetwork(m);
  nb::class_<rtc::Operator>(m, "Compiled", "A policy that was compiled, without a problem.")
      .def_prop_ro("policy", &rtc::Operator::policy, "The name of the policy's struct.");
  m.def(
      "compile",
      [](const std::string& source, const std::string& policy,
         const std::vector<std::string>& values) {
        nb::gil_scoped_release release;
        return Value(rtc::Compile(source, {.policy = policy, .values = values}));
      },
      nb::arg("source"), nb::arg("policy"), nb::arg("values"),
      "What the text of a policy is compiled to.");
  m.def(
      "last_type", [](const std::string& source) { return rtc::LastTypeOf(source); },
      nb::arg("source"),
      "The last type that C++ text defines outside all braces; empty if there is none.");
  m.def(
      "policy_source",
      [](const std::string& name, const std::string& code, const std::string& base,
         const std::string& element, const std::string& prologue) {
        return rtc::PolicySource(
            {.name = name, .code = code, .base = base, .element = element, .prologue = prologue});
      },
      nb::arg("name"), nb::arg("code"), nb::arg("base"), nb::arg("element"), nb::arg("prologue"),
      "The text of a policy; what is empty is the base's.");
  m.def(
      "check", [](const conv::Problem& p) { Check(conv::CheckProblem(p)); }, nb::arg("problem"),
      "An error unless it is a convolution's.");
  m.def(
      "check_transposed",
      [](const conv::Problem& p, const std::pair<std::int64_t, std::int64_t>& output_padding) {
        Check(conv::CheckDeconvolution(Transposed(p, output_padding.first, output_padding.second)));
      },
      nb::arg("problem"), nb::arg("output_padding"),
      "An error unless it is a transposed convolution's.");
  m.def("nvrtc", &Nvrtc, "What compiles for a GPU, or why nothing does.");
  m.def("gpu", &Gpu, "The GPU that is current, or why there is none.");
  nb::class_<Operator>(m, "Operator")
      .def(
          "__init__",
          [](Operator* self, const rtc::Operator& compiled, const conv::Problem& problem,
             bool matrices, nb::handle source_zero_point) {
            new (self) Operator(compiled, problem, matrices,
                                WholeNumberOf(source_zero_point, "source_zero_point"));
          },
          nb::arg("compiled"), nb::arg("problem"), nb::arg("matrices") = false,
          nb::arg("source_zero_point").none() = 0)
      .def(
          "__init__",
          [](Operator* self, const rtc::Operator& compiled, const conv::Problem& p,
             const std::pair<std::int64_t, std::int64_t>& output_padding,
             nb::handle source_zero_point) {
            new (self)
                Operator(compiled, Transposed(p, output_padding.first, output_padding.second),
                         WholeNumberOf(source_zero_point, "source_zero_point"));
          },
          nb::arg("compiled"), nb::arg("problem"), nb::arg("output_padding"),
          nb::arg("source_zero_point").none() = 0)
      .def(
          "__call__",
          [](const Operator& self, nb::object x, nb::object w, const nb::args& nameless,
             nb::object bias, nb::object residual, nb::object alpha, nb::handle beta,
             nb::handle gamma, nb::handle output_scale, nb::handle zero_point, nb::object out,
             nb::object stream, const nb::kwargs& unknown) {
            RefuseOthers(nameless, unknown);
            return self({.x = std::move(x),
                         .w = std::move(w),
                         .bias = std::move(bias),
                         .residual = std::move(residual),
                         .alpha = std::move(alpha),
                         .out = std::move(out),
                         .stream = std::move(stream),
                         .beta = NumberOf(beta, "beta"),
                         .gamma = NumberOf(gamma, "gamma"),
                         .output_scale = NumberOf(output_scale, "output_scale"),
                         .zero_point = NumberOf(zero_point, "zero_point")});
          },
          nb::arg("x").none() = nb::none(), nb::arg("w").none() = nb::none(), nb::arg("nameless"),
          nb::arg("bias") = nb::none(), nb::arg("residual") = nb::none(),
          nb::arg("alpha") = nb::none(), nb::arg("beta").none() = 1.0f,
          nb::arg("gamma").none() = 1.0f, nb::arg("output_scale").none() = 0.0f,
          nb::arg("zero_point").none() = 0.0f, nb::arg("out") = nb::none(),
          nb::arg("stream") = nb::none(), nb::arg("unknown"),
          nb::sig("def __call__(self, x: typing.Any, w: typing.Any, *, bias: typing.Any = None, "
                  "residual: typing.Any = None, alpha: typing.Any = None, beta: float = 1.0, "
                  "gamma: float = 1.0, output_scale: float = 0.0, zero_point: float = 0.0, "
                  "out: typing.Any = None, stream: typing.Any = None) -> typing.Any"),
          "Runs the operator and returns the output; the class says what it takes.")
      .def_prop_ro(
          "problem", [](const Operator& o) { return conv::Problem(o.problem()); },
          "The problem that the operator was made for. Of a transposed convolution p and q "
          "are not the output's.")
      .def("describe", &Operator::Describe,
           "The kernel in a line: tile, instruction, grid, shared memory.")
      .def("prepare", &Operator::Prepare,
           "Compiles and loads the kernel for the GPU that is current, as the first call on it "
           "does: "
           "a call that is captured in a CUDA graph must not be the first.")
      .def_prop_ro("_src",
                   [](const Operator& o) {
                     return nb::make_tuple(o.src().Name(),
                                           TupleOf(o.ShapeOf(o.src(), o.src_extents())),
                                           NameOf(o.record().src));
                   })
      .def_prop_ro("_dst",
                   [](const Operator& o) {
                     return nb::make_tuple(o.dst().Name(),
                                           TupleOf(o.ShapeOf(o.dst(), o.dst_extents())),
                                           NameOf(o.record().dst));
                   })
      .def_prop_ro("_residual",
                   [](const Operator& o) {
                     return nb::make_tuple(o.residual().Name(),
                                           TupleOf(o.ShapeOf(o.residual(), o.dst_extents())),
                                           NameOf(o.record().residual));
                   })
      .def_prop_ro("_filter",
                   [](const Operator& o) {
                     const conv::ConvFacts& f = o.image().facts;
                     return nb::make_tuple(f.filter.interleave, f.filter.bits, f.IsDepthwise(),
                                           f.prologue.batched, f.prologue.name, o.filters(),
                                           TupleOf(o.filter()));
                   })
      .def_prop_ro("_parts",
                   [](const Operator& o) {
                     nb::list parts;
                     for (const FilterPart& part : o.parts()) {
                       parts.append(nb::make_tuple(
                           part.offset, TupleOf(o.PackedShape(part.extents)), part.row, part.column,
                           part.step_h, part.step_w, part.zeros));
                     }
                     return parts;
                   })
      .def_prop_ro("_packed", [](const Operator& o) { return TupleOf(o.packed()); })
      .def_prop_ro("_corrected", &Operator::corrected)
      .def("_correct", &Operator::Correct, nb::arg("step"), nb::arg("sums"), nb::arg("w"))
      .def_prop_ro("values", &Operator::names,
                   "The names of the functors' members that can be set.")
      .def(
          "get", [](const Operator& o, nb::handle name) { return o.Get(NameOfValue(name)); },
          nb::arg("name").none(), nb::sig("def get(self, name: str) -> typing.Any"),
          "The value that the next call uses, also op.name.")
      .def(
          "set",
          [](Operator& o, nb::handle name, nb::handle value) { o.Set(NameOfValue(name), value); },
          nb::arg("name").none(), nb::arg("value").none(),
          nb::sig("def set(self, name: str, value: typing.Any) -> None"),
          "Sets a value for the next calls, also op.name = value: a number, or k float32 where "
          "the member is an address.");
  BindTune(m);
}

}  // namespace weft::python

NB_MODULE(_weft, module) {
  weft::python::Bind(module);
}
