#include "weft/network/profile.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "weft/network/median.hpp"
#include "weft/rtc/gpu/driver.hpp"

namespace weft::network {
namespace {

constexpr int kRunsInARow = 5;  // of the whole network, between two events

absl::Status CheckRepeats(int repeats) {
  return repeats > 0 ? absl::OkStatus()
                     : absl::InvalidArgumentError(absl::StrCat("network: repeats=", repeats,
                                                               " is not positive; give 1 or more"));
}

// times[step][repeat]
Profile ProfileOf(const std::vector<std::vector<double>>& times) {
  Profile profile;
  for (const std::vector<double>& of_step : times) profile.step_us.push_back(MedianOf(of_step));
  return profile;
}

Network::Arguments Part(Network::Arguments args, int begin, int end) {
  args.begin = begin, args.end = end;
  return args;
}

// All steps, with an event before each and one behind the last.
absl::Status RunWithEvents(const Network& network, const Network::Arguments& args, Stream stream,
                           const std::vector<rtc::Event>& events) {
  if (absl::Status s = events[0].Record(stream); !s.ok()) return s;
  for (int i = 0; i + 1 < static_cast<int>(events.size()); ++i) {
    if (absl::Status s = network.Run(Part(args, i, i + 1), stream, {.dependent = false}); !s.ok())
      return s;
    if (absl::Status s = events[static_cast<std::size_t>(i) + 1].Record(stream); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Profile> MeasureOnGpu(const Network& network, const Network::Arguments& args,
                                     Stream stream, int repeats) {
  if (absl::Status s = CheckRepeats(repeats); !s.ok()) return s;
  if (absl::Status s = network.Run(args, stream); !s.ok()) return s;
  if (absl::Status s = rtc::Synchronize(stream); !s.ok()) return s;
  const std::size_t steps = network.plan().steps.size();
  std::vector<rtc::Event> events;
  for (std::size_t i = 0; i <= steps; ++i) {
    absl::StatusOr<rtc::Event> event = rtc::Event::Create();
    if (!event.ok()) return event.status();
    events.push_back(*std::move(event));
  }
  const auto apart = rtc::Recording::Of(
      [&](Stream recorded) { return RunWithEvents(network, args, recorded, events); });
  if (!apart.ok()) return apart.status();
  const auto whole =
      rtc::Recording::Of([&](Stream recorded) { return network.Run(args, recorded); });
  if (!whole.ok()) return whole.status();
  std::vector<std::vector<double>> times(steps);
  std::vector<double> runs;
  for (int repeat = -1; repeat < repeats; ++repeat) {  // the first of each warms up
    if (const auto us = apart->Microseconds(1); !us.ok()) return us.status();
    for (std::size_t i = 0; i < steps; ++i) {
      const absl::StatusOr<double> us = events[i + 1].MicrosecondsSince(events[i]);
      if (!us.ok()) return us.status();
      if (repeat >= 0) times[i].push_back(*us);
    }
    const absl::StatusOr<double> us = whole->Microseconds(kRunsInARow);
    if (!us.ok()) return us.status();
    if (repeat >= 0) runs.push_back(*us);
  }
  Profile profile = ProfileOf(times);
  profile.run_us = MedianOf(runs);
  return profile;
}

absl::StatusOr<Profile> MeasureOnCpu(const Network& network, const Network::Arguments& args,
                                     int repeats, const gemm::CpuOptions& options) {
  using Clock = std::chrono::steady_clock;
  if (absl::Status s = CheckRepeats(repeats); !s.ok()) return s;
  const auto steps = static_cast<int>(network.plan().steps.size());
  std::vector<std::vector<double>> times(static_cast<std::size_t>(steps));
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (int i = 0; i < steps; ++i) {
      const Clock::time_point begin = Clock::now();
      if (absl::Status s = network.RunOnCpu(Part(args, i, i + 1), options); !s.ok()) return s;
      const std::chrono::duration<double, std::micro> taken = Clock::now() - begin;
      times[static_cast<std::size_t>(i)].push_back(taken.count());
    }
  }
  Profile profile = ProfileOf(times);
  profile.run_us = std::accumulate(profile.step_us.begin(), profile.step_us.end(), 0.0);
  return profile;
}

}  // namespace weft::network
