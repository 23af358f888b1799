# Compiles CUDA kernels for the CPU. Installed with the package: other projects test their kernels with it.

# The options with which g++ instruments kernels for the emulator (common/bankwise/emulator/core/hooks.cpp): one access
# in the source stays one instruction, also of an array that is never written or never read, basic blocks keep their
# order, and g++ adds no branch that a GPU would not have.
# Ubuntu's g++ defines _FORTIFY_SOURCE, with which a kernel's printf() would be another function.
set(BANKWISE_EMULATE_OPTIONS -U_FORTIFY_SOURCE -O1 -g -gno-split-dwarf -finline -fno-tree-sra -fno-tree-sink -fno-thread-jumps
    -fno-jump-tables -fno-reorder-blocks -fno-semantic-interposition -fno-math-errno -ffp-contract=off
    -fno-extern-tls-init -fno-ipa-reference-addressable -fdata-sections -fno-lto -fsanitize=thread
    --param=tsan-distinguish-volatile=1 -fsanitize-coverage=trace-pc -Wno-unknown-pragmas
    -Wno-packed-not-aligned)

# What a whole program (.cu) needs in addition: `bankcheck emulate` rewrites its launches. With two bytes between
# functions, libbacktrace does not join their addresses: it finds no line in what it has joined around a function that
# several sources have. A function that lacks its return statement returns, as with nvcc: without -fsanitize=unreachable
# g++ lets it run into the code that follows.
set(BANKWISE_EMULATE_PROGRAM_OPTIONS -DBANKWISE_WHOLE_PROGRAM -Wno-c++20-extensions -fpatchable-function-entry=2,2
    -fsanitize=unreachable -fsanitize-undefined-trap-on-error)

# common/bankwise/emulator/core/program_symbols.cpp has this function, and runtime/messages.cpp has those of programs.
set(BANKWISE_EMULATE_LINK_OPTIONS -Wl,--wrap=dl_iterate_phdr)
set(BANKWISE_EMULATE_PROGRAM_LINK_OPTIONS printf puts putchar vprintf free _ZdlPv _ZdlPvm _ZdaPv _ZdaPvm
    modf modff frexp frexpf remquo remquof sincos sincosf)
list(TRANSFORM BANKWISE_EMULATE_PROGRAM_LINK_OPTIONS PREPEND -Wl,--wrap=)
list(APPEND BANKWISE_EMULATE_PROGRAM_LINK_OPTIONS -Wl,-u,__wrap_free)  # also for libraries after it

# bankwise_emulate(<target> <source>...)
#
# Compiles the given sources of an executable for the emulator, and links it. The other sources of the target are
# compiled as usual. A source that #includes kernels runs them with bankwise::emulate(); the target may then also be a
# static or an object library if no kernel has an `extern __shared__` array. A .cu or .hip is a source of CUDA or HIP,
# with its launches and calls of the runtime API; the macros, include directories and the C++ standard of the target
# apply to it, and the architecture is that of the target's property BANKWISE_ARCHITECTURE: sm_90, or gfx942 for HIP, by
# default.
function(bankwise_emulate target)
  if(NOT BANKWISE_HAVE_EMULATOR)
    message(FATAL_ERROR "bankwise_emulate(${target}): this bankwise was built without the emulator: ${why_emulator}")
  endif()
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "bankwise_emulate(${target}) needs g++; the C++ compiler is ${CMAKE_CXX_COMPILER_ID}")
  endif()
  if(NOT ARGN)
    message(FATAL_ERROR "bankwise_emulate(${target}) needs at least one source")
  endif()
  get_target_property(type ${target} TYPE)
  if(type MATCHES "SHARED|MODULE")
    message(FATAL_ERROR "bankwise_emulate(${target}): the emulator does not support kernels in shared libraries")
  endif()
  set(whole ${ARGN})
  list(FILTER whole INCLUDE REGEX "\\.(cu|hip)$")
  set(sources ${ARGN})
  list(FILTER sources EXCLUDE REGEX "\\.(cu|hip)$")
  if(whole AND NOT type STREQUAL "EXECUTABLE")
    message(FATAL_ERROR "bankwise_emulate(${target}): a .cu or .hip needs an executable")
  endif()
  if(sources)
    bankwise_emulated_sources(${target} ${sources})
  endif()
  set(objects "")
  foreach(source IN LISTS whole)
    bankwise_emulated_program_source(${target} ${source} object)
    list(APPEND objects ${object})
  endforeach()
  if(NOT type STREQUAL "EXECUTABLE")
    return()
  endif()
  # Collected over all calls.
  set_property(TARGET ${target} APPEND PROPERTY BANKWISE_EMULATED ${ARGN})
  set_property(TARGET ${target} APPEND PROPERTY BANKWISE_EMULATED_OBJECTS ${objects})
  # `extern __shared__` arrays are declared but not defined: the objects' undefined symbols give definitions.
  set(dynamic ${CMAKE_CURRENT_BINARY_DIR}/${target}_dynamic_shared)
  add_custom_command(TARGET ${target} PRE_LINK VERBATIM COMMAND_EXPAND_LISTS
    COMMAND sh ${BANKWISE_CMAKE_DIR}/define_dynamic_shared.sh ${CMAKE_READELF} ${CMAKE_CXX_COMPILER} ${dynamic}
            "--source=$<JOIN:$<TARGET_PROPERTY:${target},BANKWISE_EMULATED>,;--source=>" "$<TARGET_OBJECTS:${target}>"
            "$<TARGET_PROPERTY:${target},BANKWISE_EMULATED_OBJECTS>")
  target_link_options(${target} PRIVATE ${dynamic}.o)
endfunction()

# The part of bankwise_emulate() for a .cu or .hip: `bankcheck emulate` compiles it. Sets <result> to the object file.
function(bankwise_emulated_program_source target source result)
  cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
  cmake_path(GET path FILENAME name)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}_emulated/${name}.o)
  set(include $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  set(definitions $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  set(standard $<TARGET_PROPERTY:${target},CXX_STANDARD>)
  set(architecture $<TARGET_PROPERTY:${target},BANKWISE_ARCHITECTURE>)
  add_custom_command(OUTPUT ${object} DEPFILE ${object}.d
    DEPENDS ${path} bankwise::bankcheck bankwise::emulated_program  # whose headers are compiled in advance
    COMMAND bankwise::bankcheck emulate --object ${object} --cache ${CMAKE_CURRENT_BINARY_DIR}/${target}_emulated
            "$<$<BOOL:${include}>:-I$<JOIN:${include},;-I>>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
            "$<$<BOOL:${standard}>:--std=c++${standard}>" "$<$<BOOL:${architecture}>:--arch;${architecture}>" ${path}
    COMMENT "Compiling ${name} for the emulator" COMMAND_EXPAND_LISTS VERBATIM)
  set_source_files_properties(${path} PROPERTIES HEADER_FILE_ONLY ON)  # if CUDA is enabled, too
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_sources(${target} PRIVATE ${object})
  target_link_libraries(${target} PRIVATE bankwise::emulated_program)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  set(${result} ${object} PARENT_SCOPE)
endfunction()

# The part of bankwise_emulate() that a library of kernels needs.
function(bankwise_emulated_sources target)
  # The shims replace <cuda_runtime.h> and other CUDA headers; only these sources may include them.
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS ${BANKWISE_EMULATE_OPTIONS})
  set_property(SOURCE ${ARGN} APPEND PROPERTY INCLUDE_DIRECTORIES ${BANKWISE_CUDA_SHIMS})
  set_property(SOURCE ${ARGN} PROPERTY SKIP_PRECOMPILE_HEADERS ON)  # they were compiled with other flags
  target_link_libraries(${target} PRIVATE bankwise::emulator bankwise::report)
endfunction()

# bankwise_emulated_kernels(<target> NAME <name> PREFIX <prefix> DIRECTORY <dir> [TOGETHER])
#
# Adds every .cuh of the directory to <target> as the emulator::NamedKernels <name>_emulated. A kernel file with a line
# "// Not emulated: <reason>" is only listed with its reason, like all without an emulator. TOGETHER: as there.
function(bankwise_emulated_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TOGETHER" "NAME;PREFIX;DIRECTORY" "")
  file(GLOB kernels CONFIGURE_DEPENDS ${arg_DIRECTORY}/*.cuh)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_emulated)
  set(sources "")
  set(why_none "")
  if(NOT BANKWISE_HAVE_EMULATOR)
    set(why_none "this build has no emulator: ${why_emulator}")
  elseif(arg_TOGETHER AND kernels)
    set(sources ${out}/${arg_NAME}_kernels.cpp)
  else()
    list(TRANSFORM kernels REPLACE "^.*/(.*)\\.cuh$" "${out}/\\1.cpp" OUTPUT_VARIABLE sources)
  endif()
  add_custom_command(
    OUTPUT ${out}/list.cpp ${sources}
    COMMAND bankwise::embed_kernels emulated ${arg_NAME} "${arg_PREFIX}" ${out} $<BOOL:${arg_TOGETHER}> "${why_none}"
            ${kernels}
    DEPENDS bankwise::embed_kernels ${kernels}
    COMMENT "Listing the emulated kernels of ${arg_NAME}" VERBATIM)
  target_sources(${target} PRIVATE ${out}/list.cpp ${sources})
  if(sources)
    bankwise_emulated_sources(${target} ${sources})
  endif()
endfunction()
