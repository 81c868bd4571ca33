"""A run of a case's ops, put into a private function, a branch, a loop or a manual computation; or a copy of it whose
results nobody reads.

It works on the lines of any family: what a run uses from outside is captured, or handed to the function; what it makes
and others read comes back. So every op is met inside of functions (nested, called several times or never), of branches
and of loops, with the constraints and shardings that it has, dead, and beside an equal one that is sharded otherwise.
"""

import re
from dataclasses import replace

import manual
from elements import is_float

NAME = re.compile(r"(?<!@)\$\d+")
BLOCK_ARGUMENT = re.compile(r"(\$\d+): ")
# Ops whose operands have to be seen beside them: tuples, and the constants that are sizes.
WHOLE = re.compile(r"get_tuple_element|stablehlo\.(dynamic_(?!slice|update)|real_dynamic)")


def defined(line):
    """The names of an op's results."""
    left, found, _ = line.partition(" = ")
    return NAME.findall(left) if found and left.startswith("$") and "(" not in left else []


class _Run:
    """Lines, the values that they take from outside, and those that they make."""

    def __init__(self, lines, known):
        self.lines = lines
        made = [name for line in lines for name in defined(line)]
        used = dict.fromkeys(name for line in lines for name in NAME.findall(line))
        within = {name for line in lines for part in line.splitlines()
                  for name in (*defined(part), *BLOCK_ARGUMENT.findall(part))}
        # Tuples, which no value stands for, and what another wrapping made that only it knows.
        self.hidden = [name for name in {*made, *(used.keys() - within)} if name not in known]
        self.makes = [known[name] for name in made if name in known]
        self.takes = [known[name] for name in used if name in known and name not in made]

    def copy(self, graph):
        """(lines, {old name: new name}): the same with names of its own."""
        taken = {value.name for value in self.takes}
        names = {}
        for line in self.lines:
            for name in NAME.findall(line):
                if name not in taken and name not in names:
                    names[name] = graph.fresh()
        return [NAME.sub(lambda found: names.get(found[0], found[0]), line) for line in self.lines], names


def _types(values):
    found = ", ".join(value.type for value in values)
    return found if len(values) == 1 else f"({found})"


def _left(values):
    return ", ".join(value.name for value in values) + (" = " if values else "")


def _block(lines, names, values):
    """A region without arguments, which returns `names`."""
    types = ", ".join(value.type for value in values)
    return "{\n" + "\n".join([*lines, f"stablehlo.return {', '.join(names)} : {types}"]) + "\n}"


def _called(graph, run, results):
    """A private function and its calls: one, or two, of which the second's results are perhaps unused."""
    name = graph.fresh()
    shardings = [
        f" {{sdy.sharding = {graph.sharding(value.shape, True)}}}" if graph.chance(10) else ""
        for value in (*run.takes, *results)
    ]
    head = ", ".join(f"{value.name}: {value.type}{sharding}" for value, sharding in zip(run.takes, shardings))
    types = ", ".join(f"{value.type}{sharding}" for value, sharding in zip(results, shardings[len(run.takes) :]))
    body = "\n".join(run.lines)
    names = ", ".join(value.name for value in results)
    graph.functions.append(f"func.func private @{name}({head}) -> ({types}) {{\n{body}\nreturn {names} : "
                           f"{', '.join(value.type for value in results)}\n}}")
    graph.ops.append("func.call")
    operands = ", ".join(value.name for value in run.takes)

    def call(values):
        return (f'{_left(values)}"func.call"({operands}) <{{callee = @{name}}}> : '
                f'({", ".join(value.type for value in run.takes)}) -> '
                f"{_types(values)}")

    calls = [call(results)]
    if graph.chance(40):
        again = [replace(value, name=graph.fresh()) for value in results]
        calls.append(call(again))
        graph.values += again
    return calls


def _branched(graph, run, results):
    """Both ways compute the same, with constraints of their own."""
    predicate = graph.argument((), "i1", sharded=False)
    graph._used.add(predicate.name)
    graph.ops.append("stablehlo.if")
    lines, names = run.copy(graph)
    outer = [replace(value, name=graph.fresh()) for value in results]
    blocks = [_block(run.lines, [value.name for value in results], results),
              _block(lines, [names[value.name] for value in results], results)]
    return _renamed(graph, results, outer, f'"stablehlo.if"({predicate.name}) ({", ".join(blocks)}) : (tensor<i1>) '
                                           f'-> {_types(results)}')


def _renamed(graph, results, outer, text):
    """An op whose inner values have the names of `results`, which stand for it outside: inside they are changed."""
    swap = {value.name: other.name for value, other in zip(results, outer, strict=True)}
    return [_left(results) + NAME.sub(lambda found: swap.get(found[0], found[0]), text)]


def _zero(element):
    if element.startswith("complex"):
        return "(0.0, 0.0)"
    return "false" if element == "i1" else "0.0" if is_float(element) else "0"


def _looped(graph, run, results):
    """A loop of one or two trips, each of which computes the same."""
    zero, one, trips, more, step = (graph.fresh() for _ in range(5))
    counters, outer, total = (graph.fresh(),
                              graph.fresh()), [replace(value, name=graph.fresh()) for value in results], graph.fresh()
    inits = [graph.fresh() for _ in results]
    kinds = ["tensor<i32>", *(value.type for value in results)]
    blocks = [", ".join(f"{name}: {kind}"
                        for name, kind in zip((counter, *(graph.fresh() for _ in results)), kinds, strict=True))
              for counter in counters]
    constants = [f"{name} = stablehlo.constant dense<{number}> : tensor<i32>" for name, number in
                 ((zero, 0), (one, 1), (trips, graph.int(1, 2)))]
    constants += [f"{name} = stablehlo.constant dense<{_zero(value.element)}> : {value.type}"
                  for name, value in zip(inits, results, strict=True)]
    condition = (f"{{\n^bb0({blocks[0]}):\n{more} = stablehlo.compare LT, {counters[0]}, {trips} : (tensor<i32>, "
                 f"tensor<i32>) -> tensor<i1>\nstablehlo.return {more} : tensor<i1>\n}}")
    body = "\n".join([*run.lines, f"{step} = stablehlo.add {counters[1]}, {one} : tensor<i32>"])
    returned = ", ".join([step, *(value.name for value in results)])
    body = f"{{\n^bb0({blocks[1]}):\n{body}\nstablehlo.return {returned} : {', '.join(kinds)}\n}}"
    graph.ops.append("stablehlo.while")
    (line,) = _renamed(graph, results, outer, f'"stablehlo.while"({", ".join([zero, *inits])}) ({condition}, {body}) : '
                       f"({', '.join(kinds)}) -> {kinds[0] if len(kinds) == 1 else f'({chr(44).join(kinds)})'}")
    return [*constants, f"{total}{', ' if results else ' = '}{line}"]


def _repeated(graph, run):
    """The same ops once more, with constraints of their own on what they make."""
    lines, names = run.copy(graph)
    for value in run.makes:
        again = replace(value, name=names[value.name])
        if graph.chance(50):
            again, bare = replace(again, name=graph.fresh()), again
            sharding = graph.sharding(value.shape, True).removeprefix("#sdy.sharding")
            lines.append(f"{again.name} = sdy.sharding_constraint {bare.name} {sharding} : {value.type}")
        graph.values.append(again)
    return lines


def wrap(graph):
    """Puts some consecutive ops of the case into something, or a copy of them whose results nobody reads; or repeats
    them.
    """
    first = graph.int(0, len(graph.lines) - 1)
    last = graph.int(first + 1, len(graph.lines))
    known = {value.name: value for value in graph.values + graph.held}
    run = _Run(graph.lines[first:last], known)
    if run.hidden or not run.makes or any(WHOLE.search(line) for line in graph.lines):
        return
    later = {name for line in graph.lines[last:] for name in NAME.findall(line)}
    results = [value for value in run.makes if value.name in later or value.name not in graph._used]
    grouped = any("sdy.sharding_group" in line for line in run.lines)  # in a region, too
    # The members of a group are in one manual computation, or all outside.
    how = graph.choose((_called, _branched, _looped) if grouped else (_called, _branched, _looped, manual.wrapped))
    before = list(graph.values)
    if graph.chance(15) and not grouped:
        graph.lines[last:last] = _repeated(graph, run)
        return
    if graph.chance(25):
        lines, names = run.copy(graph)
        results = [replace(value, name=names[value.name]) for value in results or run.makes[-1:]]
        made = [replace(value, name=names[value.name]) for value in run.makes]
        graph.lines[last:last] = how(graph, _Run(lines, known | {value.name: value for value in made}), results)
        graph.values = before
        return
    results = results or run.makes[-1:]
    if graph.chance(5):  # a function that nobody calls
        _called(graph, run, results)
        graph.values = before
        return
    inner = {value.name for value in run.makes} - {value.name for value in results}
    graph.lines[first:last] = how(graph, run, results)
    graph.values, graph.held = (
        [value for value in values if value.name not in inner] for values in (graph.values, graph.held)
    )
