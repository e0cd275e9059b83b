# How a library of this project is made.

add_library(boltzmark_flags INTERFACE)
target_compile_options(boltzmark_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow
  # g++ 12 sees uninitialised values in Eigen, and overlaps in std::string's operator+
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-restrict;-Wno-stringop-overflow>
  # its collector takes a fifth of the time and finds little: not below a gigabyte (in kB)
  $<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=1000000>
  -ffp-contract=off)  # the same bits whatever the optimiser would fuse
if(BOLTZMARK_FUZZ)
  target_compile_options(boltzmark_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(BOLTZMARK_SANITIZE)
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  if(BOLTZMARK_SANITIZE STREQUAL thread)
    set(sanitizers -fsanitize=thread -fno-omit-frame-pointer)
  endif()
  target_compile_options(boltzmark_flags INTERFACE ${sanitizers})
  target_link_options(boltzmark_flags INTERFACE ${sanitizers})
endif()

# Headers that most files include, precompiled once for the engine and once for what is made at -O1.
set(boltzmark_headers <Eigen/Core> <fmt/format.h> <algorithm> <array> <cmath> <cstdint> <filesystem>
  <functional> <limits> <map> <memory> <numeric> <optional> <span> <string> <string_view> <utility>
  <vector>)

# Gives a target precompiled headers of its own (HEADERS ...) or those of another target (FROM).
function(boltzmark_pch target kind)
  if(NOT BOLTZMARK_PCH)
    return()
  elseif(kind STREQUAL FROM)
    target_precompile_headers(${target} REUSE_FROM ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# What is not the engine is compiled at -O1, which takes half the time: no hot loop is there.
file(CONFIGURE OUTPUT empty.cpp CONTENT "")
add_library(boltzmark_light INTERFACE)
target_compile_options(boltzmark_light INTERFACE $<$<CONFIG:Release>:-O1>)
target_link_libraries(boltzmark_light INTERFACE boltzmark_flags)
# Matrices cross the border to user code, which may be compiled for other instructions or with a sanitizer: by
# these, which every layer hands on, both sides allocate and free alike.
set(boltzmark_eigen_memory EIGEN_MAX_ALIGN_BYTES=16 EIGEN_MALLOC_ALREADY_ALIGNED=1)
add_library(boltzmark_light_pch OBJECT ${CMAKE_CURRENT_BINARY_DIR}/empty.cpp)
target_link_libraries(boltzmark_light_pch PRIVATE boltzmark_light Eigen3::Eigen fmt::fmt
  nlohmann_json::nlohmann_json)
target_compile_definitions(boltzmark_light_pch PRIVATE ${boltzmark_eigen_memory})
boltzmark_pch(boltzmark_light_pch HEADERS ${boltzmark_headers} <nlohmann/json.hpp>)
function(boltzmark_compile_lightly target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:boltzmark_light>)
  boltzmark_pch(${target} FROM boltzmark_light_pch)
endfunction()

# A batch takes up to 2.7 GB to compile: where memory is less than that for each core, fewer at once.
cmake_host_system_information(RESULT boltzmark_memory QUERY TOTAL_PHYSICAL_MEMORY)  # MiB
math(EXPR boltzmark_compilers "${boltzmark_memory} / 2700")
if(boltzmark_compilers LESS 1)
  set(boltzmark_compilers 1)
endif()
set_property(GLOBAL APPEND PROPERTY JOB_POOLS compilers=${boltzmark_compilers})
set(CMAKE_JOB_POOL_COMPILE compilers)

# Sources compiled in batches parse the headers and make the templates once a batch: 32 files take half the
# time of four times eight. Not those that Highway includes again for every instruction set.
if(BOLTZMARK_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 32)
endif()
function(boltzmark_keep_from_batches)
  foreach(source ${ARGN})
    file(STRINGS ${source} again REGEX "foreach_target" LIMIT_COUNT 1)
    if(again)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# Takes functions that both the engine and code that is optimised less instantiate from the engine, and
# then from the libraries that are named: the linker keeps the first definition that it meets.
function(boltzmark_engine_first target)
  get_property(layers GLOBAL PROPERTY boltzmark_layers)
  list(APPEND layers ${ARGN})
  list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_FILE:\\1>" OUTPUT_VARIABLE archives)
  target_link_options(${target} PRIVATE -Wl,--whole-archive ${archives} -Wl,--no-whole-archive)
endfunction()

# Makes a static library, or a header-only one while its folder has no source yet.
# Sets `scope` for the caller: PUBLIC or INTERFACE.
function(boltzmark_library target folder)
  file(GLOB sources CONFIGURE_DEPENDS ${ARGN})
  if(sources)
    boltzmark_keep_from_batches(${sources})
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:boltzmark_flags>)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/${folder}>)
  set(scope ${scope} PARENT_SCOPE)
endfunction()

# Makes, exports and installs the library boltzmark::NAME of lib/boltzmark/NAME.
function(boltzmark_layer name)
  boltzmark_library(boltzmark_${name} lib lib/boltzmark/${name}/*.cpp lib/boltzmark/${name}/*/*.cpp)
  # In larger ones the optimiser would spare hot loops what it inlines: it has a limit for each batch.
  set_target_properties(boltzmark_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)
  add_library(boltzmark::${name} ALIAS boltzmark_${name})
  set_target_properties(boltzmark_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(boltzmark_${name} ${scope}
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(boltzmark_${name} ${scope} cxx_std_20)
  target_link_libraries(boltzmark_${name} ${scope} ${ARGN})
  if(name STREQUAL core)
    target_compile_definitions(boltzmark_core ${scope} ${boltzmark_eigen_memory})
    boltzmark_pch(boltzmark_core HEADERS ${boltzmark_headers})
  else()
    boltzmark_pch(boltzmark_${name} FROM boltzmark_core)
  endif()
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

# Installs what `boltzmark help PAGE` prints, made when it is installed, so that it is never another's.
function(boltzmark_install_page page file folder)
  set(made ${PROJECT_BINARY_DIR}/generated/pages/${page})
  install(CODE "file(MAKE_DIRECTORY \"${made}\")
    execute_process(COMMAND \"$<TARGET_FILE:boltzmark>\" help ${page}
      OUTPUT_FILE \"${made}/${file}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
  install(FILES ${made}/${file} DESTINATION ${folder} COMPONENT program)
endfunction()
