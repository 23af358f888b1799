# Follows docs/checking_opencl.md and its workflow: the example has conflicts, padding removes most of them, and the
# baseline detects their return. The output must equal the output that the page shows.
include(${CMAKE_CURRENT_LIST_DIR}/../../package/run.cmake)

file(REMOVE_RECURSE ${SCRATCH})
set(path "${SCRATCH}/my project")
file(COPY ${SOURCE}/ DESTINATION ${path})
file(CREATE_LINK ${BUILD} ${path}/bankwise_build SYMBOLIC)

# The commands of the workflow, with the bankcheck of this build.
file(STRINGS ${SOURCE}/bank_conflicts.yml steps REGEX "^ +- run: (cc|bankwise/build/bankcheck) ")
list(TRANSFORM steps REPLACE "^ +- run: " "")
list(TRANSFORM steps REPLACE "bankwise/build/bankcheck" "bankwise_build/bankcheck")
list(LENGTH steps count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "the workflow's steps are not as expected: ${steps}")
endif()
list(GET steps 0 compile)
list(GET steps 1 check)

# Runs a command in the copy. Its exit code must be `code`, and its stdout must equal the file `expected`.
function(expect command code expected)
  execute_process(COMMAND sh -c "${command}" WORKING_DIRECTORY ${path} OUTPUT_VARIABLE output ERROR_VARIABLE errors
                  RESULT_VARIABLE result)
  message("$ ${command}\n${output}${errors}")
  if(NOT result EQUAL code)
    message(FATAL_ERROR "exit code ${result}")
  endif()
  file(READ ${SOURCE}/${expected} text)
  if(NOT output STREQUAL text)
    file(WRITE ${SCRATCH}/output.txt "${output}")
    message(FATAL_ERROR "the output differs from ${SOURCE}/${expected}; it is in ${SCRATCH}/output.txt")
  endif()
endfunction()

run(sh -c "cd '${path}' && ${compile}")
expect("bankwise_build/bankcheck opencl -- ./test_matmul" 0 with_conflicts.txt)

exchange_line(${SOURCE}/padding.diff ${path}/matmul.cl)
expect("${check}" 0 without_conflicts.txt)
file(READ ${path}/bank_conflicts.sarif sarif)
string(JSON uri GET "${sarif}" runs 0 results 0 locations 0 physicalLocation artifactLocation uri)
if(NOT uri STREQUAL "matmul.cl")
  message(FATAL_ERROR "the SARIF result is at ${uri}")
endif()

# A pull request that removes the padding.
file(COPY ${SOURCE}/matmul.cl DESTINATION ${path})
execute_process(COMMAND sh -c "${check}" WORKING_DIRECTORY ${path} ERROR_VARIABLE errors RESULT_VARIABLE result)
file(READ ${SOURCE}/exceeded.txt text)
if(NOT result EQUAL 1 OR NOT errors STREQUAL text)
  message(FATAL_ERROR "exit code ${result}, and on stderr:\n${errors}")
endif()
