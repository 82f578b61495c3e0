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

# fenced_blocks(<out> <file> <word>): the fenced blocks of a document that have the word, as a list.
function(fenced_blocks out file word)
  file(READ ${file} text)
  string(REPLACE ";" "\\;" text "${text}")
  string(REPLACE "[" "@open@" text "${text}")  # brackets keep CMake from seeing a list's ends
  string(REPLACE "]" "@close@" text "${text}")
  string(REPLACE "\n```" ";" parts "${text}")  # in turns text and <language>\n<block>
  set(found)
  foreach(part IN LISTS parts)
    if(part MATCHES "^(cpp|cmake|sh)\n(.*)$")
      set(block "${CMAKE_MATCH_2}\n")
      string(FIND "${block}" "${word}" at)
      if(NOT at LESS 0)
        string(REPLACE "@open@" "[" block "${block}")
        string(REPLACE "@close@" "]" block "${block}")
        string(REPLACE ";" "\\;" block "${block}")
        list(APPEND found "${block}")
      endif()
    endif()
  endforeach()
  if(NOT found)
    message(FATAL_ERROR "${file} has no block with ${word}")
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# The first of them.
function(fenced_block out file word)
  fenced_blocks(found ${file} "${word}")
  list(GET found 0 block)
  set(${out} "${block}" PARENT_SCOPE)
endfunction()
