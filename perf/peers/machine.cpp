#include "perf/peers/machine.hpp"

#include <dlfcn.h>

#include <chrono>
#include <functional>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#if WEFT_HAVE_CUBLASLT
#include "perf/peers/lt_product.hpp"
#endif
#include "perf/peers/peer.hpp"
#include "perf/support/device_data.hpp"

namespace weft::perf {
namespace {

// From NVML's API reference; the toolkit at hand has no nvml.h.
constexpr int kSuccess = 0;
constexpr int kClockSm = 1;
constexpr int kTemperatureGpu = 0;

// What a function of the library says; 0 without it.
template <class T = unsigned, class... Kind>
T Ask(void* library, void* device, const char* name, Kind... kind) {
  using Function = int(void*, Kind..., T*);
  T value = 0;
  if (device == nullptr) return value;
  auto* const function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr && function(device, kind..., &value) == kSuccess ? value : 0;
}

}  // namespace

absl::Status Machine::Init(const Json& environment, bool want_ceilings) {
  WEFT_TRY(CheckGpu());
  WEFT_TRY(watch_.Init());
  const arch::DeviceQuery query = arch::QueryDevice();
  if (!query.result.ok()) return absl::UnavailableError(query.result.message);
  limits_ = query.limits;
  nvml_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  char driver[96] = "unknown";
  if (nvml_ != nullptr) {
    const auto init = reinterpret_cast<int (*)()>(dlsym(nvml_, "nvmlInit_v2"));
    const auto get =
        reinterpret_cast<int (*)(unsigned, void**)>(dlsym(nvml_, "nvmlDeviceGetHandleByIndex_v2"));
    const auto version =
        reinterpret_cast<int (*)(char*, unsigned)>(dlsym(nvml_, "nvmlSystemGetDriverVersion"));
    if (init == nullptr || get == nullptr || init() != kSuccess || get(0, &device_) != kSuccess) {
      device_ = nullptr;
    } else if (version != nullptr) {
      (void)version(driver, sizeof(driver));
    }
  }
  if (!environment.empty()) {
    for (const auto& [field, here] :
         {std::pair<const char*, std::string>("device", arch::DeviceName()),
          std::pair<const char*, std::string>("driver", driver)}) {
      if (environment.value(field, here) != here) {
        return absl::FailedPreconditionError(absl::StrCat(
            "the rows to go on from are of ", field, " '", environment.value(field, ""),
            "', here is '", here, "'; give another folder"));
      }
    }
    environment_ = environment;
    return absl::OkStatus();
  }
  Json& e = environment_;
  e["device"] = arch::DeviceName();
  e["multiprocessors"] = limits_.sm_count;
  e["l2_mb"] = Rounded(static_cast<double>(limits_.l2_bytes) / (1 << 20), 1);
  e["driver"] = driver;
  int runtime = 0;
  (void)cudaRuntimeGetVersion(&runtime);
  e["cuda"] = absl::StrCat(runtime / 1000, ".", runtime % 1000 / 10);
  e["libraries"] = Json::array();
  if (want_ceilings) {
    WEFT_LET(const Ceilings measured, MeasureCeilings(stream()));
    e["copy_tb_s"] = Rounded(measured.bytes_per_us / 1e6);
    e["dp4a_tops"] = Rounded(2e-6 * measured.macs_per_us, 1);
    std::string source;
#if WEFT_HAVE_CUBLASLT
    const absl::StatusOr<double> tops = MeasureTensorTops(stream(), &source);
#else
    const absl::StatusOr<double> tops = absl::NotFoundError("built without cublasLt.h");
#endif
    e["tensor_tops"] = Rounded(tops.value_or(kFallbackTensorTops), 1);
    e["tensor_tops_source"] = tops.ok() ? source
                                        : absl::StrCat("a constant, what an H200 once reached: ",
                                                       std::string(tops.status().message()));
  }
  e["max_clock_mhz"] = Ask(nvml_, device_, "nvmlDeviceGetMaxClockInfo", kClockSm);
  e["throttle_reasons"] = "0x0";
  return absl::OkStatus();
}

Ceilings Machine::ceilings(bool dp4a) const {
  if (!environment_.contains("copy_tb_s")) {
    return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  }
  return {environment_["copy_tb_s"].get<double>() * 1e6,
          environment_[dp4a ? "dp4a_tops" : "tensor_tops"].get<double>() * 1e6 / 2};
}

Json Machine::environment() const {
  Json e = environment_;
  if (const std::vector<std::string> opened = PeerLibraries(); !opened.empty()) {
    e["libraries"] = opened;
  }
  return e;
}

absl::Status Machine::ReadClock(const Contestant& contestant, Json* row) {
  for (int i = 0; i < 3; ++i) WEFT_TRY(watch_.Launch(contestant));
  const unsigned clock = Ask(nvml_, device_, "nvmlDeviceGetClockInfo", kClockSm);
  const unsigned long long throttle =
      Ask<unsigned long long>(nvml_, device_, "nvmlDeviceGetCurrentClocksThrottleReasons");
  Json& e = environment_;
  if (!e.contains("first_clock_mhz")) e["first_clock_mhz"] = clock;
  e["last_clock_mhz"] = clock;
  e["watts"] = Ask(nvml_, device_, "nvmlDeviceGetPowerUsage") / 1000;
  e["celsius"] = Ask(nvml_, device_, "nvmlDeviceGetTemperature", kTemperatureGpu);
  const unsigned long long all =
      std::stoull(e["throttle_reasons"].get<std::string>(), nullptr, 16) | throttle;
  e["throttle_reasons"] = absl::StrFormat("0x%x", all);
  WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream()), "clock"));
  (*row)["clock_mhz"] = clock;
  (*row)["throttle_reasons"] = absl::StrFormat("0x%x", throttle);
  return absl::OkStatus();
}

absl::Status Machine::ReadEnergy(const Contestant& contestant, const std::string& name, Json* row) {
  const auto millijoules = [this] {
    return Ask<unsigned long long>(nvml_, device_, "nvmlDeviceGetTotalEnergyConsumption");
  };
  if (millijoules() == 0) return absl::OkStatus();
  // The counter moves every tenth of a second or so: begins and ends at such a moment, under load.
  const auto launch_until = [&](const std::function<bool()>& done) -> absl::StatusOr<long long> {
    long long runs = 0;
    do {
      WEFT_TRY(watch_.Launch(contestant));
      WEFT_TRY(CudaStatus(cudaStreamSynchronize(stream()), "energy"));
      runs += contestant.runs;
    } while (!done());
    return runs;
  };
  using Clock = std::chrono::steady_clock;
  const Clock::time_point give_up = Clock::now() + std::chrono::seconds(3);
  const auto moved = [&](unsigned long long from) {
    return [&, from] { return millijoules() != from || Clock::now() > give_up; };
  };
  WEFT_TRY(launch_until(moved(millijoules())).status());  // warms up
  const unsigned long long first = millijoules();
  const Clock::time_point start = Clock::now();
  WEFT_LET(long long runs,
           launch_until([&] { return Clock::now() > start + std::chrono::milliseconds(400); }));
  WEFT_LET(const long long last, launch_until(moved(millijoules())));
  runs += last;
  const double joules = 1e-3 * static_cast<double>(millijoules() - first);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (Clock::now() > give_up) return absl::OkStatus();
  (*row)[name + "_watts"] = Rounded(joules / seconds, 0);
  (*row)[name + "_joules"] = joules / static_cast<double>(runs);
  return absl::OkStatus();
}

}  // namespace weft::perf
