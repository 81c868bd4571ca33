"""What the benchmarks count: the bytes of an HLO module, cleaned up in its favour, and of a program of ours."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks/bytes"))

import emitted
import hlo

GROUPS = "replica_groups=[2,4]<=[8], use_global_device_ids=true"
SUM = """%{name} (a: f32[], b: f32[]) -> f32[] {{
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add = f32[] add(%a, %b)
}}

"""
# A gather of 64 bytes in groups of 4 sends 48, an all-reduce 96.
GATHER, REDUCE = 48, 96


def sent(lines, root, computations=""):
    body = "\n".join(f"  {line}" for line in lines)
    sums = SUM.format(name="sum") + SUM.format(name="sum.clone")
    return hlo.sent_bytes(f"{sums}{computations}ENTRY %main (x: f32[4]) -> f32[] {{\n  %x = f32[4]{{0}} "
                          f"parameter(0)\n{body}\n  ROOT {root}\n}}\n")


def gather(name, operand="x", channel=1):
    return f"%{name} = f32[16]{{0}} all-gather(%{operand}), channel_id={channel}, {GROUPS}, dimensions={{0}}"


def reduction(name, operand="wide", by="sum"):
    return f"%{name} = f32[16]{{0}} all-reduce(%{operand}), {GROUPS}, to_apply=%{by}"


WIDE = "%wide = f32[16]{0} broadcast(%x), dimensions={0}"


def test_equal_operations_are_one():
    lines = [gather("a"), gather("b", channel=2), WIDE, reduction("c"), reduction("d", by="sum.clone")]
    assert sent(lines, "%t = (f32[16], f32[16], f32[16], f32[16]) tuple(%a, %b, %c, %d)") == GATHER + REDUCE


def test_other_operations_are_not():
    lines = [gather("a"), "%y = f32[4]{0} negate(%x)", gather("b", "y")]
    assert sent(lines, "%t = (f32[16], f32[16]) tuple(%a, %b)") == 2 * GATHER


def test_constants_that_are_not_printed_are_not_equal():
    lines = ["%c = f32[4]{0} constant({...})", "%d = f32[4]{0} constant({...})", gather("a", "c"), gather("b", "d")]
    assert sent(lines, "%t = (f32[16], f32[16]) tuple(%a, %b)") == 2 * GATHER


def test_what_nothing_uses_is_gone():
    assert sent([gather("a"), gather("b", "a")], "%r = f32[4]{0} negate(%x)") == 0


def slice_of(name, of, size=4):
    return f"%{name} = f32[{size}]{{0}} dynamic-slice(%{of}, %x), dynamic_slice_sizes={{{size}}}"


@pytest.mark.parametrize("size, expected", [(4, 48), (8, 32 + 32)])
def test_an_all_reduce_of_slices_is_a_reduce_scatter(size, expected):
    """Of halves: 64 bytes are reduce-scattered in pairs, the half all-reduced in pairs."""
    lines = [WIDE, reduction("a"), "%c = f32[16]{0} copy(%a)", slice_of("s", "c", size)]
    assert sent(lines, f"%r = f32[{size}]{{0}} negate(%s)") == expected


def test_an_all_reduce_that_is_used_whole_stays():
    lines = [WIDE, reduction("a"), slice_of("s", "a"), "%b = f32[16]{0} negate(%a)"]
    assert sent(lines, "%t = (f32[4], f32[16]) tuple(%s, %b)") == REDUCE


LOOP = """%body (p: (s32[], f32[4], f32[16])) -> (s32[], f32[4], f32[16]) {{
  %p = (s32[], f32[4], f32[16]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %v = f32[4]{{0}} get-tuple-element(%p), index=1
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  {gather}
  ROOT %t = (s32[], f32[4], f32[16]) tuple(%next, %v, %g)
}}

%condition (p: (s32[], f32[4], f32[16])) -> pred[] {{
  %p = (s32[], f32[4], f32[16]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %n = s32[] constant(5)
  ROOT %lt = pred[] compare(%i, %n), direction=LT
}}

"""


@pytest.mark.parametrize("used, expected", [(2, 5 * GATHER), (1, 0)])
def test_loops_run_and_carry_what_is_used(used, expected):
    lines = [
        "%zero = s32[] constant(0)",
        WIDE,
        "%start = (s32[], f32[4], f32[16]) tuple(%zero, %x, %wide)",
        "%w = (s32[], f32[4], f32[16]) while(%start), condition=%condition, body=%body",
    ]
    size = {1: 4, 2: 16}[used]
    loop = LOOP.format(gather=gather("g", "v"))
    assert sent(lines, f"%r = f32[{size}]{{0}} get-tuple-element(%w), index={used}", loop) == expected


OURS = """
func.func @main(%x: tensor<4xf32>) -> tensor<16xf32> {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<{step}> : tensor<i32>
  %end = stablehlo.constant dense<5> : tensor<i32>
  %wide = stablehlo.concatenate %x, %x, %x, %x, dim = 0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<16xf32>
  %r:2 = stablehlo.while(%i = %zero, %v = %wide) : tensor<i32>, tensor<16xf32>
    cond {{
      %lt = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %lt : tensor<i1>
    }} do {{
      %next = stablehlo.add %i, %one : tensor<i32>
      %g = "stablehlo.all_gather"(%x) <{{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, use_global_device_ids}}> : (tensor<4xf32>) -> tensor<16xf32>
      stablehlo.return %next, %g : tensor<i32>, tensor<16xf32>
    }}
  %p = "stablehlo.collective_permute"(%r#1) <{{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}}> : (tensor<16xf32>) -> tensor<16xf32>
  return %p : tensor<16xf32>
}}
"""


@pytest.mark.parametrize("step, turns", [(1, 5), (2, 3)])
def test_a_program_of_ours(step, turns):
    assert emitted.sent_bytes(OURS.format(step=step)) == turns * GATHER + 64
