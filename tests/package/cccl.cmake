# cmake -D SOURCE=<of bankwise> -D SCRATCH=<dir> -P cccl.cmake: where BANKWISE_CCCL_DIR finds CUB, and what it refuses.
include(${SOURCE}/cmake/BankwiseCuda.cmake)
file(REMOVE_RECURSE ${SCRATCH})

function(expect what got wanted)
  if(NOT "${got}" STREQUAL "${wanted}")
    message(SEND_ERROR "${what}: '${got}', not '${wanted}'")
  endif()
endfunction()

function(expect_found dir folder wanted_includes)
  file(WRITE ${dir}/${folder}/cub/version.cuh "/*! \\def CUB_VERSION\n */\n#define CUB_VERSION 301207 // one value\n")
  bankwise_find_cccl(${dir} includes version why_not)
  expect("${dir}: the reason" "${why_not}" "")
  expect("${dir}: the version" "${version}" "3.12.7")
  list(TRANSFORM wanted_includes PREPEND ${dir}/)
  expect("${dir}: the include directories" "${includes}" "${wanted_includes}")
endfunction()

expect_found(${SCRATCH}/checkout cub "cub;thrust;libcudacxx/include")
expect_found(${SCRATCH}/prefix include "include")
expect_found(${SCRATCH}/toolkit include/cccl "include/cccl")

function(expect_refused dir)
  bankwise_find_cccl(${dir} includes version why_not)
  expect("${dir}: the reason" "${why_not}"
         "BANKWISE_CCCL_DIR: no CUB in ${dir}; give a checkout of CCCL, or its install prefix")
endfunction()

expect_refused(${SCRATCH}/nowhere)
file(MAKE_DIRECTORY ${SCRATCH}/empty)
expect_refused(${SCRATCH}/empty)
file(WRITE ${SCRATCH}/strange/cub/cub/version.cuh "#define SOMETHING 1\n")
expect_refused(${SCRATCH}/strange)
