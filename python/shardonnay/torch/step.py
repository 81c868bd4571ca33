"""A saved step on the ranks: from a module and batches of tensors to the program's local shards and back.

    step = shardonnay.torch.step.load("step.shard", init_device_mesh("cpu", (2, 4), mesh_dim_names=("dp", "tp")))
    state = step.shard(model)          # {name: DTensor}; the module's parameters are these
    for x, y in batches:
        loss = step(state, x, y)["loss"]

Needs torch alone: no compiler, no JAX.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

import torch
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor

from .engine import EngineError, Executable, Groups, Program
from .engine import load as load_program
from .placements import axes_of
from .state import Json, Layout, State, place_in
from .trees import named_leaves

_HELD = ("parameter", "buffer", "state")


class Step:
    """A program with a signature, on a mesh.

    placements: of every argument and result by name, as DTensor says them; `unsaid` has what they can't say.
    """

    def __init__(
        self, program: Program, mesh: DeviceMesh, *, groups: Groups | None = None, donate: bool = True
    ) -> None:
        """Every rank of the default process group makes it. groups: if not those that all programs share."""
        if not isinstance(mesh, DeviceMesh):
            raise EngineError(f"mesh: got {mesh!r}, expected a DeviceMesh")
        if mesh.size() != program.devices:
            raise EngineError(f"the program is for {program.devices} devices, got a mesh of {mesh.size()}: {mesh}")
        self.program, self.mesh = program, mesh
        groups = groups or Groups(mesh.mesh.flatten().tolist())
        self.executable = Executable(program, groups=groups, donate=donate)
        manifest, signature = program.manifest, program.signature
        _check_axes(manifest["mesh"], mesh)
        names = [entry["name"] for entry in manifest["inputs"]]
        self.arguments = [tuple(pair) for pair in signature.get("arguments", [(name, "input") for name in names])]
        results = [(entry["name"], None) for entry in manifest["outputs"]]
        self.results = [tuple(pair) for pair in signature.get("results", results)]
        self.group = groups.group(range(program.devices)) if program.devices > 1 else None
        self._inputs = {
            name: self._layout(name, e) for (name, _), e in zip(self.arguments, manifest["inputs"], strict=True)
        }
        self._outputs = [self._layout(name, e) for (name, _), e in zip(self.results, manifest["outputs"], strict=True)]
        layouts = {layout.name: layout for layout in (*self._outputs, *self._inputs.values())}
        self.placements = {name: layout.placements for name, layout in layouts.items()}
        self.unsaid = {name: layout.unsaid for name, layout in layouts.items() if layout.unsaid}

    def _layout(self, name: str, entry: Json) -> Layout:
        return Layout({**entry, "name": name}, self.mesh, self.group)

    def names(self, *kinds: str) -> list[str]:
        """The arguments of these kinds: "parameter", "buffer", "state", "input", ..., in order."""
        return [name for name, kind in self.arguments if kind in kinds]

    def shard(
        self, source: torch.nn.Module | Mapping[str, torch.Tensor], state: Mapping[str, torch.Tensor] | None = None
    ) -> State:
        """Parameters, buffers and optimizer state as DTensors.

        source: a module, whose parameters and buffers are DTensors afterwards, these; or tensors by FQN.
        state: optimizer state by name; what is not there begins as the optimizer makes it.
        """
        module = source if isinstance(source, torch.nn.Module) else None
        values: dict[str, torch.Tensor] = dict(self.program.signature.get("initial", {}))
        values.update(_tensors_of(module) if module is not None else source)
        values.update(state or {})
        missing = [name for name in self.names(*_HELD) if name not in values]
        if missing:
            raise EngineError(f"no value for {', '.join(missing[:5])}; got {', '.join(list(values)[:5])}, ...")
        self._check_held(values)
        with torch.no_grad():
            found = State({name: self._inputs[name].distribute(values[name]) for name in self.names(*_HELD)})
        if module is not None:
            place_in(module, found)
            for name, parameter in module.named_parameters():
                if name in found:
                    found[name] = parameter.detach()
        return found

    def _batch(self, batch: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, torch.Tensor]:
        """The arguments that are no state, by name."""
        wanted = [name for name, kind in self.arguments if kind not in _HELD]
        free = [name for name in wanted if name not in named]
        values: dict[str, Any] = {**self.program.signature.get("initial", {}), **named}
        unknown = [name for name in named if name not in wanted]
        for at, part in enumerate(batch):
            if isinstance(part, torch.Tensor):
                names, leaves = free[:1] or [f"inputs.{at}"], [part]
            else:
                names, leaves, _ = named_leaves(f"inputs.{at}", part)
            tensors = {
                name: leaf for name, leaf in zip(names, leaves) if isinstance(leaf, torch.Tensor) or name in free
            }
            values.update(tensors)
            self._check_constants({name: leaf for name, leaf in zip(names, leaves) if name not in tensors})
            unknown += [name for name in tensors if name not in free]
            free = [name for name in free if name not in tensors]
        missing = [name for name in wanted if name not in values]
        if missing or unknown:
            told = [f"{what} {', '.join(names)}"
                    for what, names in (("no value for", missing), ("there is no", unknown)) if names]
            raise EngineError(f"{'; '.join(told)}: expected inputs {', '.join(wanted)}")
        return {name: self._tensor(name, values[name]) for name in wanted}

    def _check_constants(self, given: Mapping[str, Any]) -> None:
        made_for = self.program.signature.get("constants", {})
        for name, value in given.items():
            if name in made_for and value != made_for[name]:
                raise EngineError(
                    f"{name}: the program was made for {made_for[name]!r}, got {value!r}; expected what the batch of "
                    "`partition` had, or there a tensor for a number that changes (torch.tensor(1.0))"
                )

    def _check_held(self, values: Mapping[str, Any]) -> None:
        """Buffers whose numbers the model has asked for in Python are to have those for which the program was made."""
        made_for = self.program.signature.get("constants", {})
        for name in made_for.keys() & values.keys():
            value = values[name].full_tensor() if isinstance(values[name], DTensor) else torch.as_tensor(values[name])
            if not value.is_meta and not torch.equal(value.cpu(), made_for[name]):
                raise EngineError(
                    f"{name}: the program was made for other numbers of this buffer, which the model asks for in "
                    "Python; expected those that it had in `partition`"
                )

    def _tensor(self, name: str, value: Any) -> torch.Tensor:
        if isinstance(value, (bool, int, float)):
            return torch.tensor(value, dtype=self._inputs[name].dtype)
        if not isinstance(value, torch.Tensor):
            raise EngineError(f"{name}: expected a tensor, got {type(value).__name__}")
        return value

    def __call__(self, state: State, *batch: Any, **named: torch.Tensor) -> dict[str, torch.Tensor]:
        """One step: `state` is updated in place; the other results by name, plain tensors where every rank has them
        whole.

        batch: tensors that every rank has whole, or DTensors, nested as the batch of `partition` was; in the order of
        the arguments that are no state.
        """
        if not isinstance(state, Mapping):
            raise EngineError(f"state: got {type(state).__name__}, expected what shard() returns")
        values = self._batch(batch, named)
        missing = [name for name in self.names(*_HELD) if name not in state]
        if missing:
            raise EngineError(f"no state for {', '.join(missing[:5])}; expected what shard() returns")
        with torch.no_grad():
            given = {name: state[name].detach() if name in state else values[name] for name, _ in self.arguments}
            locals_ = {name: self._inputs[name].local(value) for name, value in given.items()}
            outputs = self.executable(*locals_.values())
            results: dict[str, torch.Tensor] = {}
            for (name, updates), layout, local in zip(self.results, self._outputs, outputs, strict=True):
                if updates is not None and updates in state:
                    _store(state[updates], layout, local)
                elif layout.replicated:
                    results[name] = local
                else:
                    results[name] = layout.wrap(local)
        return results

    def state_dict(self, state: State) -> dict[str, Any]:
        """Parameters and buffers, for `Module.load_state_dict` of a module that `shard` has seen."""
        return {name: state[name] for name in self.names("parameter", "buffer")}

    def load_state_dict(self, state: State, values: Mapping[str, torch.Tensor]) -> None:
        """Copies values by name into the state: DTensors on this mesh, tensors or numbers that every rank has whole.
        """
        unknown = [name for name in values if name not in state]
        if unknown:
            raise EngineError(
                f"no such state: {', '.join(unknown[:5])}; expected names of {', '.join(list(state)[:5])}, ..."
            )
        self._check_held(values)
        with torch.no_grad():
            for name, value in values.items():
                layout = self._inputs[name]
                state[name].to_local().copy_(layout.wrap(layout.local(self._tensor(name, value))).to_local())


def _check_axes(wanted: str, mesh: DeviceMesh) -> None:
    """A mesh without the axes of the plan has no placements for it: all state would be whole on every rank."""
    axes = {name: int(size) for name, size in re.findall(r'"([^"]*)"=(\d+)', wanted)}
    given = axes_of(mesh)
    if any(size > 1 and given.get(name) != size for name, size in axes.items()):
        raise EngineError(
            f"the program is for a mesh of {axes}, got one of {given}: expected "
            f"init_device_mesh(..., {tuple(axes.values())}, mesh_dim_names={tuple(axes)})"
        )


def load(path: str | os.PathLike[str], mesh: DeviceMesh, *, groups: Groups | None = None) -> Step:
    """The step that `Plan.save` wrote, on every rank of the mesh."""
    return Step(load_program(path), mesh, groups=groups)


def prepare(path: str | os.PathLike[str], mesh: DeviceMesh, *, groups: Groups | None = None) -> None:
    """What a rank outside of the mesh calls while those of the mesh call `load`: process groups are made by all ranks.
    """
    (groups or Groups(mesh.mesh.flatten().tolist())).prepare(load_program(path))


def _tensors_of(module: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


def _store(target: DTensor, layout: Layout, local: torch.Tensor) -> None:
    """The new value into the tensor that the user holds; it may be there already."""
    own = target.to_local()
    if local.data_ptr() == own.data_ptr() and local.shape == own.shape:
        return
    wrapped = layout.wrap(local)
    if wrapped.placements != target.placements:
        wrapped = wrapped.redistribute(placements=target.placements)
    own.copy_(wrapped.to_local())
