// Arrays of Python: numpy's, torch's, cupy's, whatever has DLPack, the buffer protocol or __cuda_array_interface__. They
// are read where they lie: nothing is copied and no type is converted.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>

#include "errors.hpp"

namespace weft::python {

inline constexpr int kMostDims = 8;

struct Shape {
  std::int64_t dim[kMostDims] = {};
  int rank = 0;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> dims) {
    for (const std::int64_t d : dims) dim[rank++] = d;
  }
  std::int64_t size() const;  // elements
  friend bool operator==(const Shape&, const Shape&) = default;
};
nb::tuple TupleOf(const Shape& shape);
std::string ToString(const Shape& shape);  // (1, 2, 3)

// An array where it lies. `owner` keeps it alive.
struct Array {
  void* data = nullptr;
  Shape shape;
  std::int64_t stride[kMostDims] = {};  // in elements
  char letter = '?';                    // LetterOf its elements
  bool on_gpu = false, read_only = false;
  int device = 0;
  // Where a GPU's array was last written, as __cuda_array_interface__ says: a kernel behind it on this stream reads what
  // was written. 0 is the default stream, behind which DLPack's producers put their writes.
  std::uintptr_t stream = 0;
  nb::object owner;

  std::int64_t size() const { return shape.size(); }
  // Whether the elements lie one after the other, the last index first.
  bool IsDense() const;
};

const char* NameOf(char letter);  // int8

// A function of a module that can be imported, looked up once: `kept` is where the caller keeps it.
nb::handle Function(PyObject** kept, const char* module, const char* name);

// The libraries that have attributes of their own for what is read of arrays and streams.
enum class Library { kOther, kTorch, kCupy };

// That of an object's type. The thread holds the GIL.
Library LibraryOf(nb::handle object);

// The current stream of an array's library, on the array's GPU, where the library tells it by DLPack.
std::optional<std::uintptr_t> CurrentStreamOf(const Array& array);

// name: the argument's, for messages. An error if the object is no array.
Array ArrayOf(nb::handle object, const char* name);

// Whether it has these elements and this shape and is dense; CheckArray says what is wrong otherwise.
bool Fits(const Array& array, char letter, const Shape& shape);

// An error, in a sentence, unless the array has these elements and this shape and is dense. layout: what the shape is, such as
// "NCxHWx<32> of n=1, c=64, h=8, w=8"; remedy: what makes it of another, or "".
void CheckArray(const Array& array, const char* name, char letter, const Shape& shape,
                const std::string& layout, const std::string& remedy);

}  // namespace weft::python
