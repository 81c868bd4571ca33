"""Counting collectives in HLO, whose replica groups are written in three ways, in loops and outside."""

import pytest
from shardonnay import xla

LINE = "  %a = {type} {kind}(%x), channel_id=5, replica_groups={groups}, use_global_device_ids=true, to_apply=%add"


@pytest.mark.parametrize(
    "groups, size",
    [
        ("[2,4]<=[8]", 4),
        ("[4,2]<=[2,4]T(1,0)", 2),
        ("{{0,4},{1,5},{2,6},{3,7}}", 2),
        ("mesh['axis_0'=2,'axis_1'=4] {'axis_1'}", 4),
        ("mesh['axis_0'=4,'axis_1'=2], device_ids=([2,4]T(1,0)) {'axis_0'}", 4),
        ("mesh['axis_0'=8] {'axis_0':(1)2}", 2),
    ],
)
def test_group_sizes(groups, size):
    found = xla.count_collectives(LINE.format(type="f32[4,16]{1,0}", kind="all-reduce", groups=groups))
    assert found.count == {"all_reduce": 1}
    assert found.groups == {("all_reduce", size): 1}
    assert found.bytes["all_reduce"] == pytest.approx(2 * 256 * (size - 1) / size)


@pytest.mark.parametrize(
    "kind, type, sent",
    [
        ("all-gather", "f32[8]{0}", 32 * 3 / 4),
        ("reduce-scatter", "bf16[8]{0}", 16 * 3),
        ("all-to-all", "(f32[2]{0}, f32[2]{0}, f32[2]{0}, f32[2]{0})", 32 * 3 / 4),
        ("collective-permute", "pred[8]{0}", 8),
    ],
)
def test_bytes_that_a_device_sends(kind, type, sent):
    found = xla.count_collectives(LINE.format(type=type, kind=kind, groups="[2,4]<=[8]"))
    assert found.bytes[kind.replace("-", "_")] == sent


def test_other_lines_do_not_count():
    assert not xla.count_collectives("%all-reduce = f32[8] add(%all-reduce.1, %x)").count


LOOP = """HloModule m
%body.1 (p: (s32[], f32[8])) -> (s32[], f32[8]) {{
  %all-gather = f32[8]{{0}} all-gather(%x), replica_groups=[2,4]<=[8], dimensions={{0}}
}}

%cond.1 (p: (s32[], f32[8])) -> pred[] {{
  %c = s32[] constant(5)
  ROOT %lt = pred[] compare(%i, %c), direction={direction}
}}

ENTRY %main (x: f32[8]) -> f32[8] {{
  %all-gather.2 = f32[8]{{0}} all-gather(%x), replica_groups=[2,4]<=[8], dimensions={{0}}
  %while = (s32[], f32[8]) while(%t), condition=%cond.1, body=%body.1{config}
}}
"""


@pytest.mark.parametrize(
    "direction, config, times",
    [("LT", "", 5), ("GT", "", 1), ("GT", ', backend_config={"known_trip_count":{"n":"7"}}', 7)],
)
def test_a_loop_counts_once_and_as_often_as_it_runs(direction, config, times):
    found = xla.count_collectives(LOOP.format(direction=direction, config=config))
    assert found.bytes == {"all_gather": 48}
    assert found.executed.count == {"all_gather": 1 + times}
    assert found.executed.bytes == {"all_gather": 24 * (1 + times)}
