# find_package(CUDAToolkit), also with CMake 3.25 and CUDA 13. For projects that require CMake 3.25, its module sets a
# property of CUDA::nvToolsExt, which CUDA 13 does not have. Also installed.
set(bankwise_minimum ${CMAKE_MINIMUM_REQUIRED_VERSION})
set(CMAKE_MINIMUM_REQUIRED_VERSION 3.24)
find_package(CUDAToolkit 12 REQUIRED)
set(CMAKE_MINIMUM_REQUIRED_VERSION ${bankwise_minimum})
unset(bankwise_minimum)
