# weft::ready_made: GPU code of ready-made operators with one tile each, for who links it. It is built only then, and
# installed only with WEFT_READY_MADE.
weft_add_library(weft_ready_made)
target_link_libraries(weft_ready_made INTERFACE weft)
set_target_properties(weft_ready_made PROPERTIES WEFT_OPERATORS_PER_FILE 3)
weft_add_operators(weft_ready_made "weft/conv/ready_made.hpp"
  "weft::conv::S8Conv4<weft::epilogues::BiasIdentity<>>"
  "weft::conv::S8Conv4<weft::epilogues::BiasRelu<>>"
  "weft::conv::S8Conv4<weft::epilogues::BiasHSwish<>>"
  "weft::conv::S8Conv4<weft::epilogues::ResidualBiasRelu<>>"
  "weft::conv::U8Conv4<>"
  "weft::conv::S8Conv4<weft::epilogues::BiasRelu<>, weft::NCxHWx<32>>"
  "weft::conv::S8Conv4<weft::epilogues::BiasHSwish<>, weft::NCxHWx<32>>"
  "weft::conv::S8Conv32<weft::epilogues::BiasRelu<>>"
  "weft::conv::S8Conv32<weft::epilogues::BiasHSwish<>>"
  "weft::conv::S8Conv32<weft::epilogues::ResidualBiasRelu<>>"
  "weft::conv::U8Conv32<>"
  "weft::conv::S8Conv32<weft::epilogues::BiasRelu<>, weft::NCxHWx<32>, weft::conv::Wgmma128x256>"
  "weft::conv::S8Conv32<weft::epilogues::BiasRelu<>, weft::NCxHWx<32>, weft::conv::Wgmma112x64>"
  "weft::conv::S8Conv32<weft::epilogues::BiasRelu<>, weft::NCxHWx<32>, weft::conv::Wgmma64x64Deep>"
  "weft::conv::S8Depthwise4<>"
  "weft::conv::S8Depthwise32<>"
  "weft::conv::S8Depthwise32<weft::epilogues::BiasHSwish<>>"
  "weft::conv::S8DepthwiseNhwc<>")

if(TARGET weft_ready_made_operators AND NOT WEFT_READY_MADE)
  set_target_properties(weft_ready_made_operators PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

# The mixing pass of every conv::CondConv.
weft_add_instances(weft_add_operators weft "weft/conv/condconv/mix_kernel.hpp" conv WEFT_INSTANTIATE_KERNELS
                   weft::conv::MixFilters)

# The second step of every global average pooling.
weft_add_instances(weft_add_operators weft "weft/conv/kernel/average_kernel.hpp" conv WEFT_INSTANTIATE_KERNELS
                   weft::conv::AverageSums)
