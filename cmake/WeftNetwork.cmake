# weft_add_network(<target> <model> [NAME <name>] [BATCH <number>...] [ARCHITECTURES <gpu>...] [CPU])
#
# Compiles the network of a model's file, name.weft, while the project is built, and puts it into <target> with its filters
# and kernels: the program then needs neither NVRTC, nor a C++ compiler, nor a file. A header <name>.hpp, which <target> may
# include, has its bytes, for weft::network::Network::Load:
#
#     #include "resnet18.hpp"
#     auto network = weft::network::Network::Load(weft::network::embedded::resnet18(), {.batch = 64});
#
# <name> is that of the file unless NAME says another one. BATCH: numbers of images, 1 unless given. ARCHITECTURES: GPUs that need
# not be there, by architecture (90a) or by name (H200); NVRTC compiles for them, where the project is built. CPU: for CPUs.
include_guard(GLOBAL)
cmake_policy(VERSION 3.25)

function(weft_add_network target model)
  weft_target_of_project(target weft_add_network "${target}")
  cmake_parse_arguments(PARSE_ARGV 2 arg "CPU" "NAME" "BATCH;ARCHITECTURES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_add_network: ${target}, ${model}: \"${arg_UNPARSED_ARGUMENTS}\" is not known; NAME, BATCH, "
      "ARCHITECTURES and CPU are")
  endif()
  if(NOT arg_CPU AND NOT arg_ARCHITECTURES)
    message(FATAL_ERROR "weft_add_network: ${target}, ${model}: say what it is compiled for, ARCHITECTURES 90a, CPU or both")
  endif()
  if(NOT TARGET weft::network_compile)
    message(FATAL_ERROR "weft_add_network: this Weft is without weft::network, since it was configured without nlohmann-json")
  endif()
  cmake_path(ABSOLUTE_PATH model BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE OUTPUT_VARIABLE path)
  get_source_file_property(made ${path} GENERATED)
  if(NOT EXISTS ${path} AND NOT made)
    message(FATAL_ERROR "weft_add_network: ${target}: ${path} does not exist; weft_run model.onnx --save model.weft makes one")
  endif()
  cmake_path(GET path STEM LAST_ONLY name)
  if(arg_NAME)
    set(name ${arg_NAME})
  endif()
  string(MAKE_C_IDENTIFIER "${name}" name)
  if(NOT arg_BATCH)
    set(arg_BATCH 1)
  endif()
  list(JOIN arg_BATCH "," batches)
  set(options --batch ${batches})
  if(arg_ARCHITECTURES)
    list(JOIN arg_ARCHITECTURES "," gpus)
    list(APPEND options --gpu ${gpus})
  endif()
  if(arg_CPU)
    list(APPEND options --cpu)
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/weft_networks/${target})
  set(engine ${folder}/${name}.weft)
  set(source ${folder}/${name}.cpp)
  file(CONFIGURE OUTPUT ${folder}/${name}.hpp @ONLY CONTENT "// Made by cmake/WeftNetwork.cmake for @target@.
#pragma once

#include <string_view>

namespace weft::network::embedded {

// The network of @model@, for weft::network::Network::Load.
std::string_view @name@();

}  // namespace weft::network::embedded
")
  # A section of its own keeps the bytes where the linker can map them, and no compiler reads them.
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// Made by cmake/WeftNetwork.cmake for @target@.
#include \"@name@.hpp\"

asm(R\"(
  .pushsection .rodata.weft_network_@name@, \"a\", %progbits
  .balign 64
  .hidden weft_network_@name@, weft_network_@name@_end
  .globl weft_network_@name@, weft_network_@name@_end
weft_network_@name@:
  .incbin \"@engine@\"
weft_network_@name@_end:
  .popsection
)\");

extern \"C\" {
[[gnu::visibility(\"hidden\")]] extern const char weft_network_@name@[], weft_network_@name@_end[];
}

std::string_view weft::network::embedded::@name@() {
  return {weft_network_@name@, static_cast<std::size_t>(weft_network_@name@_end - weft_network_@name@)};
}
")
  add_custom_command(OUTPUT ${engine}
    COMMAND weft::network_compile ${path} --output ${engine} ${options}
    DEPENDS ${path} weft::network_compile
    COMMENT "Compiling the network ${name}" VERBATIM)
  # Objects of this folder, where the command is, as the target may be of another one.
  set(objects ${target}_network_${name})
  add_library(${objects} OBJECT ${source} ${engine})
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${engine} SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${objects} PROPERTIES
    POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF CXX_VISIBILITY_PRESET hidden CXX_CLANG_TIDY "")
  target_compile_features(${objects} PRIVATE cxx_std_17)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE weft::network)
endfunction()
