# Tests of the programs in examples/ as a user runs them. Included from examples/operators.cmake.
set(here ${CMAKE_CURRENT_LIST_DIR})

add_test(NAME example_first_operator COMMAND first_operator)
set_tests_properties(example_first_operator PROPERTIES
  PASS_REGULAR_EXPRESSION "corner 25, border 37, inside 55")
add_test(NAME example_own_activation COMMAND own_activation)
set_tests_properties(example_own_activation PROPERTIES
  PASS_REGULAR_EXPRESSION "350 outputs, 1[0-9][0-9] below zero, 0 differ from the reference")

set(have_png 0)
if(PNG_FOUND)
  set(have_png 1)
endif()
add_test(NAME example_picture_filter
         COMMAND ${here}/picture_filter.sh $<TARGET_FILE:picture_filter>
                 ${PROJECT_SOURCE_DIR}/examples/picture_filter/chelsea.png ${have_png})
add_test(NAME example_weft_demo COMMAND ${here}/weft_demo.sh $<TARGET_FILE:weft_demo>)
