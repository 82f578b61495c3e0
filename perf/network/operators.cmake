# weft_perf --network: the tiles of policies.hpp with each epilogue of a network; without
# WEFT_PERF_ALL_TILES those before the line "more" only.
target_link_libraries(weft_perf PRIVATE weft_perf_network)
set(network_policies ${PROJECT_SOURCE_DIR}/perf/network/policies.hpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${network_policies})
file(READ ${network_policies} text)
string(REGEX REPLACE ".*using NetworkFamily" "" tiles "${text}")
string(REGEX REPLACE "// The first layer.*" "" tiles "${tiles}")
if(NOT WEFT_PERF_ALL_TILES)
  string(REGEX REPLACE "// more.*" "" tiles "${tiles}")
endif()
string(REGEX MATCHALL "MmaTile<[0-9][0-9, ]*>" tiles "${tiles}")
set(policies)
foreach(epilogue BiasRelu ResidualBiasRelu BiasIdentity)
  foreach(tile IN LISTS tiles)
    # Threads with 128 sums have no registers left for a residual before Hopper. A tile without GPU code
    # is passed over.
    if(epilogue MATCHES "Residual" AND tile MATCHES ", 64, 64, [0-9]+>$" AND
       NOT CMAKE_CUDA_ARCHITECTURES MATCHES "^90a(-real)?$")
      continue()
    endif()
    list(APPEND policies "weft::perf::NetworkConv<weft::epilogues::${epilogue}<>, weft::perf::${tile}>")
  endforeach()
endforeach()
string(REGEX REPLACE ".*using FirstDp4aFamily" "" first "${text}")
string(REGEX MATCHALL "conv::Tile[0-9]+x[0-9]+" dp4a "${first}")
# weft::weft has the default tile of its ready-made operators.
list(REMOVE_ITEM dp4a "conv::Tile64x64")
list(TRANSFORM dp4a REPLACE "(.+)" "weft::perf::FirstDp4a<weft::\\1>")
string(REGEX MATCHALL "FirstMma<MmaTile<[0-9][0-9, ]*>>" mma "${first}")
list(TRANSFORM mma REPLACE "MmaTile" "weft::perf::MmaTile")
list(TRANSFORM mma PREPEND "weft::perf::")
weft_add_operators(weft_perf "perf/network/policies.hpp" ${policies} ${dp4a} ${mma})
