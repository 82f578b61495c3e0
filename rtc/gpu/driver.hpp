// The CUDA driver, loaded when it is needed: a program needs neither a toolkit nor a GPU to have this.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "weft/gemm/arch/device.hpp"
#include "weft/gemm/arch/isa/kernel.hpp"
#include "weft/gemm/arch/isa/tensor_map.hpp"
#include "weft/layouts/base/abseil.hpp"

namespace weft::rtc {

// What the driver says of the GPU that is current in the calling thread; if none is, the first one's
// primary context becomes current. FailedPrecondition, with the reason, if there is no driver, none
// that has cuLaunchKernelEx (older than CUDA 12), or no GPU.
absl::StatusOr<arch::DeviceLimits> CurrentDevice();

// The compute capability, such as 90, of the GPU that is current in the calling thread, or else of the
// first one. No context is made. The errors of CurrentDevice.
absl::StatusOr<int> ComputeCapability();

// The number of the GPU that is current in the calling thread; nothing: there is no driver, or no GPU is current.
std::optional<int> CurrentOrdinal();

// arch::EncodeTensorMap by the driver.
arch::LaunchResult EncodeByDriver(const arch::TensorMapSpec& spec, arch::TensorMap* map);

// A kernel of a loaded cubin. It stays loaded until the program ends.
struct LoadedKernel {
  void* function = nullptr;
  int threads = 0, shared_bytes = 0;
};

// Loads kernel `entry` of a cubin into the current context. Internal if the driver refuses.
absl::StatusOr<LoadedKernel> Load(const std::string& cubin, const std::string& entry, int threads,
                                  int shared_bytes);

// Enqueues a launch.
absl::Status Enqueue(const LoadedKernel& kernel, arch::Dim3 grid, const void* params,
                     const arch::LaunchAttributes& attributes, Stream stream);

// Memory of the context that is current in the calling thread. It is freed with the object, whichever context is current then; with
// the context it has gone already.
class DeviceBytes {
 public:
  // With any contents. ResourceExhausted if there is no memory; the errors of CurrentDevice.
  static absl::StatusOr<DeviceBytes> Allocate(std::int64_t bytes);
  // A copy of bytes of the host's, which is there when the call returns. The errors of Allocate.
  static absl::StatusOr<DeviceBytes> CopyOf(std::string_view bytes);

  const char* data() const { return data_.get(); }
  char* data() { return data_.get(); }

 private:
  struct Free {
    void* context = nullptr;
    std::uint64_t context_id = 0;  // no other context has it, even at the same address
    void operator()(char* data) const;
  };
  DeviceBytes(char* data, const Free& free) : data_(data, free) {}
  std::unique_ptr<char, Free> data_;
};

// The number of the context that is current in the calling thread, which no other context has, before or
// after; nothing: there is no driver, or no context is current.
std::optional<std::uint64_t> CurrentContext();

// A point of a stream's work, whose time the GPU notes each time that it comes there, in a Recording as well.
class Event {
 public:
  // The errors of CurrentDevice; Internal if the driver refuses, as of the others.
  static absl::StatusOr<Event> Create();

  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event();

  // It happens when all has ended that was enqueued on the stream before.
  absl::Status Record(Stream stream) const;
  // Both have happened, `begin` before this event.
  absl::StatusOr<double> MicrosecondsSince(const Event& begin) const;

 private:
  Event() = default;
  void* event_ = nullptr;
};

// The context that is current in the calling thread, for other threads that are to work in it.
class ThisContext {
 public:
  // The errors of CurrentDevice.
  static absl::StatusOr<ThisContext> Get();
  // Makes it current in the calling thread. Internal if the driver refuses.
  absl::Status Use() const;

 private:
  explicit ThisContext(void* context) : context_(context) {}
  void* context_;
};

// Launches that were recorded once, as a CUDA graph, and are timed: the host's part of them takes no time then.
class Recording {
 public:
  // Records what `enqueue` puts on the stream that it is given, and runs nothing. The errors of enqueue and of CurrentDevice;
  // Internal if the driver refuses.
  static absl::StatusOr<Recording> Of(const std::function<absl::Status(Stream)>& enqueue);

  // Runs the launches `runs` times, one run after the other, waits for the last one, and tells the microseconds of a run by the
  // GPU's clock. The context that is current is the one of the recording. Internal if the driver refuses, or a kernel fails.
  absl::StatusOr<double> Microseconds(int runs) const;
  // How many runs take about so long, after a few that warm up; 1 at least. The errors of Microseconds.
  absl::StatusOr<int> RunsFor(double microseconds) const;

 private:
  struct Parts;
  explicit Recording(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}
  std::shared_ptr<const Parts> parts_;
};

// Waits until all work on `stream` is done. Internal if there is no driver, or a kernel has failed.
absl::Status Synchronize(Stream stream);

}  // namespace weft::rtc
