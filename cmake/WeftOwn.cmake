# How Weft's own sources are compiled. Nothing here reaches a user of the library.

find_program(WEFT_CCACHE ccache)
mark_as_advanced(WEFT_CCACHE)
set(WEFT_LAUNCHER)  # a list; without ccache an empty one
if(WEFT_CCACHE)
  set(WEFT_LAUNCHER ${WEFT_CCACHE})
endif()

# How many registers a kernel needs depends on the version of ptxas. With the one that the tiles were
# chosen for, a spill is an error, and so is any other warning; a user's other CUDA only reports them.
if(WEFT_HAVE_CUDA)
  set(strict OFF)
  if(PROJECT_IS_TOP_LEVEL AND CMAKE_CUDA_COMPILER_VERSION MATCHES "^13\\.0\\.")
    set(strict ON)
  endif()
  option(WEFT_STRICT_KERNELS "Warnings and spills of nvcc are errors" ${strict})
endif()

# weft_own(<target> [NO_SANITIZE]): our warnings, which are errors if WEFT_WERROR and WEFT_STRICT_KERNELS
# say so; the sanitizers of WEFT_SANITIZE.
function(weft_own target)
  cmake_parse_arguments(arg "NO_SANITIZE" "" "" ${ARGN})
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    UNITY_BUILD OFF  # two files may each have a constant of one name
    CXX_COMPILER_LAUNCHER "${WEFT_LAUNCHER}"
    CUDA_COMPILER_LAUNCHER "${WEFT_LAUNCHER}")
  set_property(TARGET ${target} PROPERTY CUDA_STANDARD)  # weft::headers says it, and the project around may want an older one
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
    $<$<COMPILE_LANGUAGE:CXX>:$<IF:$<BOOL:${WEFT_WERROR}>,-Werror,-Wno-error>>
    # 20011 to 20014: host code called from device code, which nvcc only warns about.
    $<$<COMPILE_LANGUAGE:CUDA>:-diag-error=20011,20012,20013,20014>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-warn-spills,-warn-lmem-usage>
    $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>)
  if(WEFT_STRICT_KERNELS)
    # The launcher refuses what ptxas only remarks on: a serialised wgmma.
    set(launcher ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/strict_ptxas ${WEFT_LAUNCHER})
    set_target_properties(${target} PROPERTIES CUDA_COMPILER_LAUNCHER "${launcher}")
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Werror all-warnings>"
      $<$<COMPILE_LANGUAGE:CUDA>:-Xptxas=-Werror>)
  endif()
  if(WEFT_SANITIZE AND NOT arg_NO_SANITIZE)
    target_compile_options(${target} PRIVATE
      -fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
    if(WEFT_SANITIZE MATCHES "address")  # calls in place of code at every access: 2/3 of the time to compile
      target_compile_options(${target} PRIVATE --param=asan-instrumentation-with-call-threshold=0)
    endif()
    if(WEFT_SANITIZE MATCHES "address.*undefined")
      # What AddressSanitizer or the executor (alignment) finds as well, at half of the time to compile.
      target_compile_options(${target} PRIVATE -fno-sanitize=null,alignment,object-size,pointer-overflow,vptr)
    endif()
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
    if(WEFT_SANITIZE)
      target_link_options(${target} PRIVATE -fsanitize=${WEFT_SANITIZE})
    endif()
  endif()
endfunction()

# weft_precompile(<target> ...): precompiled headers as target_precompile_headers() takes them; most of what a source takes
# is reading these. ccache, which would then cache no source, is the better where there is one.
function(weft_precompile)
  if(NOT WEFT_CCACHE)
    target_precompile_headers(${ARGN})
  endif()
endfunction()

# weft_only_architectures(<target>): those of CMAKE_CUDA_ARCHITECTURES that gpu_architectures.txt names for it,
# or all of them if it names none of them.
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
             ${CMAKE_CURRENT_LIST_DIR}/gpu_architectures.txt)
function(weft_only_architectures target)
  file(STRINGS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/gpu_architectures.txt lines REGEX "^[^#]")
  foreach(line IN LISTS lines)
    separate_arguments(named UNIX_COMMAND "${line}")
    list(POP_FRONT named pattern)
    if(target MATCHES "^(${pattern})(_kernels)?$")
      break()
    endif()
  endforeach()
  list(JOIN named "|" named)
  set(architectures ${CMAKE_CUDA_ARCHITECTURES})
  list(FILTER architectures INCLUDE REGEX "^(${named})(-real|-virtual)?$")
  if(architectures)
    set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${architectures}")
  endif()
endfunction()

# weft_kernels_alone(<target>): an object library of .cu files, of which only the kernels are compiled, for the GPUs
# that gpu_architectures.txt names. Its objects are nvcc's fat binaries, which no program can be linked with.
function(weft_kernels_alone target)
  weft_only_architectures(${target})
  # Fewer policies (tests/kinds.hpp), and of each the kernel that takes every problem (gemm/launch/kernel_list.hpp); but
  # all kernels of one test of each kind of operator.
  target_compile_definitions(${target} PRIVATE WEFT_KERNELS_ALONE=1)
  if(NOT target MATCHES "(gemm_table_(simt|mma_sm80)|table_mma_sm75|prologue_mma|zero_point_depthwise)_test")
    target_compile_definitions(${target} PRIVATE WEFT_ONE_KERNEL=1)
  endif()
  get_target_property(launcher ${target} CUDA_COMPILER_LAUNCHER)
  if(WEFT_LAUNCHER)  # ccache does not know them
    list(REMOVE_ITEM launcher ${WEFT_LAUNCHER})
  endif()
  list(APPEND launcher ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kernels_alone)
  set_target_properties(${target} PROPERTIES CUDA_COMPILER_LAUNCHER "${launcher}")
endfunction()

# weft_shareable(<target>): a shared library may hold its objects, and exports nothing of them.
function(weft_shareable target)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# weft_add_library(<target> <source>...): a static library weft::<name>, or an interface without sources;
# shareable.
function(weft_add_library target)
  if(ARGN)
    add_library(${target} STATIC ${ARGN})
    weft_shareable(${target})
  else()
    add_library(${target} INTERFACE)
  endif()
  string(REGEX REPLACE "^weft_" "" name ${target})
  add_library(weft::${name} ALIAS ${target})
endfunction()

# weft_links_arch(<target> PUBLIC|INTERFACE): weft::arch for whoever uses <target>, whose own sources see nothing of
# CUDA.
function(weft_links_arch target scope)
  target_link_libraries(${target} INTERFACE weft::arch)
  target_link_libraries(${target} ${scope} weft::headers)
  if(scope STREQUAL "PUBLIC")
    target_link_libraries(${target} PRIVATE Boost::context Threads::Threads)
  endif()
endfunction()
