# Finds what CUDA comes with. Also installed.

# bankwise_find_cuda_toolkit()
#
# find_package(CUDAToolkit), also with CMake 3.25 and CUDA 13. For projects that require CMake 3.25, its module sets a
# property of CUDA::nvToolsExt, which CUDA 13 does not have.
macro(bankwise_find_cuda_toolkit)
  set(bankwise_minimum ${CMAKE_MINIMUM_REQUIRED_VERSION})
  set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
  find_package(CUDAToolkit 12 REQUIRED)
  set(CMAKE_MINIMUM_REQUIRED_VERSION ${bankwise_minimum})
  unset(bankwise_minimum)
endmacro()

# bankwise_find_cccl(<dir> <includes> <version> <why not>)
#
# Finds the CCCL (CUB, Thrust, libcu++) in <dir>: a checkout of github.com/NVIDIA/cccl, or an install prefix. Sets the
# variables named by the last three arguments: the include directories, CUB's version ("3.5.0"), and an error, or "".
function(bankwise_find_cccl dir includes version why_not)
  cmake_path(ABSOLUTE_PATH dir NORMALIZE)
  foreach(folders IN ITEMS "cub;thrust;libcudacxx/include" "include" "include/cccl" ".")  # the first is a checkout
    list(TRANSFORM folders PREPEND ${dir}/)
    list(GET folders 0 cub)
    if(EXISTS ${cub}/cub/version.cuh)
      file(STRINGS ${cub}/cub/version.cuh line REGEX "^#define CUB_VERSION [0-9]+")
      string(REGEX MATCH "CUB_VERSION ([0-9]+)" line "${line}")
      set(number ${CMAKE_MATCH_1})
      set(found ${folders})
      break()
    endif()
  endforeach()
  if(NOT number)
    set(${why_not} "BANKWISE_CCCL_DIR: no CUB in ${dir}; give a checkout of CCCL, or its install prefix"
        PARENT_SCOPE)
    return()
  endif()
  math(EXPR major "${number} / 100000")
  math(EXPR minor "${number} / 100 % 1000")
  math(EXPR patch "${number} % 100")
  set(${includes} ${found} PARENT_SCOPE)
  set(${version} ${major}.${minor}.${patch} PARENT_SCOPE)
  set(${why_not} "" PARENT_SCOPE)
endfunction()
