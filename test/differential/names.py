"""The text of a module in which names and the order of declarations say nothing: those of private functions, of
meshes.
"""

import re

from jaxlib.mlir import ir
from shardonnay import engine

ORIGINAL = re.compile(r'sdy\.original_func_name = "([^"]*)"')
NAME = re.compile(r"func\.func (?:private |public )?@([\w.]+)")
CALL = re.compile(r"call @([\w.]+)\(")


def ordered(text):
    """Meshes first, then public functions, then private ones in the order in which they are called, numbered so."""
    with engine.context():
        parts = [str(operation) for operation in ir.Module.parse(text).body.operations]
    functions = {NAME.search(part)[1]: part for part in parts if part.startswith("func.func")}
    public = [name for name, part in functions.items() if not part.startswith("func.func private")]
    visited = []

    def visit(name):
        if name in functions and name not in visited:
            visited.append(name)
            for callee in CALL.findall(functions[name]):
                visit(callee)

    for name in [*public, *sorted(functions)]:
        visit(name)
    # A private function that does not say so is a copy of its own name.
    originals = {name: (ORIGINAL.search(functions[name]) or [name, name])[1] for name in visited if name not in public}
    names = {name: f"{original}__{number}" for number, (name, original) in enumerate(originals.items())}
    rest = sorted(part for part in parts if not part.startswith("func.func"))
    body = "\n".join([*rest, *(functions[name] for name in visited)])
    body = re.sub(r"(?: attributes \{)?(?<=\{)sdy\.original_func_name = \"[^\"]*\"\}|sdy\.original_func_name = "
                  r"\"[^\"]*\"(?:, )?", "", body)
    body = re.sub(r" attributes \{(?= \{)|@([\w.]+)", lambda at: f"@{names.get(at[1], at[1])}" if at[1] else "", body)
    return body
