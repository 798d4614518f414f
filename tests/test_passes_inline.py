"""Which calls are replaced by what they call, and which stay calls."""

from __future__ import annotations

from typing import Any

import pytest

import pullback as pb
from pullback.ir.check import check_program
from pullback.ir.node import Block, Function, Program, Value
from pullback.passes import inline
from pullback.prims.base import Emitter, get
from pullback.types import F64


def function(name: str, callee: str | None, count: int) -> Function:
    """Of one number: so many additions, or calls of another, one after the other."""
    x = Value(F64, "x")
    e = Emitter(Block([x]))
    result = x
    for _ in range(count):
        if callee is None:
            result = e("add", result, x)
        else:
            result = e.append(get("call"), [result], attrs={"callee": callee}, types=[F64]).result
    e.block.results = [result]
    return Function(name, e.block)


def calls_left(sites: int, length: int, through: int = 1, *, structural: bool = False) -> int:
    """Of a function of `length` ops that a function calls so often, which the entry calls `through` times."""
    made = [function("f", "h", through), function("h", "g", sites), function("g", None, length)]
    made[2].attrs["structural"] = structural
    program = Program({f.name: f for f in made}, "f")
    inline.run(program.functions["f"], program)
    check_program(program, "inline")
    return sum(op.name == "call" for op in program.functions["f"].body.walk())


@pytest.mark.parametrize(
    ("sites", "length", "through", "left"),
    [(1, 500, 1, 0), (2, 200, 1, 0), (3, 60, 1, 0), (20, 10, 1, 0), (3, 150, 1, 3), (10, 40, 1, 10), (2, 100, 3, 6)],
)
def test_many_copies_of_structural_functions_stay_calls(sites: int, length: int, through: int, left: int) -> None:
    assert calls_left(sites, length, through, structural=True) == left
    assert calls_left(sites, length, through) == 0


@pytest.mark.parametrize(("sites", "length", "left"), [(14, 200, 0), (16, 200, 16), (200, 20, 0), (200, 30, 200)])
def test_many_copies_stay_calls(sites: int, length: int, left: int) -> None:
    assert calls_left(sites, length) == left


def test_programs_of_many_calls_compute_the_same() -> None:
    def step(x: float, k: int, d: dict[str, float]) -> float:
        for name in ("a", "b"):
            if k % 2 == 0 and name in d:
                d[name] = d[name] * 0.5 + x
            elif k % 3 == 0:
                d[name] = d.get(name, 1.0) - x * k
        return sum(d.values()) * x

    def program(x: float) -> Any:
        d = {"a": x, "b": 2.0}
        total = step(x, 0, d) + step(x * x, 1, d) + step(2 * x, 2, d) + step(x + 1, 3, d) + step(x, 4, d)
        return total + step(x, 5, d) + step(x, 6, d) + step(d["a"], 7, d)

    x, h = 0.7, 1e-6
    assert pb.jit(program)(x) == pytest.approx(program(x), rel=1e-14)
    assert pb.grad(program)(x) == pytest.approx((program(x + h) - program(x - h)) / (2 * h), rel=1e-6)
    slope = pb.grad(program)
    assert pb.grad(slope)(x) == pytest.approx((slope(x + h) - slope(x - h)) / (2 * h), rel=1e-6)
