# How a library of this project is made.

add_library(boltzmark_flags INTERFACE)
target_compile_options(boltzmark_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow
  # g++ 12 sees uninitialised values in Eigen, and overlaps in std::string's operator+
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-restrict;-Wno-stringop-overflow>
  -ffp-contract=off)  # the same bits whatever the optimiser would fuse
if(BOLTZMARK_FUZZ)
  target_compile_options(boltzmark_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(BOLTZMARK_SANITIZE)
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(boltzmark_flags INTERFACE ${sanitizers})
  target_link_options(boltzmark_flags INTERFACE ${sanitizers})
endif()

# Headers that most files include, precompiled; a layer with heavier ones adds them to a set of its own.
set(boltzmark_headers <Eigen/Core> <fmt/format.h> <algorithm> <array> <cmath> <cstdint> <filesystem>
  <functional> <limits> <map> <memory> <numeric> <optional> <span> <string> <string_view> <utility>
  <vector>)
set(boltzmark_diagnose_headers <boost/math/distributions/normal.hpp>
  <boost/math/distributions/binomial.hpp> <boost/math/distributions/students_t.hpp>)
set(boltzmark_experiments_headers <nlohmann/json.hpp>)

# Gives a target precompiled headers of its own, or those of another target.
function(boltzmark_pch target)
  if(NOT BOLTZMARK_PCH)
    return()
  elseif(ARGN)
    target_precompile_headers(${target} REUSE_FROM ${ARGN})
  elseif(target STREQUAL boltzmark_core OR DEFINED ${target}_headers)
    target_precompile_headers(${target} PRIVATE ${boltzmark_headers} ${${target}_headers})
  else()
    target_precompile_headers(${target} REUSE_FROM boltzmark_core)
  endif()
endfunction()

# Makes a static library, or a header-only one while its folder has no source yet.
# Sets `scope` for the caller: PUBLIC or INTERFACE.
function(boltzmark_library target folder)
  file(GLOB sources CONFIGURE_DEPENDS ${ARGN})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:boltzmark_flags>)
    boltzmark_pch(${target})
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${folder}>)
  set(scope ${scope} PARENT_SCOPE)
endfunction()

# Makes, exports and installs the library boltzmark::NAME of lib/boltzmark/NAME.
function(boltzmark_layer name)
  boltzmark_library(boltzmark_${name} lib lib/boltzmark/${name}/*.cpp)
  add_library(boltzmark::${name} ALIAS boltzmark_${name})
  set_target_properties(boltzmark_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(boltzmark_${name} ${scope}
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(boltzmark_${name} ${scope} cxx_std_20)
  target_link_libraries(boltzmark_${name} ${scope} ${ARGN})
  install(TARGETS boltzmark_${name} EXPORT boltzmark-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
  set_property(GLOBAL APPEND PROPERTY boltzmark_layers boltzmark_${name})
endfunction()

# Makes boltzmark::boltzmark, which links every layer.
function(boltzmark_umbrella)
  get_property(layers GLOBAL PROPERTY boltzmark_layers)
  add_library(boltzmark_all INTERFACE)
  add_library(boltzmark::boltzmark ALIAS boltzmark_all)
  set_target_properties(boltzmark_all PROPERTIES EXPORT_NAME boltzmark)
  target_link_libraries(boltzmark_all INTERFACE ${layers})
  install(TARGETS boltzmark_all EXPORT boltzmark-targets COMPONENT library)
endfunction()
