# Builds programs from kernel files. Installed with the package: other projects build their case studies with it.

if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25.1 does not know this option of nvcc 12 and newer
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
endif()

# bankwise_kernels(<target> NAME <name> PREFIX <prefix> [LIBRARY_NEEDS <targets>] [DIRECTORY <dir>] [TOGETHER])
#
# Adds every .cl and .cuh of the directory (by default the current one) to <target> as the gpu::KernelSet
# <name>_kernels: OpenCL sources as bytes, CUDA kernels compiled. <name>_shapes.hpp declares it, and has the block of
# each kernel, as its Contract states it; the build fails if the kernel's attributes differ from its Contract, or the
# .cl from the .cuh. A file with a line "// Kernels: a, b" has several kernels; otherwise its name is its kernel's. If
# CUDA and the targets of LIBRARY_NEEDS exist, and BANKWISE_CUDA_LIBRARIES is ON, library.cu becomes the set's library.
#
# Each .cuh is compiled in a separate source, so that several files may define constants and helper functions of the
# same name. TOGETHER includes all of them in one source, which nvcc compiles several times faster; then no two files
# may define the same name (nvcc's error: "... has already been declared").
#
# If BANKWISE_CUDA_REPEATED is OFF, the repeated form of the kernels, which --scope block runs, is not built.
function(bankwise_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TOGETHER" "NAME;PREFIX;DIRECTORY" "LIBRARY_NEEDS")
  if(NOT arg_DIRECTORY)
    set(arg_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  file(GLOB kernels CONFIGURE_DEPENDS ${arg_DIRECTORY}/*.cl ${arg_DIRECTORY}/*.cuh)

  set(library OFF)
  if(BANKWISE_HAVE_CUDA AND BANKWISE_CUDA_LIBRARIES AND EXISTS ${arg_DIRECTORY}/library.cu)
    set(library ON)
    foreach(need IN LISTS arg_LIBRARY_NEEDS)
      if(NOT TARGET ${need})
        set(library OFF)
      endif()
    endforeach()
  endif()

  set(out ${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}_kernels)
  set(generated ${out}/${arg_NAME}_kernels.cpp ${out}/${arg_NAME}_shapes.hpp)
  set(endings "")
  if(BANKWISE_HAVE_CUDA)
    set(endings .cu)
    if(BANKWISE_CUDA_REPEATED)
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
  list(LENGTH endings forms)
  add_custom_command(
    OUTPUT ${generated}
    COMMAND bankwise::embed_kernels ${arg_NAME} "${arg_PREFIX}" ${out} ${forms} $<BOOL:${arg_TOGETHER}>
            $<BOOL:${library}> ${kernels}
    DEPENDS bankwise::embed_kernels ${kernels}
    COMMENT "Embedding the kernels of ${arg_NAME}" VERBATIM)
  target_sources(${target} PRIVATE ${generated})
  target_include_directories(${target} PRIVATE ${out})
  if(library)
    target_sources(${target} PRIVATE ${arg_DIRECTORY}/library.cu)
    # With -I and not with -isystem, so that it precedes the CUDA Toolkit's own CCCL. The kernels use the Toolkit's.
    set_source_files_properties(${arg_DIRECTORY}/library.cu PROPERTIES INCLUDE_DIRECTORIES "${BANKWISE_CCCL_INCLUDE}")
    set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
    target_link_libraries(${target} PRIVATE CUDA::cudart_static ${arg_LIBRARY_NEEDS})
  endif()
endfunction()

# bankwise_study_value(<result> <directory> <key>...)
#
# Sets <result> to what the study.json of a directory has for a key, or for a key of the object under a key: a string,
# the elements of an array, or the keys of an object; empty if it has nothing. See docs/adding_a_variant.md.
function(bankwise_study_value result directory)
  set(${result} "" PARENT_SCOPE)
  if(NOT EXISTS ${directory}/study.json)
    return()
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${directory}/study.json)
  file(READ ${directory}/study.json text)
  string(JSON value ERROR_VARIABLE missing GET "${text}" ${ARGN})
  if(missing)
    return()
  endif()
  string(JSON type TYPE "${text}" ${ARGN})
  if(type MATCHES "OBJECT|ARRAY")
    string(JSON count LENGTH "${text}" ${ARGN})
    set(value "")
    set(i 0)
    while(i LESS count)
      if(type STREQUAL OBJECT)
        string(JSON element MEMBER "${text}" ${ARGN} ${i})
      else()
        string(JSON element GET "${text}" ${ARGN} ${i})
      endif()
      list(APPEND value ${element})
      math(EXPR i "${i} + 1")
    endwhile()
  endif()
  set(${result} ${value} PARENT_SCOPE)
endfunction()

# bankwise_case_studies(<file> <names> [INSTALL])
#
# Builds the case studies of a list: one folder of this repository per line, whose last part is the name. Appends the
# names to <names>, and sets <name>_folder.
function(bankwise_case_studies file names)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} folders REGEX "^[^#]")
  foreach(folder IN LISTS folders)
    cmake_path(GET folder FILENAME name)
    bankwise_case_study(${name} DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} TOGETHER ${ARGN})
    list(APPEND ${names} ${name})
    set(${name}_folder ${folder} PARENT_SCOPE)
  endforeach()
  set(${names} ${${names}} PARENT_SCOPE)
endfunction()

# bankwise_case_study(<name> [PREFIX <prefix>] [LIBRARY_NEEDS <targets>] [DIRECTORY <dir>] [TOGETHER] [INSTALL])
#
# Builds the program <name> from the directory <name>: <name>.cpp defines bankwise::<name>::case_study(), and the
# kernels are in the same directory. The main program is the directory's main.cpp, or bankwise::run() by default. A
# directory with a directory `ranks` also runs on several ranks: ranks/ranks.cpp defines a RankStudy, and ranks/*.cuh
# and ranks/*.cl are its kernels, with the prefix <prefix>ranks_. What kernels share may be in a parts.hpp. Also builds
# the library <name>_case from every other .cpp of the directory, for tests. PREFIX and LIBRARY_NEEDS are by default
# study.json's kernel_prefix and library_needs. TOGETHER as in bankwise_kernels().
function(bankwise_case_study name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TOGETHER;INSTALL" "PREFIX;DIRECTORY" "LIBRARY_NEEDS")
  if(NOT arg_DIRECTORY)
    set(arg_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  endif()
  if(NOT arg_PREFIX)
    bankwise_study_value(arg_PREFIX ${arg_DIRECTORY} kernel_prefix)
  endif()
  if(NOT arg_LIBRARY_NEEDS)
    bankwise_study_value(arg_LIBRARY_NEEDS ${arg_DIRECTORY} library_needs)
  endif()
  set(case ${name}_case)
  set(main ${arg_DIRECTORY}/main.cpp)
  file(GLOB sources CONFIGURE_DEPENDS ${arg_DIRECTORY}/*.cpp ${arg_DIRECTORY}/ranks/*.cpp)
  list(REMOVE_ITEM sources ${main})
  add_library(${case} STATIC ${sources})
  target_include_directories(${case} PUBLIC ${arg_DIRECTORY})
  target_link_libraries(${case} PUBLIC bankwise::runner)
  # References round each operation separately, also on processors with fused multiply-add.
  target_compile_options(${case} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
  if(EXISTS ${main})  # such a program uses the libraries of the runner directly
    target_link_libraries(${case} PUBLIC bankwise::bench bankwise::case_report nlohmann_json::nlohmann_json)
  else()
    set(main ${CMAKE_CURRENT_BINARY_DIR}/${name}_kernels/main.cpp)
    file(CONFIGURE OUTPUT ${main} CONTENT [[
#include <bankwise/run.hpp>

namespace bankwise::@name@ {
const study::CaseStudy& case_study();
}

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
  if(EXISTS ${arg_DIRECTORY}/ranks)
    set(of_ranks NAME ${name}_ranks PREFIX ${arg_PREFIX}ranks_ DIRECTORY ${arg_DIRECTORY}/ranks ${together})
    bankwise_kernels(${case} ${of_ranks})
    bankwise_emulated_kernels(${case} ${of_ranks})
  endif()

  add_executable(${name} ${main})
  target_link_libraries(${name} PRIVATE ${case})

  if(arg_INSTALL)
    install(TARGETS ${name})
    install(DIRECTORY ${arg_DIRECTORY}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bankwise/${name}
            FILES_MATCHING PATTERN "*.cl" PATTERN "*.cuh" PATTERN "parts.hpp" PATTERN "README.md")
  endif()
endfunction()
