# What makes find_package(boltzmark) work on an installed tree.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/boltzmark)
configure_package_config_file(cmake/boltzmark-config.cmake.in boltzmark-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(boltzmark-config-version.cmake COMPATIBILITY SameMinorVersion)
install(DIRECTORY lib/boltzmark DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
  FILES_MATCHING PATTERN *.hpp)
install(EXPORT boltzmark-targets NAMESPACE boltzmark:: DESTINATION ${package_dir}
  COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/boltzmark-config.cmake
  ${PROJECT_BINARY_DIR}/boltzmark-config-version.cmake
  DESTINATION ${package_dir} COMPONENT library)
