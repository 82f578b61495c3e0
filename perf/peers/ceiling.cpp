#include "perf/peers/ceiling.hpp"

#if WEFT_HAVE_CUDA

#include "absl/strings/str_cat.h"
#include "perf/peers/peer.hpp"
#include "perf/peers/peer_data.hpp"
#include "perf/support/cuda.hpp"
#include "perf/support/statistics.hpp"

namespace weft::perf {

absl::StatusOr<TensorCeiling> MeasureTensorCeiling(Stream stream) {
  // A product is a 1x1 convolution: 8192 pixels, 8192 channels in and out.
  PeerProblem problem;
  problem.problem = conv::SquareProblem(1, 8192, 64, 8192, 1, 0, 1);
  problem.problem.w = 128;
  const absl::StatusOr<std::unique_ptr<PeerData>> data = PeerData::Create(problem, 0, stream);
  if (!data.ok()) return data.status();
  const absl::StatusOr<std::unique_ptr<Peer>> peer = MakePeer("cublaslt");
  if (!peer.ok()) return peer.status();
  if (absl::Status s = (*peer)->Prepare(problem, (*data)->tensors(), PeerOptions(), stream);
      !s.ok()) {
    return s;
  }
  CudaTimer timer;
  if (absl::Status s = timer.Init(); !s.ok()) return s;
  TensorCeiling best;
  for (int i = 0; i < static_cast<int>((*peer)->variants().size()); ++i) {
    std::vector<double> samples;
    for (int run = 0; run < 8; ++run) {
      const absl::StatusOr<double> us =
          timer.Time(stream, [&] { return (*peer)->Enqueue(i, 0, stream); });
      if (!us.ok()) break;
      if (run >= 3) samples.push_back(*us);
    }
    if (samples.empty()) continue;
    const double tops = 2e-6 * problem.problem.macs() / Quantile(samples, 0.5);
    if (tops <= best.tops) continue;
    best.tops = tops;
    best.source = absl::StrCat("measured: ", (*peer)->variants()[i].name, ", 8192^3");
  }
  if (best.tops == 0.0) return absl::NotFoundError("cuBLASLt ran no algorithm");
  return best;
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
