"""Further versions of a function are seen: what they are for, why they were needed, how many; sizes never need one."""

import logging
from dataclasses import dataclass

import numpy as np
import pytest

import pullback as pb
from pullback.runtime.signatures import describe, why


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.INFO, logger="pullback")
    return lambda: [record.getMessage().partition(" s: ")[2] for record in caplog.records]


def test_sizes_never_compile_another_version(log):
    @pb.jit
    def total(x, weights):
        result = 0.0
        for i in range(len(x)):
            result += x[i] * weights["w"][0]
        return result + float(np.sum(x * 2.0))

    for size in (2, 0, 3, 1000, 65_537):
        assert total(np.ones(size), {"w": np.ones(size + 2)}) == 3.0 * size
    assert total.specializations == ("float64[:], {'w': float64[:]}",) and log() == []
    assert total(np.ones(1), {"w": np.ones(4)}) == 3.0
    assert len(total.specializations) == 2 and log() == ["x: float64[:] -> float64[1]"]


def test_every_further_version_is_logged_with_its_reason(log):
    gradient = pb.grad(lambda x, scale=2.0: np.sum(x * scale))
    before = pb.stats().specializations
    gradient(np.ones(3))
    assert log() == [] and pb.stats().specializations == before + 1
    gradient(np.ones(3, np.float32))
    gradient(np.ones((3, 4)))
    gradient(np.ones((4, 3)).T)
    gradient(np.ones((4, 3)).T, np.float32(2.0))
    gradient(np.ones(7))
    assert log() == [
        "x: float64[:] -> float32[:]",
        "x: float32[:] -> float64[:, :]",
        "x: float64[:, :] -> float64[:, :], strided",
        "scale: float -> np.float32",
    ]
    assert len(gradient.specializations) == 5
    assert pb.stats(reset=True).specializations == before + 5
    assert pb.stats().specializations == 0


def test_a_version_for_what_was_fixed_is_told(log, monkeypatch):
    scope = {"helper": lambda x: 2.0 * x}
    source = "def f(x):\n    return helper(x)\n"
    f = pb.jit(_from_source(source, "f", scope))
    assert f(3.0) == 6.0
    scope["helper"] = _from_source("def helper(x):\n    return x * x\n", "helper", {})
    assert f(3.0) == 9.0
    assert log() == ["something that the code had taken as fixed has changed"]


def _from_source(text, name, scope):
    made = pb.api.from_source(text, name)
    scope.update({key: value for key, value in made.__globals__.items() if key not in scope})
    return type(made)(made.__code__, scope, name)


@dataclass
class Point:
    x: float


@pytest.mark.parametrize(
    "value, text",
    [
        (2.0, "float"),
        (True, "bool"),
        (None, "None"),
        (np.int32(1), "np.int32"),
        ("a", "str"),
        (np.ones((1, 0, 3)), "float64[1, :, :]"),
        (np.ones(()), "float64[]"),
        (np.broadcast_to(np.ones(1), 3), "float64[:], strided, read-only"),
        ((1.0,), "(float,)"),
        ((1, (2.0, None)), "(int, (float, None))"),
        ([1.0, 2.0, 3], "list[float | int]"),
        ({"a": [], 1: 2.0}, "{'a': list[], 1: float}"),
        (dict.fromkeys(range(9), 1.0), "{" + "".join(f"{i}: float, " for i in range(8)) + "...: ...}"),
        (list(range(100)), "list[int | ...]"),
        ((((((1.0,),),),),), "((((tuple,),),),)"),
        (Point(1.0), "Point"),
        (describe, "the function describe"),
    ],
)
def test_arguments_in_words(value, text):
    assert describe(value) == text


def test_a_reason_names_what_differs_from_the_most_similar_version():
    known = [("float", "int"), ("float64[:]", "float")]
    assert why(("x", "n"), known, ("float64[:]", "int")) == "n: float -> int"
    assert why(("x", "n"), known[:1], ("bool", "bool")) == "x: float -> bool; n: int -> bool"
    assert why(("x",), known, ("float",)) == "1 arguments"
