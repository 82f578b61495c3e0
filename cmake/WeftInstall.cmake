# Installation: find_package(weft) gives weft::weft, weft::headers, weft::arch, weft::network where nlohmann-json was found,
# weft_add_operators and weft_add_network; pkg-config knows weft.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
foreach(folder layouts gemm prologues epilogues conv rtc network)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft
          FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh" PATTERN "*.def")
endforeach()
install(FILES cmake/include/weft/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
install(FILES gemm/arch/cpu_lanes.gdb DESTINATION ${CMAKE_INSTALL_DATADIR}/weft)

set(installed weft_headers weft_arch weft)
if(TARGET weft_network)
  list(APPEND installed weft_network weft_network_compile)
endif()
if(TARGET weft_operators)
  list(APPEND installed weft_operators)
endif()
if(WEFT_READY_MADE)
  set_target_properties(weft_ready_made PROPERTIES EXPORT_NAME ready_made)
  list(APPEND installed weft_ready_made)
  if(TARGET weft_ready_made_operators)
    list(APPEND installed weft_ready_made_operators)
  endif()
endif()
install(TARGETS ${installed} EXPORT weft ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(EXPORT weft NAMESPACE weft:: FILE weftTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/weftConfig.cmake.in weftConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/weftConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/weftConfigVersion.cmake
              cmake/WeftOperators.cmake cmake/WeftNetwork.cmake cmake/WeftCudaToolkit.cmake cmake/WeftCompiler.cmake
              cmake/WeftAbseil.cmake
        DESTINATION ${package_dir})

# The same flags and libraries for other build systems. Operators are one word, so that pkg-config does not
# take it apart: they are linked whole. Those of weft::ready_made are among them where it is installed.
set(pc_cflags)
set(pc_libs)
if(TARGET weft_operators)
  set(pc_libs "-Wl,--whole-archive,")
  if(WEFT_READY_MADE)
    string(APPEND pc_libs "\${libdir}/libweft_ready_made_operators.a,")
  endif()
  string(APPEND pc_libs "\${libdir}/libweft_operators.a,--no-whole-archive ")
endif()
string(APPEND pc_libs "-L\${libdir} -lweft -lweft_arch")
if(WEFT_HAVE_CUDA)
  set(pc_cflags " -DWEFT_HAVE_CUDA=1 -I${CUDAToolkit_INCLUDE_DIRS}")
  get_target_property(cudart CUDA::cudart_static IMPORTED_LOCATION)
  string(APPEND pc_libs " ${cudart} -ldl -lrt")
endif()
foreach(folder INCLUDEDIR LIBDIR)  # either may be a path of its own
  set(pc_${folder} ${CMAKE_INSTALL_${folder}})
  if(NOT IS_ABSOLUTE "${pc_${folder}}")
    set(pc_${folder} "\${prefix}/${pc_${folder}}")
  endif()
endforeach()
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY
           ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE prefix_from_pc)
configure_file(cmake/weft.pc.in weft.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
