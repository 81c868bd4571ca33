# How this project builds: one static library a folder, fully static MLIR, ccache with hits across clones, lld.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths relative to the clone, so that a second clone finds the first one's objects.
  foreach(lang C CXX)
    set(CMAKE_${lang}_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
        CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=time_macros,include_file_mtime,include_file_ctime
        ${CCACHE_PROGRAM})
  endforeach()
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter
                    -ffunction-sections -fdata-sections
                    -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
add_link_options(-fuse-ld=lld -Wl,--gc-sections -Wl,--exclude-libs,ALL)

# The static archives of MLIR and of the part of LLVM that it needs. Naming the files, not the CMake targets, keeps
# libLLVM.so out (Debian's targets would pull it in): tools start in 3 ms and the Python module shares no symbol.
set(SHARDONNAY_LLVM_LIB_DIR ${LLVM_LIBRARY_DIR})
file(GLOB SHARDONNAY_MLIR_ARCHIVES ${SHARDONNAY_LLVM_LIB_DIR}/libMLIR*.a)
list(FILTER SHARDONNAY_MLIR_ARCHIVES EXCLUDE REGEX "Test|CAPI|Python")
add_library(ShardonnayMLIR INTERFACE)
target_link_libraries(ShardonnayMLIR INTERFACE
  -Wl,--start-group ${SHARDONNAY_MLIR_ARCHIVES}
  ${SHARDONNAY_LLVM_LIB_DIR}/libLLVMSupport.a
  ${SHARDONNAY_LLVM_LIB_DIR}/libLLVMSupportLSP.a
  ${SHARDONNAY_LLVM_LIB_DIR}/libLLVMDemangle.a
  ${SHARDONNAY_LLVM_LIB_DIR}/libLLVMCore.a
  ${SHARDONNAY_LLVM_LIB_DIR}/libLLVMRemarks.a
  ${SHARDONNAY_LLVM_LIB_DIR}/libLLVMBitstreamReader.a
  ${SHARDONNAY_LLVM_LIB_DIR}/libLLVMBinaryFormat.a
  ${SHARDONNAY_LLVM_LIB_DIR}/libLLVMTargetParser.a
  -Wl,--end-group z zstd pthread dl m)

# Generated sources of one .td file: shardonnay_tablegen(<td> <output> <generator option>...), e.g.
#   shardonnay_tablegen(Ops.td Ops.h.inc -gen-op-decls Ops.cpp.inc -gen-op-defs)
# A generator option may carry more flags after a space, in one quoted argument.
macro(shardonnay_tablegen td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(_rest ${ARGN})
  while(_rest)
    list(POP_FRONT _rest _output _generator)
    separate_arguments(_generator)
    mlir_tablegen(${_output} ${_generator} EXTRA_INCLUDES ${CMAKE_SOURCE_DIR})
  endwhile()
endmacro()

# One library a folder: shardonnay_library(<Name> SOURCES ... [LINKS ...]), with the folder's generated headers (every
# shardonnay_tablegen call before it) built first.
function(shardonnay_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINKS})
  if(TABLEGEN_OUTPUT)
    add_custom_target(${name}TableGen DEPENDS ${TABLEGEN_OUTPUT})
    add_dependencies(${name} ${name}TableGen)
    set_property(GLOBAL APPEND PROPERTY SHARDONNAY_TABLEGEN_TARGETS ${name}TableGen)
  endif()
  set_property(GLOBAL APPEND PROPERTY SHARDONNAY_LIBRARIES ${name})
endfunction()

# A folder's unit tests, one binary a folder: shardonnay_unit_test(<Name>Tests SOURCES ... LINKS ...)
function(shardonnay_unit_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} ShardonnayMLIR
                        GTest::gtest GTest::gtest_main rapidcheck)
  set_property(GLOBAL APPEND PROPERTY SHARDONNAY_UNIT_TESTS ${name})
  add_test(NAME ${name} COMMAND ${name})
endfunction()
