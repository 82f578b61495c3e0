# GPU code of the ready-made operators, part of weft::weft.
weft_add_operators(weft "weft/conv/ready_made.hpp"
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

# The mixing pass of every conv::CondConv.
weft_add_instances(weft_add_operators weft "weft/conv/mix_kernel.hpp" conv WEFT_INSTANTIATE_KERNELS
                   weft::conv::MixFilters)

# The second step of every global average pooling.
weft_add_instances(weft_add_operators weft "weft/conv/average_kernel.hpp" conv WEFT_INSTANTIATE_KERNELS
                   weft::conv::AverageSums)
