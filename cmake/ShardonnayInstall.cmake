# The C++ SDK: `cmake --install build --component sdk --prefix P` writes headers, generated headers, static libraries, the C
# library and the package file, so that find_package(Shardonnay) finds them under P; `--component tools` the tools.
# test/sdk/consumer uses it.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(SHARDONNAY_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Shardonnay)

# Generators and tests are the project's own.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/shardonnay ${CMAKE_BINARY_DIR}/shardonnay DESTINATION include COMPONENT sdk
        FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "*.td" PATTERN "*.inc"
        PATTERN "test" EXCLUDE PATTERN "CMakeFiles" EXCLUDE PATTERN "*Testing.h" EXCLUDE PATTERN "Generators.h" EXCLUDE)

get_property(libraries GLOBAL PROPERTY SHARDONNAY_LIBRARIES)
install(TARGETS ${libraries} shardonnay-c EXPORT ShardonnayTargets COMPONENT sdk)
install(EXPORT ShardonnayTargets NAMESPACE Shardonnay:: DESTINATION ${SHARDONNAY_PACKAGE_DIR} COMPONENT sdk)

configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/ShardonnayConfig.cmake.in
                              ${CMAKE_BINARY_DIR}/ShardonnayConfig.cmake INSTALL_DESTINATION ${SHARDONNAY_PACKAGE_DIR})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/ShardonnayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/ShardonnayConfig.cmake ${CMAKE_BINARY_DIR}/ShardonnayConfigVersion.cmake
              ${CMAKE_SOURCE_DIR}/cmake/ShardonnayMLIR.cmake
        DESTINATION ${SHARDONNAY_PACKAGE_DIR} COMPONENT sdk)

install(TARGETS sdy-opt sdy-lsp-server sdy-reduce COMPONENT tools)
