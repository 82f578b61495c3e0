# perf/*.py, where there is a Python.
find_program(WEFT_PYTHON python3)
mark_as_advanced(WEFT_PYTHON)
if(WEFT_PYTHON)
  execute_process(COMMAND ${WEFT_PYTHON} -c "import json, unittest" RESULT_VARIABLE without ERROR_QUIET)
  if(NOT without)
    foreach(test report ab)
      add_test(NAME perf_${test}_test COMMAND ${WEFT_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/perf/${test}_test.py)
    endforeach()
  endif()
endif()

target_link_libraries(perf_network_test PRIVATE weft_perf_network)
