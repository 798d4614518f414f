"""What is known of integers at a point of the program: intervals and differences.

    for n:                       k in [0, 2**63 - 2],  k <= n - 1
      body (k):
        j = add k, one           j = k + 1 exactly, so j <= n
        if lt j, m:              j <= m - 1 in this branch

An interval holds for the whole life of a value; a difference x <= y + c is an edge of a graph, and to prove one is to
find a path (Bodik, Gupta, Sarkar: ABCD, 2000).  Facts are taken back in the order in which they were learnt.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.ir.node import Op, Value
from pullback.types import BOOL, ArrayRef, DType, Scalar

__all__ = ["Ranges"]

Interval = tuple[int, int]

_LIMITS: dict[DType, Interval] = {
    dtype: dtype.limits for dtype in DType if not dtype.is_float and dtype is not DType.U64
}  # fmt: skip
_EVERYTHING = _LIMITS[DType.I64]
_FAR = 2**61  # a difference beyond this says nothing
_STEPS = 48  # values looked at for one question
_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
_OVERFLOWS = {"add_overflows": "add", "sub_overflows": "sub", "mul_overflows": "mul"}


def is_integer(value: Value) -> bool:
    """Is this a value that intervals are kept of: an int that 64 bits with a sign can hold."""
    return isinstance(value.type, Scalar) and value.type.dtype.is_int and value.type.dtype is not DType.U64


def limits(value: Value) -> Interval:
    """The range of the value's dtype."""
    return _LIMITS.get(value.type.dtype, _EVERYTHING) if isinstance(value.type, Scalar) else _EVERYTHING


class Ranges:
    """Facts at the current point.  `mark` and `restore` bound how long a condition is assumed."""

    def __init__(self) -> None:
        self.intervals: dict[Value, Interval] = {}
        self.definitions: dict[Value, Op] = {}
        self.above: dict[Value, list[tuple[Value, int]]] = {}  # x <= y + c: above[x] has (y, c)
        self._constants: set[Value] = set()
        self._exact: set[tuple[str, Value, Value]] = set()
        self._sums: dict[tuple[str, Value, Value], Op] = {}
        self._trail: list[tuple[str, object, object]] = []

    # ---------------------------------------------------------------------------------------------- questions

    def interval(self, value: Value) -> Interval:
        """Numeric bounds."""
        found = self.intervals.get(value)
        return found if found is not None else limits(value)

    def at_most(self, x: Value, y: Value, c: int) -> bool:
        """Is x <= y + c proved: by intervals at the end of a path of differences that starts at x."""
        least, above = self.interval(y)[0], self.above
        slack = {x: c}  # x <= node + (c - slack[node]), so node <= y + slack[node] is enough
        queue = [x]
        for node in queue:
            room = slack[node]
            if (node is y and room >= 0) or self.interval(node)[1] <= least + room:
                return True
            for other, d in above.get(node, ()):
                if slack.get(other, room - d - 1) < room - d and len(queue) < _STEPS:
                    slack[other] = room - d
                    queue.append(other)
        return False

    def compare(self, name: str, x: Value, y: Value) -> bool | None:
        """The truth of an int comparison, if it is known."""
        if name in ("gt", "ge"):
            return self.compare("lt" if name == "gt" else "le", y, x)
        if name == "lt":
            return True if self.at_most(x, y, -1) else False if self.at_most(y, x, 0) else None
        if name == "le":
            return True if self.at_most(x, y, 0) else False if self.at_most(y, x, -1) else None
        if self.at_most(x, y, -1) or self.at_most(y, x, -1):
            return name == "ne"
        if self.at_most(x, y, 0) and self.at_most(y, x, 0):
            return name == "eq"
        return None

    def below_size(self, i: Value, n: Value) -> bool | None:
        """ult(i, n): 0 <= i < n."""
        low, high = self.interval(i)
        if low >= 0:
            if self.at_most(i, n, -1):
                return True
            return False if self.interval(n)[0] >= 0 and self.at_most(n, i, 0) else None
        return False if high < 0 and self.interval(n)[0] >= 0 else None

    def overflows(self, name: str, x: Value, y: Value) -> bool | None:
        """add_overflows and its like, if known."""
        operation = _OVERFLOWS[name]
        if (operation, x, y) in self._exact:
            return False
        low, high = _arithmetic(operation, self.interval(x), self.interval(y))
        least, most = limits(x)
        if least <= low and high <= most:
            return False
        return True if low > most or high < least else None

    # -------------------------------------------------------------------------------------------------- facts

    def mark(self) -> int:
        return len(self._trail)

    def restore(self, mark: int) -> None:
        """Forget what was learnt since the mark."""
        trail = self._trail
        while len(trail) > mark:
            kind, key, before = trail.pop()
            if kind == "interval":
                assert isinstance(key, Value)
                if before is None:
                    del self.intervals[key]
                else:
                    assert isinstance(before, tuple)
                    self.intervals[key] = before
            elif kind == "edge":
                assert isinstance(key, tuple)
                self.above[key[0]].pop()
            else:
                assert isinstance(key, tuple)
                self._exact.discard(key)

    def bound(self, value: Value, low: int, high: int) -> None:
        """The value lies in [low, high], besides what is known."""
        least, most = self.interval(value)
        narrowed = max(low, least), min(high, most)
        if narrowed[0] > narrowed[1]:
            return  # facts that contradict each other: this point is not reached
        if narrowed != (least, most):
            self._trail.append(("interval", value, self.intervals.get(value)))
            self.intervals[value] = narrowed

    def difference(self, x: Value, y: Value, c: int) -> None:
        """x <= y + c."""
        if abs(c) > _FAR:
            return
        self._trail.append(("edge", (x, y), None))
        self.above.setdefault(x, []).append((y, c))
        self.bound(x, _EVERYTHING[0], self.interval(y)[1] + c)
        self.bound(y, self.interval(x)[0] - c, _EVERYTHING[1])

    def equal(self, x: Value, y: Value) -> None:
        self.difference(x, y, 0)
        self.difference(y, x, 0)

    def assume(self, condition: Value, truth: bool) -> None:
        """The condition holds (or does not) from here on."""
        op = self.definitions.get(condition)
        if op is None:
            return
        name = op.name
        if name == "not_":
            self.assume(op.operands[0], not truth)
        elif (name == "and_" and truth) or (name == "or_" and not truth):
            for part in op.operands:
                if part.type == BOOL:
                    self.assume(part, truth)
        elif name in _OPPOSITE and is_integer(op.operands[0]):
            self._assume_comparison(name if truth else _OPPOSITE[name], *op.operands)
        elif name == "ult" and truth:
            i, n = op.operands
            if self.interval(n)[0] >= 0:
                self.bound(i, 0, _EVERYTHING[1])
                self.difference(i, n, -1)
        elif name in _OVERFLOWS and not truth:
            self._assume_exact(_OVERFLOWS[name], *op.operands)

    def _assume_comparison(self, name: str, x: Value, y: Value) -> None:
        if name in ("gt", "ge"):
            x, y, name = y, x, "lt" if name == "gt" else "le"
        if name == "lt":
            self.difference(x, y, -1)
        elif name == "le":
            self.difference(x, y, 0)
        elif name == "eq":
            self.equal(x, y)
        else:
            self._exclude(x, self.interval(y))
            self._exclude(y, self.interval(x))

    def _exclude(self, value: Value, point: Interval) -> None:
        low, high = self.interval(value)
        if point == (low, low):
            self.bound(value, low + 1, high)
        elif point == (high, high):
            self.bound(value, low, high - 1)

    def _assume_exact(self, operation: str, x: Value, y: Value) -> None:
        for key in ((operation, x, y),) if operation == "sub" else ((operation, x, y), (operation, y, x)):
            if key not in self._exact:
                self._exact.add(key)
                self._trail.append(("exact", key, None))
            op = self._sums.get(key)
            if op is not None:
                self.define(op)

    # -------------------------------------------------------------------------------------------- definitions

    def define(self, op: Op) -> None:
        """Learn what the op says of its result."""
        for result in op.results:
            self.definitions[result] = op
        if op.blocks or len(op.results) != 1:
            return
        rule = getattr(self, f"_define_{op.name.rstrip('_')}", None)
        if rule is not None and (is_integer(op.results[0])):
            rule(op, op.results[0], op.operands)

    def _define_const(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        number = op.attrs["value"]
        assert isinstance(number, int)
        self._constants.add(result)
        self.bound(result, number, number)

    def _define_array_size(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        array = operands[0].type
        assert isinstance(array, ArrayRef)
        self.bound(result, 0, _EVERYTHING[1] // array.dtype.bytes)

    def _define_cast(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        (source,) = operands
        if source.type == BOOL:
            self.bound(result, 0, 1)
        elif is_integer(source):
            low, high = self.interval(source)
            least, most = limits(result)
            if least <= low and high <= most:
                self.equal(result, source)

    def _define_add(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        x, y = operands
        low, high = self._computed("add", op, x, y)
        if low > high:
            return
        self.bound(result, low, high)
        for one, other in ((x, y), (y, x)):
            least, most = self.interval(other)
            if one in self._constants:
                continue
            self.difference(result, one, most)
            self.difference(one, result, -least)

    def _define_sub(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        x, y = operands
        low, high = self._computed("sub", op, x, y)
        if low > high:
            return
        self.bound(result, low, high)
        least, most = self.interval(y)
        self.difference(result, x, -least)
        self.difference(x, result, most)
        for c in (-1, 0, 1):  # y <= x + c, so x - y >= -c
            if self.at_most(y, x, c):
                self.bound(result, -c, _EVERYTHING[1])
                break

    def _define_neg(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        low, high = self.interval(operands[0])
        if low > limits(result)[0]:
            self.bound(result, -high, -low)

    def _define_mul(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        low, high = self._computed("mul", op, *operands)
        if low <= high:
            self.bound(result, low, high)

    def _computed(self, operation: str, op: Op, x: Value, y: Value) -> Interval:
        """The interval of x + y, ...; an empty one if the operation may wrap."""
        self._sums[operation, x, y] = op
        low, high = _arithmetic(operation, self.interval(x), self.interval(y))
        least, most = limits(x)
        if least <= low and high <= most:
            return low, high
        exact = (operation, x, y) in self._exact
        return (max(low, least), min(high, most)) if exact else (1, 0)

    def _define_minimum(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        (a, b), (c, d) = map(self.interval, operands)
        self.bound(result, min(a, c), min(b, d))
        for value in operands:
            self.difference(result, value, 0)

    def _define_maximum(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        (a, b), (c, d) = map(self.interval, operands)
        self.bound(result, max(a, c), max(b, d))
        for value in operands:
            self.difference(value, result, 0)

    _define_python_min = _define_minimum
    _define_python_max = _define_maximum

    def _define_select(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        condition, x, y = operands
        sides: list[Interval] = []
        for value, truth in ((x, True), (y, False)):
            mark = self.mark()
            self.assume(condition, truth)
            sides.append(self.interval(value))
            self.restore(mark)
        (a, b), (c, d) = sides
        self.bound(result, min(a, c), max(b, d))

    def _define_wrap_index(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        i, n = operands
        low, high = self.interval(i)
        least, most = self.interval(n)
        if low >= 0:
            self.equal(result, i)
        elif least >= 0:
            self.bound(result, low + least if high < 0 else min(low + least, 0), max(high, most - 1))
            if high < 0:
                self.difference(result, n, high)
                self.difference(n, result, -low)

    def _define_mod(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        x, y = operands
        least, most = self.interval(y)
        if least > 0:
            low, high = self.interval(x)
            self.bound(result, 0, min(most - 1, high) if low >= 0 else most - 1)
            self.difference(result, y, -1)
            if low >= 0:
                self.difference(result, x, 0)

    def _define_floordiv(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        x, y = operands
        (low, high), (least, most) = self.interval(x), self.interval(y)
        if least > 0:
            self.bound(result, min(low // least, low // most), max(high // least, high // most))
            if low >= 0:
                self.difference(result, x, 0)

    def _define_and(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        for value in operands:
            low, high = self.interval(value)
            if low >= 0:
                self.bound(result, 0, high)

    def _define_shr(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        low, high = self.interval(operands[0])
        if low >= 0 and self.interval(operands[1])[0] >= 0:
            self.bound(result, 0, high)

    def _define_abs(self, op: Op, result: Value, operands: Sequence[Value]) -> None:
        low, high = self.interval(operands[0])
        if low > limits(result)[0]:
            self.bound(result, 0, max(abs(low), abs(high)))


def _arithmetic(operation: str, x: Interval, y: Interval) -> Interval:
    """Bounds of the exact result."""
    (a, b), (c, d) = x, y
    if operation == "add":
        return a + c, b + d
    if operation == "sub":
        return a - d, b - c
    products = (a * c, a * d, b * c, b * d)
    return min(products), max(products)
