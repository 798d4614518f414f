"""BLAS is found without importing `scipy.linalg`, in both ways at the same place or with the same results."""

import ctypes
import subprocess
import sys

import numpy as np
import pytest

from pullback.codegen import scipy_blas

LOOK_UP = """
import sys
import numpy as np
from pullback.codegen import scipy_blas
assert scipy_blas.address("dgemm") and scipy_blas.address("sgemv")
print("scipy.linalg" in sys.modules)
import scipy.linalg
a = np.arange(10_000.0).reshape(100, 100)
print(np.allclose(scipy.linalg.blas.dgemm(1.0, a, a), a @ a))
"""


def multiply(address, a, b):
    """a @ b for square arrays in Fortran's order, by dgemm at an address."""
    n = ctypes.byref(ctypes.c_int(len(a)))
    one, zero = (ctypes.byref(ctypes.c_double(x)) for x in (1.0, 0.0))
    result = np.empty_like(a)
    pointers = [x.ctypes.data_as(ctypes.c_void_p) for x in (a, b, result)]
    call = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 13)(address)
    call(b"N", b"N", n, n, n, one, pointers[0], n, pointers[1], n, zero, pointers[2], n)
    return result


@pytest.mark.parametrize("find", [scipy_blas.address, scipy_blas._exported])
def test_the_functions_multiply(find):
    a, b = np.asfortranarray(np.arange(9.0).reshape(3, 3)), np.asfortranarray(np.eye(3)[::-1])
    assert np.array_equal(multiply(find("dgemm"), a, b), a @ b)


def test_another_library_is_asked_by_import(monkeypatch):
    monkeypatch.setattr(scipy_blas, "_NAME", "no_such_{}_")
    assert scipy_blas._linked("dgemm") == 0
    assert scipy_blas.address("dgemm") == scipy_blas._exported("dgemm")


def test_a_product_does_not_import_scipy_linalg():
    done = subprocess.run([sys.executable, "-c", LOOK_UP], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(scipy_blas._linked("dgemm") == 0), "True"]
