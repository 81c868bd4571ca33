"""The report: memory, trips of loops, and a plan that is refused for what it holds."""

import pytest
import shardonnay
from shardonnay import report

MESH = 'sdy.mesh @m = <["a"=2]>'
SPLIT = '{sdy.sharding = #sdy.sharding<@m, [{"a"}, {}]>}'
WHOLE = "{sdy.sharding = #sdy.sharding<@m, [{}, {}]>}"

# Gathers 4x8 of 8x8 float32 in every round: 128 bytes.
LOOP = f"""
{MESH}
func.func @main(%x: tensor<8x8xf32> {SPLIT}, %n: tensor<i32>) -> (tensor<8x8xf32> {SPLIT}) {{
  %start = stablehlo.constant dense<START> : tensor<i32>
  %limit = stablehlo.constant dense<10> : tensor<i32>
  %0:4 = stablehlo.while(%i = %start, %state = %x, %l = %limit, %m = %n) : tensor<i32>, tensor<8x8xf32>, tensor<i32>, tensor<i32>
   cond {{
    %1 = stablehlo.compare CONDITION : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }} do {{
    %step = stablehlo.constant dense<STEP> : tensor<i32>
    %next = stablehlo.OP %i, %step : tensor<i32>
    %2 = stablehlo.dot %state, %state : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %next, %2, %l, %m : tensor<i32>, tensor<8x8xf32>, tensor<i32>, tensor<i32>
  }}
  return %0#1 : tensor<8x8xf32>
}}
"""


def loop(condition, op="add", start=0, step=1):
    text = (
        LOOP.replace("CONDITION", condition).replace("OP", op).replace("START", str(start)).replace("STEP", str(step))
    )
    return shardonnay.compile(text, device_model="bytes", report=True).report


@pytest.mark.parametrize(
    "condition, op, start, step, trips",
    [
        ("LT, %i, %l", "add", 0, 1, 10),
        ("LE, %i, %l", "add", 0, 3, 4),
        ("GT, %l, %i", "add", 4, 4, 2),
        ("GE, %i, %l", "subtract", 14, 2, 3),
        ("LT, %i, %l", "add", 20, 1, 0),
        ("LT, %i, %m", "add", 0, 1, None),
        ("NE, %i, %l", "add", 0, 1, None),
        ("LT, %i, %l", "add", 0, -1, None),
        ("LT, %i, %l", "multiply", 1, 2, None),
    ],
)
def test_trips_multiply(condition, op, start, step, trips):
    report = loop(condition, op, start, step)
    (gather,) = report["collectives"]
    assert (gather["trips"], gather["trips_known"]) == ((1, False) if trips is None else (trips, True))
    assert report["collective_bytes"] == 128
    assert report["executed_bytes"] == 128 * (1 if trips is None else trips)
    assert report["unknown_trips"] == (trips is None)


STEP = f"""
{MESH}
func.func @main(%x: tensor<8x8xf32> {SPLIT}) -> (tensor<8x8xf32> {WHOLE}) {{
  %0 = stablehlo.tanh %x : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}
"""


def test_peak_is_what_a_device_holds():
    # The argument and its tanh, 128 bytes each, and the place of the result, 256.
    report = shardonnay.compile(STEP, report=True).report
    assert report["peak_bytes"] == {"global": 512, "per_device": 512}
    assert report["peak"]["op"] == "stablehlo.tanh"
    assert [value["bytes"] for value in report["peak"]["largest"]] == [128, 128]


def test_memory_limit():
    shardonnay.compile(STEP, memory_limit=512)
    with pytest.raises(shardonnay.CompileError, match="sdy-check-memory: 512 bytes are alive per device") as error:
        shardonnay.compile(STEP, memory_limit=511)
    assert "128 bytes are this 'tensor<4x8xf32>'" in str(error.value)


def test_plan_and_program_have_one_price():
    price = shardonnay.compile(STEP, device_model="gpu-node", report=True).report["price"]
    assert price["planned"] == price["emitted"] > 128


def pooling(name, size, low, high):
    return f"""
  {name} = "stablehlo.reduce_window"(%x, %z) <{{padding = dense<[[{low}, {high}], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: {size}, 1>}}> ({{
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %m = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %m : tensor<f32>
  }}) : (tensor<64x1000xf32>, tensor<f32>) -> tensor<64x1000xf32>"""


def test_what_two_windows_need_is_counted_once():
    sharding = '{sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}'
    compiled = shardonnay.compile(
        f"""
sdy.mesh @mesh = <["y"=4]>
func.func public @main(%x: tensor<64x1000xf32> {sharding}) -> (tensor<64x1000xf32> {sharding}, tensor<64x1000xf32> {sharding}) {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  {pooling("%a", 2, 0, 1)}
  {pooling("%b", 3, 1, 1)}
  return %a, %b : tensor<64x1000xf32>, tensor<64x1000xf32>
}}""",
        report=True,
    )
    # A row from each side: both need the one behind.
    assert compiled.text.count("stablehlo.collective_permute") == 2
    assert compiled.report["executed_bytes"] == 2 * 1000 * 4


def test_a_plan_that_may_not_be_the_cheapest_says_so():
    shardings = ['{"e", "c"}, {}, {"a"}, {"d", "b"}', '{"e", "a", "b"}, {"d", "c"}, {}, {}']
    types = ["tensor<2048x1024x256x1024xbf16> {sdy.sharding = #sdy.sharding<@m, [" + dims + "]>}" for dims in shardings]
    text = f"""sdy.mesh @m = <["a"=4, "b"=8, "c"=2, "d"=16, "e"=16]>
func.func @main(%x: {types[0]}) -> ({types[1]}) {{
  return %x : tensor<2048x1024x256x1024xbf16>
}}"""
    entries = shardonnay.compile(text, device_model="bytes", report=True).report["collectives"]
    costs = sum(entry["bytes"] for entry in entries)
    assert len(entries) > 1
    for entry in entries:
        assert (
            f"not proven cheapest, as the search was given up: it costs {costs} bytes, and at least " in entry["cause"]
        )


def test_what_a_model_says_that_a_device_has_is_a_limit_that_warns(tmp_path):
    model = tmp_path / "small.json"
    model.write_text('{"name": "small", "bandwidth": 1e9, "latency": 1e-6, "memory": 511}')
    (warning,) = shardonnay.compile(STEP, device_model=str(model)).diagnostics[:1]
    assert warning.severity == "warning"
    assert "sdy-check-memory: 512 bytes are alive per device" in warning.message
    assert "expected at most 511 (of the device model)" in warning.message
    model.write_text('{"name": "enough", "bandwidth": 1e9, "latency": 1e-6, "memory": 512}')
    assert not shardonnay.compile(STEP, device_model=str(model)).diagnostics


CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
ALONG_A = "dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>"
# In manual axis "a"; the free axis "b" shards the columns. Each device has 4x4 float32.
WRITTEN = f"""
sdy.mesh @m = <["a"=2, "b"=2]>
func.func @main(%x: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"a"}}, {{"b"}}]>}}) -> (tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"a"}}, {{"b"}}]>}}) {{
  %start = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %state = %x) : tensor<i32>, tensor<8x8xf32>
   cond {{
    %limit = stablehlo.constant dense<10> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }} do {{
    %step = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %step : tensor<i32>
    %1 = sdy.manual_computation(%state) in_shardings=[<@m, [{{"a"}}, {{"b"}}]>] out_shardings=[<@m, [{{"a"}}, {{"b"}}]>] manual_axes={{"a"}} (%c: tensor<4x8xf32>) {{
      OP
      sdy.return %2 : tensor<4x8xf32>
    }} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    stablehlo.return %next, %1 : tensor<i32>, tensor<8x8xf32>
  }}
  return %0#1 : tensor<8x8xf32>
}}
"""
WRITTEN_OPS = {
    "all_reduce": (64, f"""%2 = "stablehlo.all_reduce"(%c) <{{{CHANNEL}, replica_groups = {ALONG_A}, use_global_device_ids}}> ({{
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %3 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }}) : (tensor<4x8xf32>) -> tensor<4x8xf32>"""),
    "all_to_all": (32, f'%2 = "stablehlo.all_to_all"(%c) <{{{CHANNEL}, replica_groups = {ALONG_A}, split_dimension = '
                       f'0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64}}> : (tensor<4x8xf32>) -> '
                       'tensor<4x8xf32>'),
    "collective_permute": (64, f'%2 = "stablehlo.collective_permute"(%c) <{{{CHANNEL}, source_target_pairs = '
                               f'{ALONG_A}}}> : (tensor<4x8xf32>) -> tensor<4x8xf32>'),
    "all_gather": (64, f'''%g = "stablehlo.all_gather"(%c) <{{{CHANNEL}, all_gather_dim = 0 : i64, replica_groups = {ALONG_A}, use_global_device_ids}}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
      %2 = stablehlo.slice %g [0:4, 0:8] : (tensor<8x8xf32>) -> tensor<4x8xf32>'''),
    "all_to_all along an axis": (32, '%2 = "stablehlo.all_to_all"(%c) <{channel_handle = '
                                     '#stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = '
                                     '#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "a", '
                                     'size = 2>, <name = "b", size = 2>]>, axes = [#stablehlo.axis_ref<name = '
                                     '"a">]>, split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 '
                                     ': i64}> : (tensor<4x8xf32>) -> tensor<4x8xf32>'),
    "none": (0, "%2 = stablehlo.tanh %c : tensor<4x8xf32>"),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRITTEN_OPS)
def test_what_the_user_wrote_counts(kind):
    size, op = WRITTEN_OPS[kind]
    compiled = shardonnay.compile(WRITTEN.replace("OP", op), device_model="bytes")
    found = [entry for entry in compiled.report["collectives"] if entry["written"]]
    assert [(entry["kind"], entry["axes"], entry["bytes"], entry["trips"]) for entry in found] == (
        [(kind.split()[0], ["a"], size, 10)] if size else []
    )
    assert compiled.report["executed_bytes"] == 10 * size
    assert (
        compiled.report["price"]["planned"] == compiled.report["price"]["emitted"] == pytest.approx(10 * size, rel=1e-3)
    )
    text = "\n".join(report.lines(compiled.report))
    assert ("written by the user" in text) == (size > 0)
    assert (f"{10 * size} B, loops as often as they run" in text) == (size > 0)


def test_a_ragged_exchange_sends_no_more_than_devices_take():
    """Of 16 rows a device sends those that fit in 4 on average: half to the other."""
    text = f"""
sdy.mesh @m = <["a"=2]>
func.func @main(%x: tensor<32x8xf32> {SPLIT}, %s: tensor<2xi32> {WHOLE.replace(", {}", "")}) -> (tensor<8x8xf32> {SPLIT}) {{
  %0 = sdy.manual_computation(%x, %s) in_shardings=[<@m, [{{"a"}}, {{}}]>, <@m, [{{}}]>] out_shardings=[<@m, [{{"a"}}, {{}}]>] manual_axes={{"a"}} (%c: tensor<16x8xf32>, %d: tensor<2xi32>) {{
    %1 = stablehlo.constant dense<0.0> : tensor<4x8xf32>
    %2 = stablehlo.custom_call @ragged_all_to_all(%c, %1, %d, %d, %d, %d) {{api_version = 4 : i32, backend_config = {{channel_id = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}}}} : (tensor<16x8xf32>, tensor<4x8xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x8xf32>
    sdy.return %2 : tensor<4x8xf32>
  }} : (tensor<32x8xf32>, tensor<2xi32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}"""
    (entry,) = shardonnay.compile(text).report["collectives"]
    assert (entry["kind"], entry["bytes"], entry["written"]) == ("ragged_all_to_all", 64, True)


def test_a_collective_that_is_started_and_awaited_counts_once():
    """As `jax.lax.psum_scatter_start` of JAX 0.12 is printed; along "b" each device has its own columns."""
    config = '{"scatter_dimension": 0, "replica_groups": [[0, 2], [1, 3]], "tiled": true}'.replace('"', r"\22")
    call = (
        '%1 = stablehlo.custom_call @"reduce-scatter-start"(%c) {called_computations = [@sum], '
        f'mhlo.frontend_attributes = {{async_collective_config = "{config}"}}}} : (tensor<8x8xf32>) -> tensor<4x8xf32>'
    )
    text = f"""
sdy.mesh @m = <["a"=2, "b"=2]>
func.func private @sum(%l: tensor<f32>, %r: tensor<f32>) -> tensor<f32> {{
  %0 = stablehlo.add %l, %r : tensor<f32>
  return %0 : tensor<f32>
}}
func.func @main(%x: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@m, [{{}}, {{"b"}}]>}}) -> (tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@m, [{{"a"}}, {{"b"}}]>}}) {{
  %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{{}}, {{?}}]>] out_shardings=[<@m, [{{"a"}}, {{?}}]>] manual_axes={{"a"}} (%c: tensor<8x8xf32>) {{
    {call}
    %2 = stablehlo.custom_call @"reduce-scatter-done"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    sdy.return %2 : tensor<4x8xf32>
  }} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}}"""
    compiled = shardonnay.compile(text)
    (entry,) = compiled.report["collectives"]
    assert (entry["kind"], entry["bytes"], entry["written"]) == ("reduce-scatter-start", 64, True)
    assert '@"reduce-scatter-done"' in compiled.text and "tensor<4x4xf32>" in compiled.text
