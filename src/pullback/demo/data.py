"""Observed populations, and the CSV they are read from.

    year,hare,lynx
    1900,30,4            ->  Observations(times=[1900, ...], prey=[30, ...], predator=[4, ...], names=("year", ...))
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FEWEST_ROWS = 6


class DataError(ValueError):
    """A file that does not hold what it should; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class Observations:
    """Populations of prey and predator at increasing times, with the names of the three columns."""

    times: NDArray[np.float64]
    prey: NDArray[np.float64]
    predator: NDArray[np.float64]
    names: tuple[str, str, str]


def shipped_data() -> Path:
    """The Hudson Bay pelt records: beside this file in an installed package, under `examples/` in a clone."""
    here = Path(__file__).resolve()
    beside = here.with_name("hudson_bay.csv")
    return beside if beside.exists() else here.parents[3] / "examples" / "hudson_bay.csv"


def read_observations(path: Path) -> Observations:
    """Read a header and rows of time, prey and predator; DataError names the file, the line and what is wrong."""
    rows = _rows(path)
    if not rows:
        raise DataError(f"{path}: the file is empty")
    header, body = rows[0][1], rows[1:]
    if len(header) != 3:
        raise DataError(f"{path}: line 1: expected three columns (time, prey, predator), found {len(header)}")
    if all(_is_number(name) for name in header):
        raise DataError(f"{path}: line 1: expected a header with the names of the three columns, found numbers")
    table = np.array([_numbers(path, line, row) for line, row in body]).reshape(-1, 3)
    for (line, _), before, now in zip(body[1:], table, table[1:], strict=False):
        if not now[0] > before[0]:
            raise DataError(f"{path}: line {line}: times must increase, but {now[0]:g} follows {before[0]:g}")
    if len(table) < FEWEST_ROWS:
        raise DataError(f"{path}: six parameters need at least {FEWEST_ROWS} rows of data, found {len(table)}")
    times, prey, predator = np.ascontiguousarray(table.T)
    return Observations(times, prey, predator, (header[0], header[1], header[2]))


def _rows(path: Path) -> list[tuple[int, list[str]]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            return [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(map(str.strip, row))]
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: not a CSV text file ({error})") from error


def _numbers(path: Path, line: int, row: list[str]) -> list[float]:
    if len(row) != 3:
        raise DataError(f"{path}: line {line}: expected three columns, found {len(row)}")
    for cell in row:
        if not _is_number(cell):
            raise DataError(f"{path}: line {line}: {cell!r} is not a number")
    values = [float(cell) for cell in row]
    if not np.all(np.isfinite(values)):
        raise DataError(f"{path}: line {line}: numbers must be finite")
    if min(values[1:]) <= 0.0:
        raise DataError(f"{path}: line {line}: populations must be positive, found {min(values[1:]):g}")
    return values


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
