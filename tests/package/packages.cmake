# cmake -D SOURCE=<of bankwise> -D SCRATCH=<dir> -D CXX=<compiler> -D CUDA=<nvcc> -D SANITIZER=<folder of sanitizer.h>
# -P packages.cmake: what packaging/release.sh packs has bankcheck cuda, and none of NVIDIA's code.
file(REMOVE_RECURSE ${SCRATCH})
file(STRINGS ${SOURCE}/packaging/release.sh command REGEX "cmake --preset")
string(REGEX MATCHALL "BANKWISE_[A-Z_]+=[A-Z]+" options "${command}")
list(TRANSFORM options PREPEND -D)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH} -G Ninja -D CMAKE_CXX_COMPILER=${CXX}
                        -D CMAKE_CUDA_COMPILER=${CUDA} -D BANKWISE_SANITIZER_INCLUDE=${SANITIZER} ${options}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(READ ${SCRATCH}/build.ninja rules)
foreach(packed bankcheck_cuda.so bankcheck_oclgrind.so)
  if(NOT rules MATCHES ${packed})
    message(SEND_ERROR "without ${packed}")
  endif()
endforeach()
if(rules MATCHES "cudart")
  message(SEND_ERROR "links the CUDA runtime")
endif()
