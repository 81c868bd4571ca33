"""Each known pass alone, by jaxlib and by us, on generated modules: where they differ, a reason has a name
(differences.py).
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from compatibility import PAGE, PROGRAMS, Comparison, Outcome, page
from differences import PLANS, REASONS
from single_passes import ALONE, cases, program

KNOWN = Path(__file__).resolve().parents[1] / "known_names/known_names.txt"


@pytest.fixture(scope="module")
def comparison():
    found = Comparison()
    yield found
    found.jaxlib.close()


def known():
    """{(pass, option)}, an option without its value."""
    for line in KNOWN.read_text().splitlines():
        if line and not line.startswith("#"):
            _, name, *options = line.split()
            yield from [(name, ""), *((name, option.split("=")[0]) for option in options)]


def compared():
    for name, _, _ in cases():
        bare, _, options = name.partition("{")
        yield bare, ""
        yield from ((bare, option.split("=")[0]) for option in options.rstrip("}").split())
    yield from ((name, option) for name, options in ALONE.items() for option in options)


def test_every_pass_and_option_is_compared():
    assert set(known()) <= set(compared())


def unexplained(rows):
    return {row.name: [difference.start for difference in row.unexplained] for row in rows if row.unexplained}


def test_some(comparison):
    """Programs of several kinds for each; plans are executed, so there are fewer of them."""
    rows = []
    for number, (name, _, _) in enumerate(cases()):
        count = 1 if name.startswith(PLANS) else 4
        rows += comparison.rows(
            [(number + 7 * i) % PROGRAMS for i in range(count)], lambda other, name=name: other == name
        )
    assert sum(row.count for row in rows) >= 200 and not unexplained(rows)


@pytest.mark.long
def test_all_and_the_page_says_it(comparison):
    rows = list(comparison.rows(range(PROGRAMS)))
    assert sum(row.count for row in rows) >= 3000 and not unexplained(rows)
    assert page(rows, PROGRAMS) == PAGE.read_text()


def test_the_page_has_no_other_reasons():
    """What it says is what is held, and it has a row for each pass and option."""
    text = PAGE.read_text()
    rows = re.findall(r"^\| ([^|`]+) \| (better|differs) \| ([^|]+) \|$", text, re.M)
    assert rows and all((REASONS[name].verdict, REASONS[name].why) == (verdict, why) for name, verdict, why in rows)
    assert all(f"\n| `{name}` |" in text for name, _, _ in cases())
    cells = [cell.strip() for row in re.findall(r"^\| `.* \|$", text, re.M) for cell in row.split("|")[4:6]]
    named = {name for cell in cells for name in re.split(r"(?:, )?\b\d+ ", cell)[1:]}
    assert named == {name for name, _, _ in rows}


def pair(comparison, name, number):
    """What both leave of a program."""
    (row,) = [(pipeline, before) for other, pipeline, before in cases() if other == name]
    pipeline, before = row
    start = comparison.theirs(program(number), f"builtin.module({before})").text
    (found,) = comparison.pairs(name, pipeline, [(number, start)])
    return found


def explanation(compared, comparison):
    return next((name for name, reason in REASONS.items() if reason.explains(compared, comparison)), None)


def drop_collective(text):
    """The value as it was before the last collective that sends something."""
    pattern = re.compile(
        r"^ *(%\d+) = sdy\.(?:all_reduce|all_gather|all_to_all|reduce_scatter) .*?(%\w+) out_sharding.*\n", re.M
    )
    *_, last = pattern.finditer(text)
    return text[: last.start()] + re.sub(rf"{last[1]}\b", last[2], text[last.end() :])


def drop_sharding(text):
    """An op whose result is sharded says that it is not."""
    return re.sub(r' \{sdy\.sharding = #sdy\.sharding_per_value<\[<@mesh, \[[^]]*"[^]]*\]>\]>\}', "", text, count=1)


def swap_axes(text):
    """Of a result of @main."""
    head, _, rest = text.partition(") -> (")
    assert '"a"' in rest
    return head + ") -> (" + rest.replace('"a"', '"*"', 1).replace('"b"', '"a"', 1).replace('"*"', '"b"', 1)


def rename_origin(text):
    return re.sub(r'(\w) = "(input|output|constraint_|mc_)[^"]*"', r'\1 = "input: 77"', text, count=1)


def widen_factor(text):
    return re.sub(r"need_replication=\{\w\}", "permutation={i}", text, count=1)


FAULTS = [
    ("sdy-reshard-to-collectives", 0, drop_collective),
    ("sdy-reshard-to-collectives", 6, drop_collective),
    ("sdy-insert-explicit-reshards{enable-full-version=true}", 0, swap_axes),
    ("sdy-basic-propagate", 0, drop_sharding),
    ("sdy-basic-propagate", 2, drop_sharding),
    ("sdy-basic-propagate", 4, drop_sharding),
    ("sdy-user-priority-propagate", 10, drop_sharding),
    ("sdy-user-priority-propagate{debug-sharding-origins=true}", 2, rename_origin),
    ("sdy-populate-op-sharding-rules{conservative-propagation=true}", 0, widen_factor),
]


@pytest.mark.parametrize("name, number, fault", FAULTS, ids=lambda value: getattr(value, "__name__", None))
def test_a_fault_is_reported(name, number, fault, comparison):
    """The negative control: as it is, the pair is the same or has a reason; with the fault in our text it has none."""
    case = pair(comparison, name, number)
    assert comparison.is_same(case) or explanation(case, comparison)
    broken = fault(case.mine.text)
    assert broken != case.mine.text
    case = case.but(broken, case.theirs.text)
    assert not comparison.is_same(case) and explanation(case, comparison) is None


def test_a_refusal_is_not_enough(comparison):
    """Where jaxlib's pass has no result, ours still has to be the program."""
    case = pair(comparison, "sdy-propagate-to-func-results", 2)
    case = replace(case, theirs=Outcome(refused="an error"))
    assert explanation(case, comparison) == "theirs refuses"
    other = pair(comparison, "sdy-propagate-to-func-results", 3).mine
    assert explanation(replace(case, mine=other), comparison) is None
