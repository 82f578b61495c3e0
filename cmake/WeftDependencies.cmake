# The compiler and the packages that Weft needs: what is missing is said in one sentence.
include(${CMAKE_CURRENT_LIST_DIR}/WeftCompiler.cmake)
weft_check_compiler(why)
if(why)
  message(FATAL_ERROR "Weft: ${why}")
endif()

set(missing)
set(debian_packages)
# weft_need(<name> <target> <packages of Debian> <arguments of find_package>...). A macro: what
# find_package makes belongs to this folder and those below.
macro(weft_need name target debian package)
  if(NOT TARGET ${target})  # the project around us may have made it
    find_package(${package} ${ARGN} QUIET)
    if(NOT TARGET ${target})
      list(APPEND missing ${name})
      list(APPEND debian_packages ${debian})
    endif()
  endif()
endmacro()

weft_need(Abseil absl::status libabsl-dev absl CONFIG)
weft_need(Boost.Context Boost::context libboost-context-dev Boost 1.74 CONFIG COMPONENTS context)
if(WEFT_TESTS)
  weft_need(GoogleTest GTest::gmock "libgtest-dev;libgmock-dev" GTest)
endif()
if(WEFT_TESTS OR WEFT_PROGRAMS OR WEFT_PYTHON_MODULE)
  weft_need(nlohmann-json nlohmann_json::nlohmann_json nlohmann-json3-dev nlohmann_json CONFIG)
elseif(PROJECT_IS_TOP_LEVEL)
  # weft::network alone needs it, and without it there is none. As part of a project Weft takes the project's.
  find_package(nlohmann_json CONFIG QUIET)
endif()
if(missing)
  string(JOIN ", " missing ${missing})
  string(JOIN " " debian_packages ${debian_packages})
  message(FATAL_ERROR "Weft: ${missing} not found; sudo apt-get install ${debian_packages}")
endif()

include(${CMAKE_CURRENT_LIST_DIR}/WeftAbseil.cmake)
weft_abseil(WEFT_ABSEIL weft_abseil_where)
message(STATUS "Weft: Abseil ${WEFT_ABSEIL} in ${weft_abseil_where}")
weft_abseil_standard(standard "${weft_abseil_where}")
if(standard)
  message(FATAL_ERROR "Weft: the project compiles Abseil ${WEFT_ABSEIL} as C++${standard}, and Weft, which is C++20, would not "
                      "link with it; set(CMAKE_CXX_STANDARD 20) before Abseil becomes a part of the project")
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
if(WEFT_HAVE_CUDA)
  include(WeftCudaToolkit)
endif()
