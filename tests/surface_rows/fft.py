"""numpy.fft: every transform along axes, cut, filled, and with norms; lengths of all kinds are in test_fourier.py."""

from __future__ import annotations

import numpy as np

from surface import COMPLEX, FLOATS, INTS, Row, S, X

ANY = f"{FLOATS} {COMPLEX}"
TABLES = [X(2, 3), X(3, 2, 2)]

ROWS = [
    Row("numpy.fft.fft numpy.fft.ifft", lambda a: (np.fft.fft(a), np.fft.ifft(a)),
        [X(6), X(1), X(2, 3, 4), X(0)], f"{ANY} {INTS}"),
    Row("numpy.fft.fft numpy.fft.ifft",
        lambda a: (np.fft.fft(a, 5, 0, "ortho"), np.fft.ifft(a, norm="forward", axis=0)), [X(4), *TABLES], ANY),
    Row("numpy.fft.rfft numpy.fft.ihfft", lambda a: (np.fft.rfft(a), np.fft.ihfft(a)), [X(6), X(2, 5), X(1)],
        f"{FLOATS} {INTS}"),
    Row("numpy.fft.rfft numpy.fft.ihfft",
        lambda a: (np.fft.rfft(a, n=5, axis=0, norm="forward"), np.fft.ihfft(a, 2, 0, "ortho")), TABLES),
    Row("numpy.fft.irfft numpy.fft.hfft", lambda a: (np.fft.irfft(a), np.fft.hfft(a)), [X(4), X(2, 3), X(2)], ANY),
    Row("numpy.fft.irfft numpy.fft.hfft",
        lambda a: (np.fft.irfft(a, n=7, axis=0, norm="ortho"), np.fft.hfft(a, 3, 0, norm="forward")), TABLES, ANY),
    Row("numpy.fft.fft2 numpy.fft.ifft2", lambda a: (np.fft.fft2(a), np.fft.ifft2(a, s=(4, 2), axes=(1, 0))), TABLES,
        ANY),
    Row("numpy.fft.fftn numpy.fft.ifftn", lambda a: (np.fft.fftn(a), np.fft.ifftn(a, axes=(0,), norm="ortho")), TABLES,
        ANY),
    Row("numpy.fft.fft2 numpy.fft.fftn", lambda a: (np.fft.fft2(a, axes=(0,)), np.fft.fftn(a, s=(3,), axes=(1,))),
        TABLES, ANY),
    Row("numpy.fft.fftn numpy.fft.ifftn", lambda a: (np.fft.fftn(a), np.fft.ifftn(a)), [X(4)], ANY),
    Row("numpy.fft.rfftn numpy.fft.irfftn numpy.fft.irfft2",
        lambda a: (np.fft.rfftn(a.real, axes=(0,)), np.fft.irfftn(a, axes=(1,)), np.fft.irfft2(a, axes=(0,))),
        [X(2, 3), X(3, 4)], ANY),
    Row("numpy.fft.rfft2 numpy.fft.rfftn", lambda a: (np.fft.rfft2(a), np.fft.rfftn(a, s=(4, 5), axes=(0, 1))), TABLES),
    Row("numpy.fft.irfft2 numpy.fft.irfftn", lambda a: (np.fft.irfft2(a), np.fft.irfftn(a, norm="forward")), TABLES,
        ANY),
    Row("numpy.fft.fftfreq numpy.fft.rfftfreq", lambda d: (np.fft.fftfreq(8, d), np.fft.rfftfreq(7, d=d)),
        [S(0.5, 2.0), 2], "float64", tolerance=4),
    Row("numpy.fft.fftshift numpy.fft.ifftshift", lambda a: (np.fft.fftshift(a), np.fft.ifftshift(a)),
        [X(5), X(4, 1, 3)], f"{ANY} {INTS}"),
    Row("numpy.fft.fftshift numpy.fft.ifftshift", lambda a: (np.fft.fftshift(a, 1), np.fft.ifftshift(a, axes=(0, 1))),
        TABLES),
]  # fmt: skip
