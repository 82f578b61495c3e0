// Memory of a GPU by the driver alone: tests of run-time compilation need no CUDA toolkit to be built.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace weft::rtc {

// The functions of the driver that tests call; null without a driver.
struct TestDriver {
  using Address = std::uint64_t;  // CUdeviceptr
  int (*allocate)(Address*, std::size_t) = nullptr;
  int (*free)(Address) = nullptr;
  int (*to_device)(Address, const void*, std::size_t) = nullptr;
  int (*to_host)(void*, Address, std::size_t) = nullptr;
  int (*synchronize)() = nullptr;

  TestDriver() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) return;
    const auto find = [&]<class Pointer>(Pointer& to, const char* name) {
      to = reinterpret_cast<Pointer>(dlsym(library, name));
    };
    find(allocate, "cuMemAlloc_v2");
    find(free, "cuMemFree_v2");
    find(to_device, "cuMemcpyHtoD_v2");
    find(to_host, "cuMemcpyDtoH_v2");
    find(synchronize, "cuCtxSynchronize");
  }
  static const TestDriver& Get() {
    static const TestDriver driver;
    return driver;
  }
};

// A copy of bytes of the host's in memory of the current GPU. A GPU is current.
class DeviceCopy {
 public:
  DeviceCopy(const void* host, std::size_t bytes) : bytes_(bytes) {
    const TestDriver& driver = TestDriver::Get();
    EXPECT_EQ(driver.allocate(&address_, bytes + 16), 0);
    if (bytes > 0) {
      EXPECT_EQ(driver.to_device(address_, host, bytes), 0);
    }
  }
  ~DeviceCopy() { EXPECT_EQ(TestDriver::Get().free(address_), 0); }
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  void* get() const { return reinterpret_cast<void*>(address_); }
  void CopyTo(void* host) const { EXPECT_EQ(TestDriver::Get().to_host(host, address_, bytes_), 0); }

 private:
  std::size_t bytes_;
  TestDriver::Address address_ = 0;
};

}  // namespace weft::rtc
