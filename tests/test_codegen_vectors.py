"""Vectors in generated code: loops that ask for them in modules of any size, masks, rounds, residuals of loop nests."""

import numpy as np
import pytest

from native import Native, elementwise, loop, program, sizes_of
from pullback.codegen import abi, emit, jit, target
from pullback.types import F64, I64, ArrayRef, DType

V, VS = ArrayRef(DType.F64, 1, True), ArrayRef(DType.F64, 1)
RNG = np.random.default_rng(20261129)
LARGE = jit.Options(large=0)  # whatever is compiled counts as large


def scaled(e, a, b):
    return elementwise(e, sizes_of(e, a), [a, b], ["new", "sum"], lambda q, x, y: [q("mul", x, y), x])


def optimised(typed, options):
    """What a module becomes: LLVM's own text after its passes."""
    text = emit.emit_program(typed).text.replace("define internal {", "define {", 1)
    goal, binding = target.machine(2), target.llvm()
    parsed = binding.parse_assembly(text)
    parsed.triple, parsed.data_layout = goal.triple, str(goal.target_data)
    jit._optimise(binding, parsed, goal, options.suited(text))
    return str(parsed)


def test_kernels_are_vectorised_in_large_modules_too():
    assert "fmul <" in optimised(program([V, V], scaled), LARGE)


def accumulating(e, x, dx, seed, *, any_order, dear=False):
    """sum(x * seed), and dx[k] += x[k] * seed."""
    (n,) = sizes_of(e, x)

    def step(b, k, s):
        v = b("mul", b("array_get", x, k), seed)
        if dear:
            for _ in range(12):
                v = b("div", b("sqrt", b("add", b("mul", v, v), seed)), seed)
        b.op("array_inc", dx, k, v)
        return [b("add", s, v)]

    results = loop(e, n, [e.constant(0.0)], step)
    e.block.ops[-1].attrs.update({"any_order": True} if any_order else {})
    return results


@pytest.mark.parametrize("dear", [False, True])
@pytest.mark.parametrize("any_order", [False, True])
def test_sums_are_reordered_only_where_they_may_be(any_order, dear):
    def build(e, *values):
        return accumulating(e, *values, any_order=any_order, dear=dear)

    typed = program([V, V, F64], build)
    for options in (jit.Options(), LARGE):
        text = optimised(typed, options)
        assert ("fadd reassoc <" in text) == any_order == ("reassoc" in text)


@pytest.mark.parametrize("dear", [False, True])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 31, 100])
def test_loops_in_any_order_give_the_same(n, dear):
    x, found = RNG.random(n) + 0.5, []
    for any_order in (False, True):
        native = Native(program([V, V, F64], lambda e, *v, o=any_order: accumulating(e, *v, any_order=o, dear=dear)))
        dx = np.ones(n)
        found.append((*native(x, dx, 1.5), dx))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-13)
    assert (found[0][1] == found[1][1]).all()


WIDTHS = [0, 1, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 130]


@pytest.mark.parametrize(
    ("dtype", "numbers"),
    [(DType.BOOL, np.bool_), (DType.I16, np.int16), (DType.F32, np.float32), (DType.F64, np.float64)],
)
def test_rows_of_every_length_are_added_to(dtype, numbers):
    """Whole vectors, and what is left: c[j] += a[i, j] for all i, with a new array besides."""

    def build(e, a, c):
        rows = e("view_expand", c, axis=0)
        kinds = ["inc", "new"]
        twice = lambda q, x: [x, x if dtype is DType.BOOL else q("add", x, x)]  # noqa: E731
        return elementwise(e, sizes_of(e, a), [a], kinds, twice, [rows])

    native = Native(program([ArrayRef(dtype, 2, True), ArrayRef(dtype, 1, True)], build))
    for n in WIDTHS:
        a = RNG.integers(0, 2, (5, n)).astype(numbers)
        c = np.zeros(n, a.dtype)
        (new,) = native(a, c)
        assert (c == (a.any(axis=0) if dtype is DType.BOOL else a.sum(axis=0))).all()
        assert (new == (a if dtype is DType.BOOL else a + a)).all()


def raised(e, a, out, start):
    """out[j] = larger(a[j], out[j]); the largest of a and a number."""
    (n,) = sizes_of(e, a)

    def column(b, k):
        b("array_swap", out, k, b("larger", b("array_get", a, k), b("array_get", out, k)))
        return []

    loop(e, n, [], column)
    return loop(e, n, [start], lambda b, k, best: [b("larger", best, b("array_get", a, k))])


def test_extremes_are_vectorised_in_large_modules_too():
    text = optimised(program([V, V, F64], raised), LARGE)
    assert text.count("@llvm.maximum.v") >= 4


@pytest.mark.parametrize("n", WIDTHS)
def test_extremes_of_every_length(n):
    native = Native(program([V, V, F64], raised))
    for nan in (False, True):
        a, out = RNG.normal(size=n), RNG.normal(size=n)
        if nan and n:
            a[-1] = np.nan
        wanted = np.maximum(a, out)
        (best,) = native(a, out, -0.25)
        np.testing.assert_array_equal(out, wanted)
        np.testing.assert_array_equal(best, np.max([-0.25, *a]))


def test_masks_are_used_only_where_the_processor_has_them(monkeypatch):
    text = emit.emit_program(program([V, V], scaled)).text
    assert abi.MASKED in text and abi.UNMASKED not in text
    seen = []
    monkeypatch.setattr(jit, "_parse", lambda binding, text, goal, parse=jit._parse: (
        seen.append(text), parse(binding, text, goal))[1])
    for masks in (True, False):
        monkeypatch.setattr(jit, "has_masks", lambda masks=masks: masks)
        jit.compile_object(text)
        assert (abi.MASKED in seen[-1]) == masks == (abi.UNMASKED not in seen[-1])


def test_neighbours_are_not_paired_where_a_loop_adds_to_elements():
    def build(e, *values):
        return accumulating(e, *values, any_order=False)

    adding, plain = (emit.emit_program(p).text for p in (program([V, V, F64], build), program([V, V], scaled)))
    assert not jit.Options().suited(adding).pairs and jit.Options().suited(plain).pairs


# --------------------------------------------------------------------------------------------------------- rounds


def scattering(rounds):
    """Adds t to three views and clears it; `rounds` as the pass `rows` says."""

    def build(e, t, a, b, c):
        kinds = ["inc", "sum", "inc", "inc", "set"]
        results = elementwise(
            e, sizes_of(e, t), [t], kinds,
            lambda q, x: [x, q("mul", x, x), q("mul", x, q.constant(2.0)), q("neg", x), q.constant(0.0)], [a, b, c, t],
        )  # fmt: skip
        e.block.ops[-1].attrs["rounds"] = rounds
        return results

    return build


@pytest.mark.parametrize("n", [1, 5, 40, 700, 2000])
@pytest.mark.parametrize("starts", [(0, 1, 2), (2, 1, 0), (0, 3, 1)])
def test_overlapping_targets_in_rounds(n, starts):
    native = Native(program([V, *[VS] * 3], scattering((0, 0, 1, 2, 2))))
    for step in (1, 2):
        t, g = RNG.normal(size=n), RNG.normal(size=step * (n + 3))
        expected, before = g.copy(), t.copy()
        views = [slice(s, s + step * (n - 1) + 1, step) for s in starts]
        for view, factor in zip(views, (1.0, 2.0, -1.0), strict=True):
            expected[view] += factor * t
        (total,) = native(t, *(g[view] for view in views))
        np.testing.assert_allclose(g, expected, rtol=1e-14, atol=1e-14)
        assert total == pytest.approx(before @ before, rel=1e-14) and not t.any()


def test_rounds_are_vectorised_though_their_targets_overlap():
    text = optimised(program([V, *[VS] * 3], scattering((0, 0, 1, 2, 2))), LARGE)
    assert text.count("store <") + text.count("@llvm.masked.store") >= 4


# ------------------------------------------------------------------------------------------------ residuals of nests


def nested(capacity):
    """Keeps i * m + j + x for i < n, j < m in a buffer, and sums up what it holds."""

    def build(e, n, m, x):
        kept = e("buffer", e.integer(capacity), element=F64)

        def outer(b, i):
            first = b("mul", i, m)

            def inner(q, j):
                place = q("add", first, j)
                q.op("buffer_put", kept, place, q("add", q("cast", place, to=DType.F64), x))
                return []

            loop(b, m, [], inner)
            return []

        loop(e, n, [], outer)
        count = e("mul", *(e("maximum", size, e.integer(0)) for size in (n, m)))
        return loop(e, count, [e.constant(0.0)], lambda b, k, s: [b("add", s, b("buffer_get", kept, k))])

    return build


@pytest.mark.parametrize("capacity", [0, 1, 12, 10_000])
def test_buffers_filled_by_a_nest_have_room(capacity):
    native = Native(program([I64, I64, F64], nested(capacity)))
    for n, m in ((0, 5), (5, 0), (-1, -3), (1, 1), (3, 4), (40, 50)):
        count = max(0, n) * max(0, m)
        assert native(n, m, 0.5) == [count * (count - 1) / 2 + 0.5 * count]


def test_room_is_made_once_for_a_row():
    assert "store <" in optimised(program([I64, I64, F64], nested(64)), jit.Options())
