# From kernel files to a program. Also installed: a project that finds bankwise writes case studies of its own with it.

if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 does not know that nvcc 12 and newer have it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()

# bankwise_kernels(<target> NAME <name> PREFIX <prefix> [LIBRARY_NEEDS <targets>] [DIRECTORY <dir>] [TOGETHER])
#
# Adds to <target> every .cl and .cuh of the directory (the current one by default) as the gpu::KernelSet
# <name>_kernels: OpenCL sources as bytes, CUDA kernels compiled. A library.cu is compiled too, where CUDA and the
# targets of LIBRARY_NEEDS are there, and becomes the set's library.
#
# Each .cuh is compiled in a source of its own, so that names of constants and helper functions may come again in
# another. TOGETHER includes all of them in one source, which nvcc compiles several times faster; then no two files may
# define the same name ("... has already been declared", says nvcc otherwise).
#
# Where BANKWISE_CUDA_REPEATED is off, the form of the kernels that --scope block runs is left out.
function(bankwise_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TOGETHER" "NAME;PREFIX;DIRECTORY" "LIBRARY_NEEDS")
  if(NOT arg_DIRECTORY)
    set(arg_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  file(GLOB kernels CONFIGURE_DEPENDS ${arg_DIRECTORY}/*.cl ${arg_DIRECTORY}/*.cuh)

  set(library OFF)
  if(BANKWISE_HAVE_CUDA AND EXISTS ${arg_DIRECTORY}/library.cu)
    set(library ON)
    foreach(need IN LISTS arg_LIBRARY_NEEDS)
      if(NOT TARGET ${need})
        set(library OFF)
      endif()
    endforeach()
  endif()

  set(out ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_kernels)
  set(generated ${out}/${arg_NAME}_kernels.cpp)
  set(forms 0)
  if(BANKWISE_HAVE_CUDA)
    set(forms 1)
    set(endings .cu)
    if(BANKWISE_CUDA_REPEATED)
      set(forms 2)
      list(APPEND endings _repeated.cu)
    endif()
    set(stems ${kernels})
    list(FILTER stems INCLUDE REGEX "\\.cuh$")
    list(TRANSFORM stems REPLACE "^.*/(.*)\\.cuh$" "\\1")
    if(arg_TOGETHER AND stems)
      set(stems ${arg_NAME}_kernels)
    endif()
    foreach(ending IN LISTS endings)
      list(TRANSFORM stems APPEND ${ending} OUTPUT_VARIABLE sources)
      list(TRANSFORM sources PREPEND ${out}/)
      list(APPEND generated ${sources})
    endforeach()
    set_source_files_properties(${generated} PROPERTIES COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>")
  endif()
  add_custom_command(
    OUTPUT ${generated}
    COMMAND bankwise::embed_kernels ${arg_NAME} "${arg_PREFIX}" ${out} ${forms} $<BOOL:${arg_TOGETHER}>
            $<BOOL:${library}> ${kernels}
    DEPENDS bankwise::embed_kernels ${kernels}
    COMMENT "Embedding the kernels of ${arg_NAME}" VERBATIM)
  target_sources(${target} PRIVATE ${generated})
  if(library)
    target_sources(${target} PRIVATE ${arg_DIRECTORY}/library.cu)
    # As -I and not as -isystem: it must come ahead of the CUDA Toolkit's own. The kernels keep the Toolkit's.
    set_source_files_properties(${arg_DIRECTORY}/library.cu PROPERTIES INCLUDE_DIRECTORIES "${BANKWISE_CCCL_INCLUDE}")
    set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
    target_link_libraries(${target} PRIVATE CUDA::cudart_static ${arg_LIBRARY_NEEDS})
  endif()
endfunction()

# bankwise_read_case_studies(<file> <list>)
#
# Reads a list of case studies (cmake/case_studies.txt describes it): <list> are their names, and <name>_prefix and
# <name>_library_needs what stands beside each.
function(bankwise_read_case_studies file list)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} lines REGEX "^[^#]")
  set(names)
  foreach(line IN LISTS lines)
    separate_arguments(fields UNIX_COMMAND "${line}")
    list(POP_FRONT fields name prefix)
    if(NOT prefix)
      message(FATAL_ERROR "${file}: '${line}' has no prefix")
    endif()
    list(APPEND names ${name})
    set(${name}_prefix ${prefix} PARENT_SCOPE)
    set(${name}_library_needs ${fields} PARENT_SCOPE)
  endforeach()
  set(${list} ${names} PARENT_SCOPE)
endfunction()

# bankwise_case_study(<name> PREFIX <prefix> [LIBRARY_NEEDS <targets>] [DIRECTORY <dir>] [TOGETHER] [INSTALL])
#
# The program <name> from the folder <name>: <name>.hpp and .cpp define bankwise::<name>::case_study(), the kernels lie
# beside them. The main program is bankwise::run(), or the folder's own main.cpp. Also the library <name>_case, every other
# .cpp of the folder, for tests. TOGETHER as in bankwise_kernels().
function(bankwise_case_study name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TOGETHER;INSTALL" "PREFIX;DIRECTORY" "LIBRARY_NEEDS")
  if(NOT arg_DIRECTORY)
    set(arg_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  endif()
  set(case ${name}_case)
  file(GLOB sources CONFIGURE_DEPENDS ${arg_DIRECTORY}/*.cpp)
  set(main ${arg_DIRECTORY}/main.cpp)
  list(REMOVE_ITEM sources ${main})
  add_library(${case} STATIC ${sources})
  target_include_directories(${case} PUBLIC ${arg_DIRECTORY})
  target_link_libraries(${case} PUBLIC bankwise::runner)
  if(EXISTS ${main})  # it is made of what the runner is made of
    target_link_libraries(${case} PUBLIC bankwise::bench bankwise::report nlohmann_json::nlohmann_json)
  else()
    set(main ${CMAKE_CURRENT_BINARY_DIR}/${name}_kernels/main.cpp)
    file(CONFIGURE OUTPUT ${main} CONTENT [[
#include <bankwise/run.hpp>

#include "@name@.hpp"

int main(int argc, char** argv) { return bankwise::run(bankwise::@name@::case_study(), argc, argv); }
]] @ONLY)
  endif()
  if(TARGET bankwise_warnings)
    target_link_libraries(${case} PRIVATE bankwise_warnings)
  endif()
  set(together)
  if(arg_TOGETHER)
    set(together TOGETHER)
  endif()
  bankwise_kernels(${case} NAME ${name} PREFIX ${arg_PREFIX} DIRECTORY ${arg_DIRECTORY}
                   LIBRARY_NEEDS ${arg_LIBRARY_NEEDS} ${together})
  bankwise_emulated_kernels(${case} NAME ${name} PREFIX ${arg_PREFIX} DIRECTORY ${arg_DIRECTORY} ${together})

  add_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE ${case})

  if(arg_INSTALL)
    install(TARGETS ${name})
    install(DIRECTORY ${arg_DIRECTORY}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bankwise/${name}
            FILES_MATCHING PATTERN "*.cl" PATTERN "*.cuh" PATTERN "README.md")
  endif()
endfunction()
