// RUN: rm -rf %t && sdy-opt %s --sdy-save-module="dump-directory=%t/deeper name=here" | FileCheck %s
// RUN: FileCheck %s < %t/deeper/here.mlir
// RUN: sdy-opt %s --sdy-save-module | FileCheck %s
// RUN: sdy-opt %s --sdy-export-pipeline="dump-directory=%t/export"
// RUN: FileCheck %s < %t/export/after_close.mlir
// RUN: FileCheck %s < %t/export/after_export.mlir
// RUN: sdy-opt %s --sdy-user-priority-propagate=module-dump-directory=%t/propagate
// RUN: FileCheck %s < %t/propagate/after_sdy-user-priority-propagate.mlir
// RUN: not sdy-opt %s --sdy-save-module=dump-directory=%s/not-a-directory 2>&1 | FileCheck %s --check-prefix=ERROR

// CHECK: func.func @main
// ERROR: error: cannot write the module to
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  return %a : tensor<8xf32>
}
