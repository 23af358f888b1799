# `cpack` makes a Debian package and a tarball of what `cmake --install` installs; see docs/releasing.md.
set(CPACK_PACKAGE_NAME bankwise)
set(CPACK_PACKAGE_VENDOR "The bankwise authors")
set(CPACK_PACKAGE_CONTACT "The bankwise authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "bankcheck runs CUDA, HIP and OpenCL programs on the CPU, reports the bank conflicts
in shared memory and the extra sectors in global memory by source line, and
proposes the padding or swizzle that removes them.")
# `bankcheck emulate` builds programs, with g++ and these libraries; `bankcheck opencl` runs them under Oclgrind.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "g++ (>= 4:12), binutils, libfmt-dev, libboost-context-dev, libcapstone-dev, oclgrind, ocl-icd-libopencl1")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS  # all but PoCL: for find_package(bankwise)
    "libcli11-dev, nlohmann-json3-dev, ocl-icd-opencl-dev, cmake (>= 3.25), pocl-opencl-icd")
include(CPack)
