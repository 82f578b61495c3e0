#include "problem.hpp"

#include <absl/strings/str_cat.h>
#include <nanobind/stl/string.h>

#include <functional>
#include <string>
#include <vector>

#include "errors.hpp"
#include "weft/conv/problem/problem_name.hpp"

namespace weft::python {
namespace {

using conv::Problem;

struct Field {
  const char* name;
  std::int64_t Problem::* member;
  const char* doc;
};
constexpr Field kFields[] = {
    {"n", &Problem::n, "Images."},
    {"h", &Problem::h, "Rows of an image of x."},
    {"w", &Problem::w, "Columns of an image of x."},
    {"c", &Problem::c, "Channels of x, of all groups."},
    {"k", &Problem::k, "Channels of the output, of all groups."},
    {"r", &Problem::r, "Rows of the filter."},
    {"s", &Problem::s, "Columns of the filter."},
    {"pad_top", &Problem::pad_top, "Rows of zeros above an image."},
    {"pad_left", &Problem::pad_left, "Columns of zeros on its left."},
    {"pad_bottom", &Problem::pad_bottom, "Rows of zeros below it."},
    {"pad_right", &Problem::pad_right, "Columns of zeros on its right."},
    {"stride_h", &Problem::stride_h, "Rows of x from one row of the output to the next."},
    {"stride_w", &Problem::stride_w, "Columns of x from one column of the output to the next."},
    {"dilation_h", &Problem::dilation_h, "Rows of x from one row of the filter to the next."},
    {"dilation_w", &Problem::dilation_w, "Columns of x from one column of the filter to the next."},
    {"groups", &Problem::groups,
     "Groups of channels, each convolved by itself; they divide c and k."},
};

// Words that set several fields to one number.
struct Together {
  const char* word;
  std::vector<std::int64_t Problem::*> members;
};
const std::vector<Together>& Togethers() {
  static const std::vector<Together> all = {
      {"hw", {&Problem::h, &Problem::w}},
      {"rs", {&Problem::r, &Problem::s}},
      {"stride", {&Problem::stride_h, &Problem::stride_w}},
      {"dilation", {&Problem::dilation_h, &Problem::dilation_w}},
      {"padding",
       {&Problem::pad_top, &Problem::pad_left, &Problem::pad_bottom, &Problem::pad_right}}};
  return all;
}

Error NoField(const std::string& word) {
  std::string known;
  for (const Together& together : Togethers()) absl::StrAppend(&known, together.word, ", ");
  for (const Field& field : kFields) absl::StrAppend(&known, field.name, ", ");
  return Error(ErrorKind::kArgument,
               absl::StrCat("weft: problem has no field ", word, "; it has ", known, "flipped"));
}

void Set(Problem& problem, const std::string& word, nb::handle value) {
  const std::string name = "problem." + word;
  if (word == "flipped") {
    bool flipped = false;
    if (!nb::try_cast(value, flipped)) {
      throw Error(ErrorKind::kType,
                  absl::StrCat("weft: ", name, "=", ReprOf(value), " is neither True nor False"));
    }
    problem.mode = flipped ? conv::Mode::kConvolution : conv::Mode::kCrossCorrelation;
    return;
  }
  for (const Field& field : kFields) {
    if (word == field.name) {
      problem.*field.member = WholeNumberOf(value, name.c_str());
      return;
    }
  }
  for (const Together& together : Togethers()) {
    if (word != together.word) continue;
    const std::int64_t number = WholeNumberOf(value, name.c_str());
    for (std::int64_t Problem::* member : together.members) problem.*member = number;
    return;
  }
  throw NoField(word);
}

Problem With(Problem problem, const nb::kwargs& fields) {
  for (const auto& [word, value] : fields) Set(problem, nb::cast<std::string>(word), value);
  return problem;
}

Problem Named(nb::handle name) {
  if (name.is_none()) return Problem();
  if (!nb::isinstance<nb::str>(name)) {
    throw Error(ErrorKind::kType, absl::StrCat("weft: name=", ReprOf(name),
                                               " is no text; give one such as "
                                               "\"n1c64h56w56k64r3s1p1\", or fields: n=1, c=64"));
  }
  return Value(conv::ParseLayerName(nb::cast<std::string>(name)));
}

}  // namespace

std::int64_t WholeNumberOf(nb::handle given, const char* name) {
  const nb::object whole = nb::steal(PyNumber_Index(given.ptr()));
  const std::int64_t number = whole.is_valid() ? PyLong_AsLongLong(whole.ptr()) : -1;
  if (!PyErr_Occurred()) return number;
  PyErr_Clear();
  throw Error(ErrorKind::kType,
              absl::StrCat("weft: ", name, "=", ReprOf(given), " is no whole number of 64 bits"));
}

void BindProblem(nb::module_& m) {
  auto problem = nb::class_<Problem>(
      m, "Problem",
      "The shape of a convolution, of a name such as n1c64h56w56k64r3s1p1, of fields, or of both: "
      "weft.problem_of says what they are. It does not change, and equal ones have one hash.");
  problem
      .def(
          "__init__",
          [](Problem* self, nb::handle name, const nb::kwargs& fields) {
            new (self) Problem(With(Named(name), fields));
          },
          nb::arg("name").none() = nb::none(), nb::arg("fields"),
          nb::sig("def __init__(self, name: str | None = None, **fields: typing.Any) -> None"))
      .def(
          "replace",
          [](const Problem& self, const nb::kwargs& fields) { return With(self, fields); },
          nb::sig("def replace(self, **fields: typing.Any) -> Problem"),
          "Another problem, in which these fields are others.")
      .def_prop_ro(
          "flipped", [](const Problem& p) { return p.mode == conv::Mode::kConvolution; },
          "Whether the filter is turned by 180 degrees, as in mathematics and not in networks.")
      .def_prop_ro("p", &Problem::p, "Rows of the output.")
      .def_prop_ro("q", &Problem::q, "Columns of the output.")
      .def("__str__", &conv::ProblemName)
      .def("__repr__",
           [](const Problem& p) { return "weft.Problem(\"" + conv::ProblemName(p) + "\")"; })
      .def(
          "__eq__", [](const Problem& a, const Problem& b) { return a == b; }, nb::is_operator())
      .def("__hash__",
           [](const Problem& p) { return std::hash<std::string>()(conv::ProblemName(p)); });
  for (const Field& field : kFields) {
    problem.def_prop_ro(
        field.name, [member = field.member](const Problem& p) { return p.*member; }, field.doc);
  }
}

}  // namespace weft::python
