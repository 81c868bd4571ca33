"""Control flow, with other families' ops in its regions, and what holds values together."""

from dataclasses import replace

from elements import ANY, tensor
from graph import Value

SCALAR = tensor((), "i32")


def _inner(graph, names, types, steps):
    """Lines that compute new values from the block's, of the same types: adds, dots, transposes and back."""
    lines, values = [], list(names)
    for _ in range(steps):
        at = graph.int(0, len(values) - 1)
        shape, element, text = types[at]
        out = graph.fresh()
        others = [i for i, other in enumerate(types) if other == types[at]]
        other = values[graph.choose(others)]
        op = graph.choose(("add", "maximum", "reverse", "transpose", "dot", "subtract", "shift"))
        if op in ("add", "subtract", "maximum") or not shape:
            op = "maximum" if op not in ("add", "subtract", "maximum") else op
            lines.append(f"{out} = stablehlo.{op} {values[at]}, {other} : {text}")
        elif op == "dot" and len(shape) == 2 and shape[0] == shape[1] and element != "f64":
            lines.append(
                f'{out} = "stablehlo.dot_general"({values[at]}, {other}) <{{dot_dimension_numbers = #stablehlo.dot<'
                f"lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}}> : ({text}, {text}) -> {text}"
            )
        elif op == "transpose" and len(shape) == 2 and shape[0] == shape[1]:
            lines.append(f"{out} = stablehlo.transpose {values[at]}, dims = [1, 0] : ({text}) -> {text}")
        elif op == "shift" and shape[0] > 1:
            first, rest = graph.fresh(), graph.fresh()
            tail = ", ".join(f"0:{size}" for size in shape[1:])
            tail = f", {tail}" if tail else ""
            one, less = (tensor((size, *shape[1:]), element) for size in (1, shape[0] - 1))
            lines += [f"{first} = stablehlo.slice {values[at]} [0:1{tail}] : ({text}) -> {one}",
                      f"{rest} = stablehlo.slice {values[at]} [1:{shape[0]}{tail}] : ({text}) -> {less}",
                      f"{out} = stablehlo.concatenate {rest}, {first}, dim = 0 : ({less}, {one}) -> {text}"]
        else:
            lines.append(f"{out} = stablehlo.reverse {values[at]}, dims = [0] : {text}")
        values[at] = out
    return lines, values


def _counted_on(graph, counter):
    """(A line, the name of its result): the next number of a run. The step is the loop's own, as what sums it up over
    two devices makes two of it, and XLA miscounts the runs of a loop from 0 to 1 by steps of two.
    """
    one, result = graph.fresh(), graph.fresh()
    return (f"{one} = stablehlo.constant dense<1> : {SCALAR}\n{result} = stablehlo.add {counter}, {one} : {SCALAR}",
            result)


def _carries(graph, count):
    values = [graph.pick(("i32", "f64", "i8", "i64"), low=0, high=2, bounded=True, exact=True)]
    while len(values) < count:
        same = graph.chance(50)
        values.append(graph.operand(values[0].shape, values[0].element, bounded=True, exact=True) if same
                      else graph.pick(("i32", "i8", "f64"), low=0, high=2, bounded=True, exact=True))
    return values


def _types(values):
    return [(value.shape, value.element, value.type) for value in values]


def while_(graph):
    """A counted loop; carries change, change places, or stay."""
    values = _carries(graph, graph.int(1, 3))
    zero = graph.constant(0, "i32")
    trips = graph.operand((), "i32") if graph.chance(20) else graph.constant(graph.int(0, 3), "i32")
    types = _types(values)
    blocks = [[graph.fresh() for _ in range(len(values) + 1)] for _ in range(2)]
    texts = [", ".join(f"{name}: {kind}" for name, kind in zip(names, [SCALAR] + [t[2] for t in types], strict=True))
             for names in blocks]
    more = graph.fresh()
    step, counter = _counted_on(graph, blocks[1][0])
    lines, found = _inner(graph, blocks[1][1:], types, graph.int(1, 3))
    if len(values) == 2 and types[0] == types[1] and graph.chance(40):
        found = found[::-1]
    condition = (
        f"{{\n^bb0({texts[0]}):\n{more} = stablehlo.compare LT, {blocks[0][0]}, {trips.name} : ({SCALAR}, {SCALAR}) -> "
        f"tensor<i1>\nstablehlo.return {more} : tensor<i1>\n}}"
    )
    kinds = ", ".join([SCALAR] + [t[2] for t in types])
    body = "\n".join([step, *lines])
    body = f"{{\n^bb0({texts[1]}):\n{body}\nstablehlo.return {', '.join([counter, *found])} : {kinds}\n}}"
    graph._used.add(trips.name)
    # Integers wrap; f64 holds what a few sums make.
    graph.op("stablehlo.while", [zero, *values], [((), "i32")] + [t[:2] for t in types], regions=[condition, body],
             exact=True)


def accumulated(graph):
    """A loop that adds up sums; each, and what is carried, is said to be in the same parts, at every end or at some."""
    source = graph.pick(("i32", "f64"), low=1, high=3, bounded=True, exact=True)
    shape, element = source.shape[1:], source.element
    kind = tensor(shape, element)
    shardings = [graph.sharding(shape, partial=True) for _ in range(4)]
    sharding = next((text for text in shardings if "unreduced" in text), shardings[0]).removeprefix("#sdy.sharding")
    zero, none = graph.constant(0, "i32"), graph.constant(0, element)
    trips = graph.constant(graph.int(0, 3), "i32")
    start = graph.operand(shape, element, exact=True, bounded=True)
    if graph.chance(80):
        start = graph.constraint(start, sharding)
    counters, carried = ([graph.fresh() for _ in range(2)] for _ in range(2))
    more, (step, next_) = graph.fresh(), _counted_on(graph, counters[1])
    summed, parts, added, returned = (graph.fresh() for _ in range(4))
    block = [f"^bb0({counter}: {SCALAR}, {carry}: {kind}):" for counter, carry in zip(counters, carried, strict=True)]
    condition = (f"{{\n{block[0]}\n{more} = stablehlo.compare LT, {counters[0]}, {trips.name} : ({SCALAR}, {SCALAR}) "
                 f"-> tensor<i1>\nstablehlo.return {more} : tensor<i1>\n}}")
    lines = [
        step,
        f"{summed} = stablehlo.reduce({source.name} init: {none.name}) applies stablehlo.add across dimensions = [0] : "
        f"({source.type}, {none.type}) -> {kind}",
        f"{parts} = sdy.sharding_constraint {summed} {sharding} : {kind}",
        f"{added} = stablehlo.add {carried[1]}, {parts} : {kind}",
    ]
    if graph.chance(80):
        lines.append(f"{returned} = sdy.sharding_constraint {added} {sharding} : {kind}")
    else:
        returned = added
    body = "\n".join([block[1], *lines, f"stablehlo.return {next_}, {returned} : {SCALAR}, {kind}"])
    graph._used.update(value.name for value in (source, none, trips))
    graph.op("stablehlo.while", [zero, start], [((), "i32"), (shape, element)], regions=[condition, f"{{\n{body}\n}}"],
             exact=True)


def _counted_all(graph, trips, kinds, body):
    """The text of a loop's regions; `body` makes lines and the next values of its counter and of what it carries."""
    more = graph.fresh()
    counters, *carries = [[graph.fresh() for _ in range(2)] for _ in (SCALAR, *kinds)]
    types = ", ".join((SCALAR, *kinds))
    block = [
        f"^bb0({', '.join(f'{name}: {kind}' for name, kind in zip(names, (SCALAR, *kinds), strict=True))}):"
        for names in zip(counters, *carries, strict=True)
    ]
    lines, returned = body(counters[1], [names[1] for names in carries])
    step, next_ = _counted_on(graph, counters[1])
    lines = [step, *lines]
    return (
        f"{{\n{block[0]}\n{more} = stablehlo.compare LT, {counters[0]}, {trips.name} : ({SCALAR}, {SCALAR}) -> "
        f"tensor<i1>\nstablehlo.return {more} : tensor<i1>\n}}",
        "\n".join(["{", block[1], *lines, f"stablehlo.return {', '.join((next_, *returned))} : {types}", "}"]),
    )


def _counted(graph, trips, kind, body):
    """The same of a loop that carries one value."""

    def all_(counter, carried):
        lines, returned = body(counter, carried[0])
        return lines, [returned]

    return _counted_all(graph, trips, [kind], all_)


def gates(graph):
    """A loop that adds slices of one sum to several tensors, to some of them several times, as a cell whose gates are
    computed by one product has it; what is added is said to be sharded or in parts, or is not the sum's.
    """
    source = graph.pick(("i32", "f64"), low=2, high=3, least=1, bounded=True, exact=True)
    shape, element = source.shape[1:], source.element
    sliced = (graph.int(1, shape[0]), *shape[1:])
    kind, whole = tensor(sliced, element), tensor(shape, element)
    zero, none = graph.constant(0, "i32"), graph.constant(0, element)
    trips = graph.constant(graph.int(0, 3), "i32")
    starts = [graph.operand(sliced, element, exact=True, bounded=True) for _ in range(graph.int(2, 3))]

    def said(value, at, chance):
        """A line, and its result."""
        if not graph.chance(chance):
            return [], value
        result, sharding = graph.fresh(), graph.sharding(at, partial=True).removeprefix("#sdy.sharding")
        return [f"{result} = sdy.sharding_constraint {value} {sharding} : {tensor(at, element)}"], result

    def added(carried, value):
        slice_, turned, sum_ = (graph.fresh() for _ in range(3))
        first = graph.int(0, shape[0] - sliced[0])
        ranges = [f"{first}:{first + sliced[0]}", *(f"0:{size}" for size in shape[1:])]
        op = graph.choose(("negate", "negate", "negate", "abs"))
        lines = [f"{slice_} = stablehlo.slice {value} [{', '.join(ranges)}] : ({whole}) -> {kind}",
                 f"{turned} = stablehlo.{op} {slice_} : {kind}"]
        more, summand = said(slice_ if graph.chance(60) else turned, sliced, 30)
        return [*lines, *more, f"{sum_} = stablehlo.add {carried}, {summand} : {kind}"], sum_

    def body(_, carries):
        summed = graph.fresh()
        lines = [f"{summed} = stablehlo.reduce({source.name} init: {none.name}) applies stablehlo.add across "
                 f"dimensions = [0] : ({source.type}, {none.type}) -> {whole}"]
        more, value = said(summed, shape, 60)
        lines += more
        returned = []
        for carried in carries:
            for _ in range(graph.int(1, 2)):
                more, carried = added(carried, value)
                lines += more
            returned.append(carried)
        return lines, returned

    graph._used.update(value.name for value in (source, zero, none, trips))
    graph.op("stablehlo.while", [zero, *starts], [((), "i32"), *[(sliced, element)] * len(starts)],
             regions=_counted_all(graph, trips, [kind] * len(starts), body), exact=True)


def stacked(graph):
    """A loop that puts slices of a tensor beside each other, in one that adds these tensors up: as a scan over layers
    in one over microbatches has it.
    """
    source = graph.pick(("i32", "f64"), low=1, high=3, bounded=True, exact=True)
    shape, element = source.shape[1:], source.element
    wide, layers = {"i32": "i64", "f64": "f64"}[element], graph.int(1, 3)
    slice_, stack = tensor((1, *shape), element), tensor((layers, *shape), element)
    total = tensor((layers, *shape), wide)
    zero, none = graph.constant(0, "i32"), graph.constant(0, element)
    far, many = graph.constant(5, "i32"), graph.constant(layers, "i32")
    trips = graph.constant(graph.int(0, 3), "i32")
    sums = graph.operand((layers, *shape), wide, exact=True, bounded=True)
    first = graph.operand((layers, *shape), element, exact=True, bounded=True) if graph.chance(20) else None
    if graph.chance(50):
        sums = graph.constraint(sums, graph.sharding(sums.shape).removeprefix("#sdy.sharding"))
    at = graph.choose(("counter", "counter", "counter", zero.name, far.name))

    def layer(counter, carried):
        scale, scales, scaled, summed, put, updated = (graph.fresh() for _ in range(6))
        index = ", ".join([counter if at == "counter" else at, *[zero.name] * len(shape)])
        return [
            f"{scale} = stablehlo.convert {counter} : ({SCALAR}) -> {none.type}",
            f"{scales} = stablehlo.broadcast_in_dim {scale}, dims = [] : ({none.type}) -> {source.type}",
            f"{scaled} = stablehlo.add {source.name}, {scales} : {source.type}",
            f"{summed} = stablehlo.reduce({scaled} init: {none.name}) applies stablehlo.add across dimensions = [0] : "
            f"({source.type}, {none.type}) -> {tensor(shape, element)}",
            f"{put} = stablehlo.reshape {summed} : ({tensor(shape, element)}) -> {slice_}",
            f"{updated} = stablehlo.dynamic_update_slice {carried}, {put}, {index} : "
            f"({', '.join([stack, slice_, *[SCALAR] * (len(shape) + 1)])}) -> {stack}",
        ], updated

    def microbatch(counter, carried):
        zeros, inner, widened, added = (graph.fresh() for _ in range(4))
        start = first.name if first else zeros
        regions = ", ".join(_counted(graph, many, stack, layer))
        lines = [
            f"{zeros} = stablehlo.broadcast_in_dim {none.name}, dims = [] : ({none.type}) -> {stack}",
            f'{inner}:2 = "stablehlo.while"({zero.name}, {start}) ({regions}) : ({SCALAR}, {stack}) -> '
            f"({SCALAR}, {stack})",
            f"{widened} = stablehlo.convert {inner}#1 : ({stack}) -> {total}",
            f"{added} = stablehlo.add {carried}, {widened} : {total}",
        ]
        return lines, added

    used = [source, zero, none, far, many, trips, *([first] if first else [])]
    graph._used.update(value.name for value in used)
    graph.op("stablehlo.while", [zero, sums], [((), "i32"), (sums.shape, wide)],
             regions=_counted(graph, trips, total, microbatch), exact=True)


def _taken(graph, source, counter, zero, batch):
    """Lines that take the batch of `source` at the counter, and it: of batches that rows were split into, or of the
    rows themselves, at the counter times a batch's rows or about so, where a negative start may count from the end.
    """
    size, rank = batch.shape[0], len(source.shape)
    taken, factor, start, less, end, wrapped, picked, one = (graph.fresh() for _ in range(8))
    scalars = ", ".join([SCALAR] * rank)
    if rank > 2:
        slice_ = tensor((1, *batch.shape), batch.element)
        return [
            f"{taken} = stablehlo.dynamic_slice {source.name}, {counter}, {zero.name}, {zero.name}, sizes = "
            f"[1, {', '.join(map(str, batch.shape))}] : ({source.type}, {scalars}) -> {slice_}",
            f"{one} = stablehlo.reshape {taken} : ({slice_}) -> {batch.type}",
        ], one
    times = size if graph.chance(80) else graph.int(1, size + 1)
    lines = [
        f"{factor} = stablehlo.constant dense<{times}> : {SCALAR}",
        f"{start} = stablehlo.multiply {', '.join(graph.permutation((counter, factor)))} : {SCALAR}",
    ]
    if graph.chance(50):
        lines += [
            f"{end} = stablehlo.constant dense<{source.shape[0]}> : {SCALAR}",
            f"{less} = stablehlo.compare LT, {start}, {zero.name} : ({SCALAR}, {SCALAR}) -> tensor<i1>",
            f"{wrapped} = stablehlo.add {start}, {end} : {SCALAR}",
            f"{picked} = stablehlo.select {less}, {wrapped}, {start} : tensor<i1>, {SCALAR}",
        ]
        start = picked
    return [
        *lines,
        f"{one} = stablehlo.dynamic_slice {source.name}, {start}, {zero.name}, sizes = "
        f"[{', '.join(map(str, batch.shape))}] : ({source.type}, {scalars}) -> {batch.type}",
    ], one


def batched(graph):
    """A loop over batches that rows are split into, whose number axes need not divide: the products of the columns of
    each are added up, and it may be said to be sharded. The rows may be reshaped, or sliced in the loop; the first
    batch may be what the loop starts with. The loop may carry what it takes batches of.
    """
    element = graph.choose(("i32", "f64"))
    number, size = graph.choose((1, 2, 3, 4, 5, 6, 7, 8)), graph.choose((24, 12, 8, 48, 6))
    width = graph.choose((4, 8, 1, 3))
    rows = graph.operand((number * size, width), element, exact=True, bounded=True)
    mesh = graph.setting.meshes[0]
    if mesh.axes and graph.chance(60):
        rows = graph.constraint(rows, f'<@{mesh.name}, [{{"{graph.choose(mesh.axes)[0]}"}}, {{}}]>')
    elif graph.chance(50):
        rows = graph.constraint(rows, graph.sharding(rows.shape).removeprefix("#sdy.sharding"))
    source = rows
    if graph.chance(50):
        (source,) = graph.op("stablehlo.reshape", [rows], [((number, size, width), element)])
    zero = graph.constant(0, "i32")
    first = zero if graph.chance(70) else graph.constant(graph.int(-1, 2), "i32")
    trips = graph.constant(graph.int(0, number + 1), "i32")
    start = graph.operand((width, width), element, exact=True, bounded=True)
    if graph.chance(30):
        at = size * graph.int(0, number - 1)
        (rows_of_one,) = graph.op(
            "stablehlo.slice", [rows], [((size, width), element)],
            f"start_indices = array<i64: {at}, 0>, limit_indices = array<i64: {at + size}, {width}>, "
            "strides = array<i64: 1, 1>")
        (start,) = graph.op(
            "stablehlo.dot_general", [rows_of_one, rows_of_one], [((width, width), element)],
            "dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = "
            "[0]>", exact=True)
    is_carried = graph.chance(15)
    batch = Value("", (size, width), element)

    def body(counter, carries):
        said, product, added = (graph.fresh() for _ in range(3))
        of = replace(source, name=carries[1]) if is_carried else source
        lines, one = _taken(graph, of, counter, zero, batch)
        if graph.chance(20):
            sharding = graph.sharding(batch.shape).removeprefix("#sdy.sharding")
            lines.append(f"{said} = sdy.sharding_constraint {one} {sharding} : {batch.type}")
        else:
            said = one
        lines += [
            f"{product} = stablehlo.dot_general {said}, {said}, contracting_dims = [0] x [0] : ({batch.type}, "
            f"{batch.type}) -> {start.type}",
            f"{added} = stablehlo.add {carries[0]}, {product} : {start.type}",
        ]
        return lines, [added, *carries[1:]]

    carried = [start, *([source] if is_carried else [])]
    graph._used.update(value.name for value in (source, zero, first, trips))
    graph.op("stablehlo.while", [first, *carried], [((), "i32"), *((value.shape, element) for value in carried)],
             regions=_counted_all(graph, trips, [value.type for value in carried], body), exact=True)


def _written(graph, value, slice_, carried, kind, at, plain):
    """Lines that write `value` to what is carried, at the places `at`, and the result: that in `plain` of a hundred
    cases, else that reversed.
    """
    updated, turned = graph.fresh(), graph.fresh()
    scalars = ", ".join([SCALAR] * (at.count(",") + 1))
    lines = [f"{updated} = stablehlo.dynamic_update_slice {carried}, {value}, {at} : ({kind}, {slice_}, {scalars}) -> "
             f"{kind}"]
    if graph.chance(plain):
        return lines, updated
    return [*lines, f"{turned} = stablehlo.reverse {updated}, dims = [0] : {kind}"], turned


def cached(graph):
    """A loop that writes windows of a tensor that it carries, and reads what it wrote; the tensor is said to be sharded
    before the loop and behind it, perhaps not at all: a cache of keys.
    """
    cache = graph.pick(("i32", "i8", "i64"), low=1, high=3, least=1, exact=True)
    shape, kind = cache.shape, cache.type
    written = tuple(graph.int(1, size) for size in shape)
    row = graph.operand(written, cache.element, exact=True)
    zero, far = graph.constant(0, "i32"), graph.constant(5, "i32")
    trips = graph.constant(graph.int(0, 3), "i32")

    def said(value):
        mesh = graph.setting.meshes[0]
        whole = f"<@{mesh.name}, [{', '.join(['{}'] * len(shape) if mesh.axes else [])}]>"
        axes = graph.choose((graph.sharding(shape, open_dims=True).removeprefix("#sdy.sharding"), whole))
        return graph.constraint(value, axes) if graph.chance(70) else value

    def body(counter, carried):
        read, latest = graph.fresh(), graph.fresh()
        at = ", ".join(graph.choose((counter, counter, zero.name, far.name)) for _ in shape)
        scalars = ", ".join([SCALAR] * len(shape))
        lines = [
            f"{read} = stablehlo.dynamic_slice {carried}, {at}, sizes = [{', '.join(map(str, written))}] : "
            f"({kind}, {scalars}) -> {row.type}",
            f"{latest} = stablehlo.maximum {read}, {row.name} : {row.type}",
        ]
        written_to, result = _written(graph, latest, row.type, carried, kind, at, 70)
        return [*lines, *written_to], result

    cache = said(cache)
    graph._used.update(value.name for value in (zero, far, trips, row))
    _, found = graph.op("stablehlo.while", [zero, cache], [((), "i32"), (shape, cache.element)],
                        regions=_counted(graph, trips, kind, body), exact=True)
    said(found)


def copied(graph):
    """A loop that writes slices of a tensor to another one at the same place, or nearly so: a scan that returns what it
    is given.
    """
    source = graph.pick(("i32", "i8", "f32"), low=1, high=3, least=1, exact=True)
    shape, kind = source.shape, source.type
    start = graph.operand(shape, source.element, exact=True)
    zero, one, far = graph.constant(0, "i32"), graph.constant(1, "i32"), graph.constant(5, "i32")
    trips = graph.constant(graph.choose((shape[0], shape[0], graph.int(0, 3))), "i32")
    slice_ = tensor((1, *shape[1:]), source.element)

    def body(counter, carried):
        read, flat, moved = (graph.fresh() for _ in range(3))
        scalars = ", ".join([SCALAR] * len(shape))
        rest = [graph.choose((zero.name, zero.name, one.name)) for _ in shape[1:]]
        places = [", ".join([graph.choose((counter, counter, counter, far.name)), *rest]) for _ in range(2)]
        lines = [
            f"{read} = stablehlo.dynamic_slice {source.name}, {places[0]}, sizes = "
            f"[{', '.join(map(str, (1, *shape[1:])))}] : ({kind}, {scalars}) -> {slice_}",
            f"{flat} = stablehlo.reshape {read} : ({slice_}) -> {tensor(shape[1:], source.element)}",
            f"{moved} = stablehlo.reshape {flat} : ({tensor(shape[1:], source.element)}) -> {slice_}",
        ]
        written_to, result = _written(graph, moved, slice_, carried, kind, places[1], 80)
        return [*lines, *written_to], result

    graph._used.update(value.name for value in (zero, one, far, trips, source))
    graph.op("stablehlo.while", [zero, start], [((), "i32"), (shape, source.element)],
             regions=_counted(graph, trips, kind, body), exact=True)


def _branches(graph, values, count):
    types = _types(values)
    regions = []
    for _ in range(count):
        names = [value.name for value in values]
        lines, found = _inner(graph, names, types, graph.int(1, 2))
        returned = ", ".join(found)
        regions.append(
            "{\n" + "\n".join(lines) + f"\nstablehlo.return {returned} : {', '.join(t[2] for t in types)}\n}}"
        )
    graph._used.update(value.name for value in values)
    return regions, [t[:2] for t in types]


def if_(graph):
    values = _carries(graph, graph.int(1, 2))
    predicate = graph.operand((), "i1")
    regions, types = _branches(graph, values, 2)
    graph.op("stablehlo.if", [predicate], types, regions=regions, exact=True)


def case(graph):
    values = _carries(graph, graph.int(1, 2))
    index = graph.argument((), "i32", ("place", 3))
    regions, types = _branches(graph, values, graph.int(1, 3))
    graph.op("stablehlo.case", [index], types, regions=regions, exact=True)


def nested(graph):
    """A branch in a loop."""
    value = _carries(graph, 1)[0]
    zero, one = graph.constant(0, "i32"), graph.constant(1, "i32")
    trips = graph.constant(graph.int(0, 3), "i32")
    counters, carries = ([graph.fresh() for _ in range(2)] for _ in range(2))
    more, odd, chosen = (graph.fresh() for _ in range(3))
    step, next_ = _counted_on(graph, counters[1])
    types = _types([value])
    left, right = (_inner(graph, [carries[1]], types, graph.int(1, 2)) for _ in range(2))
    regions = [
        f"{{\n{chr(10).join(lines)}\nstablehlo.return {found[0]} : {value.type}\n}}" for lines, found in (left, right)
    ]
    block = [
        f"^bb0({counter}: {SCALAR}, {carry}: {value.type}):" for counter, carry in zip(counters, carries, strict=True)
    ]
    condition = (f"{{\n{block[0]}\n{more} = stablehlo.compare LT, {counters[0]}, {trips.name} : ({SCALAR}, {SCALAR}) "
                 f"-> tensor<i1>\nstablehlo.return {more} : tensor<i1>\n}}")
    body = (f"{{\n{block[1]}\n{step}\n"
            f"{odd} = stablehlo.compare EQ, {counters[1]}, {one.name} : ({SCALAR}, {SCALAR}) -> tensor<i1>\n"
            f'{chosen} = "stablehlo.if"({odd}) ({", ".join(regions)}) : (tensor<i1>) -> {value.type}\n'
            f"stablehlo.return {next_}, {chosen} : {SCALAR}, {value.type}\n}}")
    graph._used.add(trips.name)
    graph.op("stablehlo.while", [zero, value], [((), "i32"), (value.shape, value.element)], regions=[condition, body],
             exact=True)
    graph.ops[-1] += " nested"


def captured(graph):
    """A loop whose body uses a value from outside, sharded in its own way."""
    a = graph.pick(("i32", "i8"), low=1, high=2, least=1)
    b = graph.operand(a.shape, a.element)
    zero, trips = graph.constant(0, "i32"), graph.constant(graph.int(0, 3), "i32")
    blocks = [(graph.fresh(), graph.fresh()) for _ in range(2)]
    more, turned, next_ = (graph.fresh() for _ in range(3))
    step, count = _counted_on(graph, blocks[1][0])
    heads = [f"^bb0({counter}: {SCALAR}, {carry}: {a.type}):" for counter, carry in blocks]
    first = graph.choose((f"{turned} = stablehlo.reverse {blocks[1][1]}, dims = [0] : {a.type}",
                          f"{turned} = stablehlo.maximum {blocks[1][1]}, {b.name} : {a.type}"))
    condition = (f"{{\n{heads[0]}\n{more} = stablehlo.compare LT, {blocks[0][0]}, {trips.name} : ({SCALAR}, "
                 f"{SCALAR}) -> tensor<i1>\nstablehlo.return {more} : tensor<i1>\n}}")
    body = (f"{{\n{heads[1]}\n{first}\n{next_} = stablehlo.add {turned}, {b.name} : {a.type}\n{step}\n"
            f"stablehlo.return {count}, {next_} : {SCALAR}, {a.type}\n}}")
    graph._used.update((b.name, trips.name))
    graph.op("stablehlo.while", [zero, a], [((), "i32"), (a.shape, a.element)], regions=[condition, body], exact=True)
    graph.ops[-1] += " captured"


def calls(graph):
    """A private function that is called three times, with arguments that are sharded differently."""
    a = graph.pick(("i32", "f32"), low=1, high=2, least=1, bounded=True)
    values = [a, *(graph.operand(a.shape, a.element, bounded=True) for _ in range(2))]
    kind, name = a.type, graph.fresh()
    first = graph.choose((f"%0 = stablehlo.reverse %x, dims = [0] : {kind}", f"%0 = stablehlo.add %x, %y : {kind}"))
    sharding = graph.sharding(a.shape, True).removeprefix("#sdy.sharding")
    last = (
        f"%r = sdy.sharding_constraint %1 {sharding} : {kind}"
        if graph.chance(50)
        else f"%r = stablehlo.negate %1 : {kind}"
    )
    graph.functions.append(f"func.func private @{name}(%x: {kind}, %y: {kind}) -> {kind} {{\n{first}\n%1 = "
                           f"stablehlo.subtract %0, %y : {kind}\n{last}\nreturn %r : {kind}\n}}")
    for left, right in zip(values, values[1:] + values[:1], strict=True):
        found = graph._result(a.shape, a.element, [left, right], None, 2 * left.bound + 2 * right.bound, 1)
        graph.raw([found], "func.call", [left, right], f"callee = @{name}")


def held_together(graph):
    """What only says how values are sharded: groups, barriers to propagation, reshards."""
    a = graph.pick(("i32", "f32", "i1"), low=1)
    others = [graph.operand(a.shape, a.element) for _ in range(graph.int(1, 2))]
    group = graph.fresh()[1:]  # its own among all cases of a program
    graph.lines += [f"sdy.sharding_group {value.name} group_id=&{group} : {value.type}" for value in (a, *others)]
    direction = graph.choose(("NONE", "FORWARD", "BACKWARD"))
    for op, how in (("sdy.propagation_barrier", f"allowed_direction={direction}"),
                    ("sdy.reshard", graph.sharding(a.shape).removeprefix("#sdy.sharding"))):
        a, taken = replace(a, name=graph.fresh()), a
        graph.lines.append(f"{a.name} = {op} {taken.name} {how} : {a.type}")
        graph._used.add(taken.name)
        graph.values.append(a)
    graph.ops += ["sdy.sharding_group", "sdy.propagation_barrier", "sdy.reshard"]


def tuple_(graph):
    values = [graph.pick(ANY, high=2) for _ in range(graph.int(1, 3))]
    whole = graph.fresh()
    types = ", ".join(value.type for value in values)
    graph.lines.append(
        f'{whole} = "stablehlo.tuple"({", ".join(value.name for value in values)}) : ({types}) -> tuple<{types}>'
    )
    at = graph.int(0, len(values) - 1)
    taken = graph.fresh()
    graph.lines.append(
        f'{taken} = "stablehlo.get_tuple_element"({whole}) <{{index = {at} : i32}}> : (tuple<{types}>) -> '
        f"{values[at].type}"
    )
    graph.values.append(replace(values[at], name=taken))
    graph.ops += ["stablehlo.tuple", "stablehlo.get_tuple_element"]


FAMILIES = {
    "stablehlo.while": while_,
    "accumulated": accumulated,
    "gates": gates,
    "batched": batched,
    "stacked": stacked,
    "cached": cached,
    "copied": copied,
    "stablehlo.if": if_,
    "stablehlo.case": case,
    "nested": nested,
    "captured": captured,
    "func.call": calls,
    "held together": held_together,
    "stablehlo.tuple": tuple_,
}
