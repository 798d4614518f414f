"""Memory order: reshapes that are views or copies as NumPy's are, and copies whose strides still say the same."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import pullback as pb
from mutating import fresh
from pullback import api, testing
from pullback.runtime.copies import copied

ARRAYS = [
    np.arange(24.0).reshape(4, 6),
    np.asfortranarray(np.arange(24.0).reshape(4, 6)),
    np.arange(60.0).reshape(3, 4, 5).transpose(1, 2, 0),
    np.arange(40.0).reshape(5, 8)[::2, ::-3],
    np.arange(40.0).reshape(5, 8)[:, 1:],
    np.arange(200.0).reshape(10, 20)[1::4, :2],
    np.arange(30.0)[::-2],
    np.arange(8.0).reshape(1, 8).T,
    np.broadcast_to(np.arange(3.0), (4, 3)),
    np.zeros((3, 0)),
]
SLICES = [slice(None), slice(None, None, 2), slice(None, None, 3), slice(None, None, -1), slice(1, None), slice(0, 2)]


def shares(array: Any, other: Any) -> bool:
    return bool(np.shares_memory(array, other))


@pytest.mark.parametrize("place", range(len(ARRAYS)))
def test_copies_can_be_reshaped_where_the_array_can(place: int) -> None:
    array, choose = ARRAYS[place], random.Random(place)
    (copy,) = copied((array,))
    assert np.array_equal(copy, array) and not shares(copy, array)
    assert copy.flags.c_contiguous == array.flags.c_contiguous
    for _ in range(200):
        index = tuple(choose.choice(SLICES) for _ in range(array.ndim))
        perm = choose.sample(range(array.ndim), array.ndim)
        one, other = array[index].transpose(perm), copy[index].transpose(perm)
        for shape in ((-1,), (one.shape[0], -1), (-1, one.shape[-1])):
            if one.size:
                assert shares(one, one.reshape(shape)) == shares(other, other.reshape(shape)), (index, perm, shape)
        assert shares(one, one.ravel()) == shares(other, other.ravel())


def test_a_copy_of_a_column_is_small() -> None:
    table = np.zeros((1000, 1000))
    (column,) = copied((table[:, 3],))
    assert len(column.base) < 20_000


def program(seed: int) -> tuple[str, Any]:
    """A function that writes a reshape of a view, and an array for it."""
    choose = random.Random(seed)
    while True:
        sizes = [choose.choice((1, 2, 3, 4)) for _ in range(choose.randint(1, 3))]
        array = np.arange(1.0, 1.0 + np.prod(sizes)).reshape(sizes)
        array = np.asfortranarray(array) if seed % 3 == 2 else array
        index = ", ".join(choose.choice((":", ":", "::2", "::-1", "1:", ":2", "None, :")) for _ in sizes)
        view = eval(f"array[{index}]")
        perm = choose.sample(range(view.ndim), view.ndim) if choose.random() < 0.6 else list(range(view.ndim))
        if view.size > 1:
            break
    view = view.transpose(perm)
    counts = [k for k in range(1, view.size + 1) if view.size % k == 0]
    rows = choose.choice(counts)
    inner = choose.choice([k for k in counts if view.size // rows % k == 0])
    shape = f"{rows}, {inner}, {view.size // rows // inner}"
    made = choose.choice(("v.ravel()", "v.reshape(-1)", f"v.reshape({rows}, -1)", f"v.reshape({rows}, {inner}, -1)",
                          f"v.reshape({shape})", "np.ascontiguousarray(v)"))  # fmt: skip
    factor = choose.choice(("", " * 2.0")) if seed % 3 == 0 and len(sizes) < 3 and "None" not in index else ""
    lines = ["import numpy as np", "def f(a):", f"    v = a[{index}].transpose({perm}){factor}", f"    w = {made}",
             "    u = w[::-1]", "    u[0] = 77.0 * a[(0,) * a.ndim]", "    u[-1] *= 2.0",
             "    return np.sum(w * w) + np.sum(a) * np.sum(v)"]  # fmt: skip
    return "\n".join(lines).replace("(0,) * a.ndim", ", ".join("0" * len(sizes))) + "\n", array


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(12, 150))])
def test_random_reshapes(seed: int) -> None:
    text, array = program(seed)
    function = api.from_source(text, "f")
    ours, theirs, third = fresh(array), fresh(array), fresh(array)
    expected = function(theirs)
    assert np.isclose(pb.jit(function)(ours), expected), text
    assert np.isclose(testing.run(function, (third,), engine="interp", passes=False), expected), text
    assert np.array_equal(ours, theirs) and np.array_equal(third, theirs), text
    if not array.flags.c_contiguous:
        return
    gradient = pb.grad(function)(fresh(array))
    for place in np.ndindex(array.shape):
        up, down = fresh(array), fresh(array)
        up[place] += 1e-6
        down[place] -= 1e-6
        difference = (function(up) - function(down)) / 2e-6
        assert abs(gradient[place] - difference) <= 1e-3 * max(1.0, abs(difference)), text
