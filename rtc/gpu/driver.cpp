#include "weft/rtc/gpu/driver.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"

namespace weft::rtc {
namespace {

// The driver's types, as cuda.h has them.
using Result = int;
using Context = void*;
using Function = void*;
constexpr Result kSuccess = 0;

struct Attribute {
  std::uint32_t id;
  std::uint32_t pad;
  union {
    char bytes[64];
    std::uint32_t cluster[3];
    std::int32_t flag;
  };
};
static_assert(sizeof(Attribute) == 72);
constexpr std::uint32_t kClusterDimension = 4, kProgrammaticSerialization = 6;

struct Config {
  std::uint32_t grid[3], block[3], shared_bytes;
  Stream stream;
  Attribute* attributes;
  std::uint32_t count;
};
static_assert(sizeof(Config) == 56);

constexpr int kMajor = 75, kMinor = 76;  // CUdevice_attribute, of the compute capability
constexpr int kMaxDynamicSharedBytes = 8, kNonPortableCluster = 14;  // CUfunction_attribute

// The driver's functions; all null without a driver.
struct Driver {
  Result (*init)(unsigned) = nullptr;
  Result (*error_string)(Result, const char**) = nullptr;
  Result (*context)(Context*) = nullptr;
  Result (*context_id)(Context, unsigned long long*) = nullptr;
  Result (*set_context)(Context) = nullptr;
  Result (*retain)(Context*, int) = nullptr;
  Result (*context_device)(int*) = nullptr;
  Result (*attribute)(int*, int, int) = nullptr;
  Result (*load)(void**, const void*) = nullptr;
  Result (*function)(Function*, void*, const char*) = nullptr;
  Result (*set)(Function, int, int) = nullptr;
  Result (*launch)(const Config*, Function, void**, void**) = nullptr;
  Result (*allocate)(std::uint64_t*, std::size_t) = nullptr;
  Result (*copy_to_device)(std::uint64_t, const void*, std::size_t) = nullptr;
  Result (*free)(std::uint64_t) = nullptr;
  Result (*synchronize)(Stream) = nullptr;
  // Of Recording.
  Result (*new_stream)(Stream*, unsigned) = nullptr;
  Result (*delete_stream)(Stream) = nullptr;
  Result (*begin_capture)(Stream, int) = nullptr;
  Result (*end_capture)(Stream, void** graph) = nullptr;
  Result (*delete_graph)(void*) = nullptr;
  Result (*instantiate)(void** executable, void* graph, unsigned long long flags) = nullptr;
  Result (*delete_executable)(void*) = nullptr;
  Result (*launch_graph)(void* executable, Stream) = nullptr;
  Result (*new_event)(void**, unsigned) = nullptr;
  Result (*delete_event)(void*) = nullptr;
  Result (*record_event)(void*, Stream) = nullptr;
  Result (*record_event_as)(void*, Stream, unsigned flags) = nullptr;
  Result (*elapsed)(float* milliseconds, void* begin, void* end) = nullptr;
  Result (*tiled)(void*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,
                  const std::uint32_t*, const std::uint32_t*, int, int, int, int) = nullptr;
  Result (*im2col)(void*, int, std::uint32_t, void*, const std::uint64_t*, const std::uint64_t*,
                   const int*, const int*, std::uint32_t, std::uint32_t, const std::uint32_t*, int,
                   int, int, int) = nullptr;
  std::string missing;  // why there is no driver; empty: there is one

  Driver() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) {
      missing = absl::StrCat("the driver cannot be loaded: ", dlerror());
      return;
    }
    const auto find = [&]<class Pointer>(Pointer& to, const char* name) {
      to = reinterpret_cast<Pointer>(dlsym(library, name));
      if (to == nullptr) missing = absl::StrCat("the driver is too old: it has no ", name);
    };
    find(init, "cuInit");
    find(error_string, "cuGetErrorString");
    find(context, "cuCtxGetCurrent");
    find(context_id, "cuCtxGetId");
    find(set_context, "cuCtxSetCurrent");
    find(retain, "cuDevicePrimaryCtxRetain");
    find(context_device, "cuCtxGetDevice");
    find(attribute, "cuDeviceGetAttribute");
    find(load, "cuModuleLoadData");
    find(function, "cuModuleGetFunction");
    find(set, "cuFuncSetAttribute");
    find(launch, "cuLaunchKernelEx");
    find(allocate, "cuMemAlloc_v2");
    find(copy_to_device, "cuMemcpyHtoD_v2");
    find(free, "cuMemFree_v2");
    find(synchronize, "cuStreamSynchronize");
    find(new_stream, "cuStreamCreate");
    find(delete_stream, "cuStreamDestroy_v2");
    find(begin_capture, "cuStreamBeginCapture_v2");
    find(end_capture, "cuStreamEndCapture");
    find(delete_graph, "cuGraphDestroy");
    find(instantiate, "cuGraphInstantiateWithFlags");
    find(delete_executable, "cuGraphExecDestroy");
    find(launch_graph, "cuGraphLaunch");
    find(new_event, "cuEventCreate");
    find(delete_event, "cuEventDestroy_v2");
    find(record_event, "cuEventRecord");
    find(record_event_as, "cuEventRecordWithFlags");
    find(elapsed, "cuEventElapsedTime");
    find(tiled, "cuTensorMapEncodeTiled");
    find(im2col, "cuTensorMapEncodeIm2col");
    if (!missing.empty()) return;
    if (const Result failed = init(0); failed != kSuccess) missing = Message(failed);
  }

  std::string Message(Result result) const {
    const char* text = nullptr;
    if (error_string != nullptr) error_string(result, &text);
    return absl::StrCat(text == nullptr ? "unknown error" : text, " (", result, ")");
  }
};

const Driver& TheDriver() {
  static const Driver driver;
  return driver;
}

absl::Status Failed(const char* what, Result result) {
  return absl::InternalError(absl::StrCat("rtc: ", what, " failed: ", TheDriver().Message(result)));
}

absl::Status NoGpu(const std::string& why) {
  return absl::FailedPreconditionError(absl::StrCat("rtc: no usable GPU: ", why, "; use RunOnCpu"));
}

}  // namespace

std::optional<std::uint64_t> CurrentContext() {
  const Driver& driver = TheDriver();
  Context context = nullptr;
  unsigned long long id = 0;
  if (!driver.missing.empty() || driver.context(&context) != kSuccess || context == nullptr ||
      driver.context_id(context, &id) != kSuccess) {
    return std::nullopt;
  }
  return id;
}

std::optional<int> CurrentOrdinal() {
  const Driver& driver = TheDriver();
  int device = 0;
  if (!driver.missing.empty() || driver.context_device(&device) != kSuccess) return std::nullopt;
  return device;
}

absl::StatusOr<int> ComputeCapability() {
  const Driver& driver = TheDriver();
  if (!driver.missing.empty()) return NoGpu(driver.missing);
  Context context = nullptr;
  int device = 0, major = 0, minor = 0;
  Result failed = driver.context(&context);
  if (failed == kSuccess && context != nullptr) failed = driver.context_device(&device);
  if (failed == kSuccess) failed = driver.attribute(&major, kMajor, device);
  if (failed == kSuccess) failed = driver.attribute(&minor, kMinor, device);
  return failed == kSuccess ? absl::StatusOr<int>(10 * major + minor)
                            : NoGpu(driver.Message(failed));
}

absl::StatusOr<arch::DeviceLimits> CurrentDevice() {
  const Driver& driver = TheDriver();
  if (!driver.missing.empty()) return NoGpu(driver.missing);
  Context context = nullptr;
  Result failed = driver.context(&context);
  if (failed == kSuccess && context == nullptr) {
    failed = driver.retain(&context, 0);
    if (failed == kSuccess) failed = driver.set_context(context);
  }
  int device = 0;
  if (failed == kSuccess) failed = driver.context_device(&device);
  const auto get = [&](int attribute) {
    int value = 0;
    if (failed == kSuccess) failed = driver.attribute(&value, attribute, device);
    return value;
  };
  arch::DeviceLimits limits;
  limits.compute_capability = 10 * get(kMajor);
  limits.compute_capability += get(kMinor);
  limits.sm_count = get(16);
  limits.shared_memory_per_block = get(97);
  limits.shared_memory_per_sm = get(81);
  limits.registers_per_sm = get(82);
  limits.max_threads_per_sm = get(39);
  limits.l2_bytes = get(38);
  if (failed != kSuccess) return NoGpu(driver.Message(failed));
  return limits;
}

absl::StatusOr<DeviceBytes> DeviceBytes::Allocate(std::int64_t bytes) {
  constexpr Result kOutOfMemory = 2;
  if (const auto device = CurrentDevice(); !device.ok()) return device.status();
  const Driver& driver = TheDriver();
  Context context = nullptr;
  unsigned long long id = 0;
  std::uint64_t address = 0;
  const std::size_t count = bytes <= 0 ? 1 : static_cast<std::size_t>(bytes);
  Result failed = driver.context(&context);
  if (failed == kSuccess) failed = driver.context_id(context, &id);
  if (failed == kSuccess) failed = driver.allocate(&address, count);
  if (failed != kSuccess) {
    if (failed != kOutOfMemory) return Failed("allocating memory", failed);
    return absl::ResourceExhaustedError(
        absl::StrCat("rtc: the GPU has no ", count, " bytes of memory left; free some"));
  }
  return DeviceBytes(reinterpret_cast<char*>(address), {context, id});
}

absl::StatusOr<DeviceBytes> DeviceBytes::CopyOf(std::string_view bytes) {
  absl::StatusOr<DeviceBytes> copy = Allocate(static_cast<std::int64_t>(bytes.size()));
  if (!copy.ok() || bytes.empty()) return copy;
  const Driver& driver = TheDriver();
  Result failed = driver.copy_to_device(reinterpret_cast<std::uint64_t>(copy->data()), bytes.data(),
                                        bytes.size());
  // A copy of pageable memory may return before its last part has arrived.
  if (failed == kSuccess) failed = driver.synchronize(nullptr);
  if (failed != kSuccess) return Failed("a copy to the GPU", failed);
  return copy;
}

void DeviceBytes::Free::operator()(char* data) const {
  const Driver& driver = TheDriver();
  unsigned long long id = 0;
  if (driver.context_id(context, &id) != kSuccess || id != context_id) return;
  Context current = nullptr;
  if (driver.context(&current) != kSuccess) return;
  if (current != context && driver.set_context(context) != kSuccess) return;
  driver.free(reinterpret_cast<std::uint64_t>(data));
  if (current != context) driver.set_context(current);
}

absl::StatusOr<Event> Event::Create() {
  if (const auto device = CurrentDevice(); !device.ok()) return device.status();
  Event event;
  if (const Result failed = TheDriver().new_event(&event.event_, 0); failed != kSuccess) {
    return Failed("making an event", failed);
  }
  return event;
}

Event::~Event() {
  if (event_ != nullptr) TheDriver().delete_event(event_);
}

absl::Status Event::Record(Stream stream) const {
  constexpr unsigned kExternal =
      1;  // in a graph it is a node, not what other streams of the graph wait for
  const Result failed = TheDriver().record_event_as(event_, stream, kExternal);
  return failed == kSuccess ? absl::OkStatus() : Failed("recording an event", failed);
}

absl::StatusOr<double> Event::MicrosecondsSince(const Event& begin) const {
  float milliseconds = 0.0f;
  const Result failed = TheDriver().elapsed(&milliseconds, begin.event_, event_);
  if (failed != kSuccess) return Failed("asking for the time of an event", failed);
  return 1000.0 * static_cast<double>(milliseconds);
}

absl::StatusOr<ThisContext> ThisContext::Get() {
  if (const auto device = CurrentDevice(); !device.ok()) return device.status();
  Context context = nullptr;
  if (const Result failed = TheDriver().context(&context); failed != kSuccess) {
    return Failed("asking for the context", failed);
  }
  return ThisContext(context);
}

absl::Status ThisContext::Use() const {
  const Result failed = TheDriver().set_context(context_);
  return failed == kSuccess ? absl::OkStatus() : Failed("changing the context", failed);
}

absl::Status Synchronize(Stream stream) {
  const Driver& driver = TheDriver();
  if (!driver.missing.empty()) return NoGpu(driver.missing);
  const Result failed = driver.synchronize(stream);
  return failed == kSuccess ? absl::OkStatus() : Failed("waiting for the GPU", failed);
}

struct Recording::Parts {
  Stream stream = nullptr;
  void* executable = nullptr;
  void *begin = nullptr, *end = nullptr;

  Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() {
    const Driver& driver = TheDriver();
    if (executable != nullptr) driver.delete_executable(executable);
    if (begin != nullptr) driver.delete_event(begin);
    if (end != nullptr) driver.delete_event(end);
    if (stream != nullptr) driver.delete_stream(stream);
  }
};

absl::StatusOr<Recording> Recording::Of(const std::function<absl::Status(Stream)>& enqueue) {
  constexpr unsigned kNonBlocking =
      1;  // it does not wait for the default stream, which cannot be captured
  constexpr int kThreadLocal = 1;  // other threads may do what a capture forbids
  if (const auto device = CurrentDevice(); !device.ok()) return device.status();
  const Driver& driver = TheDriver();
  const auto parts = std::make_shared<Parts>();
  Result failed = driver.new_stream(&parts->stream, kNonBlocking);
  if (failed == kSuccess) failed = driver.new_event(&parts->begin, 0);
  if (failed == kSuccess) failed = driver.new_event(&parts->end, 0);
  if (failed == kSuccess) failed = driver.begin_capture(parts->stream, kThreadLocal);
  if (failed != kSuccess) return Failed("recording launches", failed);
  const absl::Status enqueued = enqueue(parts->stream);
  void* graph = nullptr;
  failed = driver.end_capture(parts->stream, &graph);
  if (enqueued.ok() && failed == kSuccess)
    failed = driver.instantiate(&parts->executable, graph, 0);
  if (graph != nullptr) driver.delete_graph(graph);
  if (!enqueued.ok()) return enqueued;
  if (failed != kSuccess) return Failed("recording launches", failed);
  return Recording(parts);
}

absl::StatusOr<double> Recording::Microseconds(int runs) const {
  const Driver& driver = TheDriver();
  Result failed = driver.record_event(parts_->begin, parts_->stream);
  for (int i = 0; i < runs && failed == kSuccess; ++i) {
    failed = driver.launch_graph(parts_->executable, parts_->stream);
  }
  if (failed == kSuccess) failed = driver.record_event(parts_->end, parts_->stream);
  if (failed == kSuccess) failed = driver.synchronize(parts_->stream);
  float milliseconds = 0.0f;
  if (failed == kSuccess) failed = driver.elapsed(&milliseconds, parts_->begin, parts_->end);
  if (failed != kSuccess) return Failed("running recorded launches", failed);
  return 1000.0 * static_cast<double>(milliseconds) / runs;
}

absl::StatusOr<int> Recording::RunsFor(double microseconds) const {
  constexpr double kMost = 10000.0;
  if (const absl::StatusOr<double> first = Microseconds(1); !first.ok()) return first.status();
  const absl::StatusOr<double> once = Microseconds(2);
  if (!once.ok()) return once.status();
  return static_cast<int>(std::clamp(std::ceil(microseconds / std::max(*once, 1.0)), 1.0, kMost));
}

arch::LaunchResult EncodeByDriver(const arch::TensorMapSpec& s, arch::TensorMap* map) {
  using arch::LaunchCode, arch::SwizzleSpan;
  constexpr int kInvalidValue = 1, kL2Promotion128 = 2, kZeros = 0;
  if (const char* fault = arch::TensorMapFault(s)) {
    return {LaunchCode::kCudaError, kInvalidValue, fault};
  }
  const Driver& driver = TheDriver();
  if (!driver.missing.empty()) {
    return {LaunchCode::kCudaError, kInvalidValue, "there is no driver that has tensor maps"};
  }
  std::uint64_t dim[5], stride[4];
  std::uint32_t box[5], step[5];
  int lower[3], upper[3];
  for (int i = 0; i < 5; ++i) dim[i] = s.dim[i], box[i] = s.box[i], step[i] = s.step[i];
  for (int i = 0; i < 4; ++i) stride[i] = s.stride[i];
  for (int i = 0; i < 3; ++i) lower[i] = s.lower[i], upper[i] = s.upper[i];
  const int type = s.element_bytes == 1 ? 0 : s.element_bytes == 2 ? 1 : 2;
  const int interleave = s.interleave32 ? 2 : 0;
  const int swizzle = s.swizzle == SwizzleSpan::kNone ? 0
                      : s.swizzle == SwizzleSpan::k32 ? 1
                      : s.swizzle == SwizzleSpan::k64 ? 2
                                                      : 3;
  alignas(128) unsigned char encoded[sizeof(arch::TensorMap)];
  void* const base = const_cast<void*>(s.base);
  const Result result =
      s.kind == arch::TensorMapSpec::Kind::kTiled
          ? driver.tiled(encoded, type, s.rank, base, dim, stride, box, step, interleave, swizzle,
                         kL2Promotion128, kZeros)
          : driver.im2col(encoded, type, s.rank, base, dim, stride, lower, upper, s.channels,
                          s.pixels, step, interleave, swizzle, kL2Promotion128, kZeros);
  if (result != kSuccess) {
    return {LaunchCode::kCudaError, result, "the driver refused the tensor map"};
  }
  std::memcpy(map, encoded, sizeof(encoded));
  return {};
}

absl::StatusOr<LoadedKernel> Load(const std::string& cubin, const std::string& entry, int threads,
                                  int shared_bytes) {
  constexpr int kUnrestrictedSharedBytes = 48 * 1024;
  const Driver& driver = TheDriver();
  void* module = nullptr;
  LoadedKernel kernel = {nullptr, threads, shared_bytes};
  Result failed = driver.load(&module, cubin.data());
  if (failed == kSuccess) failed = driver.function(&kernel.function, module, entry.c_str());
  if (failed == kSuccess && shared_bytes > kUnrestrictedSharedBytes) {
    failed = driver.set(kernel.function, kMaxDynamicSharedBytes, shared_bytes);
  }
  if (failed != kSuccess) return Failed("loading the compiled kernel", failed);
  return kernel;
}

absl::Status Enqueue(const LoadedKernel& kernel, arch::Dim3 grid, const void* params,
                     const arch::LaunchAttributes& attributes, Stream stream) {
  constexpr int kPortableClusterBlocks = 8;
  const Driver& driver = TheDriver();
  const arch::Dim3 cluster = attributes.cluster;
  const int cluster_blocks = cluster.x * cluster.y * cluster.z;
  Attribute list[2] = {};
  Config config = {};
  const auto word = [](int value) { return static_cast<std::uint32_t>(value); };
  config.grid[0] = word(grid.x), config.grid[1] = word(grid.y), config.grid[2] = word(grid.z);
  config.block[0] = word(kernel.threads), config.block[1] = config.block[2] = 1;
  config.shared_bytes =
      word(attributes.shared_bytes > 0 ? attributes.shared_bytes : kernel.shared_bytes);
  config.stream = stream;
  config.attributes = list;
  Result failed = kSuccess;
  if (cluster_blocks > kPortableClusterBlocks) {
    failed = driver.set(kernel.function, kNonPortableCluster, 1);
  }
  if (cluster_blocks > 1) {
    Attribute& a = list[config.count++];
    a.id = kClusterDimension;
    a.cluster[0] = word(cluster.x), a.cluster[1] = word(cluster.y), a.cluster[2] = word(cluster.z);
  }
  if (attributes.dependent) {
    Attribute& a = list[config.count++];
    a.id = kProgrammaticSerialization;
    a.flag = 1;
  }
  void* arguments[] = {const_cast<void*>(params)};
  if (failed == kSuccess) failed = driver.launch(&config, kernel.function, arguments, nullptr);
  return failed == kSuccess ? absl::OkStatus() : Failed("the launch", failed);
}

}  // namespace weft::rtc
