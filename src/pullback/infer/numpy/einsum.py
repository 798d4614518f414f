"""np.einsum: the subscripts are read while compiling, the sum is done by pairs of operands.

    np.einsum("bij,bjk->bik", a, b)      b stays, j is summed: a stack of matrix products
    np.einsum("ij,ij->", a, b)           one pass over both, without temporary
    np.einsum("ii", a)                   the diagonal, then its sum
    np.einsum(a, [0, 1], b, [1, 2])      as "AB,BC": numbers stand for letters

Each step takes two operands and leaves the labels that the result or another operand needs.  The pair is taken whose
result has fewest axes, the first of equals.
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

from pullback.infer.arithmetic import binary
from pullback.infer.calls import call_builtin
from pullback.infer.complexes import halves
from pullback.infer.creation import array_like, cast
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes
from pullback.infer.engine import Frame
from pullback.infer.lattice import ELLIPSIS, WEAK_INT
from pullback.infer.linear import of_bools
from pullback.infer.numbers import convert
from pullback.infer.numpy.axes import expanded, moved, part, rank_of
from pullback.infer.numpy.contract import contracted, elementwise_of_parts, product_of_parts
from pullback.infer.registry import HANDLERS
from pullback.infer.static import static_int, static_items
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.types import Array, Complex, DType, List, Number, Ref, Str, Tuple, show

__all__: list[str] = []

Labels = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Operand:
    """An array, or what is left of several, and the labels of its axes; a number has none."""

    value: AV
    labels: Labels


def _einsum(cx: Frame, given: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if set(keywords) - {"optimize"}:
        raise cx.error(f"np.einsum: {', '.join(keywords)} is not supported",
                       "only optimize= is, and makes no difference")  # fmt: skip
    if given and not isinstance(given[0].type, Str):
        given = _in_letters(cx, given)
    if len(given) < 2 or not isinstance(given[0].type, Str):
        raise cx.error("np.einsum takes subscripts and arrays", "the subscripts are a string known while compiling",
                       'write np.einsum("ij,jk->ik", a, b)')  # fmt: skip
    subscripts = given[0].type.value
    return dispatch(cx, given[1:], lambda cx, operands: _sum(cx, subscripts, operands))


def _in_letters(cx: Frame, given: Sequence[AV]) -> list[AV]:
    """Operands that alternate with lists of numbers for their axes, with letters instead."""
    terms = [_term(cx, av) for av in given[1::2]]
    arrow = ""
    if len(given) % 2:
        terms, arrow = [_term(cx, av) for av in given[1:-1:2]], f"->{_term(cx, given[-1])}"
    text = f"{','.join(terms)}{arrow}"
    return [AV(Str(text), (), text), *given[: 2 * len(terms) : 2]]


def _term(cx: Frame, av: AV) -> str:
    if not isinstance(av.type, Tuple | List | Ref):
        raise cx.error("np.einsum takes subscripts and arrays", f"this is {show(av.type)}",
                       'write np.einsum("ij,jk->ik", a, b)')  # fmt: skip
    return "".join("..." if item.type == ELLIPSIS else _letter(cx, item)
                   for item in static_items(cx, av, "the subscripts"))  # fmt: skip


def _letter(cx: Frame, item: AV) -> str:
    number = static_int(cx, item, "a subscript of einsum")
    if not 0 <= number < len(_LETTERS):
        words = "subscript is not within the valid range [0, 52)"
        raise cx.error(words, f"this is {number}", raised=("ValueError", words))
    return _LETTERS[number]


_LETTERS = string.ascii_uppercase + string.ascii_lowercase


def _sum(cx: Frame, subscripts: str, operands: Sequence[AV]) -> AV:
    arrays = [av if isinstance(av.type, Complex) else array_like(cx, av) for av in operands]
    inputs, output = _parsed(cx, subscripts, [_rank(av) for av in arrays])
    _check_sizes(cx, inputs, arrays)
    parts = [_operand(cx, av, labels, output) for av, labels in zip(arrays, inputs, strict=True)]
    parts = [_without_ones(cx, operand, parts) for operand in parts]
    while len(parts) > 1:
        i, j = min(combinations(range(len(parts)), 2), key=lambda pair: len(_left(parts, pair, output)))
        wanted = set(_left(parts, (i, j), output))
        step = _pair(cx, _alone(cx, parts[i], wanted | set(parts[j].labels)),
                     _alone(cx, parts[j], wanted | set(parts[i].labels)), wanted)  # fmt: skip
        parts = [*(operand for k, operand in enumerate(parts) if k not in (i, j)), step]
    return _arranged(cx, _alone(cx, parts[0], set(output)), output)


def _rank(av: AV) -> int:
    return rank_of(halves(av)[0] if isinstance(av.type, Complex) else av)


# ------------------------------------------------------------------------------------------------------ subscripts


def _parsed(cx: Frame, subscripts: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """Labels of every operand and of the result; the axes of an ellipsis are labelled by numbers from the end."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ranks):
        few = "fewer" if len(terms) < len(ranks) else "more"
        raise _refused(cx, f"{few} operands provided to einstein sum function than specified in the subscripts string",
                       subscripts)  # fmt: skip
    inputs = [_labels(cx, term, rank, place) for place, (term, rank) in enumerate(zip(terms, ranks, strict=True))]
    flat = [label for labels in inputs for label in labels]
    dots = sorted({label for label in flat if not label.isalpha()}, reverse=True)
    if not arrow:
        once = sorted(label for label in set(flat) if flat.count(label) == 1 and label.isalpha())
        return inputs, (*dots, *once)
    before, ellipsis, after = right.partition("...")
    output = (*before, *(dots if ellipsis else ()), *after)
    for label in output:
        if label not in flat:
            title = (
                f"einstein sum subscripts string included output subscript '{label}' which never appeared in an input"
            )
            raise _refused(cx, title, subscripts)
        if output.count(label) > 1:
            raise _refused(cx, f"einstein sum subscripts string includes output subscript '{label}' multiple times",
                           subscripts)  # fmt: skip
    if dots and not ellipsis:
        raise _refused(cx, "output has ellipsis dimensions that are not broadcast: '...' is missing there", subscripts)
    return inputs, output


def _labels(cx: Frame, term: str, rank: int, place: int) -> Labels:
    before, ellipsis, after = term.partition("...")
    for letter in before + after:
        if not letter.isalpha() or not letter.isascii():
            title = f"invalid subscript '{letter}' in einstein sum subscripts string, subscripts must be letters"
            raise _refused(cx, title, term)
    covered = rank - len(before) - len(after)
    if covered < 0:
        raise _refused(cx, f"einstein sum subscripts string contains too many subscripts for operand {place}", term)
    if covered and not ellipsis:
        raise _refused(cx, "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis "
                       "provided to broadcast the extra dimensions.", term)  # fmt: skip
    return (*before, *(f"{k:04}" for k in reversed(range(covered))), *after)


def _refused(cx: Frame, title: str, text: str) -> Exception:
    return cx.error(title, f'the subscripts are "{text}"', raised=("ValueError", title))


# ------------------------------------------------------------------------------------------------------- operands


def _check_sizes(cx: Frame, inputs: Sequence[Labels], arrays: Sequence[AV]) -> None:
    """Axes of one label have one size, or size 1."""
    known: dict[str, tuple[Value, bool | None]] = {}
    for place, (labels, av) in enumerate(zip(inputs, arrays, strict=True)):
        real = halves(av)[0] if isinstance(av.type, Complex) else av
        assert isinstance(real.type, Array)
        own: dict[str, Value] = {}
        for axis, (label, size) in enumerate(zip(labels, array_sizes(cx, real), strict=True)):
            if label in own:
                message = f"dimensions in operand {place} for collapsing index '{label}' don't match ({{0}} != {{1}})"
                cx.check(cx.e("eq", own[label], size), "ValueError", message, own[label], size, shapes=True)
            elif label not in known or known[label][1]:
                known[label] = (size, real.type.is_one(axis))
            elif not real.type.is_one(axis):
                message = (f"operands could not be broadcast together: the axes {label!r} of einsum have sizes "
                           "{0} and {1}")  # fmt: skip
                cx.check(cx.e("eq", known[label][0], size), "ValueError", message, known[label][0], size, shapes=True)
            own[label] = size


def _operand(cx: Frame, av: AV, labels: Labels, output: Labels) -> _Operand:
    """Labels that stand twice in one operand become one: the diagonal."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            axes = {"axis1": _int(cx, first), "axis2": _int(cx, second)}
            av = elementwise_of_parts(cx, av, partial(_diagonal, axes=axes))
            labels = (*(name for k, name in enumerate(labels) if k not in (first, second)), label)
    return _Operand(av, labels)


def _diagonal(cx: Frame, x: AV, axes: Mapping[str, AV]) -> AV:
    """The diagonal, which may be written where the array may be."""
    found = call_builtin(cx, "numpy.diagonal", [x], axes)
    assert isinstance(found.type, Array) and isinstance(x.type, Array)
    return AV(replace(found.type, readonly=x.type.readonly), found.values)


def _without_ones(cx: Frame, operand: _Operand, others: Sequence[_Operand]) -> _Operand:
    """Axes known to have size 1 are taken away where another operand tells the size of the label."""
    for label in operand.labels:
        if _is_one(operand, label) and any(label in other.labels and not _is_one(other, label) for other in others):
            axis = operand.labels.index(label)
            value = elementwise_of_parts(cx, operand.value, partial(part, axis=axis))
            operand = _Operand(value, (*operand.labels[:axis], *operand.labels[axis + 1 :]))
    return operand


def _is_one(operand: _Operand, label: str) -> bool:
    type_ = operand.value.type.real if isinstance(operand.value.type, Complex) else operand.value.type
    return isinstance(type_, Array) and type_.is_one(operand.labels.index(label)) is True


def _int(cx: Frame, number: int) -> AV:
    return AV(WEAK_INT, (cx.e.integer(number),), number)


def _alone(cx: Frame, operand: _Operand, wanted: set[str]) -> _Operand:
    """Labels that nobody else needs are summed over."""
    axes = [axis for axis, label in enumerate(operand.labels) if label not in wanted]
    if not axes:
        return operand
    numbers = [_int(cx, axis) for axis in axes]
    axis = AV(Tuple((WEAK_INT,) * len(axes)), tuple(n.value for n in numbers))
    cx.literals.update((n.value, n.literal) for n in numbers)
    total = call_builtin(cx, "numpy.sum", [operand.value], {"axis": axis})
    if isinstance(operand.value.type, Array) and not operand.value.type.dtype.is_float:
        total = _as_dtype(cx, total, operand.value.type.dtype)
    return _Operand(total, tuple(label for label in operand.labels if label in wanted))


def _as_dtype(cx: Frame, total: AV, dtype: DType) -> AV:
    """A sum of ints in their dtype; of bools: is any of them true."""
    if isinstance(total.type, Array):
        return cast(cx, total, dtype)
    if dtype is DType.BOOL:
        return of_bools(cx, total, True)
    return AV(Number(dtype, False), (convert(cx, total, dtype),))


def _left(parts: Sequence[_Operand], pair: tuple[int, int], output: Labels) -> Labels:
    """The labels of the product of two operands that something else needs."""
    i, j = pair
    needed = {label for k, other in enumerate(parts) if k not in pair for label in other.labels} | set(output)
    return tuple(label for label in dict.fromkeys((*parts[i].labels, *parts[j].labels)) if label in needed)


def _pair(cx: Frame, x: _Operand, y: _Operand, wanted: set[str]) -> _Operand:
    """The product of two operands, summed over the labels that are not wanted: all of these are in both."""
    shared = [label for label in x.labels if label in y.labels]
    summed = [label for label in shared if label not in wanted]
    batch = [label for label in shared if label in wanted]
    if not summed:
        return _outer(cx, x, y)
    free = [label for label in x.labels if label not in shared], [label for label in y.labels if label not in shared]
    first, second = (_ordered(cx, operand, [*batch, *rest, *summed])
                     for operand, rest in zip((x, y), free, strict=True))  # fmt: skip
    if batch and not free[0] and not free[1]:
        product = _Operand(binary(cx, "*", first.value, second.value), first.labels)
        return _alone(cx, product, wanted)
    axes = [[len(batch) + len(rest) + k for k in range(len(summed))] for rest in free]
    value = product_of_parts(
        cx, first.value, second.value, lambda cx, a, b: contracted(cx, a, b, axes[0], axes[1], len(batch))
    )
    return _Operand(value, (*batch, *free[0], *free[1]))


def _outer(cx: Frame, x: _Operand, y: _Operand) -> _Operand:
    """An elementwise product over the labels of both."""
    labels = (*x.labels, *(label for label in y.labels if label not in x.labels))
    both = []
    for operand in (x, y):
        value = _ordered(cx, operand, [label for label in labels if label in operand.labels]).value
        for axis, label in enumerate(labels):
            if label not in operand.labels and not isinstance(value.type, Number):
                value = elementwise_of_parts(cx, value, partial(expanded, axis=axis))
        both.append(value)
    return _Operand(binary(cx, "*", both[0], both[1]), labels)


def _ordered(cx: Frame, operand: _Operand, labels: Sequence[str]) -> _Operand:
    perm = [operand.labels.index(label) for label in labels]
    if perm == list(range(len(perm))):
        return operand
    return _Operand(elementwise_of_parts(cx, operand.value, lambda cx, x: moved(cx, x, perm)), tuple(labels))


def _arranged(cx: Frame, operand: _Operand, output: Labels) -> AV:
    """The result with its axes in their order; without axes it is a number."""
    value = _ordered(cx, operand, output).value
    type_ = value.type.real if isinstance(value.type, Complex) else value.type
    if isinstance(type_, Array) and type_.rank == 0:
        return call_builtin(cx, "numpy.sum", [value], {})
    if not isinstance(type_, Array | Number):
        raise cx.error(f"np.einsum of {show(value.type)}", "arrays are needed")
    return value


HANDLERS["numpy.einsum"] = _einsum
