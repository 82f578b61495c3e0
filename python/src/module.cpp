// weft._weft: what the Python files of the package are made of.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "errors.hpp"
#include "operator.hpp"
#include "weft/conv/problem/problem_name.hpp"

namespace weft::python {
namespace {

nb::tuple TupleOf(const Shape& shape) {
  nb::list dims;
  for (int i = 0; i < shape.rank; ++i) dims.append(shape.dim[i]);
  return nb::tuple(dims);
}

void BindProblem(nb::module_& m) {
  using conv::Problem;
  nb::class_<Problem>(m, "Problem")
      .def(nb::init<>())
      .def_static("parse",
                  [](const std::string& name) { return Value(conv::ParseLayerName(name)); })
      .def_rw("n", &Problem::n)
      .def_rw("h", &Problem::h)
      .def_rw("w", &Problem::w)
      .def_rw("c", &Problem::c)
      .def_rw("k", &Problem::k)
      .def_rw("r", &Problem::r)
      .def_rw("s", &Problem::s)
      .def_rw("pad_top", &Problem::pad_top)
      .def_rw("pad_left", &Problem::pad_left)
      .def_rw("pad_bottom", &Problem::pad_bottom)
      .def_rw("pad_right", &Problem::pad_right)
      .def_rw("stride_h", &Problem::stride_h)
      .def_rw("stride_w", &Problem::stride_w)
      .def_rw("dilation_h", &Problem::dilation_h)
      .def_rw("dilation_w", &Problem::dilation_w)
      .def_rw("groups", &Problem::groups)
      .def_prop_rw(
          "flipped", [](const Problem& p) { return p.mode == conv::Mode::kConvolution; },
          [](Problem& p, bool flipped) {
            p.mode = flipped ? conv::Mode::kConvolution : conv::Mode::kCrossCorrelation;
          })
      .def_prop_ro("p", &Problem::p)
      .def_prop_ro("q", &Problem::q)
      .def("__str__", &conv::ProblemName)
      .def("__repr__",
           [](const Problem& p) { return "weft.Problem(\"" + conv::ProblemName(p) + "\")"; })
      .def("__eq__", [](const Problem& a, const Problem& b) { return a == b; }, nb::is_operator());
}

}  // namespace

void Bind(nb::module_& m) {
  // Operators that a program still has at its end are no leak.
  nb::set_leak_warnings(false);
  m.attr("__version__") = WEFT_PYTHON_VERSION;
  BindErrors(m);
  BindProblem(m);
  nb::class_<rtc::Operator>(m, "Compiled").def_prop_ro("policy", &rtc::Operator::policy);
  m.def(
      "compile",
      [](const std::string& source, const std::string& policy,
         const std::vector<std::string>& values, const std::string& include) {
        nb::gil_scoped_release release;
        return Value(rtc::Compile(
            source, {.policy = policy, .values = values, .include = include, .compiler = {}}));
      },
      nb::arg("source"), nb::arg("policy"), nb::arg("values"), nb::arg("include"));
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
      .def(nb::init<const rtc::Operator&, const conv::Problem&>())
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
          nb::arg("out") = nb::none(), nb::arg("stream") = nb::none())
      .def_prop_ro("problem", &Operator::problem)
      .def("describe", &Operator::Describe)
      .def_prop_ro("_src",
                   [](const Operator& o) {
                     return nb::make_tuple(o.src().Name(), TupleOf(o.src().Of(o.problem().src())),
                                           NameOf(o.table().letters.src));
                   })
      .def_prop_ro("_dst",
                   [](const Operator& o) {
                     return nb::make_tuple(o.dst().Name(), TupleOf(o.dst().Of(o.problem().dst())),
                                           NameOf(o.table().letters.dst));
                   })
      .def_prop_ro("_residual",
                   [](const Operator& o) {
                     return nb::make_tuple(o.residual().Name(),
                                           TupleOf(o.residual().Of(o.problem().dst())),
                                           NameOf(o.table().letters.residual));
                   })
      .def_prop_ro("_filter",
                   [](const Operator& o) {
                     const conv::ConvFacts& f = o.image().facts;
                     return nb::make_tuple(f.filter.interleave, f.filter.bits, f.depthwise,
                                           f.prologue.batched, f.prologue.name, o.filters(),
                                           TupleOf(o.filter()));
                   })
      .def_prop_ro("values", &Operator::names)
      .def("get", &Operator::Get)
      .def("set", &Operator::Set);
}

}  // namespace weft::python

NB_MODULE(_weft, module) {
  weft::python::Bind(module);
}
