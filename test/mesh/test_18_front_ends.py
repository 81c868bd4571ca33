"""Programs as front ends write them, on dims that no axis divides: what MLIR's tools lower only once it is written
otherwise, and what padding must not do (be read at, be divided by, count)."""

import pytest
from programs import X, Y, on_mesh, sharded
from test_10_upstream_failures import check

ROWS, BOTH = "affine_map<(i, j) -> (i)>", "affine_map<(i, j) -> (i, j)>"
EACH = '"parallel", "parallel"'
PROGRAMS = {
    "an embedding": f"""
func.func @main(%table: tensor<9x5xf32> {sharded("", Y)}, %ids: tensor<7xi32> {sharded(X)}) -> tensor<7x5xf32> {{
  %e = tensor.empty() : tensor<7x5xf32>
  %three = arith.constant 3 : i32
  %0 = linalg.generic {{indexing_maps = [{ROWS}, {BOTH}], iterator_types = [{EACH}]}} ins(%ids : tensor<7xi32>) outs(%e : tensor<7x5xf32>) {{
  ^bb0(%id: i32, %out: f32):
    %row = arith.addi %id, %three : i32
    %zero = arith.constant 0 : i32
    %isPlace = arith.cmpi sge, %row, %zero : i32
    cf.assert %isPlace, "index must be larger or equal to 0"
    %i = arith.index_cast %row : i32 to index
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%i, %j] : tensor<9x5xf32>
    linalg.yield %x : f32
  }} -> tensor<7x5xf32>
  return %0 : tensor<7x5xf32>
}}""",
    "an element of each row": f"""
func.func @main(%x: tensor<7x5x3xf32> {sharded(X, "", Y)}, %ids: tensor<7x3xi64> {sharded(X, "")}) -> tensor<7x3xf32> {{
  %e = tensor.empty() : tensor<7x3xf32>
  %0 = linalg.generic {{indexing_maps = [{BOTH}, {BOTH}], iterator_types = [{EACH}]}} ins(%ids : tensor<7x3xi64>) outs(%e : tensor<7x3xf32>) {{
  ^bb0(%id: i64, %out: f32):
    %three = arith.constant 3 : i64
    %place = arith.addi %id, %three : i64
    %i = linalg.index 0 : index
    %j = arith.index_cast %place : i64 to index
    %k = linalg.index 1 : index
    %y = tensor.extract %x[%i, %j, %k] : tensor<7x5x3xf32>
    linalg.yield %y : f32
  }} -> tensor<7x3xf32>
  return %0 : tensor<7x3xf32>
}}""",
    "rows whose numbers a constant has": f"""
func.func @main(%x: tensor<7x5xf32> {sharded(X, Y)}, %ids: tensor<7x3xi64> {sharded(X, "")}) -> tensor<7x3xf32> {{
  %rows = arith.constant dense<[[0, 0, 0], [1, 1, 1], [2, 2, 2], [3, 3, 3], [4, 4, 4], [5, 5, 5], [6, 6, 6]]> : tensor<7x3xi64>
  %e = tensor.empty() : tensor<7x3xf32>
  %0 = linalg.generic {{indexing_maps = [{BOTH}, {BOTH}, {BOTH}], iterator_types = [{EACH}]}} ins(%rows, %ids : tensor<7x3xi64>, tensor<7x3xi64>) outs(%e : tensor<7x3xf32>) {{
  ^bb0(%row: i64, %id: i64, %out: f32):
    %zero = arith.constant 0 : i64
    %seven = arith.constant 7 : i64
    %negative = arith.cmpi slt, %row, %zero : i64
    %back = arith.addi %row, %seven : i64
    %r = arith.select %negative, %back, %row : i64
    %three = arith.constant 3 : i64
    %place = arith.addi %id, %three : i64
    %i = arith.index_cast %r : i64 to index
    %j = arith.index_cast %place : i64 to index
    %y = tensor.extract %x[%i, %j] : tensor<7x5xf32>
    linalg.yield %y : f32
  }} -> tensor<7x3xf32>
  return %0 : tensor<7x3xf32>
}}""",
    "rows at places that padding makes infinite": f"""
func.func @main(%table: tensor<3x4xf64>, %x: tensor<7xf64> {sharded(X)}) -> tensor<7x4xf64> {{
  %e = tensor.empty() : tensor<7x1xindex>
  %one = arith.constant 1.0 : f64
  %0 = linalg.generic {{indexing_maps = [{ROWS}, {BOTH}], iterator_types = [{EACH}]}} ins(%x : tensor<7xf64>) outs(%e : tensor<7x1xindex>) {{
  ^bb0(%a: f64, %out: index):
    %b = arith.mulf %a, %a : f64
    %c = arith.addf %b, %one : f64
    %d = arith.divf %one, %c : f64
    %n = arith.fptosi %d : f64 to i64
    %i = arith.index_cast %n : i64 to index
    linalg.yield %i : index
  }} -> tensor<7x1xindex>
  %1 = tensor.gather %table[%0] gather_dims([0]) : (tensor<3x4xf64>, tensor<7x1xindex>) -> tensor<7x4xf64>
  return %1 : tensor<7x4xf64>
}}""",
    "rows scattered": f"""
func.func @main(%v: tensor<3x5x4xf32> {sharded(X, "", "")}, %u: tensor<3x2x4xf32> {sharded(X, "", "")}) -> tensor<3x5x4xf32> {{
  %i = arith.constant dense<[[4, 0], [2, 3], [1, 0]]> : tensor<3x2xi32>
  %0 = tosa.scatter %v, %i, %u : (tensor<3x5x4xf32>, tensor<3x2xi32>, tensor<3x2x4xf32>) -> tensor<3x5x4xf32>
  %1 = tosa.gather %0, %i : (tensor<3x5x4xf32>, tensor<3x2xi32>) -> tensor<3x2x4xf32>
  %2 = tosa.scatter %0, %i, %1 : (tensor<3x5x4xf32>, tensor<3x2xi32>, tensor<3x2x4xf32>) -> tensor<3x5x4xf32>
  return %2 : tensor<3x5x4xf32>
}}""",
    "a tensor that two collectives read, and what could overwrite it between them": f"""
func.func @main(%a: tensor<4x4xf32> {sharded(X, Y)})
    -> (tensor<4x4xf32> {sharded("", Y)}, tensor<4x4xf32> {sharded(X, "")}, tensor<4xf32> {sharded(X)}) {{
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.generic {{indexing_maps = [{BOTH}, {BOTH}], iterator_types = [{EACH}]}} ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {{
  ^bb0(%x: f32, %out: f32):
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  }} -> tensor<4x4xf32>
  %1 = sdy.reshard %0 <@mesh, [{{}}, {{"y"}}]> : tensor<4x4xf32>
  %2 = linalg.generic {{indexing_maps = [{BOTH}, {BOTH}], iterator_types = [{EACH}]}} ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {{
  ^bb0(%x: f32, %out: f32):
    %y = arith.mulf %x, %x : f32
    linalg.yield %y : f32
  }} -> tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %3 = linalg.reduce {{ arith.addf }} ins(%2 : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %4 = sdy.reshard %0 <@mesh, [{{"x"}}, {{}}]> : tensor<4x4xf32>
  return %1, %4, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
}}""",
    "a softmax": f"""
func.func @main(%x: tensor<7x5xf64> {sharded(X, Y)}) -> tensor<7x5xf64> {{
  %e = tensor.empty() : tensor<7x5xf64>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<7x5xf64>) outs(%e : tensor<7x5xf64>) -> tensor<7x5xf64>
  return %0 : tensor<7x5xf64>
}}""",
    "tiles, the last one partly full": f"""
func.func @main(%x: tensor<15x6xf32> {sharded(X, Y)}) -> (tensor<6x2x1x8xf32>, tensor<15x6xf32>) {{
  %v = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<6x2x1x8xf32>
  %0 = linalg.pack %x padding_value(%v : f32) outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [1, 8] into %e : tensor<15x6xf32> -> tensor<6x2x1x8xf32>
  %f = tensor.empty() : tensor<15x6xf32>
  %1 = linalg.unpack %0 outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [1, 8] into %f : tensor<6x2x1x8xf32> -> tensor<15x6xf32>
  return %0, %1 : tensor<6x2x1x8xf32>, tensor<15x6xf32>
}}""",
    "integers divided": f"""
func.func @main(%x: tensor<7xi32> {sharded(X)}) -> (tensor<7xi32> {sharded(X)}, tensor<7xi32> {sharded(X)}) {{
  %by = arith.constant dense<[1, 2, 3, 2, 3, -1, 2]> : tensor<7xi32>
  %0 = arith.divsi %x, %by : tensor<7xi32>
  %e = tensor.empty() : tensor<7xi32>
  %1 = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}} ins(%x, %by : tensor<7xi32>, tensor<7xi32>) outs(%e : tensor<7xi32>) {{
  ^bb0(%a: i32, %b: i32, %out: i32):
    %c = arith.remui %a, %b : i32
    linalg.yield %c : i32
  }} -> tensor<7xi32>
  return %0, %1 : tensor<7xi32>, tensor<7xi32>
}}""",
    "a pad by position": f"""
func.func @main(%x: tensor<3x7xi32> {sharded("", X)}) -> (tensor<4x7xi32> {sharded("", X)}) {{
  %0 = tensor.pad %x low[0, 0] high[1, 0] {{
  ^bb0(%i: index, %j: index):
    %n = arith.index_cast %j : index to i32
    tensor.yield %n : i32
  }} : tensor<3x7xi32> to tensor<4x7xi32>
  return %0 : tensor<4x7xi32>
}}""",
    "steps of a recurrence": f"""
func.func @main(%x: tensor<3x5x6xf32> {sharded("", X, Y)}, %h: tensor<5x6xf32> {sharded(X, Y)}) -> (tensor<3x5x6xf32>, tensor<5x6xf32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<3x5x6xf32>
  %0:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%ys = %e, %s = %h) -> (tensor<3x5x6xf32>, tensor<5x6xf32>) {{
    %back = affine.apply affine_map<(t) -> (2 - t)>(%t)
    %1 = tensor.extract_slice %x[%back, 0, 0] [1, 5, 6] [1, 1, 1] : tensor<3x5x6xf32> to tensor<5x6xf32>
    %2 = arith.addf %s, %1 : tensor<5x6xf32>
    %3 = tensor.insert_slice %2 into %ys[%t, 0, 0] [1, 5, 6] [1, 1, 1] : tensor<5x6xf32> into tensor<3x5x6xf32>
    scf.yield %3, %2 : tensor<3x5x6xf32>, tensor<5x6xf32>
  }}
  return %0#0, %0#1 : tensor<3x5x6xf32>, tensor<5x6xf32>
}}""",
    "a quantised matmul": f"""
func.func @main(%x: tensor<3x7xi8> {sharded("", X)}, %w: tensor<7x5xi8> {sharded(X, "")}) -> tensor<3x5xi32> {{
  %zero = arith.constant dense<0> : tensor<3x5xi32>
  %a = arith.constant 3 : i32
  %b = arith.constant -7 : i32
  %0 = linalg.quantized_matmul ins(%x, %w, %a, %b : tensor<3x7xi8>, tensor<7x5xi8>, i32, i32) outs(%zero : tensor<3x5xi32>) -> tensor<3x5xi32>
  return %0 : tensor<3x5xi32>
}}""",
    "a rescaled sum": f"""
func.func @main(%x: tensor<7x5xi32> {sharded(X, Y)}) -> tensor<1x5xi8> {{
  %zero = "tosa.const"() {{values = dense<0> : tensor<1xi32>}} : () -> tensor<1xi32>
  %out = "tosa.const"() {{values = dense<-4> : tensor<1xi8>}} : () -> tensor<1xi8>
  %by = "tosa.const"() {{values = dense<1431655765> : tensor<1xi32>}} : () -> tensor<1xi32>
  %shift = "tosa.const"() {{values = dense<31> : tensor<1xi8>}} : () -> tensor<1xi8>
  %0 = tosa.reduce_sum %x {{axis = 0 : i32}} : (tensor<7x5xi32>) -> tensor<1x5xi32>
  %1 = tosa.rescale %0, %by, %shift, %zero, %out {{input_unsigned = false, output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true}} : (tensor<1x5xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<1x5xi8>
  return %1 : tensor<1x5xi8>
}}""",
    "a branch and a loop of TOSA": f"""
func.func @main(%c: tensor<i1>, %x: tensor<7x5xf32> {sharded(X, Y)}) -> tensor<7x5xf32> {{
  %0 = tosa.cond_if %c (%a = %x) : tensor<i1> (tensor<7x5xf32>) -> tensor<7x5xf32> {{
  ^bb0(%a: tensor<7x5xf32>):
    %s = tosa.add %a, %a : (tensor<7x5xf32>, tensor<7x5xf32>) -> tensor<7x5xf32>
    tosa.yield %s : tensor<7x5xf32>
  }} else {{
  ^bb0(%a: tensor<7x5xf32>):
    tosa.yield %a : tensor<7x5xf32>
  }}
  %first = "tosa.const"() {{values = dense<0> : tensor<i32>}} : () -> tensor<i32>
  %1:2 = tosa.while_loop (%i = %first, %v = %0) : (tensor<i32>, tensor<7x5xf32>) -> (tensor<i32>, tensor<7x5xf32>) {{
    %n = "tosa.const"() {{values = dense<3> : tensor<i32>}} : () -> tensor<i32>
    %more = tosa.greater %n, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %more : tensor<i1>
  }} do {{
  ^bb0(%i: tensor<i32>, %v: tensor<7x5xf32>):
    %one = "tosa.const"() {{values = dense<1> : tensor<i32>}} : () -> tensor<i32>
    %next = tosa.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %most = tosa.reduce_max %v {{axis = 1 : i32}} : (tensor<7x5xf32>) -> tensor<7x1xf32>
    %w = tosa.add %v, %most : (tensor<7x5xf32>, tensor<7x1xf32>) -> tensor<7x5xf32>
    tosa.yield %next, %w : tensor<i32>, tensor<7x5xf32>
  }}
  return %1#1 : tensor<7x5xf32>
}}""",
    "the first place of a maximum": f"""
func.func @main(%x: tensor<3x2049xf32> {sharded("", X)}) -> (tensor<3xf32>, tensor<3xi64>) {{
  %low = arith.constant dense<0xFF800000> : tensor<3xf32>
  %first = arith.constant dense<0> : tensor<3xi64>
  %0:2 = linalg.generic {{indexing_maps = [{BOTH}, {ROWS}, {ROWS}], iterator_types = ["parallel", "reduction"]}} ins(%x : tensor<3x2049xf32>) outs(%low, %first : tensor<3xf32>, tensor<3xi64>) {{
  ^bb0(%in: f32, %max: f32, %place: i64):
    %j = linalg.index 1 : index
    %k = arith.index_cast %j : index to i64
    %m = arith.maximumf %in, %max : f32
    %isGreater = arith.cmpf ogt, %in, %max : f32
    %at = arith.select %isGreater, %k, %place : i64
    linalg.yield %m, %at : f32, i64
  }} -> (tensor<3xf32>, tensor<3xi64>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xi64>
}}""",
    "a product and an unsigned maximum": f"""
func.func @main(%x: tensor<2049xi32> {sharded(X)}) -> (tensor<i32>, tensor<i32>) {{
  %three = arith.constant dense<3> : tensor<i32>
  %0 = linalg.reduce {{ arith.muli }} ins(%x : tensor<2049xi32>) outs(%three : tensor<i32>) dimensions = [0]
  %1 = linalg.reduce {{ arith.maxui }} ins(%x : tensor<2049xi32>) outs(%three : tensor<i32>) dimensions = [0]
  return %0, %1 : tensor<i32>, tensor<i32>
}}""",
    "a maximum of booleans": f"""
func.func @main(%x: tensor<7x4xi1> {sharded(X, "")}) -> (tensor<1x4xi1>, tensor<1x4xi1>, tensor<1x4xi1>) {{
  %0 = tosa.reduce_max %x {{axis = 0 : i32}} : (tensor<7x4xi1>) -> tensor<1x4xi1>
  %1 = tosa.reduce_min %x {{axis = 0 : i32}} : (tensor<7x4xi1>) -> tensor<1x4xi1>
  %2 = tosa.reduce_sum %x {{axis = 0 : i32}} : (tensor<7x4xi1>) -> tensor<1x4xi1>
  return %0, %1, %2 : tensor<1x4xi1>, tensor<1x4xi1>, tensor<1x4xi1>
}}""",
    "padding with what an argument says": f"""
func.func @main(%x: tensor<8x9xf32> {sharded(X, Y)}, %v: tensor<f32>) -> (tensor<11x12xf32>, tensor<8x13xf32>) {{
  %value = tensor.extract %v[] : tensor<f32>
  %0 = tensor.pad %x low[1, 0] high[2, 3] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  }} : tensor<8x9xf32> to tensor<11x12xf32>
  %1 = tensor.pad %x low[0, 4] high[0, 0] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %value : f32
  }} : tensor<8x9xf32> to tensor<8x13xf32>
  return %0, %1 : tensor<11x12xf32>, tensor<8x13xf32>
}}""",
    "rows of a table in parts": f"""
func.func @main(%t: tensor<2049x5xf32> {sharded(X, Y)}, %b: tensor<2049x5xi1> {sharded(X, Y)}, %i: tensor<7x1xi32>) -> (tensor<7x5xf32>, tensor<7x5xi1>) {{
  %0 = tensor.gather %t[%i] gather_dims([0]) : (tensor<2049x5xf32>, tensor<7x1xi32>) -> tensor<7x5xf32>
  %1 = tensor.gather %b[%i] gather_dims([0]) : (tensor<2049x5xi1>, tensor<7x1xi32>) -> tensor<7x5xi1>
  return %0, %1 : tensor<7x5xf32>, tensor<7x5xi1>
}}""",
    "a function of f16": f"""
func.func @main(%x: tensor<7xf16> {sharded(X)}) -> tensor<7xf16> {{
  %0 = math.exp %x : tensor<7xf16>
  return %0 : tensor<7xf16>
}}""",
    "complex numbers": f"""
func.func @main(%x: tensor<3x7xcomplex<f32>> {sharded("", X)}, %w: tensor<7x5xcomplex<f32>> {sharded(X, "")}, %acc: tensor<3x5xcomplex<f32>>) -> (tensor<3x5xcomplex<f32>>, tensor<3x5xcomplex<f32>>) {{
  %zero = complex.constant [0.0 : f32, 0.0 : f32] : complex<f32>
  %e = tensor.empty() : tensor<3x5xcomplex<f32>>
  %f = linalg.fill ins(%zero : complex<f32>) outs(%e : tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>
  %0 = linalg.matmul ins(%x, %w : tensor<3x7xcomplex<f32>>, tensor<7x5xcomplex<f32>>) outs(%f : tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>
  %1 = linalg.matmul ins(%x, %w : tensor<3x7xcomplex<f32>>, tensor<7x5xcomplex<f32>>) outs(%acc : tensor<3x5xcomplex<f32>>) -> tensor<3x5xcomplex<f32>>
  return %0, %1 : tensor<3x5xcomplex<f32>>, tensor<3x5xcomplex<f32>>
}}""",
    "a sum of indices": f"""
func.func @main(%x: tensor<7xindex> {sharded(X)}) -> (tensor<index>, tensor<index>) {{
  %start = arith.constant dense<1> : tensor<index>
  %0 = linalg.reduce {{ arith.addi }} ins(%x : tensor<7xindex>) outs(%start : tensor<index>) dimensions = [0]
  %1 = linalg.reduce {{ arith.maxsi }} ins(%x : tensor<7xindex>) outs(%start : tensor<index>) dimensions = [0]
  return %0, %1 : tensor<index>, tensor<index>
}}""",
    "random numbers by position": f"""
func.func @main(%x: tensor<7x5xf32> {sharded(X, Y)}) -> tensor<7x5xf32> {{
  %low = arith.constant -1.0 : f64
  %high = arith.constant 1.0 : f64
  %seed = arith.constant 42 : i32
  %e = tensor.empty() : tensor<7x5xf32>
  %0 = linalg.fill_rng_2d ins(%low, %high, %seed : f64, f64, i32) outs(%e : tensor<7x5xf32>) -> tensor<7x5xf32>
  %1 = arith.addf %0, %x : tensor<7x5xf32>
  return %1 : tensor<7x5xf32>
}}""",
    "every second element but the first": f"""
func.func @main(%x: tensor<9xf32> {sharded(X)}) -> (tensor<4xf32> {sharded(X)}) {{
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {{indexing_maps = [affine_map<(i) -> (2 * i + 1)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}} ins(%x : tensor<9xf32>) outs(%e : tensor<4xf32>) {{
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  }} -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}""",
}


@pytest.mark.parametrize("ranks", [2, 4])
def test_numbers(ranks, mpi):
    check({name: on_mesh("sdy.mesh @mesh = <[]>\n" + text, ranks) for name, text in PROGRAMS.items()}, mpi)
