# What makes find_package(boltzmark) work on an installed tree.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/boltzmark)
configure_package_config_file(cmake/boltzmark-config.cmake.in boltzmark-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(boltzmark-config-version.cmake COMPATIBILITY SameMinorVersion)

# Installs a header of lib and those that it includes: the public face is what boltzmark.hpp reaches.
function(boltzmark_install_header header)
  get_property(installed GLOBAL PROPERTY boltzmark_installed_headers)
  if(header IN_LIST installed)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY boltzmark_installed_headers ${header})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS lib/${header})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES lib/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT library)
  file(STRINGS lib/${header} includes REGEX "^#include \"boltzmark/")
  foreach(include ${includes})
    string(REGEX REPLACE ".*\"(.*)\".*" "\\1" next "${include}")
    boltzmark_install_header(${next})
  endforeach()
endfunction()
boltzmark_install_header(boltzmark/boltzmark.hpp)
install(EXPORT boltzmark-targets NAMESPACE boltzmark:: DESTINATION ${package_dir}
  COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/boltzmark-config.cmake
  ${PROJECT_BINARY_DIR}/boltzmark-config-version.cmake
  DESTINATION ${package_dir} COMPONENT library)
