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
