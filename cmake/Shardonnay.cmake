# How this project builds: one static library a folder, fully static MLIR, ccache with hits across clones, lld.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths relative to the clone, so that a second clone finds the first one's objects.
  foreach(lang C CXX)
    set(CMAKE_${lang}_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
        CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        ${CCACHE_PROGRAM})
  endforeach()
endif()

add_compile_options(-Wall -Wextra -Wno-unused-parameter
                    -ffunction-sections -fdata-sections
                    -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
add_link_options(-fuse-ld=lld -Wl,--gc-sections)
if(NOT SHARDONNAY_FUZZ) # a sanitizer's own malloc must be seen by libstdc++.so
  add_link_options(-Wl,--exclude-libs,ALL)
endif()

include(ShardonnayMLIR)

# MLIR's headers, compiled once: parsing them is two thirds of a file's compile time. The .sum beside the result stands for
# its contents in ccache's keys, so that clones share objects.
file(WRITE ${CMAKE_BINARY_DIR}/pch/Mlir.cpp "")
add_library(ShardonnayPch OBJECT ${CMAKE_BINARY_DIR}/pch/Mlir.cpp)
target_precompile_headers(ShardonnayPch PRIVATE
  <mlir/Bytecode/BytecodeOpInterface.h> <mlir/Dialect/Func/IR/FuncOps.h> <mlir/IR/Builders.h> <mlir/IR/BuiltinOps.h>
  <mlir/IR/DialectImplementation.h> <mlir/IR/IRMapping.h> <mlir/IR/Matchers.h> <mlir/IR/OpImplementation.h>
  <mlir/IR/PatternMatch.h> <mlir/IR/SymbolTable.h> <mlir/IR/TypeUtilities.h>
  <mlir/Interfaces/ControlFlowInterfaces.h> <mlir/Interfaces/InferTypeOpInterface.h> <mlir/Pass/Pass.h>
  <mlir/Transforms/RegionUtils.h> <llvm/ADT/TypeSwitch.h> <llvm/Support/JSON.h>)
target_compile_options(ShardonnayPch PRIVATE -Xclang -fno-pch-timestamp)
set(SHARDONNAY_PCH CMakeFiles/ShardonnayPch.dir/cmake_pch.hxx.pch) # relative to the build folder: the same in every clone
get_target_property(SHARDONNAY_PCH_HEADERS ShardonnayPch PRECOMPILE_HEADERS)
file(WRITE ${CMAKE_BINARY_DIR}/${SHARDONNAY_PCH}.sum
     "${CMAKE_CXX_COMPILER_VERSION} ${LLVM_PACKAGE_VERSION} ${CMAKE_BUILD_TYPE} ${SHARDONNAY_PCH_HEADERS}")

# A library whose sources start with MLIR's headers. A dependency between targets would not make ninja wait for the file.
function(shardonnay_use_pch name)
  get_target_property(sources ${name} SOURCES)
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS ${CMAKE_BINARY_DIR}/${SHARDONNAY_PCH})
  target_compile_options(${name} PRIVATE "SHELL:-include-pch ${SHARDONNAY_PCH}")
  add_dependencies(${name} ShardonnayPch)
endfunction()

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

# One library a folder: shardonnay_library(<Name> [WITHOUT_MLIR] SOURCES ... [LINKS ...]), with the folder's generated
# headers (every shardonnay_tablegen call before it) built first.
function(shardonnay_library name)
  cmake_parse_arguments(ARG "WITHOUT_MLIR" "" "SOURCES;LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  if(NOT ARG_WITHOUT_MLIR)
    shardonnay_use_pch(${name})
  endif()
  target_include_directories(${name} INTERFACE $<INSTALL_INTERFACE:include>)
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
