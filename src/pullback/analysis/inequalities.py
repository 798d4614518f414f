"""Are there integers that satisfy linear inequalities.  Exact elimination (Fourier and Motzkin), with a limit.

    i' == i,  j' == k,  k < j,  j' >= j          none: `impossible`

A row maps unknowns to integer coefficients, and `ONE` to a constant; it states that the sum is not negative.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import gcd

__all__ = ["ONE", "Row", "difference", "impossible"]

ONE = "one"
Row = dict[Hashable, int]
Terms = frozenset[tuple[Hashable, int]]
LIMIT = 300  # rows; past it the answer is "perhaps"


def difference(left: Row, right: Row, constant: int = 0) -> Row:
    """left - right + constant."""
    row = dict(left)
    for key, factor in right.items():
        row[key] = row.get(key, 0) - factor
    row[ONE] = row.get(ONE, 0) + constant
    return {key: factor for key, factor in row.items() if factor}


def impossible(rows: Iterable[Row], choices: Sequence[Sequence[Sequence[Row]]] = ()) -> bool:
    """Certainly no solution of all rows, and of one alternative (several rows) of each choice."""
    known = list(rows)
    if _contradict(known):
        return True
    if not choices:
        return False
    return all(impossible([*known, *alternative], choices[1:]) for alternative in choices[0])


def _contradict(rows: Iterable[Row]) -> bool:
    """Eliminate one unknown after the other."""
    known: dict[Terms, int] = {}
    for row in rows:
        if not _note(known, row):
            return True
    while known:
        unknown = _cheapest(known)
        above: list[tuple[dict[Hashable, int], int, int]] = []
        below: list[tuple[dict[Hashable, int], int, int]] = []
        rest: dict[Terms, int] = {}
        for terms, constant in known.items():
            factor = dict(terms).get(unknown, 0)
            if factor:
                (above if factor > 0 else below).append((dict(terms), constant, abs(factor)))
            else:
                rest[terms] = constant
        for one, low, p in above:
            for other, high, q in below:
                keys = {*one, *other} - {unknown}
                sums: Row = {key: q * one.get(key, 0) + p * other.get(key, 0) for key in keys}
                if not _note(rest, sums | {ONE: q * low + p * high}):
                    return True
        if len(rest) > LIMIT:
            return False
        known = rest
    return False


def _note(known: dict[Terms, int], row: Row) -> bool:
    """Add a row, made as tight as it can be for integers; False if it cannot hold."""
    terms = {key: factor for key, factor in row.items() if key != ONE and factor}
    constant = row.get(ONE, 0)
    if not terms:
        return constant >= 0
    common = gcd(*terms.values())
    key = frozenset((unknown, factor // common) for unknown, factor in terms.items())
    constant //= common
    known[key] = min(constant, known.get(key, constant))
    return True


def _cheapest(known: Iterable[Terms]) -> Hashable:
    """The unknown whose elimination makes the fewest rows."""
    counts: dict[Hashable, list[int]] = {}
    for terms in known:
        for key, factor in terms:
            counts.setdefault(key, [0, 0])[factor > 0] += 1
    return min(counts, key=lambda key: counts[key][0] * counts[key][1] - sum(counts[key]))
