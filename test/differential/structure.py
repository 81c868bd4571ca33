"""Ops of random graphs that have bodies: calls of shared functions, which become named computations, and manual
computations.

No named computation is written by hand: jaxlib's sdy-import-func-calls gives each a second edge, which its verifier
refuses.
"""

from random_graphs import tensor


def function_of(program, shape, kind):
    """A private function on two tensors of `shape`, which all calls of one shape and kind share."""
    name = f"f{kind}_{'x'.join(map(str, shape))}"
    type = tensor(shape)
    if kind == 0:
        body = f"%0 = stablehlo.sine %x : {type}\n%1 = stablehlo.multiply %0, %y : {type}\nreturn %1 : {type}"
    elif kind == 1 and len(shape) > 1:
        order = [*range(1, len(shape)), 0]
        turned = tensor([shape[i] for i in order])
        back = [order.index(i) for i in range(len(shape))]
        body = (
            f"%0 = stablehlo.transpose %x, dims = {order} : ({type}) -> {turned}\n"
            f"%1 = stablehlo.tanh %0 : {turned}\n"
            f"%2 = stablehlo.transpose %1, dims = {back} : ({turned}) -> {type}\n"
            f"%3 = stablehlo.add %2, %y : {type}\nreturn %3 : {type}"
        )
    else:
        inner = function_of(program, shape, 0)
        body = (
            f"%0 = func.call @{inner}(%x, %y) : ({type}, {type}) -> {type}\n"
            f"%1 = func.call @{inner}(%y, %0) : ({type}, {type}) -> {type}\nreturn %1 : {type}"
        )
    program.functions[name] = f"func.func private @{name}(%x: {type}, %y: {type}) -> {type} {{\n{body}\n}}"
    return name


def call(program, value, shape):
    name = function_of(program, shape, program.rng.randrange(3))
    other, type = program.other(shape), tensor(shape)
    program.emit(f"func.call @{name}({value}, {other}) : ({type}, {type}) -> {type}", shape)


def manual_computation(program, value, shape):
    """Along one axis, the other axes left to propagation: what JAX prints of a shard_map that is manual in part."""
    axis = program.rng.choice(list(program.axes))
    size = program.axes[axis]
    fitting = [i for i, extent in enumerate(shape) if extent % size == 0]
    if not fitting:
        return
    dim = program.rng.choice(fitting)
    dims = ", ".join(f'{{"{axis}", ?}}' if i == dim else "{?}" for i in range(len(shape)))
    local = tensor([extent // size if i == dim else extent for i, extent in enumerate(shape)])
    sharding, type = f"<@mesh, [{dims}]>", tensor(shape)
    program.emit(
        f'sdy.manual_computation({value}) in_shardings=[{sharding}] out_shardings=[{sharding}] '
        f'manual_axes={{"{axis}"}} '
        f"(%l: {local}) {{\n%s = stablehlo.cosine %l : {local}\n%t = stablehlo.multiply %s, %l : {local}\n"
        f"sdy.return %t : {local}\n}} : ({type}) -> {type}",
        shape,
    )


STRUCTURE = [call, call, manual_computation]
