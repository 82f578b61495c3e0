// The exceptions of the package. Each is a weft.Error and one of Python's own kinds.
#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>
#include <string>

#include "weft/layouts/base/abseil.hpp"

namespace weft::python {

namespace nb = nanobind;

enum class ErrorKind {
  kArgument,  // weft.ArgumentError, a ValueError: a number, shape or address that does not fit
  kType,      // weft.ArgumentTypeError, a TypeError: an object or a dtype of another type
  kRun,       // weft.RunError, a RuntimeError: this machine, its GPU or its compiler
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// repr(given), as far as a sentence has room for it.
std::string ReprOf(nb::handle given);

// Throws what is no OK.
void Check(const absl::Status& status);

template <class Type>
Type Value(absl::StatusOr<Type> result) {
  Check(result.status());
  return *std::move(result);
}

// Makes the classes, and has Python see each Error as one.
void BindErrors(nb::module_& module);

}  // namespace weft::python
