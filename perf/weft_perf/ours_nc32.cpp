#include "perf/weft_perf/ours.hpp"

#if WEFT_HAVE_CUDA

#include "perf/weft_perf/ours_of_layout.hpp"
#include "weft/conv/ready_made.hpp"

namespace weft::perf::internal {

std::unique_ptr<OurPeer> MakeOursNc32(const std::string& name, Epilogue epilogue) {
  using Family = conv::S8Conv32Family<>;
  return std::make_unique<Ours<NCxHWx<32>, CxRSKx<32>, NCxHWx<32>>>(
      name, epilogue, PolicyNames(std::type_identity<Family>()));
}

}  // namespace weft::perf::internal

#endif  // WEFT_HAVE_CUDA
