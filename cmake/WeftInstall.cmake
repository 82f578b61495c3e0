# Installation: find_package(weft) gives weft::weft, weft::headers, weft::arch and weft_add_operators.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)
foreach(folder layouts gemm prologues epilogues conv)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft
          FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
endforeach()
set(installed weft_headers weft_arch weft)
if(TARGET weft_operators)
  set_target_properties(weft_operators PROPERTIES EXPORT_NAME operators)
  list(APPEND installed weft_operators)
endif()
install(TARGETS ${installed} EXPORT weft ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT weft NAMESPACE weft:: FILE weftTargets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/weftConfig.cmake.in weftConfig.cmake
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(weftConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/weftConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/weftConfigVersion.cmake cmake/WeftOperators.cmake cmake/WeftCudaToolkit.cmake
        DESTINATION ${package_dir})
