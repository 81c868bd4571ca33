"""Checks of numbers in Python, which capturing takes as passed, and branches, which it refuses."""

import checked
import pytest
import torch
from running import difference, run_whole

from shardonnay.torch import UnsupportedError, capture


@pytest.mark.parametrize("name", ["raises", "ends", "asserts", "several", "numbers", "alternatives", "warns",
                                  "equalities", "by_a_function", "by_the_library", "of_generators", "of_a_choice",
                                  "logs", "same", "with_factors", "of_masks", "with_a_number"])  # fmt: skip
def test_check(name):
    function, x = getattr(checked, name), torch.tensor([1.0, 2.0])
    for _ in range(12):  # Python's instructions are other ones when they have run some times
        captured = capture(function, [x])
    assert not difference(run_whole(captured, {"inputs.0": x})["result"], function(x))


@pytest.mark.parametrize("name", ["branch", "branch_by_a_function", "choice", "handled", "caught", "caught_shape",
                                  "repeated", "written_between", "written_through_a_view", "unlike",
                                  "of_random_numbers", "of_a_factor", "informs", "of_another_mask", "of_a_mean",
                                  "bounded_otherwise"])  # fmt: skip
def test_branch(name):
    with pytest.raises(UnsupportedError, match=r"checked\.py:\d+: error: .*depends on the numbers in a tensor"):
        capture(getattr(checked, name), [torch.tensor([1.0, 2.0])])
