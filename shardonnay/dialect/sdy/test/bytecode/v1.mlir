// What is in v1.mlirbc: every attribute of version 1 of the bytecode, and the ops with the parameters they had then.
// RUN: sdy-opt %s -allow-unregistered-dialect -o %t.text
// RUN: sdy-opt %S/v1.mlirbc -allow-unregistered-dialect | diff - %t.text

// Version 1 is what is written: the form has not changed under its number. If this fails, raise kBytecodeVersion as
// dialect/sdy/Bytecode.h says and move the two lines to the next golden file.
// RUN: sdy-opt %s -allow-unregistered-dialect --strip-debuginfo --emit-bytecode -o %t.mlirbc
// RUN: cmp %t.mlirbc %S/v1.mlirbc

sdy.mesh @mesh = <["x"=2, "y"=4, "z"=8]>
sdy.mesh @ordered = <["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>
sdy.mesh @maximal = <[], device_ids=[3]>
sdy.mesh @empty = <[]>

func.func @attributes() {
  "test.attributes"() {
    axis = #sdy<mesh_axis"x"=2>,
    mesh = #sdy.mesh<["x"=2, "y"=2], device_ids=[3, 2, 1, 0]>,
    sub_axis = #sdy<sub_axis_info(2)4>,
    axis_ref = #sdy<axis_ref"x":(1)2>,
    axis_refs = #sdy<axis_ref_list{"x", "y":(2)2}>,
    lists = #sdy<list_of_axis_ref_lists[{"x"}, {}, {"y", "z"}]>,
    manual = #sdy<manual_axes{"x", "y"}>,
    kind = #sdy.reduction_kind<max>,
    dim = #sdy<dimension_sharding{"x", "y":(1)2, ?}p3>,
    per_value = #sdy.sharding_per_value<[<@mesh, [{"x"}], unreduced=max{"y"}>, <mesh<["a"=2]>, [{"a", ?}]>, <@maximal, []>]>,
    tensor_mapping = #sdy<tensor_mapping[ij, k]>,
    rule = #sdy.op_sharding_rule<([il, k], [k, j])->([il, j]) {i=8, j=4, k=2, l=16} reduction={k} blocked_propagation={i}, custom>,
    param = #sdy<all_to_all_param{"x", "y"}: 0->1>,
    params = #sdy<all_to_all_param_list[{"x"}: 0->1, {"y":(2)2}: 2->3]>,
    edge_value = #sdy<edge_value_ref result-1>,
    details = #sdy<axis_to_propagation_details{"x":(1)2 = operand-0 -> [result-0]}>,
    step = #sdy<propagation_one_step{step-3 = [{"x" = operand-0 -> [result-0]}]}>,
    edges = #sdy.propagation_edges<[{step-0 = [{"x" = operand-0 -> [result-0, operand-1]}]}, {step-7 = [{"y" = result-0 -> [operand-0]}]}]>
  } : () -> ()
  return
}

func.func @shardings(
    %arg0: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}, {"y":(1)2, "z":(2)4}p1, {?}p0, {}]>},
    %arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}], replicated={"z":(1)2}, unreduced={"y", "z":(2)2}>},
    %arg2: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced=min{"y"}>},
    %arg3: tensor<f32>) -> (tensor<f32> {sdy.sharding = #sdy.sharding<mesh<[], device_ids=[1]>, []>}) {
  return %arg3 : tensor<f32>
}

func.func @constraints(%arg: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %arg0 = sdy.func_data_flow_edge %arg : tensor<8x8xf32>
  %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {?}]> : tensor<8x8xf32>
  %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>
  sdy.sharding_group %1 group_id=7 : tensor<8x8xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=BACKWARD : tensor<8x8xf32>
  %3 = "test.rule"(%2) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8} need_replication={i} permutation={j}>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %4 = sdy.data_flow_edge %3 sharding=<@mesh, [{?}, {?}]> : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

func.func @computations(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {"x"}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
    %3 = "test.local"(%arg1) : (tensor<4x8xf32>) -> tensor<8x4xf32>
    sdy.return %3 : tensor<8x4xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.named_computation<"f">(%0) in_shardings=[<@mesh, [{"x"}, {}]>] (%arg1: tensor<8x8xf32>) {
    sdy.return %arg1 : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = sdy.constant dense<1.0> : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}

func.func @collectives(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced={"z"}>}) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce {"z"} %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {"y"}]> : tensor<8x8xf32>
  %2 = sdy.all_to_all [{"y"}: 1->0] %1 out_sharding=<@mesh, [{"x", "y"}, {}]> : tensor<8x8xf32>
  %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{"y", "x"}, {}]> : tensor<8x8xf32>
  %4 = sdy.all_gather [{"x"}, {}] %3 out_sharding=<@mesh, [{"y"}, {}]> : tensor<8x8xf32>
  %5 = sdy.replicated_to_unreduced {"z"} %4 out_sharding=<@mesh, [{"y"}, {}], unreduced={"z"}> : tensor<8x8xf32>
  %6 = sdy.reduce_scatter [{}, {"z"}] %5 out_sharding=<@mesh, [{"y"}, {"z"}]> : tensor<8x8xf32>
  %7 = sdy.sharded_to_unreduced [{}, {"z"}] %6 out_sharding=<@mesh, [{"y"}, {}], unreduced={"z"}> : tensor<8x8xf32>
  return %7 : tensor<8x8xf32>
}

func.func @other_kinds(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}], unreduced=max{"z"}>}) -> tensor<8x8xf32> {
  %0 = sdy.all_reduce max {"z"} %arg0 out_sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
