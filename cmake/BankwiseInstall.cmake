# What `cmake --install` lays down: programs, kernel files (share/bankwise/<case>), headers, libraries, package config.
include(CMakePackageConfigHelpers)

# The rooms install their libraries and public headers themselves (bankwise_room()).
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/bankwise)
install(EXPORT bankwise NAMESPACE bankwise:: DESTINATION ${package} FILE bankwiseTargets.cmake)
configure_package_config_file(cmake/bankwiseConfig.cmake.in bankwiseConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(bankwiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bankwiseConfig.cmake ${PROJECT_BINARY_DIR}/bankwiseConfigVersion.cmake
              cmake/BankwiseCaseStudy.cmake cmake/BankwiseEmulate.cmake cmake/DefineDynamicShared.cmake
              cmake/shared_arrays.ld DESTINATION ${package})
install(FILES LICENSE LICENSE-kernels DESTINATION ${CMAKE_INSTALL_DOCDIR})
