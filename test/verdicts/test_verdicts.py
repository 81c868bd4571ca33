"""Of mutated ops, our verifiers and jaxlib's say the same, or docs/design/stablehlo-verdicts.md says why not."""

import fnmatch
import random
import re
from pathlib import Path

import mutants
import verdicts

TABLE = Path(__file__).resolve().parents[2] / "docs/design/stablehlo-verdicts.md"
COUNT = 3000


def rows():
    """(ops, who refuses, a part of the error) of each row."""
    found = re.findall(r"^\| `([^`]+)` \| (ours|jaxlib|both) \| `([^`]*)` \|", TABLE.read_text(), flags=re.M)
    assert found
    return found


def explains(row, name, our, their):
    ops, who, part = row
    if not any(fnmatch.fnmatch(name, pattern) for pattern in ops.split()):
        return False
    return part in (our if who == "ours" else their or "") if (our if who == "ours" else their) else False


def test_originals_are_accepted():
    ops = mutants.corpus()
    answers = verdicts.ours([op.text() for op in ops])
    refused = [
        (op.text(), error) for op, error in zip(ops, answers, strict=True)
        if error and not any(explains(row, op.name, error, None) for row in rows())
    ]
    assert not refused, refused[:3]


def test_mutants():
    ops = mutants.corpus()
    changed = mutants.mutants(random.Random(20), ops, COUNT)
    texts = [after.text() for _, _, after in changed]
    table, unexplained = rows(), []
    both = {True: 0, False: 0}
    for (mutation, _, after), text, our, their in zip(
        changed, texts, verdicts.ours(texts), verdicts.theirs(texts), strict=True
    ):
        assert not (our or "").startswith("crash"), text
        if bool(our) == bool(their):
            both[bool(our)] += 1
            continue
        if not any(explains(row, after.name, our, their) for row in table):
            unexplained.append(f"{mutation}\n{text}ours: {our or 'ok'}\njaxlib: {their or 'ok'}\n")
    print(f"{len(ops)} ops, {COUNT} mutants: {both[False]} accepted by both, {both[True]} refused by both, "
          f"{COUNT - sum(both.values())} in the table")
    assert not unexplained, f"{len(unexplained)} not in the table\n" + "\n".join(unexplained)
