#include "errors.hpp"

namespace weft::python {
namespace {

PyObject* classes[3] = {};

PyObject* NewClass(nb::module_& module, const char* name, const char* doc, nb::handle base,
                   nb::handle also) {
  const std::string full = std::string("weft.") + name;
  nb::tuple bases = also.is_valid() ? nb::make_tuple(base, also) : nb::make_tuple(base);
  PyObject* made = PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr);
  if (made == nullptr) throw nb::python_error();
  module.attr(name) = nb::handle(made);
  return made;
}

}  // namespace

void Check(const absl::Status& status) {
  if (status.ok()) return;
  const bool argument = absl::IsInvalidArgument(status) || absl::IsOutOfRange(status) ||
                        absl::IsUnimplemented(status);
  throw Error(argument ? ErrorKind::kArgument : ErrorKind::kRun, std::string(status.message()));
}

void BindErrors(nb::module_& module) {
  PyObject* base =
      NewClass(module, "Error", "What weft refuses, and why, in a sentence.", PyExc_Exception, {});
  classes[0] =
      NewClass(module, "ArgumentError", "A number, shape, stride or address that does not fit.",
               base, PyExc_ValueError);
  classes[1] = NewClass(module, "ArgumentTypeError", "An object or a dtype of another type.", base,
                        PyExc_TypeError);
  classes[2] = NewClass(module, "RunError", "What this machine, its GPU or its compiler cannot do.",
                        base, PyExc_RuntimeError);
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      PyErr_SetString(classes[static_cast<int>(error.kind())], error.what());
    }
  });
}

}  // namespace weft::python
