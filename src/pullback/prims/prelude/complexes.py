"""Products of complex numbers along lines, which are pairs of real ones here; real_if_close.

A table has the axes (before, line, after), as in `lines`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["FUNCTIONS"]


def complex_prod_lines(re: Any, im: Any, out_re: Any, out_im: Any) -> None:
    for i in range(re.shape[0]):
        for j in range(re.shape[2]):
            x, y = np.ones(1, re.dtype)[0], np.zeros(1, re.dtype)[0]
            for k in range(re.shape[1]):
                a, b = re[i, k, j], im[i, k, j]
                x, y = x * a - y * b, x * b + y * a
            out_re[i, j], out_im[i, j] = x, y


def complex_cumprod_lines(re: Any, im: Any, out_re: Any, out_im: Any) -> None:
    for i in range(re.shape[0]):
        for j in range(re.shape[2]):
            if re.shape[1] > 0:
                x, y = re[i, 0, j], im[i, 0, j]
                out_re[i, 0, j], out_im[i, 0, j] = x, y
                for k in range(1, re.shape[1]):
                    a, b = re[i, k, j], im[i, k, j]
                    x, y = x * a - y * b, x * b + y * a
                    out_re[i, k, j], out_im[i, k, j] = x, y


def complex_place_lines(re: Any, im: Any, out: Any, largest: bool, skip: bool) -> None:
    """Where in each line the element is that comes last (or first) by its real part, then by its imaginary one.

    A nan is taken before all others, or (skip) after all others; the first of equals counts.
    """
    for i in range(re.shape[0]):
        for j in range(re.shape[2]):
            best = 0
            known = not (np.isnan(re[i, 0, j]) or np.isnan(im[i, 0, j])) if re.shape[1] > 0 else True
            for k in range(1, re.shape[1]):
                x, y = re[i, k, j], im[i, k, j]
                whole = not (np.isnan(x) or np.isnan(y))
                if known and whole:
                    u, v = re[i, best, j], im[i, best, j]
                    ahead = (x > u or (x == u and y > v)) if largest else (x < u or (x == u and y < v))
                else:
                    ahead = (whole and not known) if skip else (known and not whole)
                if ahead:
                    best, known = k, whole
            out[i, j] = best


def begin_lines(a: Any, start: Any, out: Any) -> None:
    out[:, 0] = start
    out[:, 1:] = a


def take_lines(a: Any, index: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        for j in range(a.shape[2]):
            out[i, j] = a[i, index[i, j], j]


def fill_complex_numbers(re: Any, im: Any, items: Any) -> None:
    for k in range(len(items)):
        z = items[k]
        re[k], im[k] = z.real, z.imag


def fill_complex_rows(re: Any, im: Any, rows: Any) -> None:
    for k in range(len(rows)):
        z = rows[k]
        if z.shape != re.shape[1:]:
            raise ValueError("setting an array element with a sequence. The requested array has an inhomogeneous shape")
        re[k], im[k] = z.real, z.imag


def complex_tolist(z: Any) -> Any:
    """Lists of Python's numbers, one in the other."""
    if z.ndim == 1:
        return [complex(x) for x in z]
    return [complex_tolist(row) for row in z]


def real_if_close(a: Any, tol: Any = 100) -> Any:
    """The real parts, if the imaginary ones are as small as so many epsilons, or as a number below 1."""
    z = np.asarray(a)
    limit = np.finfo(np.real(z).dtype).eps * tol if tol > 1 else tol
    if np.all(np.abs(np.imag(z)) < limit):
        return np.real(z)
    return z


FUNCTIONS = {
    f"pullback.{function.__name__}": function
    for function in (complex_prod_lines, complex_cumprod_lines, complex_place_lines, begin_lines, take_lines,
                     fill_complex_numbers, fill_complex_rows, complex_tolist, real_if_close)
}  # fmt: skip
