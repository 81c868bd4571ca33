"""`partition`: a training step of a PyTorch model, captured, given shardings and compiled for a mesh."""

from __future__ import annotations

import difflib
import fnmatch
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed.tensor.placement_types import Placement

from .. import explain as explanations
from .. import report as reports
from ..compiler import Json, Program, compile
from ..errors import Diagnostic
from .capturing import Argument, Captured
from .constraints import Placements, resolved
from .optimizers import Factory
from .placements import Placed, PlacementError, axes_of, placements_of, sharding_of
from .training import Loss, capture_step

if TYPE_CHECKING:
    from .state import State
    from .step import Step

Table = Mapping[str, Placements]
# Processes that send by gloo: each collective takes long, whatever it sends.
_GLOO = Path(__file__).with_name("gloo.json")


class Report(dict[str, Any]):
    """What a program communicates and why, its memory and FLOPs; `str()` of it is to be read."""

    def __str__(self) -> str:
        return "\n".join(reports.lines(self))


class Explanation(list[Any]):
    """Why values have their shardings, a dict each; `str()` of it is to be read."""

    def __str__(self) -> str:
        return "\n".join(line for value in self for line in explanations.lines(value))


def _matching(table: Table, name: str) -> str | None:
    """The first pattern of the table for a name."""
    return next((pattern for pattern in table if fnmatch.fnmatchcase(name, pattern)), None)


def _check_patterns(table: Table, names: Sequence[str], what: str) -> None:
    if not isinstance(table, Mapping):
        raise PlacementError(f"{what}: got {table!r}, expected a dict of patterns and their placements")
    for pattern in table:
        if not fnmatch.filter(names, pattern):
            near = difflib.get_close_matches(pattern.strip("*."), names, 1, 0)
            hint = f"; the nearest is '{near[0]}'" if near else ""
            raise PlacementError(
                f"{what}: no name matches '{pattern}', expected patterns of FQNs as fnmatch has them{hint}"
            )


def _own_placements(value: Any, axes: Mapping[str, int]) -> Sequence[Placement] | None:
    """The placements that a parameter has already, if it is a DTensor."""
    if not hasattr(value, "placements") or not hasattr(value, "device_mesh"):
        return None
    own = axes_of(value.device_mesh)
    if list(own.items()) == list(axes.items()):
        return tuple(value.placements)
    if not set(own.items()) <= set(axes.items()):
        raise PlacementError(f"a parameter is on the mesh {own}, expected axes of {dict(axes)}")
    return resolved(dict(zip(own, value.placements)), axes, "a parameter")  # on a part of the mesh


class _Given:
    """The shardings that a user gives: `arguments` as `sdy` text by name."""

    def __init__(
        self, captured: Captured, axes: Mapping[str, int], params: Table, inputs: Placements | Table | None,
        states: Table
    ) -> None:
        self.axes, self.captured = axes, captured
        self.arguments: dict[str, str] = {}
        by_kind: dict[str, list[Argument]] = {}
        for argument in captured.arguments:
            by_kind.setdefault(argument.kind, []).append(argument)
        held = [*by_kind.get("parameter", []), *by_kind.get("buffer", [])]
        _check_patterns(params, [argument.name for argument in held], "params")
        for argument in held:
            self._of_model(argument, params)
        self._of_states(by_kind.get("state", []), states)
        self._of_inputs(by_kind.get("input", []), inputs)

    def _set(self, argument: Argument, placements: Placements, what: str) -> None:
        each = resolved(placements, self.axes, what)
        self.arguments[argument.name] = sharding_of(each, self.axes, len(argument.shape), argument.name)

    def _of_model(self, argument: Argument, params: Table) -> None:
        pattern = _matching(params, argument.name)
        own = _own_placements(self.captured.values[argument.name], self.axes)
        # What has no dims (a batch norm's count) is no reason to refuse a pattern that fits all.
        if pattern is not None and (argument.shape or pattern == argument.name):
            self._set(argument, params[pattern], f"params['{pattern}']")
        elif own is not None:
            self._set(argument, own, argument.name)

    def _of_states(self, states: Sequence[Argument], table: Table) -> None:
        """A state of a parameter's shape is sharded as the parameter, others whole, unless the table says it."""
        _check_patterns(table, [argument.name for argument in states], "states")
        parameters = {argument.name: argument for argument in self.captured.arguments if argument.kind == "parameter"}
        for argument in states:
            pattern = _matching(table, argument.name)
            parameter = parameters.get(owner_of(argument.name))
            if pattern is not None:
                self._set(argument, table[pattern], f"states['{pattern}']")
            elif parameter is None or parameter.shape != argument.shape:
                self.arguments[argument.name] = sharding_of(resolved({}, self.axes, ""), self.axes, len(argument.shape))
            elif parameter.name in self.arguments:
                self.arguments[argument.name] = self.arguments[parameter.name]

    def _of_inputs(self, inputs: Sequence[Argument], given: Placements | Table | None) -> None:
        if given is None:
            return
        table: Table = given if _is_table(given, self.axes) else {"*": given}  # type: ignore[assignment]
        names = {argument.name.removeprefix("inputs."): argument for argument in inputs}
        _check_patterns(table, list(names), "inputs")
        for name, argument in names.items():
            pattern = _matching(table, name)
            if pattern is not None and argument.shape:
                self._set(argument, table[pattern], f"inputs['{pattern}']")

    def alike(self) -> list[list[str]]:
        """Groups of arguments that nothing is said of, and that are sharded alike: a parameter with its states."""
        groups: dict[str, list[str]] = {}
        for argument in self.captured.arguments:
            if argument.kind in ("parameter", "buffer",
                                 "state") and argument.name not in self.arguments and argument.shape:
                name = owner_of(argument.name) if argument.kind == "state" else argument.name
                groups.setdefault(name, []).append(argument.name)
        return list(groups.values())

    def results(self) -> dict[str, str]:
        """New values are sharded as the old ones, gradients as their parameters."""
        owners = {entry.name: entry.updates or parameter_of(entry.name) for entry in self.captured.results}
        return {name: self.arguments[owner] for name, owner in owners.items() if owner in self.arguments}


def _is_table(given: Any, axes: Mapping[str, int]) -> bool:
    """A mapping from patterns rather than from axes."""
    return isinstance(given, Mapping) and not set(given) <= set(axes)


def owner_of(name: str) -> str:
    """The parameter to which an optimizer's state belongs."""
    return name.removeprefix("state.").rpartition(".")[0]


def parameter_of(name: str) -> str | None:
    """The parameter of which a result is the gradient, if it is one: a parameter may be called `loss` too."""
    return name.removeprefix("grad.") if name.startswith("grad.") else None


class Plan:
    """A partitioned program.

    captured: the program as it was captured. source: its StableHLO with the shardings given. program: what the compiler
    made of it. axes: of the mesh.
    """

    def __init__(self, captured: Captured, axes: Mapping[str, int], mesh: Any, source: str, program: Program) -> None:
        self.captured, self.axes, self.mesh = captured, axes, mesh
        self.source, self.program = source, program
        self._step: Step | None = None

    @property
    def text(self) -> str:
        """The program of one device, in StableHLO."""
        return self.program.text

    @property
    def manifest(self) -> Json:
        """What each device is given and returns."""
        assert self.program.manifest is not None
        return self.program.manifest

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self.program.diagnostics

    def report(self) -> Report:
        """Collectives with their reasons, memory and FLOPs of a device."""
        return Report(self.program.report or {})

    def explain(self, query: str | None = None) -> Explanation:
        """Why values have their shardings: all of them, or those that `query` names by an FQN, a line or a module."""
        values = explanations.explain(self.source, options=self.program.options, name="<torch>")
        names = {f"arg{index}": argument.name for index, argument in enumerate(self.captured.arguments)}
        names |= {f"result {index}": entry.name for index, entry in enumerate(self.captured.results)}
        for value in values:
            value["name"] = names.get(value["name"], value["name"])
        return Explanation(values if query is None else explanations.select(values, query))

    @functools.cached_property
    def _placed(self) -> dict[str, Placed]:
        entries = [*self.manifest["inputs"], *self.manifest["outputs"]]
        names = [argument.name for argument in self.captured.arguments] + [
            entry.name for entry in self.captured.results
        ]
        return {
            name: placements_of(entry["sharding"], len(entry["global_shape"]), self.axes, entry["global_shape"])
            for name, entry in reversed(list(zip(names, entries, strict=True)))
        }

    @property
    def placements(self) -> dict[str, tuple[Placement, ...]]:
        """How arguments and results are sharded, by name, as DTensor says it."""
        return {name: placed.placements for name, placed in self._placed.items()}

    @property
    def unsaid(self) -> dict[str, tuple[str, ...]]:
        """What placements can't say of a sharding, in words, by name."""
        return {name: placed.unsaid for name, placed in self._placed.items() if placed.unsaid}

    @functools.cached_property
    def executable(self) -> Any:
        """The program as `shardonnay.torch.engine` runs it."""
        from .engine import listing

        program = listing.read(self.text, self.manifest)
        program.signature = {
            "arguments": [[argument.name, argument.kind] for argument in self.captured.arguments],
            "results": [[entry.name, entry.updates] for entry in self.captured.results],
            "constants": dict(self.captured.constants),
            "initial": {
                argument.name: self.captured.values[argument.name]
                for argument in self.captured.arguments
                if argument.kind == "state" and not self.captured.values[argument.name].is_meta
            },
        }
        return program

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes what `shardonnay.torch.step.load` reads on the ranks, where torch alone is needed."""
        self.executable.save(path)

    def step(self, mesh: Any = None) -> Step:
        """The step on this rank's device; mesh: a DeviceMesh, if `partition` had none. The last one is kept."""
        from .step import Step

        mesh = mesh or self.mesh
        if mesh is None:
            raise PlacementError(
                "the plan was made for a mapping of axes; expected step(mesh) with a DeviceMesh of them"
            )
        if self._step is None or self._step.mesh is not mesh:
            self._step = Step(self.executable, mesh)
        return self._step

    def shard(
        self, model: torch.nn.Module | Mapping[str, torch.Tensor], state: Mapping[str, torch.Tensor] | None = None
    ) -> State:
        """Parameters, buffers and optimizer state as DTensors, those of a module in their places (`Step.shard`)."""
        return (self._step or self.step()).shard(model, state)

    def state_dict(self, state: State) -> dict[str, Any]:
        """Parameters and buffers, as `load_state_dict` of the module takes them (`Step.state_dict`)."""
        return (self._step or self.step()).state_dict(state)

    def __repr__(self) -> str:
        return f"<Plan: {self.captured!r} on {dict(self.axes)}>"


def partition(
    model: torch.nn.Module,
    loss_fn: Loss,
    example_batch: Any,
    mesh: Any,
    *,
    params: Table | None = None,
    inputs: Placements | Table | None = None,
    states: Table | None = None,
    optimizer: torch.optim.Optimizer | Factory | None = None,
    clip_grad_norm: float | None = None,
    accumulate: int = 1,
    options: Any = None,
    progress: Callable[[str], None] | None = None,
    **keywords: Any,
) -> Plan:
    """Splits a training step over the devices of a mesh.

    model: on any device, meta too; parameters that are DTensors (`parallelize_module`, `fully_shard`) keep theirs.
    loss_fn: called as `loss_fn(model, *batch)`; returns the loss, or a pair of the loss and a tree of other results.
    example_batch: the tensors of a batch of the real size, or one tensor.
    mesh: a DeviceMesh, or a mapping from axis names to sizes.
    params: {pattern of FQNs: placements}; the first that matches counts. What no pattern has, the compiler decides.
    inputs: placements of the batch's tensors, or {pattern of their paths: placements}.
    states: {pattern of states' names, `state.<FQN>.<key>`: placements}; others are sharded as their parameter, and so
        are gradients.
    optimizer, clip_grad_norm, accumulate: as those of `capture_step`.
    options, progress, keywords: as those of `shardonnay.compile`. Without options and a `device_model`, plans for CPUs
        are priced by what collectives of gloo take (gloo.json).

    Placements are one for each axis of the mesh, or {axis: placement}, where others replicate.
    """
    axes = axes_of(mesh)
    if options is None and getattr(mesh, "device_type", "cpu") == "cpu":
        keywords.setdefault("device_model", str(_GLOO))
    captured = capture_step(
        model, loss_fn, example_batch, optimizer=optimizer, clip_grad_norm=clip_grad_norm, accumulate=accumulate
    )
    given = _Given(captured, axes, params or {}, inputs, states or {})
    arguments, results = given.arguments, given.results()
    source = captured.module(axes, arguments, results, given.alike())
    program = compile(source, options=options, name="<torch>", progress=progress, **keywords)
    moved = _moved(captured, program)
    if moved:  # the program would not fit to its own results: they are to be sharded as the arguments
        pinned = {**arguments, **moved}
        results = {entry.name: pinned[entry.updates] for entry in captured.results if entry.updates in pinned}
        source = captured.module(axes, pinned, results)
        program = compile(source, options=options, name="<torch>", progress=progress, **keywords)
    return Plan(captured, axes, None if isinstance(mesh, Mapping) else mesh, source, program)


def _moved(captured: Captured, program: Program) -> dict[str, str]:
    """The decided shardings of all that is updated, if some new value's is not that of the old one; else {}."""
    manifest = program.manifest
    if manifest is None:  # an earlier stage was asked for
        return {}
    before = {argument.name: entry for argument, entry in zip(captured.arguments, manifest["inputs"])}
    differs = [
        entry.name
        for entry, after in zip(captured.results, manifest["outputs"])
        if entry.updates and before[entry.updates]["sharding"] != after["sharding"]
    ]
    if not differs:
        return {}
    return {
        entry.updates: _full_sharding(before[entry.updates]) for entry in captured.results if entry.updates is not None
    }


def _full_sharding(entry: Json) -> str:
    return entry["sharding"] or f"#sdy.sharding<@mesh, [{', '.join('{}' for _ in entry['global_shape'])}]>"
