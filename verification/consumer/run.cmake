# Installs the engine of BUILD into an empty folder, then builds the README's CMakeLists.txt and mine.cpp,
# as printed and nothing more, against it and runs them on a model whose log Z is known.
cmake_minimum_required(VERSION 3.25)
set(here ${BUILD}/consumer)
file(REMOVE_RECURSE ${here})

# Writes the README's lines in a language to a file.
function(extract language file)
  file(READ ${CMAKE_CURRENT_LIST_DIR}/../../README.md text)
  string(FIND "${text}" "```${language}\n" begin)
  if(begin EQUAL -1)
    message(FATAL_ERROR "README.md has no lines in ${language}")
  endif()
  string(SUBSTRING "${text}" ${begin} -1 text)
  string(REGEX REPLACE "^```[a-z]*\n" "" text "${text}")
  string(FIND "${text}" "```" end)
  string(SUBSTRING "${text}" 0 ${end} text)
  file(WRITE ${here}/source/${file} "${text}")
endfunction()
extract(cmake CMakeLists.txt)
extract(cpp mine.cpp)

# The standard that a user's environment may name is not asked, nor is a warning let pass.
unset(ENV{CXXFLAGS})
set(flags)
if(SANITIZE)
  set(flags "-fsanitize=address,undefined")
endif()
function(run_cmake)
  execute_process(COMMAND ${CMAKE_COMMAND} ${ARGV} OUTPUT_VARIABLE output ERROR_VARIABLE output
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "cmake ${ARGV}\n${output}")
  endif()
endfunction()
function(build_mine folder flags)
  run_cmake(-S ${here}/source -B ${here}/${folder} -G ${GENERATOR} -Werror=dev
    -DCMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${flags}" -DCMAKE_PREFIX_PATH=${here}/prefix)
  run_cmake(--build ${here}/${folder})
endfunction()
run_cmake(--install ${BUILD} --prefix ${here}/prefix --component library)
build_mine(build "${flags}")
# A user may compile for the machine at hand, or under a sanitizer, if this machine can run what they make: what
# either side allocates the other frees.
set(ENV{ASAN_OPTIONS} detect_leaks=0)
set(others)
file(WRITE ${here}/probe.cpp "int main() { return 0; }\n")
foreach(flag -march=native -fsanitize=address)
  execute_process(COMMAND ${COMPILER} ${flag} -o ${here}/probe ${here}/probe.cpp OUTPUT_QUIET
    ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    execute_process(COMMAND ${here}/probe OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE failed)
  endif()
  if(NOT failed AND NOT SANITIZE)
    string(MAKE_C_IDENTIFIER ${flag} other)
    build_mine(${other} ${flag})
    list(APPEND others ${other})
  endif()
endforeach()

# Every layer says what standard its headers are in, for a compiler whose default is an older one.
file(GLOB_RECURSE targets ${here}/prefix/boltzmark-targets.cmake)
file(STRINGS ${targets} layers REGEX "^add_library\\(boltzmark::[a-z]+ STATIC")
file(STRINGS ${targets} standards
  REGEX "INTERFACE_COMPILE_FEATURES \"cxx_std_20\"")
list(LENGTH layers layer_count)
list(LENGTH standards standard_count)
if(NOT layer_count EQUAL standard_count OR layer_count EQUAL 0)
  message(FATAL_ERROR "${standard_count} of ${layer_count} layers carry cxx_std_20")
endif()

execute_process(COMMAND ${BUILD}/boltzmark make random:4:3:1:1 --out ${here}/rbm.npz --json
  OUTPUT_VARIABLE made COMMAND_ERROR_IS_FATAL ANY)
string(JSON known GET "${made}" log_z)
string(REGEX MATCH "^-?[0-9]+\\.[0-9][0-9][0-9]" digits "${known}")
foreach(folder build ${others})
  execute_process(COMMAND ${here}/${folder}/mine ${here}/rbm.npz OUTPUT_VARIABLE output
    COMMAND_ERROR_IS_FATAL ANY)
  message("${folder}: log Z = ${known}\n${output}")
  if(NOT output MATCHES "log Z = ${digits}" OR
      NOT output MATCHES "by RTS -?[0-9.]+ .*\\|pT - p\\| = [0-9.]+e-1[0-9]")
    message(FATAL_ERROR "the README's example does not hold")
  endif()
endforeach()
