"""Calls under `jax.experimental.custom_partitioning`: their authors say what each device computes.

1. The function is lowered with a name for each call, and propagated: along the call's rule, as any op's.
2. Of the shardings that the call has then, its author's function makes the computation of one device, and says which
   shardings that one wants.
3. The function is lowered once more, each call a `jax.shard_map` of that computation by these shardings.
"""

import itertools
import math
import re

import jax
from jax.extend import core
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import sdy
from jax.interpreters.mlir import make_ir_context
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..operations import operations
from . import annotations, artefacts, placements

_PRIMITIVE = "custom_partitioning"
TARGET = "CustomSPMDPartitioning"
_NAME = "shardonnay_call_"
_KEY = "backend_config"


def expanded(source, propagated):
    """The text of a source with its calls as what each device computes.

    propagated: makes of a text that of the program with all shardings. A call that stays is refused by the compiler:
    one within a `jax.shard_map` over some axes, or in a program of several meshes.
    """
    mesh = source.meshes[0]
    if not isinstance(mesh, Mesh) or any(other.shape != mesh.shape for other in source.meshes):
        return source.text()
    found = []
    text = _lowered(source, _replaced(source.traced.jaxpr, lambda equation: _named(equation, found)), mesh)
    shardings, numbers = _shardings(propagated(_numbered(text)), mesh), itertools.count()
    manual = _replaced(source.traced.jaxpr, lambda equation: _manual(equation, shardings.get(next(numbers)), mesh))
    return _lowered(source, manual, mesh)


def _holds_jaxprs(value):
    return isinstance(value, (core.Jaxpr, core.ClosedJaxpr))


def _replaced(value, replace):
    """A jaxpr, or what else an equation's parameter is, with each of the calls in it replaced."""
    if isinstance(value, (tuple, list)) and any(map(_holds_jaxprs, value)):
        return type(value)(_replaced(item, replace) for item in value)
    if not _holds_jaxprs(value):
        return value
    inner = getattr(value, "jaxpr", value)
    if inner is not value:  # a closed one; from JAX 0.11 on a jaxpr holds its constants itself, and is its own `jaxpr`
        return value.replace(jaxpr=_replaced(inner, replace))
    return value.replace(eqns=[_replaced_in(equation, replace) for equation in value.eqns])


def _replaced_in(equation, replace):
    name = equation.primitive.name
    if name == _PRIMITIVE:
        return replace(equation)
    if name == "shard_map":  # its values are a device's own already
        return equation
    return equation.replace(params={key: _replaced(value, replace) for key, value in equation.params.items()})


def _call(equation, function):
    """An equation that calls a function instead, with the same operands and results."""
    types = [jax.ShapeDtypeStruct(var.aval.shape, var.aval.dtype) for var in equation.invars]
    (made,) = jax.make_jaxpr(jax.jit(function))(*types).eqns
    return made.replace(invars=equation.invars, outvars=equation.outvars, source_info=equation.source_info)


def _named(equation, found):
    """The call within a function whose name has its number, for `_numbered`."""

    def call(*operands):
        return equation.primitive.bind(*operands, **equation.params)

    call.__name__ = f"{_NAME}{len(found)}"
    found.append(equation)
    return _call(equation, call)


def _manual(equation, shardings, mesh):
    """The call as what each device computes. `shardings`: (of the operands, of the results); None where it is dead."""
    if shardings is None:
        return equation
    params = equation.params
    kinds = [
        [
            jax.ShapeDtypeStruct(var.aval.shape, var.aval.dtype, sharding=sharding)
            for var, sharding in zip(variables, found, strict=True)
        ]
        for variables, found in zip((equation.invars, equation.outvars), shardings)
    ]
    in_tree, out_tree = params["in_tree"], params["out_tree"]
    types = in_tree.unflatten(kinds[0]), out_tree.unflatten(kinds[1])
    used, local, results, operands = params["partition"](*params["static_args"], mesh, *types)
    specs = [
        tuple(sharding.spec for sharding in tree.flatten_up_to(found))
        for tree, found in ((in_tree, operands), (out_tree, results))
    ]

    def flat(*leaves):
        return tuple(jax.tree.leaves(local(*in_tree.unflatten(leaves))))

    made = _call(equation, jax.shard_map(flat, mesh=used, in_specs=specs[0], out_specs=specs[1], check_vma=False))
    _check(made, equation)
    return made


def _check(made, equation):
    """What a device computes has to be its part of the results."""
    found, wanted = (
        [f"{aval.dtype}{list(aval.shape)}" for aval in jaxpr.out_avals]
        for jaxpr in (made.params["jaxpr"], equation.params["call"])
    )
    if found != wanted:
        code = getattr(equation.params["partition"], "__code__", None)
        artefacts.refuse(
            "",
            f"custom_partitioning: the shards that the devices compute make {', '.join(found)}, expected "
            f"{', '.join(wanted)}; return a function of shards, and their shardings",
            f"at {code.co_filename}:{code.co_firstlineno}" if code else "",
        )


def _numbered(text):
    """The text with each call's name, of `_named`, as its key: JAX's own is the same for calls that it lowers once."""
    with make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for function in module.body.operations:
            if function.operation.name == "func.func" and function.sym_name.value.startswith(_NAME):
                for operation in _calls(function):
                    operation.attributes[_KEY] = ir.StringAttr.get(function.sym_name.value)
        return module.operation.get_asm(enable_debug_info=True)


def _calls(within):
    return [
        operation
        for operation in operations(within)
        if operation.name == "stablehlo.custom_call" and operation.attributes["call_target_name"].value == TARGET
    ]


def _shardings(text, mesh):
    """{number: (of the operands, of the results)} of the calls in a program with all shardings, as NamedShardings."""
    with make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        found = [(re.match(_NAME + r"(\d+)", call.attributes[_KEY].value), call) for call in _calls(module)]
        return {
            int(name[1]): tuple(
                [_sharding_of(value, mesh) for value in values] for values in (call.operands, call.results)
            )
            for name, call in found
            if name
        }


def _sharding_of(value, mesh):
    """How a value is sharded, as a spec can say it."""
    shape = tuple(value.type.shape)
    text = _text_of(value)
    spec = placements.spec(placements.parse(text, len(shape)), mesh.shape)
    names_of_dims = [
        None if names is None or size % math.prod(mesh.shape[name] for name in _tuple(names)) else names
        for names, size in zip(spec.partitions, shape)
    ]
    return NamedSharding(mesh, PartitionSpec(*names_of_dims))


def _tuple(names):
    return names if isinstance(names, tuple) else (names,)


def _text_of(value):
    """The text of a value's sharding; None if it has none, so that it is whole."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        number, owner = ir.BlockArgument(value).arg_number, owner.owner.operation
        if owner.name == "func.func":
            attributes = owner.attributes["arg_attrs"][number] if "arg_attrs" in owner.attributes else {}
            return str(attributes["sdy.sharding"]) if "sdy.sharding" in attributes else None
    else:
        number = ir.OpResult(value).result_number
    for name in ("sharding", "sdy.sharding"):
        if name in owner.attributes:
            found = owner.attributes[name]
            return str(sdy.TensorShardingPerValueAttr(found).shardings[number] if name == "sdy.sharding" else found)
    return None


def _lowered(source, jaxpr, mesh):
    """The text of the source with another jaxpr. Its shardings and donations are taken over, not told JAX again."""
    signature = source.signature
    whole = NamedSharding(mesh, PartitionSpec())  # for JAX to know the devices

    def call(*leaves):
        return tuple(core.jaxpr_as_fun(jaxpr)(*leaves))

    call.__name__ = signature.name
    types = [
        jax.ShapeDtypeStruct(kind.shape, kind.dtype, weak_type=kind.weak_type, sharding=whole)
        for kind in signature.in_types
    ]
    with jax.enable_x64(signature.wide):
        lowered = jax.jit(call, keep_unused=True, out_shardings=whole).lower(*types)
    text = annotations.annotated(lowered, source.notes.within())
    with make_ir_context(), ir.Location.unknown():
        module, own = ir.Module.parse(text), ir.Module.parse(source.text())
        _take_boundary(module, own)
        return module.operation.get_asm(enable_debug_info=True)


def _take_boundary(module, own):
    """Writes into `module` what `own` says of arguments and results, and the meshes that it says it of."""
    attributes, wanted = (artefacts.main_of(program).attributes for program in (module, own))
    for kind in ("arg_attrs", "res_attrs"):
        if kind in wanted:
            attributes[kind] = wanted[kind]
        elif kind in attributes:
            del attributes[kind]
    there = {op.sym_name.value for op in module.body.operations}
    for op in own.body.operations:
        if op.operation.name == "sdy.mesh" and op.sym_name.value not in there:
            op.operation.clone(ir.InsertionPoint.at_block_begin(module.body))
