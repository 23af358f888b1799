vcpkg_from_github(
    OUT_SOURCE_PATH SOURCE_PATH
    REPO OWNER/bankwise
    REF "v${VERSION}"
    SHA512 0
    HEAD_REF main)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS -DBANKWISE_TESTS=OFF -DBANKWISE_CUDA=OFF -DBANKWISE_OPENCL=OFF -DBANKWISE_MPI=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/bankwise)
vcpkg_copy_tools(TOOL_NAMES access_patterns bankcheck prefix_sum reduction transpose AUTO_CLEAN)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/LICENSE-kernels" "${SOURCE_PATH}/LICENSE-third-party")
