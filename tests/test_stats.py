"""`pb.stats`: what compiled code allocates and runs, and that nothing leaks over many calls."""

import gc
import os

import numpy as np
import pytest

import pullback as pb

N = 10**6


def chain(a, x, b, c):
    return np.sum(np.tanh(a * x + b) * c)


@pytest.fixture(scope="module")
def vectors():
    return [np.linspace(0.0, 1.0, N) + k for k in range(4)]


def counted(function, *arguments):
    """The counts of one call after a first one, which compiles."""
    function(*arguments)
    gc.collect()
    before = pb.stats(reset=True).live_bytes
    result = function(*arguments)
    return pb.stats(), before, result


def test_a_chain_and_its_sum_allocate_nothing(vectors):
    done, _, _ = counted(pb.jit(chain), *vectors)
    assert (done.allocations, done.bytes_allocated, done.kernels) == (0, 0, 1)


def test_the_gradient_of_a_chain_is_one_pass_over_inputs_and_outputs(vectors):
    done, before, result = counted(pb.grad(chain, (0, 1, 2, 3)), *vectors)
    assert done.kernels == 1
    assert done.allocations == 4 and done.bytes_allocated == 4 * 8 * N
    assert done.peak_bytes - before == 4 * 8 * N == done.live_bytes - before
    assert len(result) == 4


def test_arrays_that_python_holds_are_live_until_it_lets_them_go():
    make = pb.jit(lambda n: np.ones(n))
    make(3)
    gc.collect()
    before = pb.stats(reset=True).live_bytes
    kept = [make(100) for _ in range(5)]
    view = kept[0][10:20]
    assert pb.stats().live_bytes - before == 5 * 800
    del kept
    assert pb.stats().live_bytes - before == 800, "the view keeps its array"
    del view
    done = pb.stats()
    assert done.live_bytes == before and done.peak_bytes - before == 5 * 800 and done.allocations == 5


def test_a_reset_begins_anew_and_reports_what_was():
    product = pb.jit(lambda a, b: a @ b)
    a = np.ones((4, 4))
    product(a, a)
    pb.stats(reset=True)
    product(a, a)
    assert pb.stats(reset=True).matrix_products == 1
    after = pb.stats()
    assert (after.matrix_products, after.kernels, after.allocations, after.bytes_allocated) == (0, 0, 0, 0)
    assert after.peak_bytes == after.live_bytes
    with pytest.raises(AttributeError):
        after.kernels = 3


# ------------------------------------------------------------------------------------------------------- leaks


def makes(x, n):
    u = np.zeros(n) + x
    for _ in range(3):
        u = u * 0.5 + np.cos(u)
    return u


def fails(x, n):
    u = np.zeros(n) + x
    for k in range(5):
        u = u + u[k + n - 3]
    return u


def grows(x, n):
    k, u = 0, np.full(n, x)
    while np.sum(u) < 100.0:
        u = u * 1.5 + x
        k += 1
    return np.sum(u) + k


CALLS = {
    "a result": (pb.jit(makes), (0.3, 20), None),
    "an exception": (pb.jit(fails), (0.3, 20), IndexError),
    "a gradient": (pb.grad(grows), (0.3, 20), None),
    "an exception in a gradient": (pb.grad(lambda x, n: np.sum(grows(x, n)) / (n - 20)), (0.3, 20), ZeroDivisionError),
}


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def repeat(function, arguments, error, times):
    for _ in range(times):
        try:
            function(*arguments)
        except (IndexError, ZeroDivisionError) as raised:
            assert type(raised) is error


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_left_behind(name):
    function, arguments, error = CALLS[name]
    repeat(function, arguments, error, 2_000)
    gc.collect()
    before, memory = pb.stats(reset=True).live_bytes, resident() if os.path.exists("/proc/self/statm") else 0
    repeat(function, arguments, error, 20_000 if error else 100_000)
    gc.collect()
    done = pb.stats()
    assert done.live_bytes == before and done.allocations >= 20_000
    if memory:
        assert resident() - memory < 4 << 20
