# perf/report.py, where there is a Python.
find_program(WEFT_PYTHON python3)
mark_as_advanced(WEFT_PYTHON)
if(WEFT_PYTHON)
  execute_process(COMMAND ${WEFT_PYTHON} -c "import json, unittest" RESULT_VARIABLE without ERROR_QUIET)
  if(NOT without)
    add_test(NAME perf_report_test COMMAND ${WEFT_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/perf/report_test.py)
    add_test(NAME perf_gemm_report_test COMMAND ${WEFT_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/perf/gemm_report_test.py)
    add_test(NAME perf_network_report_test
             COMMAND ${WEFT_PYTHON} -B ${CMAKE_CURRENT_SOURCE_DIR}/perf/network_report_test.py)
  endif()
endif()

foreach(test network network_chain network_rows network_run)
  target_link_libraries(perf_${test}_test PRIVATE weft_perf_network)
endforeach()
