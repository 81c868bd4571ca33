//===- Passes.td - other spellings of shardings ------------*- tablegen -*-===//
//
// Part of Shardonnay, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first four come before the import stage, in this order; programs without
// such spellings stay as they are.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDONNAY_FRONTEND_PASSES_TD
#define SHARDONNAY_FRONTEND_PASSES_TD

include "mlir/Pass/PassBase.td"

class FrontendPass<string name> : Pass<name, "mlir::ModuleOp"> {
  let dependentDialects = ["mlir::sdy::SdyDialect",
                           "mlir::stablehlo::StablehloDialect"];
}

def ImportDonationsPass : Pass<"sdy-import-donations", "mlir::ModuleOp"> {
  let summary = "Donations that a module states become those of its arguments";
  let description = [{
    XLA writes HLO's aliases as an attribute of the module, which says nothing of
    a device's tensors: an argument that is sharded otherwise than the result
    could not be its buffer. Those of arguments are followed to the end.

    Precondition: none. Postcondition: no `mhlo.input_output_alias` is left.

    ```mlir
    module attributes {mhlo.input_output_alias = [{
      alias = {kind = "may_alias", parameter_index = array<i64>,
               parameter_number = 1 : i64}, output_index = array<i64: 0>} ]} {
      func.func @main(%x: tensor<8xf32>, %w: tensor<8xf32>)
    ```
    becomes
    ```mlir
    module {
      func.func @main(%x: tensor<8xf32>,
                      %w: tensor<8xf32> {tf.aliasing_output = 0 : i32})
    ```
  }];
}

def ImportFrontendAttributesPass
    : FrontendPass<"sdy-import-frontend-attributes"> {
  let summary = "`sdy` from frontend attributes and xla.sdy custom calls";
  let description = [{
    For programs whose `sdy` attributes and ops were written as HLO can carry
    them: frontend attributes `xla.sdy.*` hold attributes as text, and custom
    calls stand for ops. The HLO shardings that such a program has as well say
    less and go, if the module lists its meshes in `xla.sdy.meshes`.

    | custom call | becomes |
    |---|---|
    | `Sharding` with `xla.sdy.sharding` | `sdy.sharding_constraint` |
    | `xla.sdy.FuncResultSharding` | the sharding of the function's result |
    | `xla.sdy.ShardingGroup` | `sdy.sharding_group` |
    | `xla.sdy.PropagationBarrier` | `sdy.propagation_barrier` |
    | from `xla.sdy.GlobalToLocalShape` to `xla.sdy.LocalToGlobalShape` | `sdy.manual_computation` |

    The shardings and axes of a manual computation stand at its boundaries, or, in
    older programs, at the call of its body between them.

    Precondition: none. Postcondition: no `xla.sdy` name is left.

    ```mlir
    %0 = stablehlo.custom_call @Sharding(%a) {mhlo.frontend_attributes =
      {xla.sdy.sharding = "#sdy.sharding_per_value<[<@mesh, [{\22x\22} ]>]>"}}
      : (tensor<8xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"} ]> : tensor<8xf32>
    ```
  }];
}

def ImportGspmdShardingsPass : FrontendPass<"sdy-import-gspmd-shardings"> {
  let summary = "`sdy` from HLO shardings and GSPMD's custom calls";
  let description = [{
    HLO shardings, the text of `mhlo.sharding`, have no mesh: one is found for
    all of them (MeshFactoring.h), with axes "axis_0", "axis_1", .. On arguments,
    results and ops they become closed shardings. Custom calls `Sharding` become
    constraints, whose dims listed in `unspecified_dims` are open, and sharding
    groups where the sharding says `shard_as` or `shard_like` (a group asks for
    more than the latter does). What is between `SPMDFullToShardShape` and
    `SPMDShardToFullShape` becomes a manual computation, the calls of `Sharding`
    before them its in- and out-shardings. Inside, manual axes and shardings that
    say nothing but `manual` go. `InspectSharding`, which calls back a function
    in XLA's partitioner, goes with a warning.

    Precondition: after sdy-import-frontend-attributes. Postcondition: no
    `mhlo.sharding` is left.

    ```mlir
    func.func @main(%a: tensor<8x8xf32> {mhlo.sharding = "{devices=[4,2]<=[8]}"})
    ```
    becomes
    ```mlir
    sdy.mesh @mesh = <["axis_0"=4, "axis_1"=2]>
    func.func @main(%a: tensor<8x8xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"axis_0"}, {"axis_1"} ]>})
    ```
  }];
}

def ExpandCompositesPass : Pass<"sdy-expand-composites", "mlir::ModuleOp"> {
  let summary = "Composites become calls of their decompositions";
  let description = [{
    But those to which the user gave a sharding rule and which are element-wise:
    they stay, so that the engine still finds their name, and propagate by that
    rule. A rule of another one is not used, with a warning.

    Precondition: before functions are inlined, which brings the
    decomposition's ops in. Postcondition: a composite that is left has a
    rule and is element-wise.

    ```mlir
    %0 = stablehlo.composite "my.op" %a {decomposition = @f}
      : (tensor<8xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["mlir::func::FuncDialect"];
}

def EraseUnusedResultsPass
    : Pass<"sdy-erase-unused-results", "mlir::ModuleOp"> {
  let summary = "Generics do not compute the results that nothing uses";
  let description = [{
    Front ends make a maximum with its position even where the maximum alone is
    wanted (torch-mlir's softmax). All results of a `linalg.generic` are reduced
    alike, and of a position no parts can be combined, so that the maximum would
    be computed whole.

    Precondition: none. Postcondition: of a `linalg.generic` on tensors some
    result is unused only if another one needs it, if nothing else says how long
    a loop is, or if a user's rule counts the results.

    ```mlir
    %0:2 = linalg.generic {...} ins(%x : tensor<8x4xf32>) outs(%low, %first : tensor<4xf32>, tensor<4xi64>) {
    ^bb0(%in: f32, %out: f32, %at: i64):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i64
      %max = arith.maximumf %in, %out : f32
      %more = arith.cmpf ogt, %in, %out : f32
      %k = arith.select %more, %j, %at : i64
      linalg.yield %max, %k : f32, i64
    } -> (tensor<4xf32>, tensor<4xi64>)
    return %0#0 : tensor<4xf32>
    ```
    becomes
    ```mlir
    %0 = linalg.generic {...} ins(%x : tensor<8x4xf32>) outs(%low : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %max = arith.maximumf %in, %out : f32
      linalg.yield %max : f32
    } -> tensor<4xf32>
    return %0 : tensor<4xf32>
    ```
  }];
}

def ForwardLoopCopiesPass : Pass<"sdy-forward-loop-copies", "mlir::ModuleOp"> {
  let summary = "What a loop copies slice by slice stands for its copy";
  let description = [{
    A scan over layers returns what it was given for each of them, also where a
    layer changes nothing (flax's variables, half of a cache). The copy would be
    sharded as the loop has it, and gathered behind the loop.

    Precondition: functions are inlined. Postcondition: no loop over the first
    dim of a tensor that no run changes writes the tensor's slices, each at its
    place, to a tensor that it carries for this alone.

    ```mlir
    %0:3 = stablehlo.while(%i = %zero, %from = %a, %to = %b) ... do {
      %1 = stablehlo.dynamic_slice %from, %i, %zero, sizes = [1, 8]
      %2 = stablehlo.dynamic_update_slice %to, %1, %i, %zero
      ...
      stablehlo.return %next, %from, %2
    }
    return %0#2
    ```
    becomes
    ```mlir
    %0:2 = stablehlo.while(%i = %zero, %from = %a) ...
    return %a
    ```
  }];
}

def SlicesToBatchesPass : Pass<"sdy-slices-to-batches", "mlir::ModuleOp"> {
  let summary = "Loops take batches by their numbers, not by where they start";
  let description = [{
    A loop that takes `size` rows after the other of a tensor, as gradients are
    accumulated, can't make use of axes that shard the rows: each slice is on a
    few devices. As batches, devices can share each (`SharedBatches.h`).

    Precondition: functions are inlined. Postcondition: no loop takes, of a
    tensor that none of its runs changes, a slice along one dim that starts at
    `size` times a number that counts its runs, where `size` divides the dim: it
    takes a slice of a reshape at that number. What is sliced of the tensor at
    a multiple of `size` elsewhere is taken of the reshape too.

    ```mlir
    %0:2 = stablehlo.while(%i = %zero, %sum = %none) ... do {
      %1 = stablehlo.multiply %i, %four
      %2 = stablehlo.dynamic_slice %rows, %1, %zero, sizes = [4, 8]
      ...
    ```
    becomes
    ```mlir
    %batches = stablehlo.reshape %rows : (tensor<12x8xf32>) -> tensor<3x4x8xf32>
    %0:2 = stablehlo.while(%i = %zero, %sum = %none) ... do {
      %1 = stablehlo.dynamic_slice %batches, %i, %zero, %zero, sizes = [1, 4, 8]
      %2 = stablehlo.reshape %1 : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
      ...
    ```
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

def ReadsToGathersPass : Pass<"sdy-reads-to-gathers", "mlir::ModuleOp"> {
  let summary = "Generics take the elements that they read by index";
  let description = [{
    Only operands can be resharded, and the body of a `linalg.generic` or a
    `tensor.generate` may read tensors from outside (an embedding does). The
    positions become a generic of their own, a `tensor.gather` reads there, and
    what it reads is one more input. A dim that is read at the index of a loop
    as long as itself, which may also be an element of a tensor that counts, is
    none of those that are gathered; where the positions
    depend on that loop too, `sdy.batching_dims` has the pair of the dim and that
    of the indices, which may be sharded alike. What such a body asserts is
    dropped: padding may not fulfil it.

    Precondition: none. Postcondition: no such body reads a tensor from outside,
    unless in a region of an op in it, at positions that depend on what is
    written to, or of unknown size.

    ```mlir
    %0 = linalg.generic {...} ins(%rows : tensor<4xi64>) outs(%empty : tensor<4x2xf32>) {
    ^bb0(%row: i64, %out: f32):
      %i = arith.index_cast %row : i64 to index
      %j = linalg.index 1 : index
      %x = tensor.extract %table[%i, %j] : tensor<8x2xf32>
      ...
    ```
    becomes
    ```mlir
    %1 = linalg.generic {...} ins(%rows : tensor<4xi64>) outs(%2 : tensor<4xindex>) {
    ^bb0(%row: i64, %out: index):
      %i = arith.index_cast %row : i64 to index
      linalg.yield %i : index
    } -> tensor<4xindex>
    %3 = tensor.expand_shape %1 [[0, 1]] output_shape [4, 1] : tensor<4xindex> into tensor<4x1xindex>
    %4 = tensor.gather %table[%3] gather_dims([0]) : (tensor<8x2xf32>, tensor<4x1xindex>) -> tensor<4x2xf32>
    %0 = linalg.generic {...} ins(%rows, %4 : tensor<4xi64>, tensor<4x2xf32>) outs(%empty : tensor<4x2xf32>) {
    ^bb0(%row: i64, %x: f32, %out: f32):
      ...
    ```
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect",
    "mlir::tensor::TensorDialect"];
}

def CapturesToOperandsPass
    : Pass<"sdy-captures-to-operands", "mlir::ModuleOp"> {
  let summary = "Parallel loops take the tensors that they read";
  let description = [{
    Only operands can be resharded, and the body of an `scf.forall` may read
    tensors from outside. Each becomes one more output, into which nothing is
    inserted; its result has no use.

    What an op with a sharding rule has in its regions is a part of it:
    constant tensors from outside (of the comparator of a sort, as older
    versions of JAX write them) are copied into these.

    Precondition: none. Postcondition: no `scf.forall` reads a tensor from
    outside, and no region of an op with a sharding rule a constant tensor.

    ```mlir
    %0 = scf.forall (%i) in (8) shared_outs(%out = %init) -> (tensor<8xf32>) {
      %1 = tensor.extract_slice %arg0[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
      ...
    ```
    becomes
    ```mlir
    %0:2 = scf.forall (%i) in (8) shared_outs(%out = %init, %in = %arg0) -> (tensor<8xf32>, tensor<8xf32>) {
      %1 = tensor.extract_slice %in[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
      ...
    ```
  }];
  let dependentDialects = ["::mlir::sdy::SdyDialect"];
}

def FindPeriodicWindowsPass
    : Pass<"sdy-find-periodic-windows", "mlir::func::FuncOp"> {
  let summary = "Slices of one tensor that are concatenated where it goes on";
  let description = [{
    The end of a tensor before its beginning (a rotation, a boundary that wraps
    around) is one window of a dim that goes on periodically: its parts come
    from one neighbour, where each slice and the concatenation would fetch their
    own. For programs behind propagation, which knows StableHLO's ops only.

    Precondition: after propagation; the concatenation's sharding goes to
    the window. Postcondition: no concatenation whose parts are one window
    that reaches beyond the end of its tensor, except in what one device
    computes.

    ```mlir
    %0 = stablehlo.slice %a [7:8] : (tensor<8xf32>) -> tensor<1xf32>
    %1 = stablehlo.slice %a [0:7] : (tensor<8xf32>) -> tensor<7xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0
      : (tensor<1xf32>, tensor<7xf32>) -> tensor<8xf32>
    ```
    becomes
    ```mlir
    %2 = spmd.periodic_window %a dim=0 start=7 size=8
      : (tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let dependentDialects = ["mlir::spmd::SpmdDialect"];
}

def SliceBeforePadPass : Pass<"sdy-slice-before-pad", "mlir::func::FuncOp"> {
  let summary = "Slices of a padded tensor take what they need, and pad that";
  let description = [{
    Sums over neighbours are often written as slices of a padded tensor. In
    shards of the padded tensor all positions are elsewhere than in those of the
    tensor: where the padded dim is sharded most of it would be sent, twice. A
    slice of the tensor, padded, needs what is at the boundaries. Dims that are
    whole are padded first, once.

    Precondition: after propagation. Postcondition: no `tensor.pad` of a sharded
    dim all of whose uses are slices of known neighbouring positions, but where
    one of them is all padding.

    ```mlir
    %0 = tensor.pad %a low[1] high[1] { ... } : tensor<8xf32> to tensor<10xf32>
    %1 = tensor.extract_slice %0[0] [8] [1] : tensor<10xf32> to tensor<8xf32>
    ```
    becomes
    ```mlir
    %0 = tensor.extract_slice %a[0] [7] [1] : tensor<8xf32> to tensor<7xf32>
    %1 = tensor.pad %0 low[1] high[0] { ... } : tensor<7xf32> to tensor<8xf32>
    ```
  }];
  let dependentDialects = ["mlir::tensor::TensorDialect"];
}

def ExportGspmdShardingsPass : FrontendPass<"sdy-export-gspmd-shardings"> {
  let summary = "HLO shardings and GSPMD's custom calls from `sdy`";
  let description = [{
    The way back: every sharding becomes an HLO sharding, constraints, reshards
    and collectives become custom calls `Sharding`, manual computations their
    bodies between `SPMDFullToShardShape` and `SPMDShardToFullShape`, groups
    `shard_as`; data-flow edges, propagation barriers and meshes go. Priorities,
    replicated axes, and open dims other than a constraint's have no HLO form and
    are lost. An error: axes unreduced by another kind than sum.

    Precondition: every sharding names its mesh. Postcondition: no `sdy` name is
    left.

    ```mlir
    %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {?} ]> : tensor<8x8xf32>
    ```
    becomes, for a mesh x=4, y=2,
    ```mlir
    %0 = stablehlo.custom_call @Sharding(%a) {
      backend_config = "unspecified_dims=[1]",
      mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"}
      : (tensor<8x8xf32>) -> tensor<8x8xf32>
    ```
  }];
}

def ExplicitGatherScatterBatchingPass
    : Pass<"sdy-explicit-gather-scatter-batching", "mlir::func::FuncOp"> {
  let summary = "Iotas in indices become batching dims";
  let description = [{
    Where a component of the indices of a gather or scatter counts along one of
    their batch dims, as long as the operand's dim that it indexes, each batch
    looks into its own part of the operand: the two become batching dims, and
    the component goes. Then the op can be sharded along them without
    communication. The count may come through broadcasts, reshapes, transposes,
    conversions, clamps to the bounds, the wrapping of negative indices, and
    loops that carry it unchanged. JAX writes batching dims itself for what it
    maps over a batch, not for what the user indexes by `arange`.

    Before and after: any program on static shapes.

    ```mlir
    %0 = stablehlo.iota dim = 0 : tensor<4x3x1xi32>
    %1 = stablehlo.concatenate %0, %arg1, dim = 2 : (tensor<4x3x1xi32>, tensor<4x3x1xi32>) -> tensor<4x3x2xi32>
    %2 = "stablehlo.gather"(%arg0, %1) <{dimension_numbers = #stablehlo.gather<
        collapsed_slice_dims = [0, 1], start_index_map = [0, 1],
        index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}>
        : (tensor<4x9xf32>, tensor<4x3x2xi32>) -> tensor<4x3xf32>
    ```
    becomes
    ```mlir
    %2 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<
        collapsed_slice_dims = [1], operand_batching_dims = [0],
        start_indices_batching_dims = [0], start_index_map = [1],
        index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}>
        : (tensor<4x9xf32>, tensor<4x3x1xi32>) -> tensor<4x3xf32>
    ```
  }];
  let dependentDialects = ["mlir::stablehlo::StablehloDialect"];
}

def ImportShardPass : Pass<"sdy-import-shard", "mlir::ModuleOp"> {
  let summary = "`sdy` and `spmd` from MLIR's `shard` dialect";
  let description = [{
    | `shard` | becomes |
    |---|---|
    | `grid` | a mesh with axes "axis_0", "axis_1", .. |
    | `shard`, of a value | the value's sharding, closed |
    | `shard` with `annotate_for_users` | `sdy.sharding_constraint` |
    | `all_gather`, `all_reduce`, `all_slice`, `all_to_all`, `reduce_scatter` | the op of `spmd` of that name |
    | `process_multi_index`, `process_linear_index` | `spmd.device_index` |
    | `grid_shape` | constants |

    Offsets of shards are read where they are those of shards of one size. An
    error: other offsets, halos, a grid whose size is not known, reductions but
    sum, max and min, a value that is annotated twice, axes or dims that there
    are not (MLIR itself takes these), and all other ops of the dialect.

    Precondition: none. Postcondition: no op of `shard` is left.

    ```mlir
    shard.grid @grid(shape = 2x4)
    func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %s = shard.sharding @grid split_axes = [[0]] : !shard.sharding
      %0 = shard.shard %a to %s : tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }
    ```
    becomes
    ```mlir
    sdy.mesh @grid = <["axis_0"=2, "axis_1"=4]>
    func.func @main(%a: tensor<8x8xf32> {sdy.sharding =
        #sdy.sharding<@grid, [{"axis_0"}, {} ]>}) -> tensor<8x8xf32> {
      return %a : tensor<8x8xf32>
    }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::sdy::SdyDialect", "mlir::spmd::SpmdDialect",
                           "mlir::tensor::TensorDialect"];
}

def ExportShardPass : Pass<"sdy-export-shard", "mlir::ModuleOp"> {
  let summary = "Annotations of MLIR's `shard` dialect from `sdy`";
  let description = [{
    The way back of `sdy-import-shard`: what it reads and this pass writes again
    is the same, but that an op states each sharding once, at the beginning of
    the function. Each part of an axis that is used becomes an axis of the grid.
    Where shards do not divide a dim, their offsets are written. Ops of `sdy`
    that state a sharding (constraints, reshards, collectives) and shardings of
    the function's results become annotations for users. Open dims, priorities
    and replicated axes have no form there and are lost.

    An error: partial values, an order of the devices, parts of an axis that do
    not nest, rules of ops, and ops of `sdy` that state no sharding.

    Precondition: every sharding names its mesh; best behind propagation and
    export. Postcondition: no `sdy` name is left.

    ```mlir
    sdy.mesh @mesh = <["x"=4]>
    func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %0 = sdy.sharding_constraint %a <@mesh, [{"x":(1)2}, {} ]> : tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }
    ```
    becomes
    ```mlir
    shard.grid @mesh(shape = 2x2)
    func.func @main(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
      %s = shard.sharding @mesh split_axes = [[0]] : !shard.sharding
      %0 = shard.shard %a to %s annotate_for_users : tensor<8x8xf32>
      return %0 : tensor<8x8xf32>
    }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect",
                           "mlir::shard::ShardDialect"];
}

#endif // SHARDONNAY_FRONTEND_PASSES_TD
