// What the text that NVRTC compiles includes: everything that a policy is made of, its kernels, and
// what is told of it.
#pragma once

#include "weft/conv/launch/image.hpp"
#include "weft/conv/ready_made.hpp"
#include "weft/gemm/arch/cuda_entry.cuh"
#include "weft/gemm/launch/kernel_list.hpp"
#include "weft/rtc/policy/policy_record.hpp"
