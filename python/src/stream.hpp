// The streams and GPUs of Python's libraries.
#pragma once

#include "arrays.hpp"
#include "weft/gemm/arch/isa/backend.hpp"

namespace weft::python {

// The stream that a call over `x` is enqueued on. given: an address, or a stream of torch, cupy or anything with
// __cuda_stream__; None: the current stream of x's library, or, of other libraries, the one that the array names.
Stream StreamOf(const nb::object& given, const Array& x);

// As long as it lives, the GPU that x lies on is the calling thread's, where x's library is torch or cupy. The GPU of
// another library's array has to be current already.
class OnDeviceOf {
 public:
  explicit OnDeviceOf(const Array& x);
  ~OnDeviceOf();
  OnDeviceOf(const OnDeviceOf&) = delete;
  OnDeviceOf& operator=(const OnDeviceOf&) = delete;

 private:
  nb::object guard_;  // invalid where the GPU was current
};

}  // namespace weft::python
