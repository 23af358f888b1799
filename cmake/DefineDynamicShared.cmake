# Runs before a program is linked. Defines the objects' undefined thread-local symbols, all at the same address. This
# implements `extern __shared__ float tile[];`: every such array is the block's dynamic shared memory.
#
#   READELF, CXX  the tools
#   OBJECTS       of the target
#   SOURCES       that contain kernels; without it, any object may contain some
#   OUTPUT        writes OUTPUT.s and OUTPUT.o
set(emulated "")
foreach(source IN LISTS SOURCES)
  cmake_path(GET source FILENAME name)
  string(REGEX REPLACE "([][+.*()^$?|\\\\])" "\\\\\\1" name "${name}")
  set(objects ${OBJECTS})
  list(FILTER objects INCLUDE REGEX "(^|/)${name}\\.(o|obj)$")
  list(APPEND emulated ${objects})
endforeach()
if(NOT DEFINED SOURCES)
  set(emulated ${OBJECTS})
endif()
list(REMOVE_DUPLICATES emulated)
execute_process(COMMAND ${READELF} --symbols --wide ${emulated} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " TLS +(GLOBAL|WEAK) +DEFAULT +UND +[^ \n]+" lacking "${symbols}")
list(TRANSFORM lacking REPLACE ".* " "")
list(REMOVE_DUPLICATES lacking)
list(FILTER lacking EXCLUDE REGEX "^(_ZSt|__|errno)")  # symbols of the C and C++ libraries

set(bytes 232448)  # 227 KiB, the maximum per block of any supported GPU
set(source ".section .tbss.bankwise_dynamic_shared,\"awT\",@nobits\n.balign 128\n")
foreach(symbol IN LISTS lacking)
  # Weak: a definition in another object of the program takes precedence.
  string(APPEND source ".weak ${symbol}\n.type ${symbol}, @object\n${symbol}:\n")
endforeach()
string(APPEND source ".globl bankwise_dynamic_shared\n.type bankwise_dynamic_shared, @object\n"
                     ".size bankwise_dynamic_shared, ${bytes}\nbankwise_dynamic_shared:\n.zero ${bytes}\n"
                     ".section .note.GNU-stack,\"\",@progbits\n")
file(WRITE ${OUTPUT}.s "${source}")
execute_process(COMMAND ${CXX} -c ${OUTPUT}.s -o ${OUTPUT}.o COMMAND_ERROR_IS_FATAL ANY)
