"""`pb.stats`: what compiled code allocates and runs."""

import gc

import numpy as np
import pytest

import pullback as pb
from heat import HEAT

N = 10**6


def chain(a, x, b, c):
    return np.sum(np.tanh(a * x + b) * c)


def eight(a, x, b, c):
    return np.sum((np.sqrt(np.abs(a * x + b) * c + 1.0) - x) * np.exp(-b))


chains = pytest.mark.parametrize("chain", [chain, eight])


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


@chains
def test_a_chain_and_its_sum_allocate_nothing(chain, vectors):
    done, _, _ = counted(pb.jit(chain), *vectors)
    assert (done.allocations, done.bytes_allocated, done.kernels) == (0, 0, 1)


@chains
def test_the_gradient_of_a_chain_is_one_pass_over_inputs_and_outputs(chain, vectors):
    done, before, result = counted(pb.grad(chain, (0, 1, 2, 3)), *vectors)
    assert done.kernels == 1
    assert done.allocations == 4 and done.bytes_allocated == 4 * 8 * N
    assert done.peak_bytes - before == 4 * 8 * N == done.live_bytes - before
    assert len(result) == 4


def test_large_results_begin_at_different_places_of_a_page():
    """Not where arrays of NumPy's begin either: a loop over both would wait for its own stores (see `block_text`)."""
    make = pb.jit(lambda n: (np.ones(n), np.zeros(n), np.full(n, 2.0), np.arange(n) * 0.5))
    for n in (2**13, 10**5):
        places = [array.ctypes.data % 4096 for array in make(n)]
        assert len(set(places)) == 4 and min(places) >= 1024 and not any(place % 64 for place in places)
        kept = [make(n) for _ in range(5)]
        assert all(np.array_equal(array, other) for some in kept for array, other in zip(some, make(n), strict=True))
    assert make(3)[0].ctypes.data % 64 == 0


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


@pytest.mark.parametrize("f", HEAT)
def test_heat_needs_no_more_memory_for_more_steps(f):
    gradient, peaks = pb.grad(f), []
    for steps in (2, 10, 40):
        u, v = np.linspace(0.0, 1.0, 400), np.zeros(400)
        before = pb.stats(reset=True).live_bytes
        gradient(u, v, 0.1, steps)
        peaks.append(pb.stats().peak_bytes - before)
    assert peaks[1] == peaks[2]
