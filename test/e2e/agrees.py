"""A program computes on its devices what its text does as a whole."""

from shardonnay import compare, run


def assert_agrees(compiled, text, inputs, expected=None):
    """`expected`: the Reference for these inputs where it is not what the text computes. Names each output that
    differs.
    """
    agreements = run.check(run.LoadedProgram(compiled), inputs, expected or compare.reference(text, inputs))
    wrong = [str(agreement) for agreement in agreements if not agreement.ok]
    assert not wrong, "\n".join(wrong)
