#include "arrays.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <unordered_map>

namespace weft::python {
namespace {

// str(object).
std::string TextOf(const nb::object& object) {
  return nb::cast<std::string>(nb::str(nb::handle(object.ptr())));
}

char LetterOf(nb::dlpack::dtype type) {
  const int bits = type.lanes == 1 ? type.bits : 0;
  switch (static_cast<nb::dlpack::dtype_code>(type.code)) {
    case nb::dlpack::dtype_code::Int:
      return bits == 8 ? 'b' : bits == 32 ? 'i' : '?';
    case nb::dlpack::dtype_code::UInt:
      return bits == 8 ? 'B' : '?';
    case nb::dlpack::dtype_code::Float:
      return bits == 32 ? 'f' : bits == 16 ? 'e' : '?';
    case nb::dlpack::dtype_code::Bfloat:
      return bits == 16 ? 'E' : '?';
    default:
      return '?';
  }
}

// What torch 2.10 and newer has for functions like ours, by DLPack: tensors as they lie, and the current stream, without a
// wait between streams. The table of functions as DLPack's dlpack.h has it.
struct Exchange {
  std::uint32_t major, minor;
  void *older, *allocate, *to_owner, *from_owner;
  int (*tensor_of)(void* object, nb::dlpack::dltensor* tensor);
  int (*current_stream)(int device_type, std::int32_t device, void** stream);
};

// What is known of a type of arrays.
struct ArrayType {
  Library library = Library::kOther;
  const Exchange* exchange = nullptr;
};

const Exchange* ExchangeOf(nb::handle type) {
  constexpr std::uint32_t kMajor = 1;
  if (!nb::hasattr(type, "__dlpack_c_exchange_api__")) return nullptr;
  const nb::object capsule = type.attr("__dlpack_c_exchange_api__");
  const auto* const table =
      static_cast<const Exchange*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (table == nullptr) PyErr_Clear();
  return table != nullptr && table->major == kMajor && table->tensor_of != nullptr &&
                 table->current_stream != nullptr
             ? table
             : nullptr;
}

// That of an object's type. The thread holds the GIL.
const ArrayType& TypeOf(nb::handle object) {
  // Types that were seen. Each is kept, so that no other type gets its address.
  static std::unordered_map<PyObject*, ArrayType> known;
  const nb::handle type = object.type();
  const auto at = known.find(type.ptr());
  if (at != known.end()) return at->second;
  const std::string module = TextOf(nb::object(type.attr("__module__")));
  const std::string name = module.substr(0, module.find('.'));
  ArrayType found;
  found.library = name == "torch"  ? Library::kTorch
                  : name == "cupy" ? Library::kCupy
                                   : Library::kOther;
  if (found.library == Library::kTorch) found.exchange = ExchangeOf(type);
  return known.emplace(nb::object(nb::borrow(type)).release().ptr(), found).first->second;
}

Error TooManyDims(const char* name, std::size_t rank) {
  return Error(ErrorKind::kArgument,
               absl::StrCat("weft: ", name, " has ", rank, " dimensions; arrays here have at most ",
                            kMostDims));
}

// Of a tensor of DLPack, whose strides are there.
Array FromDlpack(const nb::dlpack::dltensor& from, const char* name, nb::handle object) {
  Array a;
  if (from.ndim > kMostDims) throw TooManyDims(name, static_cast<std::size_t>(from.ndim));
  a.data = static_cast<char*>(from.data) + from.byte_offset;
  a.shape.rank = from.ndim;
  for (int i = 0; i < a.shape.rank; ++i) {
    a.shape.dim[i] = from.shape[i];
    a.stride[i] = from.strides[i];
  }
  a.letter = LetterOf(from.dtype);
  a.device = from.device.device_id;
  switch (from.device.device_type) {
    case nb::device::cpu::value:
      break;
    case nb::device::cuda::value:
    case nb::device::cuda_managed::value:
      a.on_gpu = true;
      break;
    default:
      if (from.device.device_type == 3) break;  // pinned memory of the host
      throw Error(ErrorKind::kType, absl::StrCat("weft: ", name, " is on a device of DLPack type ",
                                                 from.device.device_type,
                                                 "; give an array of the host or of a CUDA GPU"));
  }
  a.owner = nb::borrow(object);
  return a;
}

template <class Nd>
Array FromNd(const Nd& from, bool read_only, const char* name, nb::handle object) {
  std::int64_t shape[kMostDims], stride[kMostDims];
  for (std::size_t i = 0; i < from.ndim() && i < std::size_t{kMostDims}; ++i) {
    shape[i] = static_cast<std::int64_t>(from.shape(i)), stride[i] = from.stride(i);
  }
  nb::dlpack::dltensor tensor;
  tensor.data = const_cast<void*>(static_cast<const void*>(from.data()));
  tensor.device = {from.device_type(), from.device_id()};
  tensor.ndim = static_cast<std::int32_t>(from.ndim());
  tensor.dtype = from.dtype();
  tensor.shape = shape, tensor.strides = stride;
  Array a = FromDlpack(tensor, name, object);
  a.read_only = read_only;
  return a;
}

// The dictionary of numba and others: {shape, typestr, data: (address, read_only), strides in bytes or None}.
Array ReadCudaArrayInterface(nb::handle object, const char* name) {
  Array a;
  const auto dict = nb::cast<nb::dict>(object.attr("__cuda_array_interface__"));
  const auto type = TextOf(nb::object(dict["typestr"]));
  const nb::tuple data = nb::cast<nb::tuple>(dict["data"]),
                  shape = nb::cast<nb::tuple>(dict["shape"]);
  a.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(data[0]));
  a.read_only = nb::cast<bool>(data[1]);
  a.letter = type == "|i1"   ? 'b'
             : type == "|u1" ? 'B'
             : type == "<i4" ? 'i'
             : type == "<f4" ? 'f'
             : type == "<f2" ? 'e'
                             : '?';
  a.on_gpu = true;
  if (LibraryOf(object) == Library::kCupy)
    a.device = nb::cast<int>(object.attr("device").attr("id"));
  a.shape.rank = static_cast<int>(nb::len(shape));
  if (a.shape.rank > kMostDims) throw TooManyDims(name, nb::len(shape));
  const std::int64_t bytes = std::stoll(type.substr(2));
  if (dict.contains("stream") && !dict["stream"].is_none()) {
    // 1 is the default stream in this protocol, as it is to the CUDA runtime; 0 is refused there as ambiguous.
    a.stream = nb::cast<std::uintptr_t>(dict["stream"]);
  }
  const bool strided = dict.contains("strides") && !dict["strides"].is_none();
  std::int64_t dense = 1;
  for (int i = a.shape.rank - 1; i >= 0; --i) {
    a.shape.dim[i] = nb::cast<std::int64_t>(shape[static_cast<std::size_t>(i)]);
    a.stride[i] = strided ? nb::cast<std::int64_t>(
                                nb::cast<nb::tuple>(dict["strides"])[static_cast<std::size_t>(i)]) /
                                bytes
                          : dense;
    dense *= a.shape.dim[i];
  }
  a.owner = nb::borrow(object);
  return a;
}

Array FromCudaArrayInterface(nb::handle object, const char* name) {
  try {
    return ReadCudaArrayInterface(object, name);
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {  // of another type than it has to be, or missing
    throw Error(
        ErrorKind::kType,
        absl::StrCat("weft: ", name,
                     ".__cuda_array_interface__ is no dictionary of shape, typestr and data"));
  }
}

// The type of a tensor's elements. Of each of torch's dtypes there is one object: its name is asked for once.
char LetterOfTorch(nb::handle dtype) {
  static std::unordered_map<PyObject*, char> known;  // keeps the objects; the GIL guards it
  const auto at = known.find(dtype.ptr());
  if (at != known.end()) return at->second;
  const std::string name = TextOf(nb::object(nb::borrow(dtype)));
  const char letter = name == "torch.int8"       ? 'b'
                      : name == "torch.uint8"    ? 'B'
                      : name == "torch.int32"    ? 'i'
                      : name == "torch.float32"  ? 'f'
                      : name == "torch.float16"  ? 'e'
                      : name == "torch.bfloat16" ? 'E'
                                                 : '?';
  known.emplace(nb::object(nb::borrow(dtype)).release().ptr(), letter);
  return letter;
}

// torch's own attributes, those of them that are quick to read. DLPack would do, too, but its producer would have the
// default stream wait for the current one, which costs an event and cannot be captured in a graph.
Array FromTorch(nb::handle object, const char* name) {
  Array a;
  a.on_gpu = nb::cast<bool>(object.attr("is_cuda"));
  if (a.on_gpu) {
    a.device = nb::cast<int>(object.attr("get_device")());
  } else if (!nb::cast<bool>(object.attr("is_cpu"))) {
    throw Error(ErrorKind::kType, absl::StrCat("weft: ", name, " is on device ",
                                               TextOf(nb::object(object.attr("device"))),
                                               "; give a tensor of the host or of a CUDA GPU"));
  }
  a.letter = LetterOfTorch(nb::object(object.attr("dtype")));
  const nb::tuple shape = nb::tuple(object.attr("shape")),
                  stride = nb::tuple(object.attr("stride")());
  a.shape.rank = static_cast<int>(nb::len(shape));
  if (a.shape.rank > kMostDims) throw TooManyDims(name, nb::len(shape));
  for (int i = 0; i < a.shape.rank; ++i) {
    a.shape.dim[i] = nb::cast<std::int64_t>(shape[static_cast<std::size_t>(i)]);
    a.stride[i] = nb::cast<std::int64_t>(stride[static_cast<std::size_t>(i)]);
  }
  a.data = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(object.attr("data_ptr")()));
  a.owner = nb::borrow(object);
  return a;
}

}  // namespace

nb::handle Function(PyObject** kept, const char* module, const char* name) {
  if (*kept == nullptr) *kept = nb::object(nb::module_::import_(module).attr(name)).release().ptr();
  return *kept;
}

Library LibraryOf(nb::handle object) {
  return TypeOf(object).library;
}

std::optional<std::uintptr_t> CurrentStreamOf(const Array& array) {
  constexpr int kCuda = nb::device::cuda::value;
  const Exchange* const exchange = TypeOf(array.owner).exchange;
  void* stream = nullptr;
  if (exchange == nullptr) return std::nullopt;
  if (exchange->current_stream(kCuda, array.device, &stream) != 0) throw nb::python_error();
  return reinterpret_cast<std::uintptr_t>(stream);
}

nb::tuple TupleOf(const Shape& shape) {
  nb::list dims;
  for (int i = 0; i < shape.rank; ++i) dims.append(shape.dim[i]);
  return nb::tuple(dims);
}

std::string ToString(const Shape& shape) {
  return absl::StrCat("(", absl::StrJoin(shape.dim, shape.dim + shape.rank, ", "),
                      shape.rank == 1 ? ",)" : ")");
}

std::int64_t Shape::size() const {
  std::int64_t n = 1;
  for (int i = 0; i < rank; ++i) n *= dim[i];
  return n;
}

bool Array::IsDense() const {
  std::int64_t dense = 1;
  for (int i = shape.rank - 1; i >= 0; --i) {
    if (shape.dim[i] != 1 && stride[i] != dense) return size() == 0;
    dense *= shape.dim[i];
  }
  return true;
}

const char* NameOf(char letter) {
  switch (letter) {
    case 'b':
      return "int8";
    case 'B':
      return "uint8";
    case 'i':
      return "int32";
    case 'f':
      return "float32";
    case 'e':
      return "float16";
    case 'E':
      return "bfloat16";
    default:
      return "another type";
  }
}

Array ArrayOf(nb::handle object, const char* name) {
  const ArrayType& type = TypeOf(object);
  if (type.exchange != nullptr) {
    nb::dlpack::dltensor tensor;
    if (type.exchange->tensor_of(object.ptr(), &tensor) == 0) {
      return FromDlpack(tensor, name, object);
    }
    PyErr_Clear();  // what is below says why
  }
  const bool buffer = PyObject_CheckBuffer(object.ptr()) != 0;  // numpy's, above all
  if (!buffer && type.library == Library::kTorch && nb::hasattr(object, "data_ptr")) {
    return FromTorch(object, name);
  }
  if (!buffer && nb::hasattr(object, "__cuda_array_interface__")) {
    return FromCudaArrayInterface(object, name);
  }
  nb::ndarray<> writable;
  if (nb::try_cast(object, writable, false)) return FromNd(writable, false, name, object);
  nb::ndarray<nb::ro> any;
  if (nb::try_cast(object, any, false)) return FromNd(any, true, name, object);
  throw Error(
      ErrorKind::kType,
      absl::StrCat("weft: ", name, " is a ", TextOf(nb::object(object.type().attr("__name__"))),
                   "; give an array of numpy, torch or cupy, or anything with __dlpack__ or "
                   "__cuda_array_interface__"));
}

bool Fits(const Array& array, char letter, const Shape& shape) {
  return array.letter == letter && array.shape == shape && array.IsDense();
}

void CheckArray(const Array& array, const char* name, char letter, const Shape& shape,
                const std::string& layout, const std::string& remedy) {
  if (array.letter != letter) {
    const std::string given = nb::hasattr(array.owner, "dtype")
                                  ? TextOf(nb::object(array.owner.attr("dtype")))
                                  : NameOf(array.letter);
    throw Error(ErrorKind::kType,
                absl::StrCat("weft: ", name, ".dtype=", given, " is not ", NameOf(letter),
                             "; nothing is converted silently, so convert it yourself"));
  }
  if (array.shape != shape) {
    throw Error(ErrorKind::kArgument,
                absl::StrCat("weft: ", name, ".shape=", ToString(array.shape), " is not ",
                             ToString(shape), ", ", layout, remedy.empty() ? "" : "; ", remedy));
  }
  if (!array.IsDense()) {
    throw Error(ErrorKind::kArgument,
                absl::StrCat("weft: ", name, " has gaps or another order in memory (strides ",
                             absl::StrJoin(array.stride, array.stride + array.shape.rank, ", "),
                             " elements); make it contiguous, as numpy.ascontiguousarray or "
                             "torch's contiguous() do"));
  }
}

}  // namespace weft::python
