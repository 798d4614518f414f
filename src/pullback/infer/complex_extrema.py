"""The larger and the smaller of two complex numbers: by their real parts, then by their imaginary parts.

    np.maximum(z, w)       z where it is not less, or has a nan, else w
    np.fmax(z, w)          the same, but of a number with a nan and one without that without
    np.clip(z, low, high)  the bound where z is not inside it

Of equal ones the first counts, also for the derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.infer.complexes import Rule, mapped, pair_of
from pullback.infer.engine import Frame
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.prims.base import Emitter

__all__ = ["EXTREMA", "within"]


def _parts(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value, Value, Value]:
    """All four parts; the imaginary one of a real number is 0."""
    a, b, c, d = p
    assert a is not None and c is not None
    return a, e.like(0.0, a) if b is None else b, c, e.like(0.0, c) if d is None else d


def _missing(e: Emitter, a: Value, b: Value) -> Value:
    return e("or_", e("isnan", a), e("isnan", b))


def _ahead(e: Emitter, test: str, z: tuple[Value, Value], w: tuple[Value, Value], *, equal: bool) -> Value:
    """Does z come after w (test "gt") or before it ("lt"); equal: or at the same place; no where one has a nan."""
    (a, b), (c, d) = z, w
    second = {"gt": "ge", "lt": "le"}[test] if equal else test
    found = e("or_", e(test, a, c), e("and_", e("eq", a, c), e(second, b, d)))
    whole = e("not_", e("or_", _missing(e, a, b), _missing(e, c, d)))
    return e("and_", whole, found)


def _extremum(test: str, *, skip_nan: bool) -> Callable[[Frame, AV, AV], AV]:
    def rule(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
        a, b, c, d = _parts(e, p)
        first = _ahead(e, test, (a, b), (c, d), equal=True)
        first = e("or_", first, _missing(e, c, d) if skip_nan else _missing(e, a, b))
        return e("select", first, a, c), e("select", first, b, d)

    return lambda cx, x, y: mapped(cx, [*pair_of(cx, x), *pair_of(cx, y)], rule)


def _bounded(test: str) -> Rule:
    def rule(e: Emitter, p: Sequence[Value | None]) -> tuple[Value, Value]:
        a, b, c, d = _parts(e, p)
        inside = e("or_", _ahead(e, test, (a, b), (c, d), equal=False), _missing(e, a, b))
        return e("select", inside, a, c), e("select", inside, b, d)

    return rule


def within(cx: Frame, x: AV, low: AV | None, high: AV | None) -> AV:
    """np.clip(x, low, high)"""
    for bound, test in ((low, "gt"), (high, "lt")):
        if bound is not None:
            x = mapped(cx, [*pair_of(cx, x), *pair_of(cx, bound)], _bounded(test))
    return x


EXTREMA = {
    "maximum": _extremum("gt", skip_nan=False), "minimum": _extremum("lt", skip_nan=False),
    "fmax": _extremum("gt", skip_nan=True), "fmin": _extremum("lt", skip_nan=True),
}  # fmt: skip
