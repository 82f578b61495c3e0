#include "perf/epilogue_bench/variant.hpp"

#if WEFT_HAVE_CUDA

namespace weft::perf {

std::vector<Variant> SourceVariants() {
#define ACTIVATION(Of, name)
#define LAYOUT(Of, name)
#define ZEROPOINT(Of, name)
#define OUTPUT(Of, name)
#define SOURCE(Of, name) \
  {"source", name, &RunsOf<variants::Of, MmaTiles>, &RunsOf<variants::Relu, MmaTiles>},
#define SIXTEEN(Of, name)
#define TYPE(Of, name)
  return {
#include "perf/epilogue_bench/variants.def"
  };
}

}  // namespace weft::perf

#endif  // WEFT_HAVE_CUDA
