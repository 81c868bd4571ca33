"""What PyTorch users hold, DTensors by name, as a program's local shards and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Partial, Replicate

from .engine.elements import EngineError, outside
from .placements import axes_of, placements_of
from .regions import Exchange, listed_regions, placed_regions, select

Json = dict[str, Any]


class Layout:
    """How one argument or result of a program is sharded over a mesh, in the words of DTensor.

    placements: of the DTensor that stands for it.
    unsaid: what placements can't say of its sharding (a part of a mesh axis, some uneven shardings), in words; elements
        that belong elsewhere for that are exchanged whenever it enters or leaves the program.
    """

    def __init__(self, entry: Json, mesh: DeviceMesh, group: dist.ProcessGroup | None = None) -> None:
        """`entry`: of the manifest; its devices are those of the mesh, in row-major order. group: of all of them."""
        self.name: str = entry["name"]
        self.shape = torch.Size(entry["global_shape"])
        self.local_shape = torch.Size(entry["local_shape"])
        self.dtype = outside(entry["dtype"])
        self.mesh, self._group = mesh, group
        self._ranks = mesh.mesh.flatten().tolist()
        self._own = self._ranks.index(torch.distributed.get_rank())
        placed = placements_of(entry["sharding"], len(self.shape), axes_of(mesh), self.shape)
        self.placements, self.unsaid = placed
        self.partial = any(isinstance(placement, Partial) for placement in self.placements)
        slices = entry.get("slices") or [entry["pieces"][index] for index in entry["piece"]]
        self._regions = listed_regions(slices)
        self._exchanges: dict[Any, Exchange] = {}

    def local(self, value: torch.Tensor) -> torch.Tensor:
        """What the program is fed on this device: padded, of the shape that it expects.

        value: a DTensor on this mesh in any placements, or a tensor that every rank has whole.
        """
        if tuple(value.shape) != tuple(self.shape) or value.dtype is not self.dtype:
            raise EngineError(
                f"{self.name}: expected {self.dtype} of shape {list(self.shape)}, got {value.dtype} of shape "
                f"{list(value.shape)}"
            )
        if isinstance(value, DTensor):
            found = self._from_placed(value)
        else:
            found = select(value, self._regions[self._own])
            if self.partial and not self._is_first():
                found = torch.zeros_like(found)
        return self._padded(found)

    def _from_placed(self, value: DTensor) -> torch.Tensor:
        if value.device_mesh != self.mesh:
            raise EngineError(f"{self.name}: is on {value.device_mesh}, expected {self.mesh}")
        own = tuple(self.placements)
        if any(isinstance(placement, Partial) for placement in (*value.placements, *own)) and value.placements != own:
            value = value.redistribute(placements=own)
        return self._exchange(value.placements, inward=True)(value.to_local(), self._group)

    def _exchange(self, placements: Sequence[Any], *, inward: bool) -> Exchange:
        key = (tuple(placements), inward)
        if key not in self._exchanges:
            placed = placed_regions(self.shape, self.mesh, placements)
            pair = (placed, self._regions) if inward else (self._regions, placed)
            self._exchanges[key] = Exchange(*pair, self._ranks, self._own)
        return self._exchanges[key]

    def _is_first(self) -> bool:
        """Of the devices whose parts are added, the first."""
        place = (self.mesh.mesh == torch.distributed.get_rank()).nonzero()[0].tolist()
        return not any(
            at for at, placement in zip(place, self.placements, strict=True) if isinstance(placement, Partial)
        )

    def _padded(self, local: torch.Tensor) -> torch.Tensor:
        if local.shape == self.local_shape:
            return local.contiguous()
        found = local.new_zeros(self.local_shape)
        found[tuple(slice(0, extent) for extent in local.shape)] = local
        return found

    def wrap(self, local: torch.Tensor) -> DTensor:
        """What the program returned on this device, as a DTensor."""
        own = local[tuple(slice(0, len(dim)) for dim in self._regions[self._own])]
        placed = self._exchange(self.placements, inward=False)(own, self._group)
        stride = torch.empty(self.shape, device="meta").stride()
        return DTensor.from_local(
            placed.contiguous(), self.mesh, self.placements, run_check=False, shape=self.shape, stride=stride
        )

    def distribute(self, value: torch.Tensor) -> DTensor:
        """A tensor that every rank has whole, or a DTensor, as a DTensor of its own memory in these placements."""
        if isinstance(value, DTensor) and value.placements == tuple(self.placements) and value.device_mesh == self.mesh:
            return value.detach()
        local = self.local(value.detach().to(self.dtype))
        found = self.wrap(local)
        shares = (
            not isinstance(value, DTensor)
            and found.to_local().untyped_storage().data_ptr() == value.untyped_storage().data_ptr()
        )
        return self.wrap(local.clone()) if shares else found

    @property
    def replicated(self) -> bool:
        return all(isinstance(placement, Replicate) for placement in self.placements) and not self.unsaid


class State(dict[str, DTensor]):
    """A step's parameters, buffers and optimizer state by name; parameters by their FQN, state as `state.FQN.key`.

    A dict of DTensors, as torch.distributed.checkpoint saves and loads it, on this mesh or another one.
    """

    def parameters(self, names: Sequence[str]) -> dict[str, DTensor]:
        return {name: self[name] for name in names}


def place_in(module: torch.nn.Module, values: Mapping[str, DTensor]) -> None:
    """Puts DTensors in the place of a module's parameters and buffers, tied ones in every place."""
    named = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    first: dict[int, str] = {}
    made: dict[str, torch.nn.Parameter] = {}
    for name, tensor in named:
        owner_name, _, leaf = name.rpartition(".")
        owner = module.get_submodule(owner_name)
        source = name if name in values else first.get(id(tensor))
        if source is None:
            continue
        first.setdefault(id(tensor), source)
        if leaf in owner._parameters:
            if source not in made:
                made[source] = torch.nn.Parameter(values[source], requires_grad=tensor.requires_grad)
            owner._parameters[leaf] = made[source]
        else:
            owner._buffers[leaf] = values[source]
