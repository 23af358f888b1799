# Finds the dependencies; downloads nothing. A missing required dependency ends the configuration. A missing optional
# one disables its part, and bankwise_summary() prints the reason, one line per part.

find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)

# A wheel brings what few machines have: fmt as headers, the others as static libraries.
set(capstone capstone)
if(BANKWISE_PYTHON)
  add_compile_definitions(FMT_HEADER_ONLY)
  set(Boost_USE_STATIC_LIBS ON)
  set(capstone libcapstone.a)
endif()

# bankwise_part(<part> <why> <text> [<obstacle> <reason>]...)
#
# Sets BANKWISE_HAVE_<part> to whether no obstacle, a condition of if(), holds. Appends the text to <why>, or the
# reason of the first obstacle that holds.
function(bankwise_part part why text)
  set(have ON)
  while(have AND ARGN)
    list(POP_FRONT ARGN obstacle reason)
    separate_arguments(obstacle UNIX_COMMAND "${obstacle}")
    if(${obstacle})
      set(have OFF)
      set(text "${reason}")
    endif()
  endwhile()
  set(BANKWISE_HAVE_${part} ${have} PARENT_SCOPE)
  set(${why} "${${why}}${text}" PARENT_SCOPE)
endfunction()

set(BANKWISE_HAVE_CUDA OFF)
set(why_cuda "off by BANKWISE_CUDA")
if(BANKWISE_CUDA)
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    # Build for the GPU of this machine. Without a GPU, build for one architecture, including PTX for newer GPUs.
    set(for_a_gpu ON)
    set(for_whom "")
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
      find_program(BANKWISE_NVIDIA_SMI nvidia-smi)
      mark_as_advanced(BANKWISE_NVIDIA_SMI)
      set(gpu "")
      if(BANKWISE_NVIDIA_SMI)
        execute_process(COMMAND ${BANKWISE_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader TIMEOUT 20
                        OUTPUT_VARIABLE gpu ERROR_QUIET)
      endif()
      if(gpu MATCHES "^[0-9]+\\.[0-9]+")
        set(CMAKE_CUDA_ARCHITECTURES native CACHE STRING "GPUs to build for")
      else()
        set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPUs to build for")
        set(for_a_gpu OFF)
      endif()
    endif()
    option(BANKWISE_CUDA_REPEATED "Also build the repeated form of the CUDA kernels, for --scope block" ${for_a_gpu})
    option(BANKWISE_CUDA_TESTS "Also build the tests that need an NVIDIA GPU" ${for_a_gpu})
    if(BANKWISE_CCCL_DIR)
      set(for_a_gpu ON)
    endif()
    option(BANKWISE_CUDA_LIBRARIES "Also build the rows of CUB and cuBLAS" ${for_a_gpu})
    if(NOT BANKWISE_CUDA_REPEATED)
      set(for_whom ", without --scope block; to build more: -D CMAKE_CUDA_ARCHITECTURES=all-major -D BANKWISE_CUDA_REPEATED=ON")
    endif()
    enable_language(CUDA)
    include(BankwiseCuda)
    bankwise_find_cuda_toolkit()
    set(BANKWISE_HAVE_CUDA ON)
    set(why_cuda "nvcc ${CMAKE_CUDA_COMPILER_VERSION} for ${CMAKE_CUDA_ARCHITECTURES}${for_whom}")
  else()
    set(why_cuda "off: no nvcc on the PATH, in CUDACXX or in CUDA_PATH")
  endif()
endif()

# The library rows use the CUDA Toolkit's CUB, or that of a newer CCCL. No other code is compiled with it.
set(BANKWISE_CCCL_INCLUDE "")
set(why_libraries "off: no CUDA")
if(BANKWISE_HAVE_CUDA AND NOT BANKWISE_CUDA_LIBRARIES)
  set(why_libraries "off by BANKWISE_CUDA_LIBRARIES, which is OFF by default if no GPU is found")
elseif(BANKWISE_HAVE_CUDA)
  set(why_libraries "the CUDA Toolkit's CUB and cuBLAS")
  if(BANKWISE_CCCL_DIR)
    bankwise_find_cccl(${BANKWISE_CCCL_DIR} BANKWISE_CCCL_INCLUDE cub_version why_no_cub)
    if(why_no_cub)
      message(FATAL_ERROR "${why_no_cub}")
    endif()
    set(why_libraries "CUB ${cub_version} from ${BANKWISE_CCCL_DIR}, the CUDA Toolkit's cuBLAS")
  endif()
endif()

# Hardware counters use CUPTI's range profiler, available since CUDA 12.6. Only its headers are needed.
if(TARGET CUDA::cupti)
  get_target_property(BANKWISE_CUPTI_INCLUDE CUDA::cupti INTERFACE_INCLUDE_DIRECTORIES)
  get_target_property(BANKWISE_CUPTI_LIBRARY CUDA::cupti IMPORTED_LOCATION)
  foreach(directory IN LISTS BANKWISE_CUPTI_INCLUDE)
    if(EXISTS ${directory}/cupti_range_profiler.h)
      set(has_range_profiler ON)
    endif()
  endforeach()
endif()
bankwise_part(CUPTI why_counters "CUPTI ${BANKWISE_CUPTI_LIBRARY}"
  "NOT BANKWISE_HAVE_CUDA" "off: no CUDA"
  "NOT has_range_profiler" "off: no CUPTI of CUDA 12.6 or newer in the CUDA Toolkit (NVIDIA: cuda-cupti-dev)")

if(BANKWISE_OPENCL)
  find_package(OpenCL QUIET)
  find_path(BANKWISE_OPENCL_HPP CL/opencl.hpp)
  mark_as_advanced(BANKWISE_OPENCL_HPP)
endif()
bankwise_part(OPENCL why_opencl "loader ${OpenCL_LIBRARY}"
  "NOT BANKWISE_OPENCL" "off by BANKWISE_OPENCL"
  "NOT OpenCL_FOUND" "off: no ICD loader or headers (Debian: ocl-icd-opencl-dev)"
  "NOT BANKWISE_OPENCL_HPP" "off: no CL/opencl.hpp (Debian: opencl-clhpp-headers)")

# Several ranks: MPI starts them, and NCCL exchanges the data of CUDA devices. Of NCCL, only the header is needed here.
if(BANKWISE_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
endif()
bankwise_part(MPI why_ranks "MPI ${MPI_CXX_VERSION} ${MPIEXEC_EXECUTABLE}"
  "NOT BANKWISE_MPI" "off by BANKWISE_MPI"
  "NOT MPI_CXX_FOUND" "off: no MPI (Debian: openmpi-bin libopenmpi-dev)")
set(BANKWISE_HAVE_NCCL OFF)
if(BANKWISE_HAVE_MPI AND BANKWISE_HAVE_CUDA)
  find_path(BANKWISE_NCCL_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
  mark_as_advanced(BANKWISE_NCCL_INCLUDE)
  bankwise_part(NCCL why_ranks ", NCCL's header ${BANKWISE_NCCL_INCLUDE}"
    "NOT BANKWISE_NCCL_INCLUDE" ", without NCCL: no nccl.h (NVIDIA: libnccl-dev)")
endif()

set(why_bankcheck "predict, report")

# bankcheck opencl needs Oclgrind's headers for its plugin, and OpenCL's headers, which Oclgrind's include.
find_path(BANKWISE_OCLGRIND_INCLUDE oclgrind/Plugin.h)
find_path(BANKWISE_CL_INCLUDE CL/cl.h)
mark_as_advanced(BANKWISE_OCLGRIND_INCLUDE BANKWISE_CL_INCLUDE)
bankwise_part(OCLGRIND why_bankcheck ", Oclgrind"
  "NOT BANKWISE_OCLGRIND_INCLUDE OR NOT BANKWISE_CL_INCLUDE"
  ", without opencl: no headers of Oclgrind (Debian: liboclgrind-dev oclgrind)"
  "CMAKE_CXX_FLAGS MATCHES -fsanitize" ", without opencl: Oclgrind cannot load a plugin built with a sanitizer")

# bankcheck cuda: the headers of NVIDIA's Compute Sanitizer API, from the toolkit or from PyPI's
# nvidia-cuda-sanitizer-api. The library is loaded when it is needed.
if(BANKWISE_HAVE_CUDA)
  file(GLOB toolkits /usr/local/cuda /usr/local/cuda-*)
  set(sanitizer_places "")
  foreach(toolkit IN LISTS CUDAToolkit_LIBRARY_ROOT CUDAToolkit_TARGET_DIR toolkits)
    list(APPEND sanitizer_places ${toolkit}/compute-sanitizer/include ${toolkit}/extras/compute-sanitizer/include
                                 ${toolkit}/extras/Sanitizer/include)
  endforeach()
  find_path(BANKWISE_SANITIZER_INCLUDE sanitizer.h HINTS ${CUDAToolkit_BIN_DIR}/../compute-sanitizer/include
            PATHS ${sanitizer_places} DOC "folder of sanitizer.h, of NVIDIA's Compute Sanitizer API")
  mark_as_advanced(BANKWISE_SANITIZER_INCLUDE)
endif()
bankwise_part(SANITIZER why_bankcheck ", Compute Sanitizer headers ${BANKWISE_SANITIZER_INCLUDE}"
  "NOT BANKWISE_HAVE_CUDA" ", without cuda: no CUDA"
  "NOT BANKWISE_SANITIZER_INCLUDE" ", without cuda: no sanitizer.h (NVIDIA: cuda-sanitizer, or PyPI: \
nvidia-cuda-sanitizer-api with -D BANKWISE_SANITIZER_INCLUDE=DIR)"
  "CMAKE_CXX_FLAGS MATCHES -fsanitize" ", without cuda: CUDA programs cannot load a library built with a sanitizer")

# bankcheck cuda --time: only the headers of CUPTI.
bankwise_part(TIMING why_bankcheck ""
  "NOT BANKWISE_HAVE_SANITIZER" ""
  "NOT BANKWISE_CUPTI_INCLUDE" ", without cuda --time: no CUPTI in the CUDA Toolkit (NVIDIA: cuda-cupti-dev)")

# Packages contain bankcheck cuda, but no code of NVIDIA: the case studies link the CUDA runtime.
if(BANKWISE_HAVE_CUDA AND NOT BANKWISE_CUDA_STUDIES)
  set(BANKWISE_HAVE_CUDA OFF)
  foreach(part IN ITEMS cuda libraries counters)
    set(why_${part} "off by BANKWISE_CUDA_STUDIES")
  endforeach()
endif()

# The emulator needs the instrumentation of g++, and the signals and ELF symbols of x86-64 Linux.
bankwise_part(EMULATOR why_emulator ""
  "NOT BANKWISE_EMULATOR" "off by BANKWISE_EMULATOR"
  "NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12" "off: it needs g++ 12 or newer"
  "CMAKE_CXX_FLAGS MATCHES -fsanitize" "off: its instrumentation cannot be combined with a sanitizer"
  "NOT CMAKE_SYSTEM_NAME STREQUAL Linux OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES x86_64|AMD64"
  "off: it needs Linux on x86-64")
if(BANKWISE_HAVE_EMULATOR)
  find_package(Boost QUIET CONFIG COMPONENTS context)
  bankwise_part(BOOST_CONTEXT why_emulator "Boost.Context ${Boost_VERSION_STRING}"
    "NOT Boost_CONTEXT_FOUND" "without Boost.Context, which only sanitizers need (Debian: libboost-context-dev)")
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_LIBRARIES backtrace)  # part of g++
  check_cxx_source_compiles("#include <backtrace.h>
    int main() { return backtrace_create_state(nullptr, 0, nullptr, nullptr) == nullptr; }" BANKWISE_HAVE_BACKTRACE)
  unset(CMAKE_REQUIRED_LIBRARIES)
  find_library(BANKWISE_CAPSTONE_LIBRARY ${capstone})
  find_path(BANKWISE_CAPSTONE_INCLUDE capstone/capstone.h)
  mark_as_advanced(BANKWISE_CAPSTONE_LIBRARY BANKWISE_CAPSTONE_INCLUDE)
  bankwise_part(CAPSTONE why_emulator "" "NOT BANKWISE_CAPSTONE_LIBRARY OR NOT BANKWISE_CAPSTONE_INCLUDE"
                ", without loop detection: no Capstone (Debian: libcapstone-dev)")
  if(NOT BANKWISE_HAVE_BACKTRACE)
    string(APPEND why_emulator ", without source lines: no libbacktrace")
  endif()
endif()

function(bankwise_summary)
  set(why_tests "Catch2 ${Catch2_VERSION}")
  if(NOT BANKWISE_TESTS)
    set(why_tests "off by BANKWISE_TESTS")
  endif()
  set(why_explorer ${BANKWISE_EMCXX})
  if(NOT BANKWISE_EMCXX)
    set(why_explorer "off: no em++ (Debian: emscripten)")
  elseif(NOT BANKWISE_HAVE_EXPLORER)
    set(why_explorer "off: no python3, or no headers of fmt or nlohmann-json")
  endif()
  message(STATUS "bankwise ${PROJECT_VERSION}")
  foreach(part IN ITEMS CUDA libraries counters OpenCL ranks bankcheck emulator explorer tests)
    string(TOLOWER why_${part} why)
    string(SUBSTRING "${part}         " 0 10 name)
    message(STATUS "  ${name} ${${why}}")
  endforeach()
endfunction()
