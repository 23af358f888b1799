# run(<command>...): it has to succeed.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "exit code ${code}")
  endif()
endfunction()

# build_project(<source> <build> <prefix> [<flag>...]): with the installed package.
function(build_project source build prefix)
  run(${CMAKE_COMMAND} -S ${source} -B ${build} -G ${GENERATOR} "-DCMAKE_PREFIX_PATH=${prefix}" -D CMAKE_CXX_COMPILER=${CXX}
      -D CMAKE_CXX_FLAGS=${CXX_FLAGS} -D "CMAKE_CUDA_ARCHITECTURES=${CUDA_ARCHITECTURES}" ${ARGN})
  run(${CMAKE_COMMAND} --build ${build})
endfunction()

# exchange_line(<diff> <file>): makes the change of a page, one line instead of another.
function(exchange_line diff_file file)
  file(READ ${diff_file} diff)
  string(REGEX MATCH "\n-([^\n]*)\n\\+([^\n]*)\n" lines "${diff}")
  set(before "${CMAKE_MATCH_1}")
  set(after "${CMAKE_MATCH_2}")
  file(READ ${file} text)
  string(REPLACE "${before}" "${after}" changed "${text}")
  if(changed STREQUAL text)
    message(FATAL_ERROR "${file} has no line '${before}'")
  endif()
  file(WRITE ${file} "${changed}")
endfunction()
