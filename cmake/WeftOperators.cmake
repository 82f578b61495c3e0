# weft_add_operators(<target> <header> <Policy>...)             convolutions
# weft_add_family(<target> <header> <size> <Family>...)         every policy of families of <size> policies
# weft_add_gemms(<target> <header> <Policy>...)                 matrix products
# weft_add_gemm_family(<target> <header> <size> <Family>...)    every policy of families of products
#
# Compiles each policy's kernels for CUDA into <target>. <header> defines the policies; it is looked for in
# the current source folder and where <target> finds its includes. One .cu per policy, so that they compile
# in parallel and a change recompiles only what it must, and one per four policies of a family; or one for as many as
# <target>'s property WEFT_OPERATORS_PER_FILE says. More in a file take less time in all, since most of it is that of the same
# headers. The objects are linked whole, never picked from an archive: the host finds a policy's launcher through a weak
# symbol.
#
# The project must have enabled the CUDA language. Where Weft was built without CUDA, or with WEFT_CUDA set
# to OFF, there is nothing to compile, and a line says so: the policies run on the CPU as they are.
# Kernels are compiled for <target>'s CUDA_ARCHITECTURES, or for those that Weft itself was compiled for if
# nobody has chosen any.
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)  # whatever the project asks for: functions keep the policies of where they are defined

function(weft_add_operators target header)
  weft_add_instances(weft_add_operators ${target} ${header} conv WEFT_INSTANTIATE_OPERATOR ${ARGN})
endfunction()

function(weft_add_family target header size)
  weft_policies_of(policies ${size} ${ARGN})
  weft_family_cost(weft_per_file weft_add_family ${target} ${size} ${ARGN})
  weft_add_instances(weft_add_family ${target} ${header} conv WEFT_INSTANTIATE_OPERATOR ${policies})
endfunction()

function(weft_add_gemms target header)
  weft_add_instances(weft_add_gemms ${target} ${header} gemm WEFT_INSTANTIATE_OPERATOR ${ARGN})
endfunction()

function(weft_add_gemm_family target header size)
  weft_policies_of(policies ${size} ${ARGN})
  weft_family_cost(weft_per_file weft_add_gemm_family ${target} ${size} ${ARGN})
  weft_add_instances(weft_add_gemm_family ${target} ${header} gemm WEFT_INSTANTIATE_OPERATOR ${policies})
endfunction()

# CMake cannot look into a C++ type, so it is told how many policies each family has; a wrong number is an
# error of the compiler.
function(weft_policies_of out size)
  set(policies)
  math(EXPR last "${size} - 1")
  foreach(family IN LISTS ARGN)
    foreach(i RANGE ${last})
      list(APPEND policies "weft::gemm::PolicyOf<${family}, ${size}, ${i}>")
    endforeach()
  endforeach()
  set(${out} ${policies} PARENT_SCOPE)
endfunction()

# How many policies of a family a file has, as its headers take nvcc three times as long as one policy does. Says what families
# cost to compile, and what the small one is called where there is one. The seconds are of nvcc 13.0 for one architecture on two
# busy cores, about twice those of an idle machine.
function(weft_family_cost per_file_out caller target size)
  set(per_file 4)
  set(${per_file_out} ${per_file} PARENT_SCOPE)
  get_target_property(why weft::arch WEFT_WHY_NO_CUDA)
  if(why OR (DEFINED WEFT_CUDA AND NOT WEFT_CUDA) OR NOT TARGET ${target})
    return()  # nothing is compiled, and weft_add_instances says why
  endif()
  set(seconds_of_file 6)
  set(seconds_of_policy 2)
  get_target_property(chosen ${target} WEFT_OPERATORS_PER_FILE)
  if(chosen)
    set(per_file ${chosen})
  endif()
  list(LENGTH ARGN count)
  math(EXPR policies "${count} * ${size}")
  math(EXPR seconds "(${policies} + ${per_file} - 1) / ${per_file} * ${seconds_of_file} + ${policies} * ${seconds_of_policy}")
  math(EXPR minutes "(${seconds} + 30) / 60")
  set(cost "${minutes} minutes")
  if(seconds LESS 120)
    set(cost "${seconds} seconds")
  endif()
  set(small)
  foreach(family IN LISTS ARGN)
    if(family MATCHES "([SU]8Conv(4|32|Nhwc))Family")
      string(APPEND small "; ${CMAKE_MATCH_1}SmallFamily has at most 8 policies and is a few percent slower")
    endif()
  endforeach()
  list(JOIN ARGN ", " families)
  message(STATUS "${caller}: ${target} gets ${policies} policies of ${families}, about ${cost} of nvcc's CPU time for each GPU "
    "architecture${small}")
endfunction()

# The target that <target> stands for, if files can be added to it; else says why not.
function(weft_target_of_project out caller target)
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "${caller}: there is no target ${target}")
  endif()
  get_target_property(real ${target} ALIASED_TARGET)
  if(NOT real)
    set(real ${target})
  endif()
  get_target_property(imported ${real} IMPORTED)
  get_target_property(type ${real} TYPE)
  if(imported)
    message(FATAL_ERROR "${caller}: ${target} is an imported target, which is compiled already; name the target of "
      "this project whose files call Run")
  elseif(type STREQUAL "UTILITY")
    message(FATAL_ERROR "${caller}: ${target} is made by add_custom_target and holds no code; name a program or a "
      "library")
  endif()
  set(${out} ${real} PARENT_SCOPE)
endfunction()

function(weft_add_instances caller target header folder macro)
  weft_target_of_project(target ${caller} "${target}")
  if(NOT ARGN)
    message(FATAL_ERROR "${caller}: ${target}, ${header}: name at least one policy")
  endif()
  # At the end of the target's folder, as it may be told of its includes until then; or of this one, if that is not
  # among those above, which alone are not at their end yet.
  get_target_property(home ${target} SOURCE_DIR)
  set(above ${CMAKE_CURRENT_SOURCE_DIR})
  while(above AND NOT above STREQUAL home)
    get_directory_property(above DIRECTORY ${above} PARENT_DIRECTORY)
  endwhile()
  if(NOT above)
    set(above ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  weft_header_exists(exists ${target} "${header}" ${CMAKE_CURRENT_SOURCE_DIR})  # also by libraries that are known here alone
  if(NOT exists)
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [==[${above}]==] CALL
      weft_check_header ${caller} ${target} [==[${header}]==] [==[${CMAKE_CURRENT_SOURCE_DIR}]==])")
  endif()
  weft_cuda_usable(usable ${caller} ${target})
  if(NOT usable)
    return()
  endif()
  set(sources)
  set(policies ${ARGN})
  get_target_property(per_file ${target} WEFT_OPERATORS_PER_FILE)
  if(NOT per_file AND DEFINED weft_per_file)  # of a family
    set(per_file ${weft_per_file})
  elseif(NOT per_file)
    set(per_file 1)
  endif()
  list(LENGTH policies count)
  math(EXPR last "${count} - 1")
  foreach(first RANGE 0 ${last} ${per_file})
    list(SUBLIST policies ${first} ${per_file} together)
    list(GET together 0 policy)
    string(MAKE_C_IDENTIFIER "${policy}" id)
    if(NOT id STREQUAL policy)  # keep A<1> and A<2> apart
      string(SHA1 hash "${policy}")
      string(SUBSTRING ${hash} 0 8 hash)
      string(SUBSTRING "${id}" 0 60 id)
      string(APPEND id "_${hash}")
    endif()
    set(instances)
    foreach(policy IN LISTS together)
      string(APPEND instances "${macro}(${policy});\n")
    endforeach()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/weft_operators/${target}/${id}.cu)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// Made by cmake/WeftOperators.cmake for @target@.
#include \"weft/@folder@/instantiate.cuh\"

#include \"@header@\"

@instances@")
    list(APPEND sources ${source})
  endforeach()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE" OR type STREQUAL "SHARED_LIBRARY" OR type STREQUAL "MODULE_LIBRARY"
     OR type STREQUAL "OBJECT_LIBRARY")
    get_directory_property(has_cuda DIRECTORY ${home} DEFINITION CMAKE_CUDA_COMPILER_LOADED)
    if(NOT has_cuda)
      message(FATAL_ERROR "${caller}: the kernels of ${target} need the CUDA language in the folder of ${target}, "
        "${home}; enable it there before")
    endif()
    weft_add_kernels(${target} "${header}" ${sources})
    target_link_libraries(${target} PRIVATE weft::headers)
    weft_set_architectures(${caller} ${target} ${target})
    return()
  endif()
  # An archive: its operators become a second one, which whatever links <target> takes whole.
  if(NOT TARGET ${target}_operators)
    add_library(${target}_operators STATIC)
    set_target_properties(${target}_operators PROPERTIES POSITION_INDEPENDENT_CODE ON)
    weft_set_architectures(${caller} ${target}_operators ${target})
    set(operators ${target}_operators)
    if(PROJECT_NAME STREQUAL "weft")
      weft_own(${target}_operators)
      string(REGEX REPLACE "^weft_" "" name ${target}_operators)
      set_target_properties(${target}_operators PROPERTIES EXPORT_NAME ${name})
      set(operators $<BUILD_INTERFACE:${target}_operators>$<INSTALL_INTERFACE:weft::${name}>)
    endif()
    target_link_libraries(${target}_operators PRIVATE weft::headers)
    if(TARGET CUDA::cudart_static)  # for programs that do not enable the CUDA language themselves
      target_link_libraries(${target}_operators PUBLIC CUDA::cudart_static)
    endif()
    set(includes INCLUDE_DIRECTORIES)
    if(type STREQUAL "INTERFACE_LIBRARY")
      set(includes INTERFACE_INCLUDE_DIRECTORIES)
    endif()
    target_include_directories(${target}_operators PRIVATE
      $<BUILD_INTERFACE:$<TARGET_GENEX_EVAL:${target},$<TARGET_PROPERTY:${target},${includes}>>>)
    target_link_libraries(${target} INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${operators}>")
  endif()
  weft_add_kernels(${target}_operators "${header}" ${sources})
endfunction()

# Adds the files that instantiate operators to <target>, of whatever folder: a file's properties are those that it has in
# the folder of its target.
function(weft_add_kernels target header)
  # 20011 to 20014: a functor that lacks constexpr, of which nvcc only warns. A shared library keeps its kernels to
  # itself: another one may hold the same, compiled otherwise.
  set(options "-diag-error=20011,20012,20013,20014;-Xcompiler=-fvisibility=hidden,-fvisibility-inlines-hidden")
  # Kernels of wgmma_sm90 are for sm_90a alone; without it there is nothing to launch. With OFF the flags say it.
  set(archs $<TARGET_PROPERTY:CUDA_ARCHITECTURES>)
  set(without_sm90a $<AND:$<BOOL:${archs}>,$<STREQUAL:$<FILTER:${archs},INCLUDE,90a>,>>)
  if(NOT "${CMAKE_CUDA_FLAGS}" MATCHES "90a")
    set(without_sm90a $<STREQUAL:$<FILTER:${archs},INCLUDE,90a>,>)
  endif()
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES
    COMPILE_OPTIONS "${options}"
    COMPILE_DEFINITIONS $<${without_sm90a}:WEFT_NO_SM90A>
    SKIP_UNITY_BUILD_INCLUSION ON)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${header})
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES
      INCLUDE_DIRECTORIES ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  # A property of an older C++ would come after the flag of weft::headers. CMake 3.25 does not know CUDA's C++20.
  get_target_property(standard ${target} CUDA_STANDARD)
  if(standard AND standard LESS 20)
    set_property(TARGET ${target} PROPERTY CUDA_STANDARD)
  endif()
  target_sources(${target} PRIVATE ${ARGN})
endfunction()

# Says it if the header of <target>'s operators is nowhere. Of generator expressions, of flags and of what a build makes
# CMake cannot know; the compiler says it then.
function(weft_check_header caller target header folder)
  weft_header_exists(exists ${target} "${header}" ${folder})
  if(NOT exists AND NOT CMAKE_CUDA_FLAGS MATCHES "-(I|isystem)")
    message(FATAL_ERROR "${caller}: ${header} exists neither in ${folder} nor where ${target} finds its includes")
  endif()
endfunction()

function(weft_header_exists out target header folder_of_call)
  set(${out} ON PARENT_SCOPE)
  set(folders ${folder_of_call})
  set(targets ${target})
  set(seen)
  while(targets)
    list(POP_FRONT targets one)
    if(one IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${one})
    foreach(property INCLUDE_DIRECTORIES INTERFACE_INCLUDE_DIRECTORIES)
      get_target_property(more ${one} ${property})
      if(more)
        list(APPEND folders ${more})
      endif()
    endforeach()
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(more ${one} ${property})
      foreach(library IN LISTS more)
        string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" library "${library}")
        if(TARGET "${library}")
          list(APPEND targets ${library})
        endif()
      endforeach()
    endforeach()
  endwhile()
  foreach(folder IN LISTS folders)
    string(REGEX REPLACE "^\\$<(BUILD_INTERFACE|INSTALL_INTERFACE):(.*)>$" "\\2" folder "${folder}")
    cmake_path(ABSOLUTE_PATH header BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE path)
    cmake_path(IS_PREFIX CMAKE_BINARY_DIR "${folder}" made)
    if(EXISTS "${path}" OR folder MATCHES "\\$<" OR (made AND NOT CMAKE_SOURCE_DIR STREQUAL CMAKE_BINARY_DIR))
      return()
    endif()
  endforeach()
  get_source_file_property(made ${header} GENERATED)
  if(NOT made)
    set(${out} OFF PARENT_SCOPE)
  endif()
endfunction()

# Whether kernels can be compiled for <target>; says it if they cannot.
function(weft_cuda_usable out caller target)
  set(${out} OFF PARENT_SCOPE)
  get_target_property(why weft::arch WEFT_WHY_NO_CUDA)
  if(NOT why AND DEFINED WEFT_CUDA AND NOT WEFT_CUDA)
    set(why "WEFT_CUDA=${WEFT_CUDA}")
  endif()
  if(why)
    if(NOT PROJECT_NAME STREQUAL "weft")  # which has said it for all of its targets
      message(STATUS "${caller}: the operators of ${target} run on the CPU only; Weft is without CUDA: ${why}")
    endif()
    return()
  endif()
  if(CMAKE_CUDA_COMPILER_LOADED AND NOT CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
    message(FATAL_ERROR "${caller}: the kernels of ${target} need nvcc, and CMAKE_CUDA_COMPILER is "
      "${CMAKE_CUDA_COMPILER} (${CMAKE_CUDA_COMPILER_ID}); or configure with -DWEFT_CUDA=OFF and ${target} runs on "
      "the CPU only")
  endif()
  if(NOT CMAKE_CUDA_COMPILER_LOADED)  # in this folder, not only in a neighbour
    message(FATAL_ERROR "${caller}: the kernels of ${target} need the CUDA language, say "
      "project(${PROJECT_NAME} LANGUAGES CXX CUDA); or configure with -DWEFT_CUDA=OFF and ${target} runs "
      "on the CPU only")
  endif()
  set(${out} ON PARENT_SCOPE)
endfunction()

# What somebody has chosen as CMAKE_CUDA_ARCHITECTURES; empty if it is what CMake puts there by itself,
# the oldest that the compiler knows.
function(weft_chosen_architectures out)
  set(chosen ${CMAKE_CUDA_ARCHITECTURES})
  get_property(help CACHE CMAKE_CUDA_ARCHITECTURES PROPERTY HELPSTRING)
  if(help STREQUAL "CUDA architectures" AND "${chosen}" STREQUAL "$CACHE{CMAKE_CUDA_ARCHITECTURES}"
     AND NOT DEFINED ENV{CUDAARCHS})
    set(chosen)
  endif()
  set(${out} ${chosen} PARENT_SCOPE)
endfunction()

# Gives <target>, which holds the kernels of <owner>, the architectures that somebody chose for <owner>. OFF, of which
# CMake makes no flag, is a choice: CMAKE_CUDA_FLAGS has them then.
function(weft_set_architectures caller target owner)
  weft_chosen_architectures(chosen)
  get_property(archs TARGET ${owner} PROPERTY CUDA_ARCHITECTURES)
  if("${archs}" STREQUAL "")  # a library without sources has none of its own
    set(archs ${CMAKE_CUDA_ARCHITECTURES})
  endif()
  if("${chosen}" STREQUAL "" AND "${archs}" STREQUAL "${CMAKE_CUDA_ARCHITECTURES}")
    get_target_property(archs weft::arch WEFT_CUDA_ARCHITECTURES)
    if(NOT archs)
      message(FATAL_ERROR "${caller}: nobody has said which GPUs the kernels of ${owner} are for, and Weft was "
        "compiled with CMAKE_CUDA_ARCHITECTURES=${archs}; configure with -DCMAKE_CUDA_ARCHITECTURES=90a-real, say")
    endif()
  endif()
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${archs}")
endfunction()
