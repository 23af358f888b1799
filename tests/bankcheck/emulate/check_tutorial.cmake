# Follows docs/checking_your_kernel.md: the program has conflicts, the proposed patch removes them and is verified by a
# run, and the limit holds. The output must equal the files that the page shows.
include(${CMAKE_CURRENT_LIST_DIR}/../../package/run.cmake)

set(tutorial ${CMAKE_CURRENT_LIST_DIR}/../../../docs/tutorial)
file(REMOVE_RECURSE ${SCRATCH})
file(COPY ${tutorial}/matmul.cu DESTINATION ${SCRATCH})

# Runs bankcheck emulate with these flags. Its stdout, or with code 1 its stderr, must equal the file `expected`.
function(expect code expected)
  execute_process(COMMAND ${BANKCHECK} emulate ${ARGN} WORKING_DIRECTORY ${SCRATCH} OUTPUT_VARIABLE output
                  ERROR_VARIABLE errors RESULT_VARIABLE result COMMAND_ECHO STDOUT)
  if(NOT result EQUAL code)
    message(FATAL_ERROR "exit code ${result}:\n${output}${errors}")
  endif()
  if(code EQUAL 1)
    set(output "${errors}")
  endif()
  file(READ ${tutorial}/${expected} text)
  if(NOT output STREQUAL text)
    message(FATAL_ERROR "the output differs from ${tutorial}/${expected}:\n${output}")
  endif()
endfunction()

expect(0 found.txt --summary matmul.cu)
expect(0 verified.txt --summary --verify --patch fix.diff matmul.cu)
expect(1 exceeded.txt --quiet --max-conflicts 0 matmul.cu)
file(READ ${SCRATCH}/fix.diff diff)
file(READ ${tutorial}/fix.diff text)
if(NOT diff STREQUAL text)
  message(FATAL_ERROR "the patch differs from ${tutorial}/fix.diff:\n${diff}")
endif()
exchange_line(${SCRATCH}/fix.diff ${SCRATCH}/matmul.cu)
expect(0 fixed.txt --summary --max-conflicts 0 matmul.cu)
