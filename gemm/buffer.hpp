// Memory for the tensors of a program that runs on a GPU and on a CPU with the same lines.
//
//   const weft::Backend backend = weft::UsableBackend();
//   auto x = weft::Buffer<std::int8_t>::CopyOf(values, backend);
//   auto y = weft::Buffer<std::int8_t>::Zeros(op->dst_size(), backend);
//   if (!x.ok() || !y.ok()) ...
//   absl::Status status = weft::RunOn(backend, *op, {.src = x->data(), ..., .dst = y->data()});
//   absl::StatusOr<std::vector<std::int8_t>> result = y->Read();
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "weft/gemm/arch/isa/backend.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft {

// Where an operator runs, and where its tensors lie.
enum class Backend { kCpu, kCuda };

// kCuda if Weft was built with CUDA and a GPU can be used, else kCpu.
Backend UsableBackend();

namespace internal {

// Sets *memory to the address of `size` zero elements of `element` bytes each, or to null if size
// is 0.
absl::Status AllocateZeros(Backend backend, std::int64_t size, int element, void** memory);
void Free(Backend backend, void* memory);

// Copies `bytes` in either direction between host memory and a buffer of `backend` that has
// `buffer_bytes`, which must be as many. Waits for `stream` before and after.
absl::Status CopyBytes(Backend backend, void* to, const void* from, std::int64_t bytes,
                       std::int64_t buffer_bytes, Stream stream);

// A type that has Elements in host memory, such as a packed filter.
template <class Owner, class Element>
concept OwnerOf = requires(const Owner& owner) {
  { owner.data() } -> std::convertible_to<const Element*>;
  { owner.bytes() } -> std::convertible_to<std::int64_t>;
};

}  // namespace internal

// Owns size() Elements on the GPU or on the host, aligned to 256 bytes. It is movable, and empty
// after it was moved from. Element is trivially copyable: int8_t, float, Half and so on.
//
// Memory of Backend::kCuda lies on the device that was current where it was made. It is not
// managed: the host reads it through CopyTo and Read alone.
template <class Element>
class Buffer {
  static_assert(std::is_trivially_copyable_v<Element> && !std::is_const_v<Element>,
                "weft: a Buffer holds trivially copyable elements that are not const");

 public:
  // An empty buffer.
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    if (this == &other) return *this;
    internal::Free(backend_, data_);
    backend_ = other.backend_;
    size_ = std::exchange(other.size_, 0);
    data_ = std::exchange(other.data_, nullptr);
    return *this;
  }
  ~Buffer() { internal::Free(backend_, data_); }

  // `size` zeros. InvalidArgument if size is negative, ResourceExhausted if there is not enough
  // memory, FailedPrecondition for kCuda where no GPU can be used, Internal if CUDA fails.
  static absl::StatusOr<Buffer> Zeros(std::int64_t size, Backend backend) {
    void* memory = nullptr;
    const absl::Status status = internal::AllocateZeros(backend, size, sizeof(Element), &memory);
    if (!status.ok()) return status;
    return Buffer(backend, size, static_cast<Element*>(memory));
  }

  // A copy of `values`, which lie on the host. Fails as Zeros does.
  static absl::StatusOr<Buffer> CopyOf(absl::Span<const Element> values, Backend backend) {
    absl::StatusOr<Buffer> buffer = Zeros(static_cast<std::int64_t>(values.size()), backend);
    if (!buffer.ok()) return buffer;
    const absl::Status status = buffer->CopyFrom(values);
    if (!status.ok()) return status;
    return buffer;
  }

  // A copy of the bytes() that `owner` has in host memory at data(): for example of a packed
  // filter, whose At(buffer.data()) is then the filter argument of a run.
  template <internal::OwnerOf<Element> Owner>
  static absl::StatusOr<Buffer> CopyOf(const Owner& owner, Backend backend) {
    const Element* const values = owner.data();
    return CopyOf(
        absl::MakeConstSpan(values, static_cast<std::size_t>(owner.bytes()) / sizeof(Element)),
        backend);
  }
  static absl::StatusOr<Buffer> CopyOf(const Buffer&, Backend) = delete;  // Read() is the copy

  // A GPU address for kCuda, else a host address; null if there are no elements.
  Element* data() const { return data_; }
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return size_ * std::int64_t{sizeof(Element)}; }
  Backend backend() const { return backend_; }

  // Overwrites the elements with `values`, after the work that was enqueued on `stream`, and
  // returns when that is done. InvalidArgument if there are not size() values, Internal if CUDA
  // fails.
  absl::Status CopyFrom(absl::Span<const Element> values, Stream stream = nullptr) {
    return internal::CopyBytes(backend_, data_, values.data(), BytesOf(values.size()), bytes(),
                               stream);
  }
  // Copies the elements to `values`, which has size() of them. Waits and fails as CopyFrom does.
  absl::Status CopyTo(absl::Span<Element> values, Stream stream = nullptr) const {
    return internal::CopyBytes(backend_, values.data(), data_, BytesOf(values.size()), bytes(),
                               stream);
  }
  // The elements, on the host, after the work that was enqueued on `stream`.
  absl::StatusOr<std::vector<Element>> Read(Stream stream = nullptr) const {
    std::vector<Element> values(static_cast<std::size_t>(size_));
    const absl::Status status = CopyTo(absl::MakeSpan(values), stream);
    if (!status.ok()) return status;
    return values;
  }

 private:
  Buffer(Backend backend, std::int64_t size, Element* data)
      : backend_(backend), size_(size), data_(data) {}
  static std::int64_t BytesOf(std::size_t count) {
    return static_cast<std::int64_t>(count * sizeof(Element));
  }

  Backend backend_ = Backend::kCpu;
  std::int64_t size_ = 0;
  Element* data_ = nullptr;
};

inline namespace WEFT_BACKEND {

// op.Run(args, stream) for kCuda, op.RunOnCpu(args) for kCpu. The addresses of `args` are the back
// end's, for example those of Buffers of it. A .cu file holds no kernels for the CPU: there kCpu is
// FailedPrecondition.
template <class Operator>
inline absl::Status RunOn(Backend backend, const Operator& op,
                          const typename Operator::Arguments& args, Stream stream = nullptr) {
  if (backend == Backend::kCuda) return op.Run(args, stream);
#if defined(WEFT_CPU_BACKEND)
  return op.RunOnCpu(args);
#else
  return absl::FailedPreconditionError(
      "RunOn: nvcc compiles no kernels for the CPU; call RunOn in a .cpp file for Backend::kCpu");
#endif
}

}  // namespace WEFT_BACKEND
}  // namespace weft
