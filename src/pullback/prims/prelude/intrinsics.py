"""Primitives that prelude functions use by name.  In plain Python they are ordinary functions of the same value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pullback.prims.stated import Stated, mark

__all__ = [
    "add_product", "at", "at_end", "attach", "axis_of", "before", "copy_row", "differentiated", "digamma", "discrete",
    "field", "fma", "grad", "hash_in", "hash_of", "hashable", "high_product", "joined", "jvp", "lapack", "larger",
    "new_set", "only_compiled", "order_bits", "outlined", "put_at", "put_field", "raise_with", "repeated", "rint",
    "row", "rows", "ruled", "sized", "smaller", "stop", "structural", "text_piece", "text_pieces", "vjp", "whole",
    "zeros_of",
]  # fmt: skip


def stop(x: Any) -> Any:
    """x, without its derivative."""
    return x


def attach(y: Any, x: Any, w: Any) -> Any:
    """y; its derivative is dy + w * dx."""
    return y


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the start; that of an array with other axes only is refused."""
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for array of dimension {rank}")
    return axis % rank


def joined(re: Any, im: Any) -> Any:
    """The complex number or array of two parts."""
    return re + 1j * im


def fma(x: Any, y: Any, z: Any) -> Any:
    """x * y + z with one rounding (here with two)."""
    return x * y + z


def before(x: Any, y: Any, last: bool) -> Any:
    """x < y, or x <= y if `last`; where the two have no order, an error once this is reached."""
    return x <= y if last else x < y


def larger(x: Any, y: Any) -> Any:
    """The larger of two numbers of one dtype, without derivative; of zeros either, nan if either is."""
    return np.maximum(x, y)


def smaller(x: Any, y: Any) -> Any:
    """The smaller of two numbers of one dtype, without derivative; of zeros either, nan if either is."""
    return np.minimum(x, y)


def order_bits(x: Any) -> Any:
    """A np.uint64; of numbers that are no nan, that of the smaller one is smaller."""
    return only_compiled()


def high_product(x: Any, y: Any) -> Any:
    """The upper 64 of the 128 bits of x * y, both of uint64."""
    return type(x)(int(x) * int(y) >> 64)


def rint(x: Any) -> Any:
    """x rounded to the nearest whole float, ties to even."""
    return float(round(x))


# ----------------------------------------------------------------------- rows of heaps, which plain Python has not


def structural(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function that only moves rows: it has no checks, so one version serves all lines that call it."""
    function.__dict__["__pullback_structural__"] = True
    return function


def ruled(
    *, jvp: Callable[..., Any] | None = None, vjp: tuple[Callable[..., Any], Callable[..., Any]] | None = None,
    nondiff: tuple[int, ...] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:  # fmt: skip
    """States the derivative of a prelude function, as pb.custom_jvp and pb.custom_vjp do for users.

    jvp: a function (*nondiff, primals, tangents) -> (out, tangent).  vjp: the functions (*arguments) -> (out,
    residuals) and (*nondiff, residuals, cotangent) -> a tuple of cotangents.  One of them is enough for both modes and
    all orders.
    nondiff: positions of arguments without derivative.
    """
    forward, backward = vjp if vjp is not None else (None, None)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        mark(function, Stated(jvp, forward, backward, nondiff))
        return function

    return decorate


def outlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a structural function that stays one: it is long, or seldom called."""
    function.__dict__["__pullback_outlined__"] = True
    return structural(function)


def whole(function: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a function that is called, not inlined: it is long, and there are several calls."""
    function.__dict__["__pullback_outlined__"] = True
    return function


def only_compiled(*arguments: Any) -> Any:
    raise NotImplementedError("this has a meaning in compiled code only")


def field(x: Any, name: str) -> Any:
    """What stands in a field of a row."""
    return only_compiled()


def put_field(x: Any, name: str, value: Any) -> None:
    """Store into a field of a row."""
    only_compiled()


def row(x: Any, k: int) -> Any:
    """The row k rows after x, of the same heap."""
    return only_compiled()


def rows(x: Any, n: int) -> Any:
    """n new rows of the heap of x; the first of them."""
    return only_compiled()


def at_end(x: Any, n: int) -> bool:
    """Are the n rows from x the last of their heap."""
    return bool(only_compiled())


def copy_row(x: Any, y: Any) -> None:
    """Every field of x becomes that of y, a row of the same heap."""
    only_compiled()


def at(items: Any, k: int) -> Any:
    """The k-th item from a first one."""
    return only_compiled()


def put_at(items: Any, k: int, item: Any) -> None:
    """Store the k-th item from a first one."""
    only_compiled()


def hash_in(d: Any, key: Any) -> int:
    """A hash of the key; equal keys of a dict have equal ones."""
    return int(only_compiled())


def hash_of(key: Any) -> int:
    """The hash of a key of a set."""
    return int(only_compiled())


def hashable(key: Any) -> None:
    """Refuses a key that has no hash."""
    only_compiled()


def new_set(s: Any) -> Any:
    """A new empty set of the kind of s."""
    return only_compiled()


def sized(n: int) -> Any:
    """A new list of n items that are not set yet."""
    return only_compiled()


def raise_with(ok: bool, exception: str, message: str, *values: Any) -> None:
    """Raise unless ok; in the message {} stands for repr() of the values."""
    only_compiled()


def text_pieces(how: Any, text: Any, *given: Any) -> Any:
    """How many pieces a method of str cuts a text into; `how`: its name, with " None" where it is told no separator."""
    return only_compiled()


def text_piece(how: Any, index: Any, text: Any, *given: Any) -> Any:
    """One of them."""
    return only_compiled()


def lapack(routine: str, *operands: Any, **flags: Any) -> Any:
    """What a routine of LAPACK makes of matrices, without derivative: see `prims.lapack`."""
    return only_compiled()


def add_product(out: Any, a: Any, b: Any) -> None:
    """out += a @ b, of matrices of one dtype."""
    out += a @ b


def digamma(x: Any) -> Any:
    """The derivative of the logarithm of the gamma function."""
    return only_compiled()


def erfcx(x: Any) -> Any:
    """exp(x * x) times the complementary error function."""
    return only_compiled()


def discrete(x: Any) -> Any:
    """A float by which nothing can be differentiated: what is made of it are whole numbers that jump."""
    return x


def differentiated(*values: Any) -> bool:
    """Is anything differentiated by a float in the values."""
    return False


def repeated(again: bool, known: Any, function: Callable[..., Any], arguments: Any, named: Any) -> Any:
    """function(*arguments, **named), where `again` says that Python would look the result up in `known` instead."""
    return function(*arguments, **named)


def zeros_of(shape: Any, model: Any) -> Any:
    """Zeros of a shape, in the dtype of an array that may be complex."""
    return only_compiled()


for _function in (
    stop, add_product, attach, differentiated, discrete, repeated, joined, lapack, larger, smaller, order_bits,
    zeros_of, fma, high_product, rint, field, put_field, row, rows, at_end, before, copy_row, at, put_at, hash_in,
    hash_of, hashable, new_set, axis_of, sized, raise_with, text_piece, text_pieces,
):  # fmt: skip
    _function.__dict__["__pullback_builtin__"] = f"pullback.{_function.__name__}"

digamma.__dict__["__pullback_builtin__"] = "scipy.special.digamma"
erfcx.__dict__["__pullback_builtin__"] = "scipy.special.erfcx"


# ------------------------------------------------------------------------------------------------------ derivatives


def grad(f: Any) -> Any:
    """pullback.grad in compiled code."""
    return only_compiled()


def jvp(f: Any, primals: Any, tangents: Any) -> Any:
    """pullback.jvp in compiled code."""
    return only_compiled()


def vjp(f: Any, *primals: Any) -> Any:
    """pullback.vjp in compiled code."""
    return only_compiled()


for _derivative in (grad, jvp, vjp):
    _derivative.__dict__["__pullback_builtin__"] = f"pullback.{_derivative.__name__}"
