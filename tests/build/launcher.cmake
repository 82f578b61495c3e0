# Compiles a kernel with strict_ptxas as its launcher, without ccache and with a program in its place.
include(${CMAKE_CURRENT_LIST_DIR}/step.cmake)

file(REMOVE_RECURSE ${WORK})
foreach(ccache OFF /usr/bin/env)
  string(MAKE_C_IDENTIFIER "${ccache}" name)
  step(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/launcher -B ${WORK}/${name} -G ${GENERATOR}
       -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CUDA_COMPILER=${CUDA} -DCMAKE_CUDA_ARCHITECTURES=80-real
       -DWEFT_SOURCES=${WEFT_SOURCES} -DWEFT_STRICT_KERNELS=ON -DWEFT_CCACHE=${ccache})
  step(${CMAKE_COMMAND} --build ${WORK}/${name})
endforeach()
