"""Structured arrays: rows of reads, writes and derivatives, compared with NumPy and between the engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pullback as pb
from pullback import testing

PACKED = np.dtype([("b", "?"), ("x", "f8"), ("n", "i4"), ("y", "f8")])
ALIGNED = np.dtype([("b", "?"), ("x", "f8"), ("n", "i4"), ("y", "f8")], align=True)
WIDE = np.dtype({
    "names": ["y", "x", "n", "b"], "formats": ["f8", "f8", "i4", "?"], "offsets": [32, 3, 16, 0], "itemsize": 48,
})  # fmt: skip
INNER = np.dtype([("q", "i1"), ("c", "c16")])
DEEP = np.dtype([("x", "f8"), ("pos", "f4", (3,)), ("in", INNER), ("pair", INNER, (2,)), ("m", "f8", (2, 2))])
XY = np.dtype([("x", "f8"), ("y", "f8")])


def filled(dtype: np.dtype[Any], *shape: int, seed: int = 0) -> Any:
    """A structured array of random content."""
    rng = np.random.default_rng(seed)
    made = np.zeros(shape, dtype)
    assert dtype.names is not None
    for name in dtype.names:
        part = made[name]
        if part.dtype.names:
            part[...] = filled(part.dtype, *part.shape, seed=seed + 1)
        elif part.dtype.kind in "fc":
            part[...] = rng.normal(size=part.shape)
            if part.dtype.kind == "c":
                part.imag = rng.normal(size=part.shape)
        else:
            part[...] = rng.integers(0, 2 if part.dtype.kind == "b" else 50, size=part.shape)
    return made


def copied(value: Any) -> Any:
    """The argument again, strides and all."""
    if not isinstance(value, np.ndarray):
        return value
    base = value if value.base is None else value.base
    if base is value or not isinstance(base, np.ndarray):
        return value.copy(order="K")
    fresh = base.copy(order="K")
    offset = value.ctypes.data - base.ctypes.data
    return np.ndarray(value.shape, value.dtype, fresh, offset, value.strides)


def alike(found: Any, wanted: Any) -> bool:
    """Equal in class, dtype, shape and content."""
    if isinstance(wanted, tuple | list):
        return type(found) is type(wanted) and len(found) == len(wanted) and all(map(alike, found, wanted))
    if type(found) is not type(wanted):
        return False
    if isinstance(wanted, np.ndarray | np.generic) and wanted.dtype.names:
        return found.dtype == wanted.dtype and found.shape == wanted.shape and all(
            alike(found[name], wanted[name]) for name in wanted.dtype.names
        )  # fmt: skip
    if isinstance(wanted, np.ndarray):
        return found.dtype == wanted.dtype and found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-6)
    return bool(np.allclose(found, wanted, rtol=1e-6)) if isinstance(wanted, float | np.floating) else found == wanted


# ------------------------------------------------------------------------------------------------- reads and writes


def written_items(a: Any) -> Any:
    a["x"][1] = 5.0
    a[2]["n"] = 77
    record = a[3]
    record["x"] += 1
    record[1] *= 2
    a["y"] *= a["x"]
    a["x"] += a["y"]
    a["n"][::2] = -1
    a["b"] = a["x"] > 0
    a[-1] = (True, 0.5, 3, 1)
    a[0] = a[1]
    return a["x"] - a["y"]


def written_slices(a: Any) -> Any:
    a[1:] = a[:-1]
    a[::2] = a[0]
    a[["x", "y"]] = a[["y", "x"]]
    a[1:3]["x"] = 9
    a[np.array([3, 0])] = a[np.array([0, 3])]
    a[a["x"] > 0] = (True, 1.5, -2, 0.0)
    a[a["n"] > 30]["x"] = 100.0  # a copy
    a["x"][np.array([0, 0, 2])] += 1.0
    return a[["x", "n"]][1:3]


def written_deep(a: Any) -> Any:
    a["pos"][:, 1] = a["x"]
    a[1]["pos"] = (1.0, 2.0, 3.0)
    a[2]["pos"][2] += 5
    a[0]["in"]["q"] = 9
    a["in"]["c"] *= 1j
    a[1]["in"]["c"] = 2 - 3j
    a[2]["pair"][1]["q"] = 5
    a["pair"]["c"].real[0] = 7.0
    a["m"] @= np.array([[1.0, 2.0], [3.0, 4.0]])
    a[0]["in"] = a[1]["in"]
    a[1]["m"] = a[0]["m"].T
    return a["in"], a[1]["pair"], a["m"][0] @ a["m"][1], a["pos"].sum(axis=1)


def looped(a: Any) -> Any:
    total = 0.0
    for r in a:
        if r["n"] % 2:
            r["x"] = r["x"] * 2
            r["n"] += 1
        total += r["x"] * r["n"]
    for i, r in enumerate(a):
        r["y"] = i
    for b, x, n, y in a:
        total += x * n + y if b else x
    return total


def swapped(a: Any) -> Any:
    a[0], a[1] = a[1], a[0]  # records are views: NumPy gives the same surprise
    low, high = a["x"].min(), a["x"].max()
    a["x"], a["y"] = a["y"].copy(), a["x"].copy()
    return low, high


def made(n: int) -> Any:
    particle = np.dtype([("x", "f8"), ("v", np.float32, (2,)), ("n", int)])
    a = np.zeros(n, dtype=particle)
    for i in range(n):
        a[i] = (i * 0.5, (i, -i), i)
    b = np.ones((2, 3), dtype=[("x", float), ("k", "u2")])
    b["x"][0] = 2
    c = np.full(3, 4, dtype=[("x", "f8"), ("z", "c16")])
    d = np.array([(1.5, 2), (2.5, 3)], dtype="f8,i4")
    e = np.empty(2, dtype=[("x", "f8")])
    e["x"] = 1
    return a, b, c, d, e, np.zeros_like(a), np.ones_like(b), np.full_like(d, 3), np.empty_like(a).shape


def structure(a: Any) -> Any:
    return (a.shape, a.ndim, a.size, len(a), len(a[0]), a.dtype.names, a.dtype.itemsize, a["x"].dtype == np.float64,
            a.dtype == a.copy().dtype, np.shape(a), a[["x"]].dtype.names, a.dtype.names[1])  # fmt: skip


def of_ints(a: Any) -> Any:
    return a[1], a[-1][1], a[2]["n"], a[1]["b"], a[0][-1], a[np.array(1)]


def sorted_ways(a: Any) -> Any:
    b = a.copy()
    b["n"] //= 10
    c = b.copy()
    c.sort(order=["n", "x"])
    return np.sort(b, order="n"), np.sort(b), np.argsort(b, order="n", kind="stable"), c


def joined(a: Any) -> Any:
    return (np.concatenate((a, a[1:3])), np.flip(a), np.roll(a, 1), np.take(a, np.array([1, 1])), np.repeat(a, 2),
            a.take(np.array([0])), np.copy(a))  # fmt: skip


def sorted_complex(a: Any) -> Any:
    """Of complex fields, some with nans in them."""
    b = np.zeros(len(a), [("z", "c16"), ("k", int)])
    b["z"], b["k"] = a["n"] // 20 + 1j * (a["n"] % 3), np.arange(len(a))
    b["z"][1] = b["z"][0]
    c = b.copy()
    c["z"].real[2] = np.nan
    b.sort(order="z")
    return b, np.sort(b), np.argsort(c, order=["z", "k"])


def reshaped(a: Any) -> Any:
    table = a[:4].reshape(2, 2)
    table["x"][1, 0] = 9.0
    wide = a.reshape((-1, 1))
    wide[0, 0]["n"] = 3
    return table, wide[1], a.flatten(), table.flatten()["x"], a.itemsize, table.nbytes, np.reshape(a, (len(a),))


def put_together(a: Any) -> Any:
    b = a[::-1]
    twice = np.concatenate((a, b))
    return (np.stack((a, b)), np.vstack([a, b]), np.hstack((a, b)), np.append(a, b[:2]), np.delete(a, 1),
            np.delete(a, [0, 2]), np.tile(a, 2), np.where(a["x"] > 0, a, b), np.unique(twice),
            np.unique(a[["n"]]))  # fmt: skip


def as_tuples(a: Any) -> Any:
    total = 0.0
    for b, x, n, y in a.tolist():
        total += x * n + y if b else x
    return a[1].item(), a[2].tolist(), total


def compared(a: Any) -> Any:
    b = a.copy()
    b["x"][1] = 3
    b["n"][2] += 1
    return a == b, a != b, a[0] == b[0], a[1] == b[1], a[1:2] == b[1], (a == a).all()


def merged(a: Any) -> Any:
    b = a if a["x"][0] > 5 else np.zeros(len(a), a.dtype)
    r = a[0] if a["x"][0] < 5 else b[1]
    r["x"] = 11.0
    chosen = a
    for k in range(3):
        if k == 1:
            chosen = chosen[1:]
        chosen["n"][0] = k
    return b, r, chosen


def converted(a: Any) -> Any:
    b = np.zeros(len(a), dtype=[("p", "f4"), ("q", "f8"), ("r", "f8"), ("s", "i2")])
    b[:] = a
    return b, a.astype([("p", "f4"), ("q", "f8"), ("r", "f8"), ("s", "i2")]), np.asarray(a), np.array(a)[1]


def untouched(a: Any) -> Any:
    return a, a[1:3], a[::-1], a["x"], a[["y", "x"]], a.copy(), a[np.array([2, 0])], a[a["n"] > 20], a[0], a[1:2]["n"]


def handed(a: Any) -> Any:
    def shifted(part: Any, by: float) -> Any:
        part["x"] += by
        return part["y"] + by

    return shifted(a, 1.0) + shifted(a[::-1], 2.0), shifted(a[0], 0.5)


ROWS = [written_items, written_slices, looped, swapped, structure, of_ints, sorted_ways, sorted_complex, joined,
        reshaped, put_together, as_tuples, compared, merged, converted, untouched, handed]  # fmt: skip


def outcome(run: Callable[..., Any], *given: Any) -> tuple[Any, Any]:
    """The result, and the arguments afterwards."""
    given = tuple(map(copied, given))
    return run(*given), given


def check(program: Callable[..., Any], *given: Any) -> None:
    """Native, and by the interpreter without passes, as in Python: results, their classes, and what was written."""
    wanted = outcome(program, *given)
    for run in (pb.jit(program), lambda *xs: testing.run(program, xs, engine="interp", passes=False)):
        found = outcome(run, *given)
        assert alike(found, wanted), f"{found}\n{wanted}"


@pytest.mark.parametrize("program", ROWS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [PACKED, ALIGNED], ids=["packed", "aligned"])
def test_rows(program: Callable[..., Any], dtype: np.dtype[Any]) -> None:
    check(program, filled(dtype, 5))


@pytest.mark.parametrize("program", [looped, compared, untouched, handed], ids=lambda f: f.__name__)
def test_rows_of_strange_layouts(program: Callable[..., Any]) -> None:
    check(program, filled(WIDE, 5))
    check(program, filled(PACKED, 11)[9::-2])


def test_deep() -> None:
    check(written_deep, filled(DEEP, 3))
    check(lambda a: (a, a[1], a["pair"], a[1]["in"], a["pair"]["c"], a[:, None], a[None][0]["m"]), filled(DEEP, 3))


def test_axes() -> None:
    check(lambda a: (a.T, a[1], a[:, 1], a[0, 2], a[..., 0]["x"], a["x"].sum(axis=0), len(a), a.shape),
          filled(XY, 2, 3))  # fmt: skip
    check(lambda a: (a["x"], a[()]["y"], a.shape), filled(XY))


def test_made() -> None:
    check(made, 4)


# ---------------------------------------------------------------------------------------------- Python's own objects


@dataclass
class Box:
    records: Any
    scale: float


def boxed(box: Box) -> Any:
    box.records["x"][0] = box.scale
    box.scale = box.records[1]["y"]
    box.records = box.records[1:]
    return box.records


def largest(a: Any) -> Any:
    best = None
    for r in a:
        if best is None or r["x"] > best["x"]:
            best = r
    return best


def test_arrays_come_back_as_themselves_and_as_views() -> None:
    a = filled(PACKED, 4)
    assert pb.jit(lambda a: a)(a) is a
    part, record, column = pb.jit(lambda a: (a[1:], a[2], a["y"]))(a)
    part["n"][0], record["n"], column[0] = 91, 92, 0.25
    assert (a["n"][1], a["n"][2], a["y"][0]) == (91, 92, 0.25)
    assert type(record) is np.void and part.base is not None
    last = pb.jit(lambda a: a[-1:]["y"])(a)  # the last bytes of the memory
    last[0] = -1.0
    assert a["y"][-1] == -1.0
    z = np.zeros(3, complex)
    pb.jit(lambda z: z[-1:].imag)(z)[0] = 5.0
    assert z[2] == 5j
    assert np.shares_memory(pb.jit(largest)(a), a) and alike(pb.jit(largest)(a), largest(a))


def test_fresh_arrays_are_apart_from_arguments() -> None:
    a = filled(PACKED, 4)
    for made in pb.jit(lambda a: (a.copy(), a[np.array([0])], a[a["x"] < 9], np.sort(a), np.zeros(2, a.dtype)))(a):
        assert not np.shares_memory(made, a) and made.flags.writeable and made.dtype == a.dtype


def test_arrays_in_objects_lists_dicts_and_globals() -> None:
    ours, theirs = Box(filled(PACKED, 4), 2.5), Box(filled(PACKED, 4), 2.5)
    whole = ours.records
    assert alike(pb.jit(boxed)(ours), boxed(theirs))
    assert alike(ours.records, theirs.records) and ours.scale == theirs.scale and np.shares_memory(ours.records, whole)
    assert alike(pb.jit(lambda xs: [x[::2] for x in xs])([filled(XY, 3), filled(XY, 4)]),
                 [filled(XY, 3)[::2], filled(XY, 4)[::2]])  # fmt: skip
    assert alike(pb.jit(lambda d: {"a": d["b"][0]})({"b": filled(XY, 2)}), {"a": filled(XY, 2)[0]})
    assert alike(pb.jit(lambda: (GIVEN["x"].sum(), np.zeros(2, PACKED)))(), (GIVEN["x"].sum(), np.zeros(2, PACKED)))
    rows = pb.jit(lambda a: [r for r in a])(GIVEN)
    assert alike(rows, list(GIVEN)) and np.shares_memory(rows[1], GIVEN)


GIVEN = filled(XY, 3)


def test_read_only_arrays_are_read() -> None:
    a = filled(PACKED, 3)
    a.flags.writeable = False
    assert pb.jit(lambda a: a["x"].sum())(a) == a["x"].sum()
    assert not pb.jit(lambda a: a[1:])(a).flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        pb.jit(written_items)(a)


def test_one_version_for_all_sizes_and_one_for_each_dtype() -> None:
    f = pb.jit(lambda a: a["x"].sum())
    for dtype, count in ((PACKED, 5), (PACKED, 3), (ALIGNED, 4), (PACKED, 7), (ALIGNED, 2), (WIDE, 6)):
        a = filled(dtype, count)
        assert np.isclose(f(a), a["x"].sum())
    assert len(f.specializations) == 3


REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda a: a["z"], "no field of name z"),
    (lambda a: a + 1, "unsupported operand types"),
    (lambda a: np.sum(a), "np.sum of structured arrays|numpy.sum of structured arrays"),
    (lambda a: a == 0, "== is not supported"),
    (lambda a: 1 if a[0] else 2, "no truth value"),
    (lambda a: a.x, r"write \['x'\]"),
    (lambda a: np.zeros(2, [("s", "S3")]), "field 's' is of dtype"),
    (lambda a: np.array([(1,)], dtype=PACKED), "could not assign tuple of length 1"),
    (lambda a: a[["x", "x"]], "twice"),
    (lambda a: a[0]["x"]["y"], "cannot be indexed"),
    (lambda a: np.fft.fft(a), "numpy.fft.fft of structured arrays"),
]


@pytest.mark.parametrize(("program", "words"), REFUSED)
def test_what_has_no_meaning_is_an_error(program: Callable[[Any], Any], words: str) -> None:
    with pytest.raises(pb.CompileError, match=words):
        pb.jit(program)(filled(PACKED, 3))


@pytest.mark.parametrize("given", [np.zeros(2, [("x", ">f8")]), np.zeros(2, [("x", "f8"), ("s", "U2")]),
                                   np.zeros(2, {"names": ["a", "b"], "formats": ["f8", "f8"], "offsets": [0, 4]}),
                                   GIVEN[0], GIVEN.view(np.recarray)])  # fmt: skip
def test_what_is_not_taken_says_so(given: Any) -> None:
    with pytest.raises(TypeError, match="help"):
        pb.jit(lambda a: a["x"])(given)


# ------------------------------------------------------------------------------------------------------ derivatives


def energy(a: Any) -> Any:
    total = 0.0
    for r in a:
        total += r["x"] ** 2 * r["y"] + r["n"] * np.sin(r["y"])
    return total


def mutated(a: Any) -> Any:
    a["x"] *= a["y"]
    a[1:]["y"] += a["x"][:-1] ** 2
    a[0] = a[2]
    r = a[1]
    for k in range(3):
        r["x"] = r["x"] * r["y"] + a[k]["x"]
    a[["x", "y"]] = a[["y", "x"]]
    return np.sum(a["x"] ** 2 * a["y"])


def local(a: Any) -> Any:
    b = np.zeros(len(a), dtype=[("p", "f8"), ("q", "f8", (2,)), ("k", "i4")])
    for i in range(len(a)):
        b[i] = (a[i]["x"] ** 2, (a[i]["y"], a[i]["x"]), i)
    c = np.sort(b[["p", "k"]], order="p")
    d = np.concatenate((b[b["p"] > 0.01], b[np.array([0, 0, 1])]))
    return np.sum(c["p"] * np.arange(len(c))) + np.sum(d["p"] * d["k"]) + np.sum(d["q"][:, 0] ** 2 * d["q"][:, 1])


def rearranged(a: Any) -> Any:
    b = np.where(a["x"] > a["y"], a, a[::-1])
    table = np.stack((a, np.unique(a))).reshape(len(a), 2)
    c = np.append(np.delete(a, 1), np.tile(b, 2))
    c.reshape(-1)["x"][0] *= 3.0
    total = sum(x * y**2 for x, y in b[["x", "y"]].tolist())
    return total + np.sum(table["x"][:, 0] * table["y"][:, 1] ** 2) + np.sum(c["x"] ** 2 * c["y"] * np.arange(len(c)))


def held(a: Any) -> Any:
    store = []
    for r in a:
        store.append(r)
    best = store[0]
    for r in store:
        r["x"] = r["x"] * r["y"]
        if r["x"] > best["x"]:
            best = r
    return best["x"] * best["y"] ** 2 + sum(r["x"] ** 2 for r in store)


def nested(a: Any) -> Any:
    a["m"][:, 1] += a["x"][:, None]
    a["in"]["c"] *= a["x"]
    a[1]["pair"][0]["c"] = a[0]["pair"][1]["c"] ** 2
    part = np.sum(a["in"]["c"].real * a["in"]["c"].imag) + np.sum(np.abs(a["pair"]["c"]) ** 2)
    return part + np.sum(a["m"][0] @ a["m"][1])


DERIVED = [(energy, PACKED), (energy, ALIGNED), (mutated, PACKED), (mutated, WIDE), (local, XY), (rearranged, XY),
           (held, PACKED), (nested, DEEP)]  # fmt: skip


def floats(a: Any) -> list[Any]:
    """The float fields, as views; both parts of complex ones."""
    found: list[Any] = []
    for name in a.dtype.names:
        part = a[name]
        if part.dtype.names:
            found += floats(part)
        elif part.dtype.kind in "fc":
            found += [part.real, part.imag] if part.dtype.kind == "c" else [part]
    return found


def inner(a: Any, b: Any) -> float:
    """The sum of products of the float fields."""
    return sum(float(np.sum(x.astype(float) * y)) for x, y in zip(floats(a), floats(b), strict=True))


def moved(a: Any, direction: Any, step: float) -> Any:
    """The array some way in a direction."""
    found = a.copy()
    for x, y in zip(floats(found), floats(direction), strict=True):
        x += step * y
    return found


@pytest.mark.parametrize(("program", "dtype"), DERIVED, ids=lambda x: getattr(x, "__name__", ""))
def test_derivatives(program: Callable[..., Any], dtype: np.dtype[Any]) -> None:
    """Gradient and tangent against differences; forward over reverse, and reverse over reverse, against gradients."""
    a, direction, h = filled(dtype, 4), filled(dtype, 4, seed=5), 1e-5
    difference = (program(moved(a, direction, h)) - program(moved(a, direction, -h))) / (2 * h)
    gradient = pb.grad(program)
    slopes = gradient(a.copy())
    assert slopes.dtype == a.dtype and slopes.shape == a.shape
    assert np.isclose(inner(slopes, direction), difference, rtol=1e-5, atol=1e-6)
    assert np.isclose(pb.jvp(program, (a.copy(),), (direction,))[1], difference, rtol=1e-5, atol=1e-6)
    for name in ("n", "b"):
        assert name not in a.dtype.names or not slopes[name].any()
    above, below = gradient(moved(a, direction, h)), gradient(moved(a, direction, -h))
    second = pb.jvp(gradient, (a.copy(),), (direction,))[1]
    for x, up, down in zip(floats(second), floats(above), floats(below), strict=True):
        assert np.allclose(x, (up - down) / (2 * h), rtol=1e-4, atol=1e-3 if x.dtype.itemsize == 4 else 1e-6)
    if "y" in dtype.names:  # type: ignore[operator]
        twice = pb.grad(lambda a, d: (lambda g: np.sum(g["x"] * d["x"]) + np.sum(g["y"] * d["y"]))(pb.grad(program)(a)))
        for x, y in zip(floats(twice(a.copy(), direction)), floats(second), strict=True):
            assert np.allclose(x, y)


def test_gradients_of_objects_and_results() -> None:
    slopes = pb.grad(lambda box: np.sum(box.records["x"] ** 2) * box.scale)(Box(filled(PACKED, 2), 2.5))
    assert np.allclose(slopes.records["x"], 5 * filled(PACKED, 2)["x"])
    assert not (slopes.records["y"].any() or slopes.records["n"].any() or slopes.records["b"].any())
    held = pb.grad(lambda box: (box.scale * box.records).imag)(Box(1 + 2j, 3.0))  # the parts of a complex number
    assert (held.records, held.scale) == (3j, 2.0)

    def made(x: Any) -> Any:
        a = np.zeros(2, dtype=[("x", "f8"), ("n", "i4")])
        a["x"], a["n"] = x**2, 3
        return a

    value, tangent = pb.jvp(made, (2.0,), (1.0,))
    assert value.tolist() == [(4.0, 3), (4.0, 3)] and tangent.tolist() == [(4.0, 0), (4.0, 0)]
    cotangent = np.array([(1.0, 0), (2.0, 0)], value.dtype)
    assert pb.vjp(made, 2.0)[1](cotangent) == (12.0,)
    with pytest.raises(pb.CompileError):
        pb.vjp(made, 2.0)[1](np.zeros(2, [("x", "f8"), ("n", "i8")]))
    stopped = pb.grad(lambda a: np.sum(pb.stop_gradient(a)["x"] * a["y"]))(GIVEN)
    assert not stopped["x"].any() and np.allclose(stopped["y"], GIVEN["x"])


def test_complex_arrays_that_are_written_are_differentiated() -> None:
    """Their parts are interleaved: no memory is shared."""

    def program(z: Any) -> Any:
        z[0] = z[1] * z[1]
        z *= 2.0
        return np.sum(z.real * z.imag)

    z = np.array([1 + 2j, 3 + 4j, 5 - 1j])
    w = 3 + 4j  # 4 Re(w**2) Im(w**2), and 4 Re Im of the others
    slopes = pb.grad(program)(z.copy())
    h = 1e-6
    by_parts = [(program(z + h * np.eye(3)[k] * u) - program(z - h * np.eye(3)[k] * u)) / (2 * h)
                for k in range(3) for u in (1, 1j)]  # fmt: skip
    assert np.allclose(slopes, np.array(by_parts[::2]) + 1j * np.array(by_parts[1::2])) and w == z[1]


def test_single_precision() -> None:
    a = filled(np.dtype([("h", "f2"), ("x", "f4"), ("u", "u1")]), 4)
    slopes = pb.grad(lambda a: np.sum(a["x"] ** 2) * a[0]["h"])(a)
    assert slopes.dtype == a.dtype and np.allclose(slopes["x"], 2 * a["x"] * a["h"][0], rtol=1e-5)
    check(lambda a: (a["x"] * 2, a["h"] + a["h"], a[1]["x"] * a[1]["h"], a["u"] + a["u"]), a)


@pytest.mark.parametrize(("rank", "seed"), [(rank, seed) for rank in (1, 2, 3) for seed in range(8)])
def test_memory_that_is_shared_is_found(rank: int, seed: int) -> None:
    """Views of one array that meet, or lie between one another: a write to one shows in the other as in NumPy."""
    rng = np.random.default_rng([rank, seed])

    def program(a: Any, b: Any) -> Any:
        a[...] = b
        return np.sum(a * b)

    for _ in range(6):
        whole = rng.normal(size=200)
        views = []
        for _ in range(2):
            strides = [8 * int(s) for s in rng.permutation([1, 6, 24][:rank])]
            offset = int(rng.integers(0, 30))
            views.append((offset, tuple(rng.integers(2, 4, size=rank)), strides))
        size = tuple(map(min, views[0][1], views[1][1]))

        def pair(base: Any) -> Any:
            return [np.ndarray(size, float, base, 8 * at, steps) for at, _, steps in views]  # noqa: B023

        ours, theirs = whole.copy(), whole.copy()
        assert np.isclose(pb.jit(program)(*pair(ours)), program(*pair(theirs))) and np.array_equal(ours, theirs)
