// Writes parts of a kernel's parameters by their offsets, without the types of its policy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/check/output_run.hpp"
#include "weft/gemm/policy/output_layout.hpp"
#include "weft/layouts/formats.hpp"

namespace weft::gemm {

// Puts values into the parameters at `to`; a part whose offset is kNoPart is left out. Who puts a part
// that begins with another one puts that one first: the language lets members of a derived type lie in
// the last bytes of its base.
class ParamsWriter {
 public:
  explicit ParamsWriter(void* to) : to_(static_cast<unsigned char*>(to)) {}

  template <class Type>
  void Put(std::int32_t at, const Type& value) const {
    PutBytes(at, &value, sizeof(Type));
  }
  // from: null leaves what is there.
  void PutBytes(std::int32_t at, const void* from, std::size_t bytes) const {
    if (at != kNoPart && from != nullptr) std::memcpy(to_ + at, from, bytes);
  }
  // The part at `at`, which exists.
  template <class Type>
  Type* At(std::int32_t at) const {
    return reinterpret_cast<Type*>(to_ + at);
  }
  ParamsWriter Part(std::int32_t at) const { return ParamsWriter(to_ + at); }

 private:
  unsigned char* to_;
};

namespace internal {

template <class Params>
[[gnu::visibility("hidden")]] inline const Params kDefaultParams{};

}  // namespace internal

// The bytes of parameters as they are default-constructed, from which a run starts.
template <class Params>
[[gnu::visibility("hidden")]] inline constexpr const void* kDefaultsOf =
    &internal::kDefaultParams<Params>;

// The parameters of one launch, beginning with their defaults. No kernel has more than kMaxParamsBytes of
// them (gemm/arch/isa/kernel.hpp refuses it).
class ParamsBuffer {
 public:
  ParamsBuffer(const void* defaults, std::int32_t bytes) {
    std::memcpy(bytes_, defaults, static_cast<std::size_t>(bytes));
  }
  const void* data() const { return bytes_; }
  ParamsWriter writer() { return ParamsWriter(bytes_); }

 private:
  alignas(128) unsigned char bytes_[arch::kMaxParamsBytes];  // few of them are used
};

// Writes what an epilogue's parameters have of a run. output: a writer of an OutputParams with this
// layout, of which the rows, the zero points and the extents are others' to write.
void PutOutput(const OutputLayout& at, const OutputRun& run, const ParamsWriter& output);

}  // namespace weft::gemm
