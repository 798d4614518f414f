"""numpy.fft in the accepted Python: lengths, axes and norms around the transform of `prelude.fourier`.

    fft(a, n, axis)     the axis first, cut or filled with zeros to n, all other axes as columns, then back

Transforms of real numbers are those of complex ones without the half that mirrors the other.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pullback.prims.prelude.fourier import dft
from pullback.prims.prelude.intrinsics import joined

__all__ = ["FUNCTIONS"]


def parts(a: Any) -> Any:
    """The real and the imaginary part, as arrays of floats."""
    x = np.asarray(a)
    re, im = np.real(x), np.imag(x)
    if re.dtype != np.float32 and re.dtype != np.float64:
        return re.astype(np.float64), im.astype(np.float64)
    return re, im


def scale(n: int, norm: Any, forward: bool) -> float:
    if norm == "ortho":
        return 1.0 / math.sqrt(n)
    if norm is None or norm == "backward":
        return 1.0 if forward else 1.0 / n
    if norm == "forward":
        return 1.0 / n if forward else 1.0
    raise ValueError(f'Invalid norm value {norm}; should be "backward", "ortho" or "forward".')


def checked(n: int) -> int:
    if n < 1:
        raise ValueError(f"Invalid number of FFT data points ({n}) specified.")
    return n


def resized(x: Any, n: int) -> Any:
    """A table of n rows: the first of x, then zeros."""
    rows, columns = x.shape
    if rows == n:
        return x
    out = np.zeros((n, columns), x.dtype)
    k = min(rows, n)
    out[:k] = x[:k]
    return out


def as_table(x: Any, axis: int) -> Any:
    """The axis as rows, all others as columns."""
    first = np.moveaxis(x, axis, 0)
    rows = first.shape[0]
    columns = 1
    for size in first.shape[1:]:
        columns = columns * size
    return first.reshape(rows, columns)


def from_table(table: Any, model: Any, axis: int) -> Any:
    """The table with the axes of the model, the given one of a new size."""
    others = np.moveaxis(model, axis, 0).shape[1:]
    return np.moveaxis(table.reshape((table.shape[0], *others)), 0, axis)


def transform(re: Any, im: Any, n: Any, axis: Any, norm: Any, forward: bool) -> Any:
    """Both parts, transformed along one axis."""
    size = checked(re.shape[axis] if n is None else n)
    factor = scale(size, norm, forward)
    yr, yi = dft(resized(as_table(re, axis), size), resized(as_table(im, axis), size), -1 if forward else 1)
    if factor != 1.0:
        yr, yi = yr * factor, yi * factor
    return from_table(yr, re, axis), from_table(yi, im, axis)


def real_transform(x: Any, n: Any, axis: Any, norm: Any) -> Any:
    """The first n // 2 + 1 of the transform of real numbers."""
    size = checked(x.shape[axis] if n is None else n)
    factor = scale(size, norm, True)
    table = resized(as_table(x, axis), size)
    yr, yi = dft(table, np.zeros_like(table), -1)
    half = size // 2 + 1
    return from_table(yr[:half] * factor, x, axis), from_table(yi[:half] * factor, x, axis)


def real_inverse(re: Any, im: Any, n: Any, axis: Any, norm: Any, forward: bool) -> Any:
    """The real numbers whose transform begins with these; the imaginary parts of those that mirror themselves drop."""
    size = checked(2 * (re.shape[axis] - 1) if n is None else n)
    half = size // 2 + 1
    xr, xi = resized(as_table(re, axis), half), resized(as_table(im, axis), half)
    rest = size - half
    full_r = np.concatenate((xr, xr[1 : rest + 1][::-1]))
    full_i = np.concatenate((xi, -xi[1 : rest + 1][::-1]))
    yr, _ = dft(full_r, full_i, 1)
    return from_table(yr * scale(size, norm, forward), re, axis)


# ------------------------------------------------------------------------------------------------------- one axis


def fft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    re, im = parts(a)
    return joined(*transform(re, im, n, axis, norm, True))


def ifft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    re, im = parts(a)
    return joined(*transform(re, im, n, axis, norm, False))


def rfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    return joined(*real_transform(parts(a)[0], n, axis, norm))


def irfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    re, im = parts(a)
    return real_inverse(re, im, n, axis, norm, False)


def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    re, im = parts(a)
    return real_inverse(re, -im, n, axis, norm, True)


def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    x, _ = parts(a)
    size = checked(x.shape[axis] if n is None else n)
    re, im = real_transform(x, size, axis, "forward")
    factor = size * scale(size, norm, False)
    return joined(re * factor, -im * factor)


# ---------------------------------------------------------------------------------------------------- several axes


def axes_of(a: Any, s: Any, axes: Any) -> Any:
    """The axes of a transform: all, or the last as many as there are sizes."""
    if axes is not None:
        return axes
    if s is not None:
        return tuple(range(-len(s), 0))
    return tuple(range(np.ndim(a)))


def over_axes(a: Any, s: Any, axes: Any, norm: Any, forward: bool) -> Any:
    chosen = axes_of(a, s, axes)
    if s is not None and len(s) != len(chosen):
        raise ValueError("Shape and axes have different lengths.")
    re, im = parts(a)
    for i in reversed(tuple(range(len(chosen)))):  # one after the other: the first is of other arrays than the rest
        re, im = transform(re, im, None if s is None else s[i], chosen[i], norm, forward)
    return re, im


def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return joined(*over_axes(a, s, axes, norm, True))


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return joined(*over_axes(a, s, axes, norm, False))


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return joined(*over_axes(a, s, axes, norm, True))


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return joined(*over_axes(a, s, axes, norm, False))


def real_over_axes(a: Any, s: Any, axes: Any, norm: Any) -> Any:
    """The last axis as real numbers, then the others."""
    chosen = axes_of(a, s, axes)
    last = len(chosen) - 1
    re, im = real_transform(parts(a)[0], None if s is None else s[last], chosen[last], norm)
    for i in tuple(range(last)):
        re, im = transform(re, im, None if s is None else s[i], chosen[i], norm, True)
    return joined(re, im)


def real_inverse_over_axes(a: Any, s: Any, axes: Any, norm: Any) -> Any:
    chosen = axes_of(a, s, axes)
    last = len(chosen) - 1
    re, im = parts(a)
    for i in tuple(range(last)):
        re, im = transform(re, im, None if s is None else s[i], chosen[i], norm, False)
    return real_inverse(re, im, None if s is None else s[last], chosen[last], norm, False)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return real_over_axes(a, s, axes, norm)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    return real_inverse_over_axes(a, s, axes, norm)


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return real_over_axes(a, s, axes, norm)


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    return real_inverse_over_axes(a, s, axes, norm)


# ---------------------------------------------------------------------------------------------- frequencies, order


def fftfreq(n: int, d: Any = 1.0) -> Any:
    half = (n - 1) // 2 + 1
    k = np.arange(n)
    return np.where(k < half, k, k - n) * (1.0 / (n * d))


def rfftfreq(n: int, d: Any = 1.0) -> Any:
    return np.arange(n // 2 + 1) * (1.0 / (n * d))


def shifted(x: Any, axes: Any, back: bool) -> Any:
    """Rolled by half of each axis."""
    a = np.asarray(x)
    chosen = tuple(range(a.ndim)) if axes is None else (axes,) if isinstance(axes, int) else axes
    for i in range(len(chosen)):
        half = a.shape[chosen[i]] // 2
        a = np.roll(a, -half if back else half, chosen[i])
    return a


def fftshift(x: Any, axes: Any = None) -> Any:
    return shifted(x, axes, False)


def ifftshift(x: Any, axes: Any = None) -> Any:
    return shifted(x, axes, True)


FUNCTIONS: dict[str, Any] = {
    f"numpy.fft.{f.__name__}": f
    for f in (fft, ifft, rfft, irfft, hfft, ihfft, fftn, ifftn, fft2, ifft2, rfftn, irfftn, rfft2, irfft2, fftfreq,
              rfftfreq, fftshift, ifftshift)
}  # fmt: skip
