// Runs kernels that NVRTC compiles when they are first needed: Weft's own, which no policy has, and, by Module, those of
// policies.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "weft/gemm/launch/launch.hpp"
#include "weft/layouts/base/abseil.hpp"
#include "weft/rtc/cache/archive.hpp"
#include "weft/rtc/gpu/compile.hpp"
#include "weft/rtc/gpu/driver.hpp"

namespace weft::rtc {

// What each context of a GPU has once, by keys: kernels that are loaded there, copies of constants. Thread-safe: who looks for
// what is there does not wait for what is made.
template <class Key, class Value>
class PerContext {
 public:
  // The value of a key in the current context. If there is none, make(device), an absl::StatusOr<Value>, makes it; values of
  // one key are made one at a time, and others at the same time. The value stays where it is. The errors of CurrentDevice and make.
  template <class Make>
  absl::StatusOr<const Value*> Get(const Key& key, const Make& make) {
    if (const std::optional<std::uint64_t> context = CurrentContext(); context.has_value()) {
      if (const Value* const found = Find(*context, key)) return found;
    }
    const absl::StatusOr<arch::DeviceLimits> device = CurrentDevice();
    if (!device.ok()) return device.status();
    const std::optional<std::uint64_t> context = CurrentContext();
    if (!context.has_value()) return absl::InternalError("rtc: the GPU's context has no number");
    return GetIn(*context, key, [&] { return make(*device); });
  }

  // The same in a context of this number: make() makes the value.
  template <class Make>
  absl::StatusOr<const Value*> GetIn(std::uint64_t context, const Key& key, const Make& make) {
    std::mutex* making = nullptr;
    {
      const std::unique_lock<std::shared_mutex> lock(mutex_);
      making = &making_[key];
    }
    const std::lock_guard<std::mutex> makes(*making);
    if (const Value* const found = Find(context, key)) return found;  // by another thread
    absl::StatusOr<Value> made = make();
    if (!made.ok()) return made.status();
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    return &values_.emplace(std::pair(context, key), *std::move(made)).first->second;
  }

 private:
  const Value* Find(std::uint64_t context, const Key& key) {
    const std::shared_lock<std::shared_mutex> lock(mutex_);
    const auto at = values_.find(std::pair(context, key));
    return at == values_.end() ? nullptr : &at->second;
  }

  // A key's mutex of `making_` is held by who makes its value; `mutex_` guards both maps, and is held only for a look at them.
  std::map<Key, std::mutex> making_;
  std::shared_mutex mutex_;
  std::map<std::pair<std::uint64_t, Key>, Value> values_;  // by CurrentContext
};

// Kernels that are loaded in contexts of GPUs, by number. Each is loaded once in each context. Thread-safe.
class LoadedKernels {
 public:
  struct Cubin {
    std::string code, entry;
    int threads = 0, shared_bytes = 0;
  };
  // Makes the cubin of a kernel, or takes it out of an archive, which may be null.
  using Maker = std::function<absl::StatusOr<Cubin>(int kernel, const arch::DeviceLimits& device,
                                                    Archive* archive)>;
  using Found = std::pair<LoadedKernel, arch::DeviceLimits>;

  // The kernel in the current context, made and loaded if it was not yet. What the driver refuses out of an archive, as an older
  // one may, is made again without it. The errors of CurrentDevice, Load and make.
  absl::StatusOr<Found> Get(int kernel, Archive* archive, const Maker& make);

 private:
  PerContext<int, Found> loaded_;
};

// The kernels of a KernelList (gemm/launch/kernel_list.hpp) of one of Weft's own headers. Copies share them.
// Thread-safe.
class Kernels {
 public:
  struct Options {
    const char* include =
        "";  // the header that has the list, such as "weft/network/operators/tensor_kernels.hpp"
    const char* list = "";  // the type that the list is of, such as "weft::network::TensorKernels"
    std::vector<KernelRecord> records;  // what the host knows of them: KernelsOf<list>()
    std::optional<Cache> cache;         // where compiled kernels are kept; nothing: nowhere
  };
  explicit Kernels(Options options);

  // archive: where the calls below look for compiled code before the cache, and add what they use; null: nowhere.

  // Compiles a kernel for a compute capability, and links it, as the first run on such a GPU does; it needs no GPU.
  // NotFound if there is no NVRTC; FailedPrecondition if it has no code for such a GPU; Internal, with what the compiler
  // says, if the kernel does not compile.
  absl::Status Compile(int kernel, int compute_capability, Archive* archive = nullptr) const;

  // What the first run of a kernel on the current GPU does before its launch. FailedPrecondition if there is no GPU; the
  // errors of Compile.
  absl::Status Prepare(int kernel, Archive* archive = nullptr) const;

  // Enqueues a launch on `stream`. The errors of Prepare; Internal if the driver refuses.
  absl::Status Run(const gemm::Launch& launch, Stream stream,
                   const gemm::LaunchOptions& options = {}, Archive* archive = nullptr) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// What the host knows of the kernels of a list.
template <class ListT>
[[gnu::visibility("hidden")]] std::vector<KernelRecord> KernelsOf() {
  std::vector<KernelRecord> records(static_cast<std::size_t>(gemm::KernelList<ListT>::kCount));
  for (int i = 0; i < gemm::KernelList<ListT>::kCount; ++i) {
    gemm::VisitKernel<ListT>(i, [&]<class Kernel>() {
      records[static_cast<std::size_t>(i)] = {
          .threads = Kernel::kThreads,
          .shared_bytes = sizeof(typename Kernel::SharedStorage),
          .params_bytes = sizeof(typename Kernel::Params),
          .dependent = Kernel::kDependent};
    });
  }
  return records;
}

}  // namespace weft::rtc
