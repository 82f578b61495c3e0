#include "perf/epilogue_bench/variant.hpp"

#if WEFT_HAVE_CUDA

namespace weft::perf {

std::vector<Variant> OutputVariants() {
#define ACTIVATION(Of, name)
#define LAYOUT(Of, name)
#define ZEROPOINT(Of, name)
#define OUTPUT(Of, name) {"output", name, &RunsOf<variants::Of>},
#define SOURCE(Of, name)
#define SIXTEEN(Of, name)
#define TYPE(Of, name)
  return {
#include "perf/epilogue_bench/variants.def"
  };
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
