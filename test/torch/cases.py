"""Runs many cases of ops as one program, and compares each with eager PyTorch."""

import torch
from running import difference, run_whole

from shardonnay.torch import capture


def flat(results):
    return [x for x in (results if isinstance(results, (list, tuple)) else [results]) if isinstance(x, torch.Tensor)]


def wrong(cases):
    """What is wrong, a line for each case that is."""
    arguments = [x for case in cases for x in case.arguments]

    def program(*given):
        given, results = iter(given), []
        for case in cases:
            results += [x.clone() for x in flat(case.function(*(next(given) for _ in case.arguments)))]
        return results

    captured = capture(program, arguments)
    values = dict(zip((argument.name for argument in captured.arguments), arguments))
    values.update({f"inputs.{at}": x for at, x in enumerate(arguments)})
    found = iter(run_whole(captured, values).values())
    lines = []
    for number, case in enumerate(cases):
        for expected in flat(case.function(*case.arguments)):
            text = difference(next(found), expected.detach().resolve_conj().resolve_neg(), case.slack)
            if text:
                shapes = [f"{x.dtype}{list(x.shape)}" for x in case.arguments]
                lines.append(f"case {number}, {case.text} of {shapes}: {text}")
    return lines
