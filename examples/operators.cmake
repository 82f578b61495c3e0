# The programs' own operators, for the GPU; their tests.
set_target_properties(picture_filter PROPERTIES WEFT_OPERATORS_PER_FILE 2)
weft_add_operators(picture_filter examples/picture_filter/operators.hpp
                   picture_filter::ColourFilter picture_filter::EdgeFilter)

weft_add_operators(own_prologue examples/own_prologue/operators.hpp BankConv)

weft_add_operators(condconv examples/condconv/operators.hpp MixedConv)
if(WEFT_HAVE_CUDA)
  target_sources(condconv PRIVATE examples/condconv/routing.cu)
endif()

weft_add_gemms(experts examples/experts/operators.hpp Experts)

# Kernels of block_gemm's and tiled_mma's own.
if(WEFT_HAVE_CUDA)
  target_sources(block_gemm PRIVATE examples/block_gemm/launch.cu)
  target_sources(tiled_mma PRIVATE examples/tiled_mma/launch.cu)
endif()

# And the ladder's.
if(WEFT_HAVE_CUDA)
  target_sources(ladder PRIVATE examples/ladder/launch.cu)
endif()

weft_add_operators(deconvolution weft/conv/ready_made.hpp "weft::conv::S8Deconv4<>")

# A network that is compiled while the program is built. ARCHITECTURES 90a would compile it for GPUs as well, where there is NVRTC.
weft_add_network(embedded_network examples/embedded_network/edges.weft CPU)

if(WEFT_TESTS)
  include(tests/examples/programs.cmake)
endif()
