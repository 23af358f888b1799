# The files that `cmake --install` installs: programs, kernel files (share/bankwise/<case>), headers, libraries, and the
# CMake package.
include(CMakePackageConfigHelpers)

# bankwise_room() installs the libraries and public headers.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/bankwise)
install(EXPORT bankwise NAMESPACE bankwise:: DESTINATION ${package} FILE bankwiseTargets.cmake)
configure_package_config_file(cmake/bankwiseConfig.cmake.in bankwiseConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(bankwiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bankwiseConfig.cmake ${PROJECT_BINARY_DIR}/bankwiseConfigVersion.cmake
              cmake/BankwiseCaseStudy.cmake cmake/BankwiseCudaToolkit.cmake cmake/BankwiseEmulate.cmake
              cmake/DefineDynamicShared.cmake
              cmake/shared_arrays.ld DESTINATION ${package})
install(FILES LICENSE LICENSE-kernels DESTINATION ${CMAKE_INSTALL_DOCDIR})
