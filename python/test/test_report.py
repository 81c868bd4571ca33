"""The report: memory, trips of loops, and a plan that is refused for what it holds."""

import pytest
import shardonnay

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
    text = LOOP.replace("CONDITION", condition).replace("OP", op).replace("START", str(start)).replace("STEP", str(step))
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


def test_peak_is_what_a_device_holds_at_the_gather():
    # The argument and its tanh, 128 bytes each, and the gathered 256.
    report = shardonnay.compile(STEP, report=True).report
    assert report["peak_bytes"] == {"global": 512, "per_device": 512}
    assert report["peak"]["op"] == "spmd.all_gather"
    assert [value["bytes"] for value in report["peak"]["largest"]] == [256, 128, 128]


def test_memory_limit():
    shardonnay.compile(STEP, memory_limit=512)
    with pytest.raises(shardonnay.CompileError, match="sdy-check-memory: 512 bytes are alive per device") as error:
        shardonnay.compile(STEP, memory_limit=511)
    assert "256 bytes are this 'tensor<8x8xf32>'" in str(error.value)


def test_plan_and_program_have_one_price():
    price = shardonnay.compile(STEP, device_model="gpu-node", report=True).report["price"]
    assert price["planned"] == price["emitted"] > 128


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
        assert f"not proven cheapest, as the search was given up: it costs {costs} bytes, and at least " in entry["cause"]


def test_what_a_model_says_that_a_device_has_is_a_limit_that_warns(tmp_path):
    model = tmp_path / "small.json"
    model.write_text('{"name": "small", "bandwidth": 1e9, "latency": 1e-6, "memory": 511}')
    (warning,) = shardonnay.compile(STEP, device_model=str(model)).diagnostics[:1]
    assert warning.severity == "warning"
    assert "sdy-check-memory: 512 bytes are alive per device" in warning.message
    assert "expected at most 511 (of the device model)" in warning.message
    model.write_text('{"name": "enough", "bandwidth": 1e9, "latency": 1e-6, "memory": 512}')
    assert not shardonnay.compile(STEP, device_model=str(model)).diagnostics
