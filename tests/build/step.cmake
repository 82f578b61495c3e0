# What the tests of the build are made of.

# step(<command> <argument>...): runs it; if it fails, shows it with all that it printed, and ends. What it
# printed is in `output`.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}\ngave ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# failing_step(<sentence> <command> <argument>...): it must fail and say the sentence, however CMake breaks
# the lines.
function(failing_step sentence)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(JOIN " " command ${ARGN})
  if(result EQUAL 0)
    message(FATAL_ERROR "${command}\nshould fail, but gave:\n${output}")
  endif()
  expect("${output}" "${sentence}" "${command}")
endfunction()

# expect(<text> <sentence> <what>)
function(expect text sentence what)
  string(REGEX REPLACE "[ \n]+" " " words "${text}")
  string(FIND "${words}" "${sentence}" at)
  if(at LESS 0)
    message(FATAL_ERROR "${what}\nsays\n${text}\nwithout\n  ${sentence}")
  endif()
endfunction()

# refuse(<text> <word> <what>)
function(refuse text word what)
  string(FIND "${text}" "${word}" at)
  if(NOT at LESS 0)
    message(FATAL_ERROR "${what} has\n  ${word}")
  endif()
endfunction()

# fenced_block(<out> <file> <word>): the fenced block of a document that has the word.
function(fenced_block out file word)
  file(READ ${file} text)
  string(REPLACE ";" "\\;" text "${text}")
  string(REPLACE "\n```" ";" blocks "${text}")  # in turns text and <language>\n<block>
  foreach(block IN LISTS blocks)
    string(REGEX MATCH "^(cpp|cmake|sh)\n(.*)$" fenced "${block}")
    if(fenced)
      string(FIND "${CMAKE_MATCH_2}" "${word}" at)
      if(NOT at LESS 0)
        set(${out} "${CMAKE_MATCH_2}\n" PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
  message(FATAL_ERROR "${file} has no block with ${word}")
endfunction()
