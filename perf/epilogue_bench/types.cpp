#include "perf/epilogue_bench/variant.hpp"

#if WEFT_HAVE_CUDA

namespace weft::perf {

std::vector<Variant> TypeVariants() {
#define ACTIVATION(Of, name)
#define LAYOUT(Of, name)
#define ZEROPOINT(Of, name)
#define OUTPUT(Of, name)
#define SOURCE(Of, name)
#define SIXTEEN(Of, name) \
  {"type", name, &RunsOf<variants::Of, SixteenTiles>, &RunsOf<variants::Relu, SixteenTiles>},
#define TYPE(Of, name) \
  {"type", name, &RunsOf<variants::Of, MmaTiles>, &RunsOf<variants::Relu, MmaTiles>},
  return {
#include "perf/epilogue_bench/variants.def"
  };
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
