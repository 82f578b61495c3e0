#include "perf/weft_perf/table.hpp"

#include <cstdio>

#include "perf/peers/anchors.hpp"

namespace weft::perf {
namespace {

// A time, or a dash.
void Time(double us) {
  us > 0 ? std::printf(" %8.2f", us) : std::printf(" %8s", "-");
}

}  // namespace

void PrintHeader(const Run& run) {
  std::printf("%-22s %3s", "layer", "N");
  for (const std::string& name : run.options.layouts) std::printf(" %8s", name.c_str());
  for (const std::string& name : run.options.peers)
    std::printf(" %8.8s", name.substr(name.find('_') + 1).c_str());
  std::printf(" %6s", "ratio");
  if (run.options.tensors.has_value()) std::printf(" %8s %8s %6s", "ours+ref", "peer+ref", "ratio");
  std::printf(" %7s %6s %6s %5s %5s | %7s %7s | %5s %4s  %s\n", "floor", "TOPS", "GB/s", "noise",
              "model", "a.cudnn", "a.f16", "clock", "bad", "kernel; peer; status");
}

void PrintRow(const Run& run, const LayerRow& row) {
  std::printf("%-22s %3d", row.layer.chars, row.batch);
  for (std::size_t i = 0; i < run.options.layouts.size(); ++i) Time(row.ours[i].BestUs());
  for (std::size_t i = 0; i < run.options.peers.size(); ++i) Time(row.peers[i].BestUs());
  const double ours = row.OursUs(), peer = row.PeerUs();
  std::printf(" %6.2f", ours > 0 ? peer / ours : 0.0);
  if (run.options.tensors.has_value()) {
    const double a = row.reformat_ours >= 0 ? row.ours[row.reformat_ours].with_reformat.us : 0.0;
    const double b = row.reformat_peer >= 0 ? row.peers[row.reformat_peer].with_reformat.us : 0.0;
    Time(a);
    Time(b);
    std::printf(" %6.2f", a > 0 ? b / a : 0.0);
  }
  const Anchor* const anchor = FindAnchor(row.layer.Get(), row.batch);
  std::printf(" %7.2f %6.0f %6.0f %4.1f%% %5.2f | %7.1f %7.1f | %5.0f %4lld ", row.floor_us,
              ours > 0 ? 2e-6 * row.macs / ours : 0.0, ours > 0 ? 1e-3 * row.bytes / ours : 0.0,
              100 * row.Noise(), row.best_ours >= 0 ? row.ours[row.best_ours].ModelOverBest() : 0.0,
              anchor != nullptr ? anchor->cudnn_us : 0.0, anchor != nullptr ? anchor->f16_us : 0.0,
              row.clock_mhz, row.Mismatches());
  std::printf(" %s; %s; %s (%.1f s, at %.0f)\n",
              row.best_ours >= 0 ? row.ours[row.best_ours].variant.chars : "none",
              row.best_peer >= 0 ? row.peers[row.best_peer].variant.chars : "none",
              row.Status().c_str(), row.seconds, run.Seconds());
  std::fflush(stdout);
}

void PrintEnvironment(const Board& board) {
  const Environment& e = board.environment;
  std::printf(
      "%s, driver %s, CUDA %s; copy %.2f TB/s, dp4a %.1f TOPS, tensor cores %.0f TOPS (%s); clock "
      "%.0f to %.0f MHz, %.0f W, throttle 0x%llx\n",
      e.device.chars, e.driver.chars, e.cuda.chars, e.copy_tb_s, e.dp4a_tops, e.tensor_tops,
      e.tensor_source.chars, e.first_clock_mhz, e.last_clock_mhz, e.watts, e.throttle_reasons);
  for (const Text<160>& library : board.libraries) {
    if (!library.empty()) std::printf("%s\n", library.chars);
  }
}

}  // namespace weft::perf
