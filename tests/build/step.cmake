# step(<command> <argument>...): runs it; if it fails, shows it with all that it printed, and ends.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}\ngave ${result}:\n${output}")
  endif()
endfunction()
