# Builds and runs a project that uses the installed package: a new case study.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

build_project(${SOURCE} ${SCRATCH} ${PREFIX})
run(${SCRATCH}/doubling --list)
execute_process(COMMAND ${SCRATCH}/doubling --n 1000 --min-time 0 --timeout 0.01 COMMAND_ECHO STDOUT RESULT_VARIABLE code)
if(NOT (code EQUAL 0 OR code EQUAL 77))  # 77: no device here
  message(FATAL_ERROR "exit code ${code}")
endif()
