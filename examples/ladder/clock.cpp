#include "examples/ladder/clock.hpp"

#include "absl/status/status.h"

#if WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT

#include <algorithm>
#include <cmath>

#include "absl/strings/str_format.h"
#include "examples/ladder/launch.hpp"
#include "examples/ladder/steps.hpp"
#include "perf/peers/lt_product.hpp"
#include "perf/peers/machine.hpp"
#include "perf/support/random.hpp"

namespace ladder {

namespace perf = weft::perf;

namespace {

constexpr std::int64_t kRotationBytes = std::int64_t{256} << 20;  // past the L2
constexpr double kSampleMicroseconds = 2000;
constexpr double kBudgetMicroseconds = 5e6;
constexpr int kRounds = 11, kMostOffers = 32;

}  // namespace

struct Clock::State {
  perf::Machine machine;
  double us_a_product[kSteps] = {};  // of the last size that a step was measured at; 0: of none
};

Clock::Clock(std::unique_ptr<State> state) : state_(std::move(state)) {}
Clock::Clock(Clock&&) noexcept = default;
Clock::~Clock() = default;

absl::StatusOr<Clock> Clock::Create() {
  auto state = std::make_unique<State>();
  WEFT_TRY(state->machine.Init(perf::Json::object(), /*want_ceilings=*/false));
  return Clock(std::move(state));
}

perf::Json Clock::environment() const {
  return state_->machine.environment();
}

absl::StatusOr<Times> Clock::Measure(int size, double most_us) {
  const double products = std::pow(size, 3);
  const perf::Stopwatch& watch = state_->machine.watch();
  const std::int64_t area = std::int64_t{size} * size;
  const int sets = static_cast<int>(std::clamp<std::int64_t>(kRotationBytes / (6 * area), 1, 4096));
  WEFT_LET(const auto a, perf::DeviceBuffer::From(perf::RandomInt8s(sets * area, 1)));
  WEFT_LET(const auto b, perf::DeviceBuffer::From(perf::RandomInt8s(sets * area, 2)));
  WEFT_LET(const auto c, perf::DeviceBuffer::Create(sets * area * 4));
  const auto a_of = [&](int set) { return a.as<std::int8_t>() + set * area; };
  const auto b_of = [&](int set) { return b.as<std::int8_t>() + set * area; };
  const auto c_of = [&](int set) { return c.as<std::int32_t>() + set * area; };

  // In column-major words C^T = B^T A^T; B, column-major, needs transposing to be B^T.
  WEFT_LET(
      const auto product,
      perf::LtProduct::Create(
          {.rows = size, .columns = size, .depth = size, .transpose_a = true, .result = CUDA_R_32I},
          kMostOffers));
  const auto run_peer = [&](int algorithm, int set) {
    return product.Run(algorithm, b_of(set), a_of(set), c_of(set), watch.stream());
  };
  int best = -1;
  double least = 0;
  for (int i = 0; i < product.algorithms(); ++i) {
    const auto us =
        watch.Short([&](int set) { return run_peer(i, set); }, sets, kSampleMicroseconds);
    if (!us.ok()) (void)cudaGetLastError();
    if (us.ok() && (best < 0 || *us < least)) best = i, least = *us;
  }
  if (best < 0) return absl::NotFoundError("cuBLASLt has no algorithm that runs");

  Times times;
  times.steps.resize(kSteps);
  times.peer = product.Name(best);
  std::vector<perf::Contestant> all(kSteps + 1);
  std::vector<perf::Contestant*> in_turns;
  std::vector<std::int32_t> want;
  for (int i = kSteps; i >= 0; --i) {  // cuBLASLt first
    perf::Contestant& one = all[i];
    if (i == kSteps) {
      one.enqueue = [&](int set) { return run_peer(best, set); };
    } else {
      const bool fits = VisitStep(i, [&]<class Kernel>(std::type_identity<Kernel>) {
        return Kernel::kRequires.Fits(state_->machine.limits().compute_capability);
      });
      if (!fits) {
        times.steps[i].why_not = "not for this GPU";
        continue;
      }
      if (const double us = state_->us_a_product[i] * products; us > most_us) {
        times.steps[i].why_not = absl::StrFormat("left out: about %.1f s", us * 1e-6);
        continue;
      }
      one.enqueue = [&, i](int set) -> absl::Status {
        const Product p = MakeProduct(a_of(set), b_of(set), c_of(set), size, size, size);
        const arch::LaunchResult result = LaunchOnGpu(i, p, watch.stream());
        return result.ok() ? absl::OkStatus() : absl::InternalError(result.message);
      };
    }
    WEFT_TRY(c.Fill(0x7f));
    WEFT_TRY(watch.Prepare(one, sets, kSampleMicroseconds));
    in_turns.push_back(&one);
    WEFT_LET(std::vector<std::int32_t> got, c.Read<std::int32_t>());
    if (i == kSteps) {
      want = std::move(got);
      continue;
    }
    for (std::size_t j = 0; j < got.size(); ++j) times.steps[i].mismatches += got[j] != want[j];
  }
  WEFT_TRY(watch.Interleave(in_turns, kRounds, kBudgetMicroseconds));
  for (int i = 0; i < kSteps; ++i) {
    times.steps[i].us = perf::Quantile(all[i].samples, 0.5);
    if (times.steps[i].why_not.empty()) state_->us_a_product[i] = times.steps[i].us / products;
  }
  times.peer_us = perf::Quantile(all[kSteps].samples, 0.5);
  return times;
}

}  // namespace ladder

#else

namespace ladder {

struct Clock::State {};
Clock::Clock(std::unique_ptr<State> state) : state_(std::move(state)) {}
Clock::Clock(Clock&&) noexcept = default;
Clock::~Clock() = default;
absl::StatusOr<Clock> Clock::Create() {
  return absl::UnavailableError("built without CUDA or cuBLASLt's header");
}
weft::perf::Json Clock::environment() const {
  return {};
}
absl::StatusOr<Times> Clock::Measure(int, double) {
  return absl::UnavailableError("no GPU");
}

}  // namespace ladder

#endif  // WEFT_HAVE_CUDA && WEFT_HAVE_CUBLASLT
