# Installs the build tree into a scratch prefix, and looks at what is there.
include(${CMAKE_CURRENT_LIST_DIR}/run.cmake)

file(REMOVE_RECURSE ${PREFIX})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX})
foreach(file IN ITEMS bin/reduction bin/prefix_sum bin/transpose bin/access_patterns bin/bankcheck
                      share/bankwise/reduction/packed.cuh
                      share/bankwise/reduction/packed.cl share/bankwise/prefix_sum/padded.cl
                      share/bankwise/transpose/swizzled.cuh include/bankwise/banks/cost.hpp
                      include/bankwise/emulator/cuda.hpp include/bankwise/emulator/shims/cuda_runtime.h
                      include/bankwise/study/case_study.hpp
                      share/doc/bankwise/README.md share/doc/bankwise/docs/fit.md
                      share/doc/bankwise/docs/pictures/transpose_banks.svg share/doc/bankwise/docs/tutorial/matmul.cu
                      share/doc/bankwise/docs/schemas/report.json
                      share/doc/bankwise/transpose/README.md share/bankwise/tutorial/matmul.cu
                      share/bankwise/tutorial/matmul.cl share/bankwise/tutorial/test_matmul.c
                      share/bankwise/tutorial/checking/CMakeLists.txt share/bankwise/tutorial/checking/test_matmul.cpp
                      share/man/man1/bankcheck.1
                      share/bash-completion/completions/bankcheck share/zsh/site-functions/_bankcheck
                      share/fish/vendor_completions.d/bankcheck.fish)
  if(NOT EXISTS ${PREFIX}/${file})
    message(FATAL_ERROR "not installed: ${file}")
  endif()
endforeach()
run(${PREFIX}/bin/transpose --list)
run(${PREFIX}/bin/bankcheck archs)
