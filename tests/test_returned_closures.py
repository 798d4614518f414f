"""Functions that compiled code returns to Python, and functions with captured variables that it is given."""

import gc
import math
import sys

import numpy as np
import pytest

import pullback as pb
from pullback import api


def scaled(a):
    def f(x, b=3.0):
        return a * x + b

    return f


def test_a_function_with_what_it_captured_and_its_defaults():
    f = pb.jit(scaled)(2.0)
    assert (f(5.0), f(1.0, b=0.0)) == (13.0, 2.0)
    assert f.__name__ == "f"
    assert pb.grad(f)(5.0) == 2.0
    assert pb.jvp(f, (5.0,), (1.0,)) == (13.0, 2.0)
    assert f.__wrapped__(5.0) == scaled(2.0)(5.0)


def test_identity_of_captured_objects():
    def keeps(w):
        return lambda x: np.sum(w * x)

    w = np.arange(3.0)
    f = pb.jit(keeps)(w)
    assert f.__wrapped__.__closure__[0].cell_contents is w
    assert pb.grad(f)(np.ones(3)).tolist() == [0.0, 1.0, 2.0]
    w[0] = 5.0
    assert f(np.ones(3)) == 8.0


def test_functions_that_share_a_variable():
    def counter(n):
        def inc(k):
            nonlocal n
            n += k
            return n

        def get():
            return n

        return inc, get

    inc, get = pb.jit(counter)(10)
    assert [inc(5), get(), inc(1), get()] == [15, 15, 16, 16]

    def both(inc, get, x):
        before = get()
        inc(x)
        return before, get()

    assert pb.jit(both)(inc, get, 2) == (16, 18)
    assert get() == 18
    python_inc, python_get = counter(1.0)
    assert pb.jit(both)(python_inc, python_get, 2.0) == (1.0, 3.0)
    assert python_get() == 3.0


def test_recursion_transforms_builtins_and_structures_of_functions():
    def factorial():
        def fact(n):
            return 1 if n < 2 else n * fact(n - 1)

        return fact

    assert pb.jit(factorial)()(5) == 120
    assert pb.jit(lambda a: pb.grad(lambda x: a * x * x))(3.0)(2.0) == 12.0
    assert pb.jit(lambda c: math.sin if c else math.cos)(True) is math.sin
    assert pb.jit(lambda: scaled)() is scaled
    pair = pb.jit(lambda x: [lambda y: y + x, (lambda y: y * x,)])(2.0)
    assert (pair[0](3.0), pair[1][0](3.0)) == (5.0, 6.0)


def test_functions_in_fields_of_new_objects():
    class Holder:
        def __init__(self, f):
            self.f = f

    holder = pb.jit(lambda a: Holder(lambda x: a * x))(3.0)
    assert holder.f(2.0) == 6.0


def twice(f, x):
    return f(x) * 2.0


def times(a):
    return lambda x: a * x


def test_functions_of_one_code_with_other_variables():
    compiled = pb.jit(twice)
    assert [compiled(times(a), 1.0) for a in (2.0, 3.0, 4.0)] == [4.0, 6.0, 8.0]
    before = api.compilations()
    assert compiled(times(5.0), 3.0) == 30.0
    assert api.compilations() == before
    assert compiled(times(2), 1) == 4.0
    assert pb.grad(twice, argnums=1)(times(7.0), 1.0) == 14.0
    assert compiled(scaled(2.0), 1.0) == 10.0
    assert compiled(scaled(3.0), 1.0) == 12.0


def test_captured_arrays_of_functions_that_are_passed():
    w = np.ones(2)

    def fill(x):
        w[0] = x
        return np.sum(w)

    assert pb.jit(twice)(fill, 3.0) == 8.0
    assert w.tolist() == [3.0, 1.0]


def test_a_returned_function_as_an_argument():
    f = pb.jit(scaled)(4.0)
    assert pb.jit(twice)(f, 1.0) == 14.0
    assert pb.grad(twice, argnums=1)(f, 1.0) == 8.0


def test_what_cannot_be_returned_is_refused():
    def later():
        def even(n):
            return True if n == 0 else odd(n - 1)

        def odd(n):
            return False if n == 0 else even(n - 1)

        return even

    with pytest.raises(pb.CompileError, match="returns function even"):
        pb.jit(later)()
    with pytest.raises(pb.CompileError, match="returns pullback"):
        pb.jit(lambda x: pb.vjp(math.sin, x))(1.0)


def test_nothing_leaks():
    compiled, w = pb.jit(lambda w: lambda x: np.sum(w * x)), np.ones(3)

    def calls(count):
        for _ in range(count):
            compiled(w)
        gc.collect()
        return sys.getrefcount(w), len(gc.get_objects())

    calls(10)
    before = calls(10)
    after = calls(300)
    assert after[0] == before[0]
    assert after[1] - before[1] < 100
