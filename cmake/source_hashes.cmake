# Writes the SHA-256 of every source that a trial depends on, so that the store knows which build a
# trial belongs to, and one of all that the program is made of, which ranks must have in common.
# Included, it adds the generated file to `boltzmark_experiments`; run as a script (-D root=
# -D output= -D compiler= -D version=) it writes that file.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE whole CONFIGURE_DEPENDS lib/boltzmark/*.[hc]pp verification/checks/*.[hc]pp
    experiments/*.[hc]pp tools/boltzmark/*.[hc]pp)
  set(output ${PROJECT_BINARY_DIR}/generated/source_hashes.cpp)
  set(compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, ${CMAKE_BUILD_TYPE}")
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D root=${PROJECT_SOURCE_DIR} -D output=${output}
      "-Dcompiler=${compiler}" -D version=${PROJECT_VERSION} -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${whole} ${CMAKE_CURRENT_LIST_FILE} COMMENT "Hashing the sources of trials" VERBATIM)
  target_sources(boltzmark_experiments PRIVATE ${output})
  return()
endif()

file(GLOB_RECURSE sources RELATIVE ${root} ${root}/lib/boltzmark/*.[hc]pp
  ${root}/verification/checks/*.[hc]pp ${root}/experiments/kit/statistics/*.[hc]pp
  ${root}/experiments/kit/datasets/*.[hc]pp
  ${root}/experiments/kit/errors.[hc]pp ${root}/experiments/kit/evidence.[hc]pp
  ${root}/experiments/*20*/*.[hc]pp ${root}/experiments/calibration/*.[hc]pp
  ${root}/tools/boltzmark/commands/compare/comparison_runs.[hc]pp
  ${root}/tools/boltzmark/commands/estimate/estimate_options.[hc]pp)
list(SORT sources)
set(text "#include \"experiments/kit/sources.hpp\"\n\nnamespace boltzmark::experiments {\n\n")
string(APPEND text "const std::vector<SourceFile>& source_files() {\n")
string(APPEND text "  static const std::vector<SourceFile> all{\n")
foreach(source ${sources})
  file(SHA256 ${root}/${source} hash)
  string(APPEND text "      {\"${source}\", \"${hash}\"},\n")
endforeach()
string(APPEND text "  };\n  return all;\n}\n\n")
file(GLOB_RECURSE whole RELATIVE ${root} ${root}/lib/boltzmark/*.[hc]pp
  ${root}/verification/checks/*.[hc]pp ${root}/experiments/*.[hc]pp ${root}/tools/boltzmark/*.[hc]pp)
list(SORT whole)
set(program "${version} ${compiler}")
foreach(source ${whole})
  file(SHA256 ${root}/${source} hash)
  string(APPEND program " ${source} ${hash}")
endforeach()
string(SHA256 program "${program}")
string(SUBSTRING ${program} 0 16 program)
string(APPEND text "std::string program_hash() { return \"${program}\"; }\n\n")
string(APPEND text "std::string compiler_name() { return \"${compiler}\"; }\n\n")
string(APPEND text "}  // namespace boltzmark::experiments\n")
file(WRITE ${output} "${text}")
