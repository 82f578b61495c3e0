// weft.Problem: the shape of a convolution, of a name or of fields.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace weft::python {

namespace nb = nanobind;

// A whole number of 64 bits, of Python's or of numpy's. An error, by this name, if it is none: a fraction is not rounded.
std::int64_t WholeNumberOf(nb::handle given, const char* name);

void BindProblem(nb::module_& module);

}  // namespace weft::python
