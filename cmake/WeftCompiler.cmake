# weft_check_compiler(<out>): empty, or a sentence that says why this C++ compiler cannot compile Weft.
function(weft_check_compiler out)
  set(${out} "" PARENT_SCOPE)
  if(NOT CMAKE_CXX_COMPILER_LOADED)
    set(${out} "Weft is for C++, which ${PROJECT_NAME} has not enabled: project(${PROJECT_NAME} LANGUAGES CXX)"
        PARENT_SCOPE)
  elseif(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 11)
    string(CONCAT why
      "${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, and Weft needs "
      "g++ 11 or newer, which has std::fma in constant expressions; configure with "
      "-DCMAKE_CXX_COMPILER=g++")
    set(${out} "${why}" PARENT_SCOPE)
  endif()
endfunction()
