// weft._weft: what the Python files of the package are made of.
#include <absl/strings/str_cat.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.hpp"
#include "network.hpp"
#include "operator.hpp"
#include "weft/conv/problem/problem_name.hpp"
#include "weft/rtc/gpu/driver.hpp"
#include "weft/rtc/gpu/nvrtc.hpp"
#include "weft/rtc/text/source_text.hpp"

namespace weft::python {
namespace {

nb::tuple TupleOf(const Shape& shape) {
  nb::list dims;
  for (int i = 0; i < shape.rank; ++i) dims.append(shape.dim[i]);
  return nb::tuple(dims);
}

void BindProblem(nb::module_& m) {
  using conv::Problem;
  nb::class_<Problem>(m, "Problem",
                      "The shape of a convolution; weft.problem_of makes it of a name.")
      .def(nb::init<>())
      .def_static(
          "parse", [](const std::string& name) { return Value(conv::ParseLayerName(name)); },
          nb::arg("name"), "The problem of a name such as n1c64h56w56k64r3s1p1.")
      .def_rw("n", &Problem::n, "Images.")
      .def_rw("h", &Problem::h, "Rows of an image of x.")
      .def_rw("w", &Problem::w, "Columns of an image of x.")
      .def_rw("c", &Problem::c, "Channels of x, of all groups.")
      .def_rw("k", &Problem::k, "Channels of the output, of all groups.")
      .def_rw("r", &Problem::r, "Rows of the filter.")
      .def_rw("s", &Problem::s, "Columns of the filter.")
      .def_rw("pad_top", &Problem::pad_top, "Rows of zeros above an image.")
      .def_rw("pad_left", &Problem::pad_left, "Columns of zeros on its left.")
      .def_rw("pad_bottom", &Problem::pad_bottom, "Rows of zeros below it.")
      .def_rw("pad_right", &Problem::pad_right, "Columns of zeros on its right.")
      .def_rw("stride_h", &Problem::stride_h, "Rows of x from one row of the output to the next.")
      .def_rw("stride_w", &Problem::stride_w,
              "Columns of x from one column of the output to the next.")
      .def_rw("dilation_h", &Problem::dilation_h,
              "Rows of x from one row of the filter to the next.")
      .def_rw("dilation_w", &Problem::dilation_w,
              "Columns of x from one column of the filter to the next.")
      .def_rw("groups", &Problem::groups,
              "Groups of channels, each convolved by itself; they divide c and k.")
      .def_prop_rw(
          "flipped", [](const Problem& p) { return p.mode == conv::Mode::kConvolution; },
          [](Problem& p, bool flipped) {
            p.mode = flipped ? conv::Mode::kConvolution : conv::Mode::kCrossCorrelation;
          },
          "Whether the filter is turned by 180 degrees, as in mathematics and not in networks.")
      .def_prop_ro("p", &Problem::p, "Rows of the output.")
      .def_prop_ro("q", &Problem::q, "Columns of the output.")
      .def(
          "copy", [](const Problem& p) { return p; }, "Another problem of the same numbers.")
      .def("__str__", &conv::ProblemName)
      .def("__repr__",
           [](const Problem& p) { return "weft.Problem(\"" + conv::ProblemName(p) + "\")"; })
      .def("__eq__", [](const Problem& a, const Problem& b) { return a == b; }, nb::is_operator());
}

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

std::string Nvrtc() {
  const absl::StatusOr<const rtc::Nvrtc*> nvrtc = rtc::Nvrtc::Get();
  return nvrtc.ok() ? (*nvrtc)->version() : std::string(nvrtc.status().message());
}

std::string Gpu() {
  const absl::StatusOr<int> capability = rtc::ComputeCapability();
  return capability.ok()
             ? absl::StrCat("compute capability ", *capability / 10, ".", *capability % 10)
             : std::string(capability.status().message());
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
  m.def("nvrtc", &Nvrtc, "What compiles for a GPU, or why nothing does.");
  m.def("gpu", &Gpu, "The GPU that is current, or why there is none.");
  const auto call = [](nb::object x, nb::object w, nb::object bias, nb::object residual,
                       nb::object alpha, float beta, float gamma, float output_scale,
                       float zero_point, nb::object out, nb::object stream) {
    return Call{.x = std::move(x),
                .w = std::move(w),
                .bias = std::move(bias),
                .residual = std::move(residual),
                .alpha = std::move(alpha),
                .out = std::move(out),
                .stream = std::move(stream),
                .beta = beta,
                .gamma = gamma,
                .output_scale = output_scale,
                .zero_point = zero_point};
  };
  nb::class_<Operator>(m, "Operator")
      .def(nb::init<const rtc::Operator&, const conv::Problem&, bool>(), nb::arg("compiled"),
           nb::arg("problem"), nb::arg("matrices") = false)
      .def(
          "__init__",
          [](Operator* self, const rtc::Operator& compiled, const conv::Problem& p,
             const std::pair<std::int64_t, std::int64_t>& output_padding) {
            new (self)
                Operator(compiled, Transposed(p, output_padding.first, output_padding.second));
          },
          nb::arg("compiled"), nb::arg("problem"), nb::arg("output_padding"))
      .def(
          "__call__",
          [call](const Operator& self, nb::object x, nb::object w, nb::object bias,
                 nb::object residual, nb::object alpha, float beta, float gamma, float output_scale,
                 float zero_point, nb::object out, nb::object stream) {
            return self(call(x, w, bias, residual, alpha, beta, gamma, output_scale, zero_point,
                             out, stream));
          },
          nb::arg("x").none(), nb::arg("w").none(), nb::kw_only(), nb::arg("bias") = nb::none(),
          nb::arg("residual") = nb::none(), nb::arg("alpha") = nb::none(), nb::arg("beta") = 1.0f,
          nb::arg("gamma") = 1.0f, nb::arg("output_scale") = 0.0f, nb::arg("zero_point") = 0.0f,
          nb::arg("out") = nb::none(), nb::arg("stream") = nb::none(),
          nb::sig("def __call__(self, x: typing.Any, w: typing.Any, *, bias: typing.Any = None, "
                  "residual: typing.Any = None, alpha: typing.Any = None, beta: float = 1.0, "
                  "gamma: float = 1.0, output_scale: float = 0.0, zero_point: float = 0.0, "
                  "out: typing.Any = None, stream: typing.Any = None) -> typing.Any"),
          "Runs the operator and returns the output; the class says what it takes.")
      .def_prop_ro(
          "problem", [](const Operator& o) { return conv::Problem(o.problem()); },
          "The problem that the operator was made for, a copy. Of a transposed convolution p and q "
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
                     return nb::make_tuple(f.filter.interleave, f.filter.bits, f.depthwise,
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
      .def_prop_ro("values", &Operator::names,
                   "The names of the functors' members that can be set.")
      .def("get", &Operator::Get, nb::arg("name"),
           nb::sig("def get(self, name: str) -> typing.Any"),
           "The value that the next call uses, also op.name.")
      .def("set", &Operator::Set, nb::arg("name"), nb::arg("value"),
           nb::sig("def set(self, name: str, value: typing.Any) -> None"),
           "Sets a value for the next calls, also op.name = value: a number, or k float32 where "
           "the member is an address.");
}

}  // namespace weft::python

NB_MODULE(_weft, module) {
  weft::python::Bind(module);
}
