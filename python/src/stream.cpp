#include "stream.hpp"

#include <absl/strings/str_cat.h>

#include <optional>

#include "weft/rtc/gpu/driver.hpp"

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

// torch's current stream of a GPU. What torch has for compiled code gives its address; torch.cuda.current_stream makes an
// object of it.
std::uintptr_t TorchStream(int device) {
  static PyObject *raw = nullptr, *current = nullptr;
  if (raw == nullptr && current == nullptr) {
    const nb::module_ torch = nb::module_::import_("torch");
    constexpr char kRaw[] = "_cuda_getCurrentRawStream";
    if (nb::hasattr(torch, "_C") && nb::hasattr(torch.attr("_C"), kRaw)) {
      raw = nb::object(torch.attr("_C").attr(kRaw)).release().ptr();
    } else {
      Function(&current, "torch.cuda", "current_stream");
    }
  }
  if (raw != nullptr) return nb::cast<std::uintptr_t>(nb::handle(raw)(device));
  return nb::cast<std::uintptr_t>(nb::object(nb::handle(current)(device)).attr("cuda_stream"));
}

}  // namespace

Stream StreamOf(const nb::object& given, const Array& x) {
  if (!given.is_none()) {
    std::uintptr_t address = 0;
    if (nb::try_cast(AddressOf(given), address)) return AtAddress(address);
    throw Error(ErrorKind::kType,
                "weft: stream is neither an address nor a stream of torch or cupy, and has no "
                "__cuda_stream__");
  }
  if (const std::optional<std::uintptr_t> current = CurrentStreamOf(x)) return AtAddress(*current);
  const Library library = LibraryOf(x.owner);
  if (library == Library::kTorch) return AtAddress(TorchStream(x.device));
  if (library == Library::kCupy) {
    static PyObject* current = nullptr;
    const nb::object stream = Function(&current, "cupy.cuda", "get_current_stream")();
    return AtAddress(nb::cast<std::uintptr_t>(stream.attr("ptr")));
  }
  return AtAddress(x.stream);
}

OnDeviceOf::OnDeviceOf(const Array& x) {
  if (rtc::CurrentOrdinal() == x.device) return;
  const Library library = LibraryOf(x.owner);
  if (library == Library::kTorch) {
    guard_ = nb::module_::import_("torch.cuda").attr("device")(x.device);
  } else if (library == Library::kCupy) {
    guard_ = nb::module_::import_("cupy.cuda").attr("Device")(x.device);
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
