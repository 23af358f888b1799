# Installs the build tree into a scratch prefix, looks at what is there, and builds and runs a project that uses it.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "exit code ${code}")
  endif()
endfunction()

set(prefix ${SCRATCH}/prefix)
file(REMOVE_RECURSE ${SCRATCH})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
foreach(file IN ITEMS bin/reduction bin/prefix_sum bin/transpose bin/access_patterns bin/bankcheck
                      share/bankwise/reduction/packed.cuh
                      share/bankwise/reduction/packed.cl share/bankwise/prefix_sum/padded.cl
                      share/bankwise/transpose/swizzled.cuh include/bankwise/banks/cost.hpp
                      include/bankwise/runner/case_study.hpp)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()
run(${prefix}/bin/transpose --list)
run(${prefix}/bin/bankcheck archs)

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH}/build -G ${GENERATOR} -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_CXX_FLAGS=${CXX_FLAGS} -D "CMAKE_CUDA_ARCHITECTURES=${CUDA_ARCHITECTURES}")
run(${CMAKE_COMMAND} --build ${SCRATCH}/build)
run(${SCRATCH}/build/doubling --list)
execute_process(COMMAND ${SCRATCH}/build/doubling --n 1000 --min-time 0 --timeout 0.1 COMMAND_ECHO STDOUT
                RESULT_VARIABLE code)
if(NOT (code EQUAL 0 OR code EQUAL 77))  # 77: no device here
  message(FATAL_ERROR "exit code ${code}")
endif()
