"""A pullback belongs to the call it came from: what that call read is as it was then, and nothing is written again."""

from __future__ import annotations

import cmath
import math
import threading
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import testing

rate = 2.0
table = np.array([1.0, 2.0])
store = {"w": np.array([0.5, 3.0]), "n": 2}
chosen: Any = math.sin


def square(x: Any) -> Any:
    return x * x


def reads_a_number(x: Any) -> Any:
    return rate * x * x


def writes_an_array(x: Any) -> Any:
    table[0] += x
    return table[0] * table[1] * x


def reads_a_container(x: Any) -> Any:
    store["w"][1] *= x
    return store["w"][1] * store["n"] * x


def calls(x: Any) -> Any:
    return square(x) + chosen(x)


def takes_a_default(x: Any, y: Any = 3.0) -> Any:
    return x * y


def absolute(x: Any) -> Any:
    return abs(x) * x


def aliased(a: Any) -> Any:
    a[0] = table[1] * a[1]
    return a[0] * table[0] * a[1]


def test_numbers_are_those_of_the_call(monkeypatch: Any) -> None:
    _, pullback = pb.vjp(reads_a_number, 3.0)
    monkeypatch.setitem(globals(), "rate", 7.0)
    assert pullback(1.0) == (12.0,)
    assert pb.vjp(reads_a_number, 3.0)[1](1.0) == (42.0,)
    assert pullback(0.5) == (6.0,)


def test_captured_arrays_are_those_of_the_call_and_stay_as_they_are(monkeypatch: Any) -> None:
    monkeypatch.setitem(globals(), "table", np.array([1.0, 2.0]))
    value, pullback = pb.vjp(writes_an_array, 3.0)
    assert value == 24.0
    assert table.tolist() == [4.0, 2.0]
    assert pullback(1.0) == (14.0,)  # (1 + x) * 2 * x
    table[:] = 50.0
    assert pullback(1.0) == (14.0,)
    assert table.tolist() == [50.0, 50.0]
    assert pb.vjp(writes_an_array, 3.0)[1](1.0) == (2800.0,)


def test_containers_of_arrays(monkeypatch: Any) -> None:
    monkeypatch.setitem(globals(), "store", {"w": np.array([0.5, 3.0]), "n": 2})
    _, pullback = pb.vjp(reads_a_container, 2.0)
    assert store["w"].tolist() == [0.5, 6.0]
    store["n"] = 100
    assert pullback(1.0) == (24.0,)
    assert store["w"].tolist() == [0.5, 6.0]


def test_functions_are_those_of_the_call(monkeypatch: Any) -> None:
    _, pullback = pb.vjp(calls, 3.0)
    monkeypatch.setitem(globals(), "square", lambda x: x * 0.5)
    monkeypatch.setitem(globals(), "chosen", math.exp)
    assert pullback(1.0)[0] == pytest.approx(6.0 + math.cos(3.0))
    assert pb.vjp(calls, 3.0)[1](1.0)[0] == pytest.approx(0.5 + math.exp(3.0))
    assert pullback(1.0)[0] == pytest.approx(6.0 + math.cos(3.0))


def test_defaults_are_those_of_the_call(monkeypatch: Any) -> None:
    _, pullback = pb.vjp(takes_a_default, 5.0)
    monkeypatch.setattr(takes_a_default, "__defaults__", (8.0,))
    assert pullback(1.0) == (3.0,)
    assert pb.vjp(takes_a_default, 5.0)[1](1.0) == (8.0,)
    assert pb.jit(lambda x: pb.vjp(takes_a_default, x)[1](2.0)[0])(5.0) == 16.0


def test_a_builtin_that_is_hidden_later(monkeypatch: Any) -> None:
    _, pullback = pb.vjp(absolute, -2.0)
    monkeypatch.setitem(globals(), "abs", lambda x: 5.0)
    assert pullback(1.0) == (4.0,)
    assert pb.vjp(absolute, -2.0)[1](1.0) == (5.0,)


def test_cells_are_those_of_the_call() -> None:
    def outer() -> Any:
        kept = np.zeros(2)

        def inner(x: Any) -> Any:
            kept[0] += x * x
            return kept[0] * x

        return inner, kept

    inner, kept = outer()
    _, first = pb.vjp(inner, 2.0)
    _, second = pb.vjp(inner, 2.0)
    assert first(1.0) == (12.0,)
    assert second(1.0) == (16.0,)
    assert kept[0] == 8.0


def test_arguments_that_share_memory_with_captured_arrays(monkeypatch: Any) -> None:
    monkeypatch.setitem(globals(), "table", np.array([1.0, 2.0]))
    value, pullback = pb.vjp(aliased, table)
    assert value == 32.0  # a[0] is table[0]
    with pytest.raises(ValueError, match="share memory"):  # the copies do as well
        pullback(1.0)


def test_code_is_kept_for_other_processes(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("PULLBACK_CACHE_DIR", str(tmp_path))
    for _ in range(2):
        for function in (reads_a_number, takes_a_default, calls):
            vars(function).pop("_pullback_helpers", None)  # as in a new process
        assert pb.vjp(reads_a_number, 3.0)[1](1.0) == (12.0,)
        assert pb.vjp(takes_a_default, 5.0)[1](1.0) == (3.0,)
        assert pb.vjp(calls, 3.0)[1](1.0)[0] == pytest.approx(6.0 + math.cos(3.0))
        monkeypatch.setitem(globals(), "rate", 2.0)


def test_threads_share_a_pullback(monkeypatch: Any) -> None:
    monkeypatch.setitem(globals(), "table", np.array([1.0, 2.0]))
    _, pullback = pb.vjp(writes_an_array, 3.0)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.extend(pullback(1.0) for _ in range(50))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(14.0,)] * 200
    assert table.tolist() == [4.0, 2.0]


def root(x: Any) -> Any:
    return math.sqrt(x) if x > 0 else cmath.sqrt(x)


def pair_or_one(x: Any) -> Any:
    return (x * x, 2.0 * x) if x > 0 else 3.0 * x


def total_or_all(x: Any) -> Any:
    return np.sum(x * x) if x[0] > 0 else x * 2.0


def optional(x: Any, n: Any) -> Any:
    return (x * x if n > 0 else None, x * 3.0)


SLOPE = 0.5 / math.sqrt(2.0)
ONES = np.ones(2)
LIKE_THE_RESULT = [
    (root, (2.0,), 1.0, (SLOPE,)), (root, (-2.0,), 1.0, (0.0,)), (root, (-2.0,), 1j, (-SLOPE,)),
    (root, (-2.0,), 2.0 + 1j, (-SLOPE,)),
    (pair_or_one, (2.0,), (1.0, 1.0), (6.0,)), (pair_or_one, (-2.0,), 1.0, (3.0,)),
    (total_or_all, (ONES,), 1.0, (2 * ONES,)), (total_or_all, (-ONES,), ONES, (2 * ONES,)),
    (optional, (2.0, 1), (1.0, 1.0), (7.0, 0)), (optional, (2.0, 0), (None, 1.0), (3.0, 0)),
    (np.roots, (np.array([1.0, 0.0, 4.0]),), 1.0 * ONES, (np.array([0.0, -1.0, 0.0]),)),
]  # fmt: skip
UNLIKE = [
    (root, (2.0,), 1j), (pair_or_one, (2.0,), 1.0), (pair_or_one, (-2.0,), (1.0, 1.0)), (total_or_all, (-ONES,), 1.0),
    (total_or_all, (ONES,), ONES), (optional, (2.0, 1), (None, 1.0)), (root, (2.0,), (1.0,)),
    (np.roots, (np.array([1.0, 0.0, -4.0]),), 1j * ONES), (total_or_all, (ONES,), ONES.astype(np.float32)),
]  # fmt: skip


def inner(function: Any, arguments: Any, cotangent: Any) -> Any:
    return pb.vjp(function, *arguments)[1](cotangent)


def plain(function: Any) -> Any:
    """A function of NumPy's is called in one of ours."""
    return (lambda p: np.roots(p)) if function is np.roots else function


@pytest.mark.parametrize(("function", "arguments", "cotangent", "wanted"), LIKE_THE_RESULT)
def test_a_cotangent_is_like_what_the_result_is_in_this_call(function, arguments, cotangent, wanted) -> None:
    f = plain(function)
    compiled = pb.jit(lambda *given: inner(f, given[:-1], given[-1]))
    for found in (inner(f, arguments, cotangent), compiled(*arguments, cotangent)):
        assert len(found) == len(wanted)
        for gradient, right in zip(found, wanted, strict=True):
            np.testing.assert_allclose(gradient, right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("function", "arguments", "cotangent"), UNLIKE)
def test_a_cotangent_of_another_type_than_the_result_of_this_call(function, arguments, cotangent) -> None:
    f = plain(function)
    with pytest.raises(TypeError, match="cotangent"):
        inner(f, arguments, cotangent)


@pytest.mark.parametrize("formulation", ["ssa", "closures"])
def test_in_the_interpreter_by_both_formulations(formulation: str) -> None:
    def slope(x: Any, c: Any) -> Any:
        return inner(optional, (x, 1), (1.0, c))[0]

    def call(function: Any, *given: float) -> Any:
        return testing.call("call", function, given, engine="interp", passes=True, formulation=formulation)

    assert call(slope, 2.0, 1.0) == 7.0
    with pytest.raises(TypeError, match="cotangent"):
        call(lambda x, c: inner(optional, (x, 1), (None, c))[0], 2.0, 1.0)


def test_the_gradient_of_such_a_pullback() -> None:
    def slope(x: Any, c: Any) -> Any:
        return inner(root, (x,), c)[0]

    assert pb.grad(slope)(2.0, 1.0) == pytest.approx(-0.25 * 2.0**-1.5, rel=1e-14)
    assert pb.jvp(slope, (2.0, 1.0), (1.0, 0.0))[1] == pytest.approx(-0.25 * 2.0**-1.5, rel=1e-14)
