# The programs' own operators, for the GPU; their tests.
weft_add_operators(picture_filter examples/picture_filter/operators.hpp
                   picture_filter::ColourFilter picture_filter::EdgeFilter)

if(WEFT_TESTS)
  include(tests/examples/programs.cmake)
endif()
