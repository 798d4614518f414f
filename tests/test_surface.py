"""The NumPy surface, row by row (`surface_rows/`): against NumPy, differences and the adjoint identity.

The interpreter runs every row, in some of its cases, dtypes, layouts and kinds of data, which rotate; compiled code a
tenth of the rows, which rotates too.  The slow tests run all of it.  `PULLBACK_SURFACE_SEED` chooses the turn
(the day's unless set); the header of the run shows it.
"""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import surface
import surface_checks as checks
from surface import Row, Variant
from surface_turn import SEED

ROWS = surface.load()
SECONDS = 3  # of so many rows one is differentiated twice
PAGE = Path(__file__).resolve().parents[1] / "docs" / "numpy.md"

every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.label)


def turn(row: Row, what: str) -> random.Random:
    """Random choices of this row in this turn."""
    return random.Random(f"{SEED} {row.label} {what}")


def runnable(row: Row, variants: list[Variant]) -> list[Variant]:
    """What the interpreter takes: bytes are swapped back by the call of compiled code."""
    return [variant for variant in variants if variant.layout != "swapped"]


def compiled_rows(what: str) -> Any:
    """All rows; nine tenths of them are slow."""
    chosen = [turn(row, what).random() < 0.1 for row in ROWS]
    return pytest.mark.parametrize("row", [
        pytest.param(row, id=row.label, marks=[] if now else [pytest.mark.slow])
        for row, now in zip(ROWS, chosen, strict=True)
    ])  # fmt: skip


@every_row
def test_value(row: Row) -> None:
    """Two cases as they come, in one of the dtypes each; one more in another layout, or with special data."""
    engine, choose = checks.Interpreted(row, verify=False), turn(row, "value")
    plain, odd = surface.plain_variants(row), runnable(row, surface.odd_variants(row))
    for variant in choose.sample(plain, min(2, len(plain))) + choose.sample(odd, min(1, len(odd))):
        checks.check_value(engine, row, variant)


@every_row
def test_derivatives(row: Row) -> None:
    """One case in forward and reverse mode; a third of the rows to second order."""
    variants = surface.differentiable(row)
    if not variants:
        pytest.skip("it has no derivative")
    choose = turn(row, "derivatives")
    first = [variant for variant in variants if variant.dtype == variants[0].dtype]
    checks.check_derivatives(
        checks.Interpreted(row, verify=False), row, choose.choice(first), second=choose.randrange(SECONDS) == 0
    )  # fmt: skip


@compiled_rows("compiled")
def test_compiled(row: Row) -> None:
    """Natively, with every function of NumPy's out of order; one case is differentiated."""
    engine, choose = checks.Compiled(row), turn(row, "compiled")
    checks.check_value(engine, row, choose.choice(surface.plain_variants(row) + surface.odd_variants(row)))
    variants = surface.differentiable(row)
    if variants:
        checks.check_derivatives(engine, row, choose.choice(variants), second=False)


@pytest.mark.slow
@every_row
def test_all_values(row: Row) -> None:
    """Every case, dtype, layout and kind of data, on both engines."""
    for engine in (checks.Interpreted(row, passes=True), checks.Compiled(row)):
        variants = surface.plain_variants(row) + surface.odd_variants(row)
        for variant in variants if isinstance(engine, checks.Compiled) else runnable(row, variants):
            checks.check_value(engine, row, variant)


@pytest.mark.slow
@every_row
def test_all_derivatives(row: Row) -> None:
    """Every case and floating dtype on both engines, to second order."""
    for engine in (checks.Interpreted(row, passes=True), checks.Compiled(row)):
        interpreted = isinstance(engine, checks.Interpreted)
        for number, variant in enumerate(surface.differentiable(row)):  # compiling takes long: one case is enough there
            checks.check_derivatives(engine, row, variant, second=interpreted or number == 0, twice=interpreted)


# ------------------------------------------------------------------------------------------------------- the page

HEAD = """# NumPy in compiled code

What the table of tests (`tests/surface_rows`) holds each function to, made from it by
`pytest tests/test_surface.py -k page --update-golden`. Modes: `f` forward, `r` reverse; order 2 is forward over
reverse.
All of it is tried on arrays that lie row after row, column after column, reversed, with gaps, read-only and with
swapped bytes, where nothing else is said.
What works of structured arrays is said in [records.md](records.md).
"""


def page() -> str:
    """The text of the page."""
    lines = [HEAD]
    families: dict[str, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in ROWS:
        for name in row.names.split():
            families[row.label.partition("-")[0]][name].append(row)
    for family, names in sorted(families.items()):
        lines += [f"## {family}", "", "| function | dtypes | modes | order | |", "|---|---|---|---|---|"]
        lines += [_line(name, rows) for name, rows in sorted(names.items())]
        lines.append("")
    return "\n".join(lines)


def _line(name: str, rows: list[Row]) -> str:
    dtypes = list(dict.fromkeys(dtype for row in rows for dtype in row.kinds))
    order = max(row.order for row in rows)
    notes = "; ".join(dict.fromkeys(row.note for row in rows if row.note))
    return f"| `{name}` | {', '.join(dtypes)} | {'f r' if order else ''} | {order or ''} | {notes} |"


def test_the_page_is_up_to_date(update_golden: bool) -> None:
    if update_golden:
        PAGE.write_text(page())
    assert PAGE.read_text() == page()


# --------------------------------------------------------------------------------------------- the table can fail


def _wrong(value: Any) -> checks.Interpreted:
    class Wrong(checks.Interpreted):
        def value(self, arguments: Any) -> Any:
            return value

    return Wrong(ROWS[0])


def test_the_checks_can_fail() -> None:
    row = Row("numpy.sum", lambda a: np.cumsum(a), [surface.X(3)])
    row.identity[:] = ["a row"]
    right = np.cumsum(surface.arguments(row, Variant(0, "float64"))[0])
    wrong = [right + 1e-12, right.astype(np.float32), right[None], list(right), right * np.nan]
    for value in wrong:
        with pytest.raises(AssertionError):
            checks.check_value(_wrong(value), row, Variant(0, "float64"))
    checks.check_value(_wrong(right), row, Variant(0, "float64"))
    raising = Row("numpy.sum", lambda a: np.reshape(a, (2, 2)), [surface.X(3)])
    raising.identity[:] = ["another"]
    with pytest.raises(AssertionError):
        checks.check_value(_wrong(right), raising, Variant(0, "float64"))


def test_wrong_derivatives_are_seen() -> None:
    class Wrong(checks.Interpreted):
        mode = ""

        def forward(self, arguments: Any, tangents: Any) -> Any:
            found = super().forward(arguments, tangents)
            return found * (1.0 + 1e-4) if self.mode == "f" else found

        def reverse(self, arguments: Any, cotangent: Any) -> Any:
            (found,) = super().reverse(arguments, cotangent)
            return (found * (1.0 + 1e-7),) if self.mode == "r" else (found,)

        def forward_reverse(self, arguments: Any, cotangent: Any, tangents: Any) -> Any:
            found = super().forward_reverse(arguments, cotangent, tangents)
            return (found[0] + 1e-2,) if self.mode == "fr" else found

    row = Row("numpy.sum", lambda a: np.sum(a * a * a, axis=0), [surface.X(3, 2)])
    row.identity[:] = ["a row"]
    for mode in ("", "f", "r", "fr"):
        engine = Wrong(row)
        engine.mode = mode
        if mode:
            with pytest.raises(AssertionError):
                checks.check_derivatives(engine, row, Variant(0, "float64"), second=True)
        else:
            checks.check_derivatives(engine, row, Variant(0, "float64"), second=True)


def test_functions_of_numpy_raise_without_numpy() -> None:
    with checks.without_numpy(), pytest.raises(AssertionError, match=r"numpy\.cumsum"):
        np.cumsum([1])
    assert np.cumsum([1, 2])[1] == 3
