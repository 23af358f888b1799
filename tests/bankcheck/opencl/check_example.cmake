# Does what docs/checking_opencl.md and its workflow say: the example has conflicts, a line is changed, few are left, and
# the baseline keeps it so. What the page shows as output must be what is printed.
include(${CMAKE_CURRENT_LIST_DIR}/../../package/run.cmake)

file(REMOVE_RECURSE ${SCRATCH})
set(path "${SCRATCH}/my project")
file(COPY ${SOURCE}/ DESTINATION ${path})
file(CREATE_LINK ${BUILD} ${path}/bankwise_build SYMBOLIC)

# The workflow's own commands, with the bankcheck that is built here.
file(STRINGS ${SOURCE}/bank_conflicts.yml steps REGEX "^ +- run: (cc|bankwise/build/bankcheck) ")
list(TRANSFORM steps REPLACE "^ +- run: " "")
list(TRANSFORM steps REPLACE "bankwise/build/bankcheck" "bankwise_build/bankcheck")
list(LENGTH steps count)
if(NOT count EQUAL 2)
  message(FATAL_ERROR "the workflow's steps are not as expected: ${steps}")
endif()
list(GET steps 0 compile)
list(GET steps 1 check)

# Runs a command there. Its exit code must be `code`, its stdout that of the file `expected`.
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
    message(FATAL_ERROR "${SOURCE}/${expected} is something else; what is printed is in ${SCRATCH}/output.txt")
  endif()
endfunction()

run(sh -c "cd '${path}' && ${compile}")
expect("bankwise_build/bankcheck opencl -- ./test_matmul" 0 with_conflicts.txt)

exchange_line(${SOURCE}/padding.diff ${path}/matmul.cl)
expect("${check}" 0 without_conflicts.txt)
file(READ ${path}/bank_conflicts.sarif sarif)
string(JSON uri GET "${sarif}" runs 0 results 0 locations 0 physicalLocation artifactLocation uri)
if(NOT uri STREQUAL "matmul.cl")
  message(FATAL_ERROR "the review page would show ${uri}")
endif()

# A pull request that takes the padding away again.
file(COPY ${SOURCE}/matmul.cl DESTINATION ${path})
execute_process(COMMAND sh -c "${check}" WORKING_DIRECTORY ${path} ERROR_VARIABLE errors RESULT_VARIABLE result)
file(READ ${SOURCE}/exceeded.txt text)
if(NOT result EQUAL 1 OR NOT errors STREQUAL text)
  message(FATAL_ERROR "exit code ${result}, and on stderr:\n${errors}")
endif()
