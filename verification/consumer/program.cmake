# Installs the program of BUILD into an empty folder, and looks for what must come with it.
cmake_minimum_required(VERSION 3.25)
set(prefix ${BUILD}/installed-program)
file(REMOVE_RECURSE ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix} --component program
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(pair man:man1/boltzmark.1 bash:completions/boltzmark zsh:site-functions/_boltzmark
    fish:vendor_completions.d/boltzmark.fish)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 page)
  list(GET pair 1 file)
  file(GLOB_RECURSE installed ${prefix}/*)
  list(FILTER installed INCLUDE REGEX "/${file}$")
  list(LENGTH installed count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${count} files ${file} (must be 1)")
  endif()
  execute_process(COMMAND ${prefix}/bin/boltzmark help ${page} OUTPUT_VARIABLE printed
    COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${installed} text)
  if(NOT text STREQUAL printed)
    message(FATAL_ERROR "${file} is not what the program prints")
  endif()
endforeach()
