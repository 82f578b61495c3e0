# Tests of the programs in examples/ as a user runs them. Included from examples/operators.cmake.
set(here ${CMAKE_CURRENT_LIST_DIR})

add_test(NAME example_first_operator COMMAND first_operator)
set_tests_properties(example_first_operator PROPERTIES
  PASS_REGULAR_EXPRESSION "corner 22, border 32, inside 50")
add_test(NAME example_own_activation COMMAND own_activation)
set_tests_properties(example_own_activation PROPERTIES
  PASS_REGULAR_EXPRESSION "350 outputs, 1[0-9][0-9] above zero, 0 differ from the reference")

# Compiled operators are kept in a folder of the test's.
foreach(run rtc_operator rtc_operator_cpu)
  set(flag --backend=cpu)
  if(run STREQUAL "rtc_operator")  # where there is a GPU, on it
    set(flag)
  endif()
  add_test(NAME example_${run} COMMAND rtc_operator ${flag})
  set_tests_properties(example_${run} PROPERTIES
    RESOURCE_LOCK rtc_operator ENVIRONMENT "XDG_CACHE_HOME=${CMAKE_CURRENT_BINARY_DIR}/rtc_cache"
    PASS_REGULAR_EXPRESSION "350 outputs, 1[0-9][0-9] above zero, 0 differ from the reference")
endforeach()

# What it runs was compiled with it: there is no compiler and no folder for what one makes.
add_test(NAME example_embedded_network COMMAND embedded_network --backend=cpu)
set_tests_properties(example_embedded_network PROPERTIES
  ENVIRONMENT "CXX=/nowhere/c++;XDG_CACHE_HOME=/nowhere"
  PASS_REGULAR_EXPRESSION "kernels of the file, for 1 image on the CPU\n.*\n[1-9][0-9][0-9] pixels are on an edge")

add_test(NAME example_depthwise_pointwise COMMAND depthwise_pointwise)
set_tests_properties(example_depthwise_pointwise PROPERTIES
  PASS_REGULAR_EXPRESSION "[1-9][0-9][0-9][0-9] outputs not zero, all those of two operators")

add_test(NAME example_source_functor COMMAND source_functor)
set_tests_properties(example_source_functor PROPERTIES
  PASS_REGULAR_EXPRESSION "4096 outputs, [1-9][0-9][0-9]+ above zero, 0 differ from the reference")

# Where there is a GPU, on it.
add_test(NAME example_own_prologue COMMAND own_prologue)
add_test(NAME example_own_prologue_cpu COMMAND own_prologue --backend=cpu)
set_tests_properties(example_own_prologue example_own_prologue_cpu PROPERTIES
  PASS_REGULAR_EXPRESSION "1050 outputs, [1-9][0-9][0-9] above zero, 0 differ from the reference")
add_test(NAME example_own_prologue_refuses
         COMMAND ${here}/refuses.sh "--backend=npu is unknown; accepted are cpu, cuda"
                 $<TARGET_FILE:own_prologue> --backend=npu)
add_test(NAME example_own_prologue_refuses_words
         COMMAND ${here}/refuses.sh "own_prologue [--backend=cpu|cuda]"
                 $<TARGET_FILE:own_prologue> cpu)

add_test(NAME example_condconv COMMAND condconv)
add_test(NAME example_condconv_cpu COMMAND condconv --backend=cpu)
set_tests_properties(example_condconv example_condconv_cpu PROPERTIES
  PASS_REGULAR_EXPRESSION "875 outputs, [1-9][0-9][0-9] above zero, 0 differ from the reference")

add_test(NAME example_experts COMMAND experts)
add_test(NAME example_experts_cpu COMMAND experts --backend=cpu)
set_tests_properties(example_experts example_experts_cpu PROPERTIES
  PASS_REGULAR_EXPRESSION "list of 4 products, .*\n0 outputs differ from plain loops")

add_test(NAME example_block_gemm COMMAND block_gemm)
add_test(NAME example_block_gemm_cpu COMMAND block_gemm --backend=cpu)
set_tests_properties(example_block_gemm example_block_gemm_cpu PROPERTIES
  PASS_REGULAR_EXPRESSION "attention is off by [0-9.e-]+( .by wgmma [0-9.e-]+.)?, 0 points have a wrong centre, .*\nall as they should be")
add_test(NAME example_tiled_mma COMMAND tiled_mma)
add_test(NAME example_tiled_mma_cpu COMMAND tiled_mma --backend=cpu)
set_tests_properties(example_tiled_mma example_tiled_mma_cpu PROPERTIES
  PASS_REGULAR_EXPRESSION "200 x 100 x 300: 0 of 20000 elements are wrong\nall as they should be")
add_test(NAME example_ladder_cpu COMMAND ladder --backend=cpu --sizes=128,512)
set_tests_properties(example_ladder_cpu PROPERTIES
  PASS_REGULAR_EXPRESSION "1 naive [^\n]*\n.*512\\^3\n.* 9 swizzle +3\\.15 +3\\.15 +1\\.00 .*10 TMA \\+ wgmma +2\\.62 +2\\.62 +- ")
add_test(NAME example_ladder_refuses
         COMMAND ${here}/refuses.sh "ladder: k=100 is not a multiple of 16 up to 131056"
                 $<TARGET_FILE:ladder> --sizes=100)
add_test(NAME example_deconvolution COMMAND deconvolution)
add_test(NAME example_deconvolution_cpu COMMAND deconvolution --backend=cpu)
set_tests_properties(example_deconvolution example_deconvolution_cpu PROPERTIES
  PASS_REGULAR_EXPRESSION "2352 outputs, [1-9][0-9][0-9]+ above zero, 0 differ from the reference")

set(have_png 0)
if(PNG_FOUND)
  set(have_png 1)
endif()
add_test(NAME example_picture_filter
         COMMAND ${here}/picture_filter.sh $<TARGET_FILE:picture_filter>
                 ${PROJECT_SOURCE_DIR}/examples/picture_filter/chelsea.png ${have_png})
add_test(NAME example_weft_demo COMMAND ${here}/weft_demo.sh $<TARGET_FILE:weft_demo> ${have_png})
