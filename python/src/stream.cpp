#include "stream.hpp"

#include <absl/strings/str_cat.h>

namespace weft::python {
namespace {

Stream AtAddress(std::uintptr_t address) {
  return reinterpret_cast<Stream>(address);
}

// The address of a stream object of a library, or nothing that is valid.
nb::object AddressOf(const nb::object& stream) {
  if (nb::hasattr(stream, "__cuda_stream__")) return stream.attr("__cuda_stream__")()[1];
  if (nb::hasattr(stream, "cuda_stream")) return stream.attr("cuda_stream");  // torch
  if (nb::hasattr(stream, "ptr")) return stream.attr("ptr");                  // cupy
  return stream;
}

}  // namespace

Stream StreamOf(const nb::object& given, const Array& x) {
  if (!given.is_none()) {
    std::uintptr_t address;
    if (nb::try_cast(AddressOf(given), address)) return AtAddress(address);
    throw Error(ErrorKind::kType,
                "weft: stream is neither an address nor a stream of torch or cupy, and has no "
                "__cuda_stream__");
  }
  const std::string library = LibraryOf(x.owner);
  if (library == "torch") {
    const nb::object current = nb::module_::import_("torch.cuda").attr("current_stream")(x.device);
    return AtAddress(nb::cast<std::uintptr_t>(current.attr("cuda_stream")));
  }
  if (library == "cupy") {
    const nb::object current = nb::module_::import_("cupy.cuda").attr("get_current_stream")();
    return AtAddress(nb::cast<std::uintptr_t>(current.attr("ptr")));
  }
  return AtAddress(x.stream);
}

OnDeviceOf::OnDeviceOf(const Array& x) {
  const std::string library = LibraryOf(x.owner);
  if (library == "torch") {
    const nb::object cuda = nb::module_::import_("torch.cuda");
    if (nb::cast<int>(cuda.attr("current_device")()) != x.device) {
      guard_ = cuda.attr("device")(x.device);
    }
  } else if (library == "cupy") {
    const nb::object cuda = nb::module_::import_("cupy.cuda");
    if (nb::cast<int>(cuda.attr("runtime").attr("getDevice")()) != x.device) {
      guard_ = cuda.attr("Device")(x.device);
    }
  }
  if (guard_.is_valid()) guard_.attr("__enter__")();
}

OnDeviceOf::~OnDeviceOf() {
  if (!guard_.is_valid()) return;
  try {
    guard_.attr("__exit__")(nb::none(), nb::none(), nb::none());
  } catch (nb::python_error& error) {
    error.discard_as_unraisable("weft: the GPU that was current before a call");
  }
}

}  // namespace weft::python
