# The programs' own operators, for the GPU; their tests.
weft_add_operators(picture_filter examples/picture_filter/operators.hpp
                   picture_filter::ColourFilter picture_filter::EdgeFilter)

set(demo_operators)
foreach(operator ConvBiasRelu ConvBiasHSwishReformat)
  foreach(tile 128x128 128x32 64x64 32x32)  # as in weft_demo/kernels.cpp
    list(APPEND demo_operators weft_demo::${operator}<weft::conv::kSimt${tile}>)
  endforeach()
endforeach()
weft_add_operators(weft_demo examples/weft_demo/operators.hpp ${demo_operators})

if(WEFT_TESTS)
  include(tests/examples/programs.cmake)
endif()
