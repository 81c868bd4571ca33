// RUN: sdy-opt %s --sdy-fit-memory="memory-limit=24000 device-model=bytes" | FileCheck %s
// RUN: sdy-opt %s --sdy-fit-memory="memory-limit=27000 device-model=bytes" | FileCheck %s --check-prefix=ROOM
// RUN: sdy-opt %s --sdy-fit-memory="memory-limit=1000 device-model=bytes" | FileCheck %s --check-prefix=ROOM
// RUN: sdy-opt %s --sdy-partition-pipeline="memory-limit=24000 device-model=bytes" | FileCheck %s --check-prefix=LOCAL
// RUN: sdy-opt %s --sdy-partition-pipeline="memory-limit=24000 device-model=bytes" | sdy-opt --sdy-check-memory=memory-limit=24000 -o /dev/null
// RUN: sdy-opt %s --sdy-partition-pipeline=device-model=bytes | FileCheck %s --check-prefix=FREE
// RUN: not sdy-opt %s --sdy-partition-pipeline="memory-limit=24000 device-model=bytes keep-propagated=true" 2>&1 | FileCheck %s --check-prefix=KEPT
// RUN: not sdy-opt %s --sdy-partition-pipeline="memory-limit=1000 device-model=bytes" 2>&1 | FileCheck %s --check-prefix=NEVER

sdy.mesh @mesh = <["x"=2, "y"=4]>

// Nothing asks for y, so what is alive beside the weight is sharded by it only where
// memory is short.
// CHECK-LABEL: @main
// CHECK: stablehlo.dot {{.*}}sdy.memory_price
// ROOM-LABEL: @main
// ROOM-NOT: sdy.memory_price
// LOCAL-LABEL: @main
// LOCAL: stablehlo.dot {{.*}} -> tensor<2x64xf32>
// LOCAL: stablehlo.dot {{.*}} -> tensor<2x64xf32>
// LOCAL: stablehlo.dot {{.*}} -> tensor<2x64xf32>
// LOCAL: %[[SUM:.*]] = stablehlo.add {{.*}} tensor<2x64xf32>
// LOCAL: "stablehlo.all_gather"(%[[SUM]])
// FREE-LABEL: @main
// FREE-COUNT-3: stablehlo.dot {{.*}} -> tensor<8x64xf32>
// FREE-NOT: all_gather
// FREE: return
// KEPT: error: sdy-check-memory: 26624 bytes are alive per device at 'stablehlo.dot', the least of the plans tried; expected at most 24000 (memory-limit)
// NEVER: error: sdy-check-memory: 26624 bytes are alive per device at 'stablehlo.dot', 20480 of them arguments and results, so that the plan was made without a limit
func.func public @main(
    %a: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
    %w: tensor<64x64xf32>)
    -> (tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot %a, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  %1 = stablehlo.reverse %0, dims = [1] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<16x64xf32>
  %2 = stablehlo.dot %1, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  %3 = stablehlo.dot %2, %w {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
  %4 = stablehlo.add %3, %1 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<16x64xf32>
  return %4 : tensor<16x64xf32>
}
