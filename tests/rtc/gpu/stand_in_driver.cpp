// A CUDA driver without a GPU, for tests of what rtc/gpu asks of one: contexts, memory, and cubins, of which it refuses those that
// begin with "refused". It runs nothing. As a shared library it is called libcuda.so.1.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

namespace {

constexpr int kSuccess = 0, kInvalidValue = 1, kInvalidImage = 200, kInvalidContext = 201;

struct Context {
  unsigned long long id = 0;
  bool is_alive = false;
};

Context contexts[8];
unsigned long long ids = 0;
thread_local Context* current = nullptr;
std::map<std::uint64_t, unsigned long long> memory;  // the number of its context, by address
std::uint64_t next_address = 4096;
std::string faults;

int NewContext(Context* context) {
  *context = {++ids, true};
  return kSuccess;
}

}  // namespace

extern "C" {

// For tests. What was freed in another context than its own, and what was never freed, a line each; and it is forgotten.
const char* stand_in_faults() {
  static std::string told;
  told = faults;
  for (const auto& [address, id] : memory)
    told += "not freed in context " + std::to_string(id) + "\n";
  faults.clear(), memory.clear();
  return told.c_str();
}
void stand_in_use(int context) {
  if (!contexts[context].is_alive) NewContext(&contexts[context]);
  current = &contexts[context];
}
// With its memory; the next one of the same number is another one.
void stand_in_destroy(int context) {
  std::erase_if(memory, [&](const auto& entry) { return entry.second == contexts[context].id; });
  contexts[context].is_alive = false;
}

int cuInit(unsigned) {
  return kSuccess;
}
int cuGetErrorString(int result, const char** text) {
  *text = result == kInvalidImage ? "the stand-in refuses the image" : "the stand-in refuses";
  return kSuccess;
}
int cuCtxGetCurrent(void** context) {
  *context = current;
  return kSuccess;
}
int cuCtxGetId(void* context, unsigned long long* id) {
  const auto* const of = static_cast<Context*>(context);
  if (of == nullptr || !of->is_alive) return kInvalidContext;
  *id = of->id;
  return kSuccess;
}
int cuCtxSetCurrent(void* context) {
  if (context != nullptr && !static_cast<Context*>(context)->is_alive) return kInvalidContext;
  current = static_cast<Context*>(context);
  return kSuccess;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  if (!contexts[0].is_alive) NewContext(&contexts[0]);
  *context = &contexts[0];
  return kSuccess;
}
int cuCtxGetDevice(int* device) {
  *device = 0;
  return current == nullptr ? kInvalidContext : kSuccess;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 1 << 16;  // 9.0, and much of all else
  return kSuccess;
}
int cuMemAlloc_v2(std::uint64_t* address, std::size_t bytes) {
  if (current == nullptr) return kInvalidContext;
  *address = next_address;
  next_address += (bytes + 255) / 256 * 256;
  memory[*address] = current->id;
  return kSuccess;
}
int cuMemFree_v2(std::uint64_t address) {
  const auto at = memory.find(address);
  if (at == memory.end()) {
    faults += "freed what is not there\n";
    return kInvalidValue;
  }
  if (current == nullptr || at->second != current->id) faults += "freed in another context\n";
  memory.erase(at);
  return kSuccess;
}
int cuMemcpyHtoD_v2(std::uint64_t, const void*, std::size_t) {
  return kSuccess;
}
int cuStreamSynchronize(void*) {
  return kSuccess;
}
int cuModuleLoadData(void** module, const void* image) {
  if (std::strncmp(static_cast<const char*>(image), "refused", 7) == 0) return kInvalidImage;
  *module = &contexts;
  return kSuccess;
}
int cuModuleGetFunction(void** function, void* module, const char*) {
  *function = module;
  return kSuccess;
}
int cuFuncSetAttribute(void*, int, int) {
  return kSuccess;
}

#define STAND_IN_HAS_NO(name) \
  int name() {                \
    return kInvalidValue;     \
  }
STAND_IN_HAS_NO(cuLaunchKernelEx)
STAND_IN_HAS_NO(cuStreamCreate)
STAND_IN_HAS_NO(cuStreamDestroy_v2)
STAND_IN_HAS_NO(cuStreamBeginCapture_v2)
STAND_IN_HAS_NO(cuStreamEndCapture)
STAND_IN_HAS_NO(cuGraphDestroy)
STAND_IN_HAS_NO(cuGraphInstantiateWithFlags)
STAND_IN_HAS_NO(cuGraphExecDestroy)
STAND_IN_HAS_NO(cuGraphLaunch)
STAND_IN_HAS_NO(cuEventCreate)
STAND_IN_HAS_NO(cuEventDestroy_v2)
STAND_IN_HAS_NO(cuEventRecord)
STAND_IN_HAS_NO(cuEventRecordWithFlags)
STAND_IN_HAS_NO(cuEventElapsedTime)
STAND_IN_HAS_NO(cuTensorMapEncodeTiled)
STAND_IN_HAS_NO(cuTensorMapEncodeIm2col)
#undef STAND_IN_HAS_NO

}  // extern "C"
