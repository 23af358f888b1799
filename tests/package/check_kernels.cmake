# Follows the unit test of docs/checking_your_kernel.md with a copy of the installed package: the kernel's conflicts are
# found, one line is changed, the conflicts are gone. The output must hold the expected one.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

# Installations are moved, and paths have blanks.
file(REMOVE_RECURSE "${SCRATCH}/moved prefix")
file(COPY ${PREFIX}/ DESTINATION "${SCRATCH}/moved prefix")
file(COPY ${SOURCE}/checking ${SOURCE}/diagnoses DESTINATION "${SCRATCH}/my kernels")
file(TOUCH "${SCRATCH}/my kernels/checking/matmul.cuh")  # an earlier run has built it with the changed line

function(build project)
  build_project("${SCRATCH}/my kernels/${project}" "${SCRATCH}/my kernels/${project}/build" "${SCRATCH}/moved prefix")
endfunction()

# Runs a program of a project, there; what it prints must hold the file `expected`.
function(check project program expected code)
  set(path "${SCRATCH}/my kernels/${project}")
  execute_process(COMMAND ${path}/build/${program} ${ARGN} WORKING_DIRECTORY ${path} COMMAND_ECHO STDOUT
                  OUTPUT_VARIABLE output RESULT_VARIABLE result)
  string(REPLACE "${path}/" "" output "${output}")
  message("${output}")
  if(NOT result MATCHES "^${code}$")
    message(FATAL_ERROR "exit code ${result}")
  endif()
  file(READ ${SOURCE}/${project}/${expected} text)
  string(FIND "${output}" "${text}" found)
  if(found EQUAL -1)
    file(WRITE ${SCRATCH}/output.txt "${output}")
    message(FATAL_ERROR "${SOURCE}/${project}/${expected} is something else; what is printed is in ${SCRATCH}/output.txt")
  endif()
endfunction()

build(checking)
check(checking test_matmul with_conflicts.txt "[1-9][0-9]*" --reporter compact)

exchange_line(${SOURCE}/checking/padding.diff "${SCRATCH}/my kernels/checking/matmul.cuh")
build(checking)
check(checking test_matmul without_conflicts.txt 0 --reporter compact)

build(diagnoses)
check(diagnoses diagnoses expected.txt 0)
