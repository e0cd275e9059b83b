# Installs the engine of BUILD into an empty folder, then builds and runs the consumer against it.
cmake_minimum_required(VERSION 3.25)
set(here ${BUILD}/consumer)
file(REMOVE_RECURSE ${here})
set(flags)
if(SANITIZE)
  set(flags "-fsanitize=address,undefined")
endif()
foreach(step
    "--install;${BUILD};--prefix;${here}/prefix;--component;library"
    "-S;${CMAKE_CURRENT_LIST_DIR};-B;${here}/build;-G;${GENERATOR};-DCMAKE_CXX_COMPILER=${COMPILER};-DCMAKE_CXX_FLAGS=${flags};-DCMAKE_PREFIX_PATH=${here}/prefix"
    "--build;${here}/build")
  execute_process(COMMAND ${CMAKE_COMMAND} ${step} OUTPUT_VARIABLE output ERROR_VARIABLE output
    RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "cmake ${step}\n${output}")
  endif()
endforeach()
execute_process(COMMAND ${here}/build/consumer COMMAND_ERROR_IS_FATAL ANY)
