# Installs the engine of BUILD into an empty folder, then builds and runs the consumer, and the README's
# example, against it.
cmake_minimum_required(VERSION 3.25)
set(here ${BUILD}/consumer)
file(REMOVE_RECURSE ${here})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/CMakeLists.txt ${CMAKE_CURRENT_LIST_DIR}/main.cpp
  DESTINATION ${here}/source)

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
extract(cmake README.cmake)
extract(cpp mine.cpp)

set(flags)
if(SANITIZE)
  set(flags "-fsanitize=address,undefined")
endif()
foreach(step
    "--install;${BUILD};--prefix;${here}/prefix;--component;library"
    "-S;${here}/source;-B;${here}/build;-G;${GENERATOR};-DCMAKE_CXX_COMPILER=${COMPILER};-DCMAKE_CXX_FLAGS=${flags};-DCMAKE_PREFIX_PATH=${here}/prefix"
    "--build;${here}/build")
  execute_process(COMMAND ${CMAKE_COMMAND} ${step} OUTPUT_VARIABLE output ERROR_VARIABLE output
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "cmake ${step}\n${output}")
  endif()
endforeach()
execute_process(COMMAND ${here}/build/consumer ${here}/rbm.npz COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${here}/build/mine ${here}/rbm.npz OUTPUT_VARIABLE output
  COMMAND_ERROR_IS_FATAL ANY)
message("${output}")
if(NOT output MATCHES "by RTS -?[0-9.]+ .*\\|pT - p\\| = [0-9.]+e-1[0-9]")
  message(FATAL_ERROR "the README's example does not hold")
endif()
