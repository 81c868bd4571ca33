"""The programs of reported faults, which reported_faults.py and rule_faults.py add."""

import numpy as np
from uneven import Case

CASES = []
PERMUTES = {"collective_permute"}
MOVES = {"all_to_all", "collective_permute"}


def fault(name, arguments, result, body, collectives, tolerance=0.0):
    """`collectives`: all kinds that the program may communicate by."""
    CASES.append(Case(name, arguments, result, body, collectives, tolerance))


def index(value, element="i32"):
    return np.asarray(value), element, []
