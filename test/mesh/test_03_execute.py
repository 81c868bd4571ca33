"""Acceptance test 3: programs in 2, 4 and 8 processes, on both MPIs, against one process."""

import functools

import batch
import pytest
from programs import EXACT, PROGRAMS, REFUSED
from shardonnay import mpi as package

NAMES = [name for name in PROGRAMS if name not in REFUSED]


@functools.cache
def wholes():
    """What one process yields; the same for all meshes and MPIs."""
    return batch.run([PROGRAMS[name](2) for name in NAMES], package.find(), whole=True)


@pytest.mark.parametrize("ranks", [2, 4, 8])
def test_numbers(ranks, mpi):
    wrong = {}
    for name, found, expected in zip(NAMES, batch.run([PROGRAMS[name](ranks) for name in NAMES], mpi), wholes()):
        if isinstance(found, Exception) or isinstance(expected, Exception):
            wrong[name] = str(found)[:500]
        elif said := batch.disagreement(found, expected, name in EXACT):
            wrong[name] = said
    assert not wrong


@pytest.mark.skipif(not package.installed(), reason="NO MPI IS INSTALLED: run scripts/setup --mpi")
def test_wrong_groups_are_seen(monkeypatch):
    """The negative control: programs that reduce along the wrong axis disagree."""
    names = ["reduce_sum_f32", "reduce_sum_i32"]
    texts = [PROGRAMS[name](4) for name in names]
    original = batch.shardonnay.compile

    def broken(text, **options):
        program = original(text, **options)
        # The first word of a group's last reference is its axis.
        program.text = program.text.replace("2, 2, 2, 0, 1, 0, 1, 2", "2, 2, 2, 0, 1, 1, 1, 2")
        return program

    monkeypatch.setattr(batch.shardonnay, "compile", broken)
    found = batch.run(texts, package.find())
    assert all(batch.disagreement(each, wholes()[NAMES.index(name)], True) for name, each in zip(names, found))


@pytest.mark.skipif(not package.installed(), reason="NO MPI IS INSTALLED: run scripts/setup --mpi")
@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_lowering_is_refused(name):
    (found,) = batch.run([PROGRAMS[name](2)], package.find())
    assert isinstance(found, package.MpiError) and REFUSED[name] in str(found)
