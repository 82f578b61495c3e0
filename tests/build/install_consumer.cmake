# Installs the build into a folder of its own, then configures, builds and runs consumer/ against it.
set(work ${BUILD}/install_consumer)
file(REMOVE_RECURSE ${work})

function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}\ngave ${result}:\n${output}")
  endif()
endfunction()

step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
# Nothing of the source tree may be needed: the links of cmake/include least of all.
file(GLOB_RECURSE exported ${work}/prefix/*.cmake)
foreach(file IN LISTS exported)
  file(STRINGS ${file} leak REGEX "${BUILD}/[^i]|cmake/include")
  if(leak)
    message(FATAL_ERROR "${file} refers to the build: ${leak}")
  endif()
endforeach()
# With CUDA, one architecture is enough: this is about flags and linking.
set(cuda)
if(CUDA)
  set(cuda -DWITH_CUDA=ON -DCMAKE_CUDA_COMPILER=${CUDA} -DCMAKE_CUDA_ARCHITECTURES=80-real)
endif()
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${work}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${CXX}
     -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${work}/prefix -DWEFT_VERSION=${VERSION} ${cuda})
step(${CMAKE_COMMAND} --build ${work}/build)
step(${work}/build/consumer)
