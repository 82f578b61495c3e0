#include "errors.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/string_view.h>
#include <nanobind/stl/string.h>

#include <utility>
#include <vector>

namespace weft::python {
namespace {

PyObject* classes[3] = {};

// What sentences of the library call by its C++ name, and what that is in Python.
const std::vector<std::pair<absl::string_view, absl::string_view>> kInPython = {
    {"args.src", "x"},
    {"args.filter", "w"},
    {"args.dst", "out"},
    {"args.channel_alpha", "an array as alpha"},
    {"args.epilogue's", "the epilogue's"},
    {"args.", ""},
    {"options.", ""},
    {"the policy's Epilogue", "the epilogue"},
    {"give it by SetAddress", "set it to an array of float32"},
    {"give it by Set", "set it to one"},
    {"set it with Values::SetAddress", "set it to an array of float32"},
    {"use RunOnCpu", "give arrays of host memory"},
    {"output_pad_h", "output_padding[0]"},
    {"output_pad_w", "output_padding[1]"},
    {"most_arena_bytes", "memory"},
};

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

std::string ReprOf(nb::handle given) {
  constexpr std::size_t kMost = 60;
  std::string text = nb::cast<std::string>(nb::repr(given));
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;  // or less, so that no character of UTF-8 is cut
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return absl::StrCat(text.substr(0, end), "...");
}

std::string SentenceOf(const absl::Status& status) {
  // Behind a line's end are a compiler's words, about C++ text.
  const absl::string_view text = status.message(), sentence = text.substr(0, text.find('\n'));
  return absl::StrCat(absl::StrReplaceAll(sentence, kInPython), text.substr(sentence.size()));
}

void Check(const absl::Status& status) {
  if (status.ok()) return;
  const bool argument = absl::IsInvalidArgument(status) || absl::IsOutOfRange(status) ||
                        absl::IsUnimplemented(status);
  throw Error(argument ? ErrorKind::kArgument : ErrorKind::kRun, SentenceOf(status));
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
