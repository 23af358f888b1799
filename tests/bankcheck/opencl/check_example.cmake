# Follows docs/checking_opencl.md and its workflow: the example has conflicts, padding removes most of them, and the
# baseline detects their return. The output must equal the output that the page shows.
include(${CMAKE_CURRENT_LIST_DIR}/../../package/run.cmake)

file(REMOVE_RECURSE ${SCRATCH})
set(path "${SCRATCH}/my project")
file(COPY ${SOURCE}/ DESTINATION ${path})
file(CREATE_LINK ${BUILD} ${path}/bankwise_build SYMBOLIC)

# The steps of the workflow, with the bankcheck of this build: a command, and the action's script with its inputs.
file(READ ${SOURCE}/bank_conflicts.yml workflow)
if(NOT workflow MATCHES "- run: (cc [^\n]*)")
  message(FATAL_ERROR "the workflow does not compile the program")
endif()
set(compile ${CMAKE_MATCH_1})
if(NOT workflow MATCHES "checker: ([a-z]+), arguments: ([^,]+), arch: '([^']+)', baseline: ([^}]+)}")
  message(FATAL_ERROR "the workflow does not use the action as expected")
endif()
cmake_path(ABSOLUTE_PATH CMAKE_CURRENT_LIST_DIR NORMALIZE OUTPUT_VARIABLE here)
set(check "rm -f github_output && PATH=\"$PWD/bankwise_build:$PATH\" GITHUB_OUTPUT=github_output CHECKER=${CMAKE_MATCH_1} \
ARGUMENTS='${CMAKE_MATCH_2}' ARCH=${CMAKE_MATCH_3} BASELINE=${CMAKE_MATCH_4} MAX_CONFLICTS= HTML=$page \
'${here}/../../../packaging/action.sh' check && exit $(sed -n s/^exit-code=//p github_output)")

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
run(sh -c "cd '${path}' && page=yes && ${check}")
file(STRINGS ${path}/github_output outputs)
if(NOT outputs MATCHES "^exit-code=0;sarif=.*/bank_conflicts.sarif;page=.*/bank_conflicts.html$")
  message(FATAL_ERROR "the outputs of the action are ${outputs}")
endif()

# A pull request that removes the padding.
file(COPY ${SOURCE}/matmul.cl DESTINATION ${path})
execute_process(COMMAND sh -c "${check}" WORKING_DIRECTORY ${path} ERROR_VARIABLE errors RESULT_VARIABLE result)
file(READ ${SOURCE}/exceeded.txt text)
if(NOT result EQUAL 1 OR NOT errors STREQUAL text)
  message(FATAL_ERROR "exit code ${result}, and on stderr:\n${errors}")
endif()
