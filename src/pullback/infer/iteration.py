"""map, filter, itertools, functools.reduce and iterators: what they are made of.

    map(f, xs)            Iterator("map", (f, xs)): the call of f is where the loop takes an element
    filter(f, xs)         a generator of the prelude
    it = iter(xs)         a row of a heap: what is stepped through, and how far; next(it) goes one step
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.diagnostic import CompileError
from pullback.infer import lists
from pullback.infer.arithmetic import binary
from pullback.infer.calls import call
from pullback.infer.engine import Frame
from pullback.infer.generators import is_pushed
from pullback.infer.heaps import allocate, heap_of, heap_of_type, kind_of, read, write
from pullback.infer.interleaving import collected_apart
from pullback.infer.lattice import WEAK_INT
from pullback.infer.loops import ITERABLES, ITERATORS, Iterable, Later, Steps, force, iterable, lazily, steps_of
from pullback.infer.numbers import as_number, python_int
from pullback.infer.protocols import has_special, iterated
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.static import static_int
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.types import NONE, Array, Iterator, List, NoneType, Number, Range, Str, Tuple, Union

__all__ = ["sequence_of"]


def run(cx: Frame, name: str, *arguments: AV) -> AV:
    """A function of the prelude of iteration."""
    return call(cx, prelude(cx, f"pullback.iter_{name}"), arguments, {})


def _given(
    cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV], names: Sequence[str], least: int
) -> dict[str, AV]:
    """Arguments by name."""
    if len(arguments) > len(names) or set(keywords) - set(names):
        raise cx.type_error(f"{name}() takes {', '.join(names)}", "not these arguments")
    found = dict(zip(names, arguments, strict=False)) | dict(keywords)
    missing = [n for n in names[:least] if n not in found]
    if missing:
        raise cx.type_error(f"{name}() missing required argument '{missing[0]}'", "it must be given")
    return found


def sequence_of(cx: Frame, av: AV) -> AV:
    """What has a length and indices: the iterable itself, or a list of what it gives."""
    if isinstance(av.type, Tuple) and has_special(cx, av.type, "__iter__"):
        return sequence_of(cx, iterated(cx, av))
    if isinstance(av.type, Tuple | List | Array) or lists.is_sequence(av.type):
        return av
    items = None if is_pushed(av.type) or isinstance(av.type, Union) else iterable(cx, av).items
    if items is not None:
        return _tuple(items)
    return call(cx, prelude(cx, "pullback.as_list"), [av], {})


def _ahead(cx: Frame, av: AV) -> AV:
    """`sequence_of` where Python would step through the iterable later."""
    if not is_pushed(av.type):
        return sequence_of(cx, av)
    (found,) = collected_apart(cx, [av], lambda part: sequence_of(cx, part), alone=True)
    return found


def _tee(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """tee(iterable, n): iterators over one list."""
    found = _given(cx, "tee", arguments, keywords, ("iterable", "n"), 1)
    count = _literal_int(cx, "tee", "n", found["n"]) if "n" in found else 2
    values = _ahead(cx, found["iterable"])
    return _tuple([_iter(cx, [values], {}) for _ in range(count)])


def _tuple(items: Sequence[AV]) -> AV:
    return AV(Tuple(tuple(i.type for i in items)), tuple(v for i in items for v in i.values))


def _is_none(av: AV | None) -> bool:
    return av is None or isinstance(av.type, NoneType)


def _flat(parts: Sequence[AV]) -> tuple[Value, ...]:
    return tuple(value for part in parts for value in part.values)


# ------------------------------------------------------------------------------------------------- map and filter


def _map(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if len(arguments) < 2 or keywords:
        raise cx.type_error("map() must have at least two arguments.", "a function and iterables")
    function, *sources = arguments
    if any(is_pushed(source.type) for source in sources):
        if len(sources) == 1:
            return run(cx, "map", function, sources[0])
        return run(cx, "starmap", function, HANDLERS["builtins.zip"](cx, sources, {}))
    return AV(Iterator("map", tuple(a.type for a in arguments)), _flat(arguments))


def _mapped(cx: Frame, parts: Sequence[AV]) -> Iterable:
    function, *sources = parts
    inner = ITERATORS["zip"](cx, sources)

    def applied(cx: Frame, row: AV) -> AV:
        return cx.stop() if cx.dead else call(cx, function, items_of(row), {})

    if inner.known is not None:
        return Iterable(None, later=[
            Later(lambda cx, item=item: applied(cx, force(cx, item))) for item in inner.known  # type: ignore[misc]
        ])  # fmt: skip
    steps = inner.steps

    def take(cx: Frame, state: Sequence[AV]) -> tuple[AV, list[AV]]:
        assert steps is not None
        row, following = steps.take(cx, state)
        return applied(cx, row), following

    own = None if steps is None else Steps(steps.start, steps.more, take)
    element = inner.element
    if element is None:
        return Iterable(None, steps=own)
    return Iterable(None, inner.count, lambda cx, k: applied(cx, element(cx, k)), inner.tables, own)


def _filtering(name: str, of_truth: str) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if len(arguments) != 2 or keywords:
            raise cx.type_error(f"{name} expected 2 arguments, got {len(arguments)}", "a function and an iterable")
        function, source = arguments
        return run(cx, of_truth, source) if _is_none(function) else run(cx, name, function, source)

    return handler


def _through(name: str, least: int, most: int) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if not least <= len(arguments) <= most or keywords:
            raise cx.type_error(f"{name} takes {least} arguments ({len(arguments)} given)", "not these arguments")
        return run(cx, name, *arguments)

    return handler


def _reduce(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = _given(cx, "reduce", arguments, keywords, ("function", "iterable", "initial"), 2)
    function, source = found["function"], found["iterable"]
    if not isinstance(source.type, Union) and not is_pushed(source.type):
        items = iterable(cx, source).items
        if items:
            values = [*([found["initial"]] if "initial" in found else []), *items]
            result = values[0]
            for item in values[1:]:
                result = call(cx, function, [result, item], {})
                if cx.dead:
                    break
            return result
    if "initial" in found:
        return run(cx, "reduce_from", function, source, found["initial"])
    return run(cx, "reduce", function, sequence_of(cx, source))


# ------------------------------------------------------------------------------------------------------ itertools


def _chain(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if not arguments:
        return _tuple([])
    known = [_items(cx, source) for source in arguments]
    if all(items is not None for items in known):
        return AV(Iterator("chain", tuple(a.type for a in arguments)), _flat(arguments))
    result = arguments[0]
    if len(arguments) == 1:
        return run(cx, "chain_one", result)
    for other in arguments[1:]:
        result = run(cx, "chain_more", result, other)
    return result


def _items(cx: Frame, source: AV) -> Sequence[AV | Later] | None:
    fixed = isinstance(source.type, Tuple | List | Str | Iterator) and not is_pushed(source.type)
    return lazily(cx, source).known if fixed else None


def _chained(cx: Frame, parts: Sequence[AV]) -> Iterable:
    return Iterable(None, later=[item for part in parts for item in lazily(cx, part).known or ()])


def _accumulate(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = _given(cx, "accumulate", arguments, keywords, ("iterable", "func", "initial"), 1)
    source, function, initial = found["iterable"], found.get("func"), found.get("initial")
    if not _is_none(initial):
        assert initial is not None
        if _is_none(function):
            return run(cx, "summed_from", source, initial)
        return run(cx, "accumulated_from", source, function, initial)  # type: ignore[arg-type]
    if is_pushed(source.type):
        if _is_none(function):
            return run(cx, "summed_as_given", source)
        return run(cx, "accumulated_as_given", source, function)  # type: ignore[arg-type]
    values = sequence_of(cx, source)
    if isinstance(values.type, Tuple) and not values.type.items:
        return values
    return run(cx, "summed", values) if _is_none(function) else run(cx, "accumulated", values, function)  # type: ignore[arg-type]


def _count(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = _given(cx, "count", arguments, keywords, ("start", "step"), 0)
    parts = [found.get("start", _number(cx, 0)), found.get("step", _number(cx, 1))]
    return AV(Iterator("count", tuple(p.type for p in parts)), _flat(parts))


def _number(cx: Frame, value: int) -> AV:
    return AV(WEAK_INT, (cx.e.integer(value),), value)


def _counting(cx: Frame, parts: Sequence[AV]) -> Iterable:
    start, step = parts

    def take(cx: Frame, state: Sequence[AV]) -> tuple[AV, list[AV]]:
        return state[0], [binary(cx, "+", state[0], step)]

    return Iterable(None, steps=Steps([AV(start.type, start.values)], lambda cx, state: cx.e.boolean(True), take))


def _repeat(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = _given(cx, "repeat", arguments, keywords, ("object", "times"), 1)
    parts = [found["object"], *([as_number(cx, found["times"])] if "times" in found else [])]
    return AV(Iterator("repeat", tuple(p.type for p in parts)), _flat(parts))


def _repeating(cx: Frame, parts: Sequence[AV]) -> Iterable:
    item, *times = parts
    if not times:
        return Iterable(None, steps=Steps([], lambda cx, state: cx.e.boolean(True), lambda cx, state: (item, [])))
    return Iterable(None, cx.e("maximum", python_int(cx, times[0]), cx.e.integer(0)), lambda cx, k: item)


def _cycle(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    (source,) = arguments
    return run(cx, "cycled_as_given", source) if is_pushed(source.type) else run(cx, "cycle", sequence_of(cx, source))


def _pairwise(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    (source,) = arguments
    if is_pushed(source.type):
        return run(cx, "pairwise_as_given", source)
    return run(cx, "pairwise", sequence_of(cx, source))


def _islice(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    source, *bounds = arguments
    if not 1 <= len(bounds) <= 3:
        raise cx.type_error(f"islice expected 2 to 4 arguments, got {len(arguments)}", "iterable, start, stop, step")
    start, stop, step = (AV(NONE), bounds[0], AV(NONE)) if len(bounds) == 1 else (*bounds, AV(NONE))[:3]
    start, step = (default if _is_none(given) else given
                   for given, default in ((start, _number(cx, 0)), (step, _number(cx, 1))))  # fmt: skip
    return run(cx, "islice", source, start, stop, step)


def _product(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    times = _literal_int(cx, "product", "repeat", keywords["repeat"]) if "repeat" in keywords else 1
    pools = [sequence_of(cx, source) for source in arguments] * times
    if not pools:
        return _tuple([_tuple([])])
    rows = run(cx, "rows_of", pools[0])
    for pool in pools[1:]:
        rows = run(cx, "product_more", rows, pool)
    return rows


def _literal_int(cx: Frame, function: str, name: str, av: AV) -> int:
    return static_int(cx, av, f"{name} of {function}()")


def _places(name: str, more: str) -> Handler:
    """combinations, permutations: rows of places, and the items there; of sizes that the run decides, from lists."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = _given(cx, name, arguments, keywords, ("iterable", "r"), 1 if name == "permutations" else 2)
        source = found["iterable"]
        pool = sequence_of(cx, source)
        count = HANDLERS["builtins.len"](cx, [pool], {})
        if _is_none(found.get("r")) and name == "permutations":
            length = HANDLERS["builtins.len"](cx, [source], {}) if isinstance(source.type, Range) else count
            size, r = cx.number_of(length), length
        else:
            size, r = _size(cx, name, found["r"]), found["r"]
            cx.check(cx.e("ge", python_int(cx, r), cx.e.integer(0)), "ValueError", "r must be non-negative")
        if size is None:
            return run(cx, more.replace("_more", "_of"), pool, r)
        if size <= 0:
            return _tuple([_tuple([])])
        rows = run(cx, "places_first", count)
        for _ in range(size - 1):
            rows = run(cx, more, rows, count)
        return run(cx, "chosen", pool, rows)

    return handler


def _size(cx: Frame, name: str, r: AV) -> int | None:
    """How long the tuples are, where that can be known while compiling; it is asked for."""
    try:
        return _literal_int(cx, name, "r", r)
    except CompileError:
        if not isinstance(r.type, Number) or r.type.dtype.is_float:
            raise
        return None


def _groupby(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    found = _given(cx, "groupby", arguments, keywords, ("iterable", "key"), 1)
    values = _ahead(cx, found["iterable"])
    return run(cx, "grouped_alike", values) if _is_none(found.get("key")) else run(cx, "grouped", values, found["key"])


def _zip_longest(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    parts = [_ahead(cx, source) for source in arguments]
    parts.append(keywords.get("fillvalue", AV(NONE)))
    return AV(Iterator("zip_longest", tuple(p.type for p in parts)), _flat(parts))


def _longest(cx: Frame, parts: Sequence[AV]) -> Iterable:
    *sources, fill = parts
    inner = [iterable(cx, source) for source in sources]
    if all(source.items is not None for source in inner):
        rows = [list(source.items or ()) for source in inner]
        size = max(map(len, rows), default=0)
        return Iterable([_tuple([row[k] if k < len(row) else fill for row in rows]) for k in range(size)])
    counts = [HANDLERS["builtins.len"](cx, [source], {}).value for source in sources]
    longest = counts[0]
    for count in counts[1:]:
        longest = cx.e("maximum", longest, count)

    def element(cx: Frame, k: Value) -> AV:
        row: list[AV] = []
        for source, count in zip(sources, counts, strict=True):
            def there(source: AV = source) -> list[AV]:
                return [HANDLERS["operator.getitem"](cx, [source, AV(WEAK_INT, (k,))], {})]

            row += cx.choose(cx.e("lt", k, count), there, lambda: [fill])
        return _tuple(row)

    return Iterable(None, longest, element)


# ---------------------------------------------------------------------------------------------- iterators kept


def _iter(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """iter(x): a row with what is stepped through and how far."""
    (subject,) = arguments
    if kind_of(subject.type) == "iterator" or is_pushed(subject.type):
        return subject
    heap = heap_of(cx, "iterator", lists.key_here(cx))
    made = AV(heap.type, (allocate(cx, heap),))
    write(cx, heap, made.value, "subject", subject)
    for number, av in enumerate(steps_of(cx, iterable(cx, subject)).start):
        write(cx, heap, made.value, f"state{number}", av)
    return made


def _kept_steps(cx: Frame, av: AV) -> tuple[Steps, list[AV]] | None:
    heap = heap_of_type(av.type)
    assert heap is not None
    subject = read(cx, heap, av.value, "subject")
    if cx.dead:
        return None
    steps = steps_of(cx, iterable(cx, subject))
    return steps, [read(cx, heap, av.value, f"state{number}") for number in range(len(steps.start))]


def _advance(cx: Frame, av: AV, steps: Steps, state: Sequence[AV]) -> AV:
    heap = heap_of_type(av.type)
    assert heap is not None
    item, following = steps.take(cx, state)
    if not cx.dead:
        for number, after in enumerate(following):
            write(cx, heap, av.value, f"state{number}", after)
    return item


def _next(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """next(it), next(it, default)."""
    subject, *default = arguments
    kept = _kept_steps(cx, subject)
    if kept is None:
        return cx.stop()
    steps, state = kept
    more = steps.more(cx, state)
    if not default:
        cx.check(more, "StopIteration", "")
        return _advance(cx, subject, steps, state)
    (result,) = cx.choose(more, lambda: [_advance(cx, subject, steps, state)], lambda: [default[0]])
    return result


def _rest(cx: Frame, av: AV) -> Iterable:
    """A loop over what an iterator has left; each trip takes one from it."""

    def more(cx: Frame, state: Sequence[AV]) -> Value:
        kept = _kept_steps(cx, av)
        return cx.e.boolean(False) if kept is None else kept[0].more(cx, kept[1])

    def take(cx: Frame, state: Sequence[AV]) -> tuple[AV, list[AV]]:
        kept = _kept_steps(cx, av)
        return (cx.stop() if kept is None else _advance(cx, av, *kept)), []

    return Iterable(None, steps=Steps([], more, take))


ITERABLES["iterator"] = _rest
ITERATORS.update({
    "map": _mapped, "chain": _chained, "count": _counting, "repeat": _repeating, "zip_longest": _longest,
})  # fmt: skip
HANDLERS.update({
    "builtins.map": _map, "builtins.filter": _filtering("filter", "filter_true"), "iterator.__new__": _iter,
    "iterator.__next__": _next, "functools.reduce": _reduce, "itertools.chain": _chain,
    "itertools.filterfalse": _filtering("filterfalse", "filter_not"), "itertools.starmap": _through("starmap", 2, 2),
    "itertools.takewhile": _through("takewhile", 2, 2), "itertools.dropwhile": _through("dropwhile", 2, 2),
    "itertools.compress": _through("compress", 2, 2), "itertools.accumulate": _accumulate, "itertools.count": _count,
    "itertools.repeat": _repeat, "itertools.cycle": _cycle, "itertools.pairwise": _pairwise,
    "itertools.islice": _islice, "itertools.product": _product, "itertools.groupby": _groupby,
    "itertools.zip_longest": _zip_longest, "itertools.combinations": _places("combinations", "combinations_more"),
    "itertools.permutations": _places("permutations", "permutations_more"),
    "itertools.combinations_with_replacement": _places("combinations_with_replacement", "repeated_more"),
    "itertools.chain.from_iterable": _through("chain_from", 1, 1), "itertools.tee": _tee,
})  # fmt: skip
