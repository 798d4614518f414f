"""Products of matrices by blocks and tiles, and with vectors: on their own for several kinds of registers, and used."""

import ctypes
import itertools
import mmap
import sys

import numpy as np
import pytest

import pullback as pb
from pullback.codegen import abi, blocks, jit, memory, shared
from pullback.codegen.target import Vectors
from pullback.codegen.writer import ModuleWriter, Options
from pullback.ir.node import Program
from pullback.types import DType

REGISTERS = [Vectors(64, 32, True), Vectors(32, 16, True), Vectors(16, 32, False), Vectors(16, 16, False)]
DTYPES = {DType.F32: (np.float32, 1e-4), DType.F64: (np.float64, 1e-12)}
POINTERS = {"a", "b", "c", "x", "y"}
BLOCKS, GEMV = "m n k a a0 a1 b b0 b1 c c0", "m k a a0 a1 x x0 y y0"


class Made:
    """The functions of a dtype for some registers."""

    def __init__(self, dtype, registers):
        module = ModuleWriter(Program(), Options())
        text, names = blocks.group(module, dtype, registers)
        helpers = [name for name in module.helpers if name not in names]
        assert all(name in memory.SIGNATURES for name in helpers)  # no group needs one that needs it
        declared = [*map(shared.declaration, helpers), *module.declarations.values()]
        for name in names:
            text = text.replace(f"define internal i32 @{name}(", f"define i32 @{name}(")
        code = jit.compile_object("\n".join((*declared, text, module.metadata())), jit.AS_WRITTEN)
        self.library = jit.link(code, {name: shared.address(name) for name in helpers}, names)
        self.context = (ctypes.c_int64 * (abi.CONTEXT_SIZE // 8))()
        self.context[abi.FUEL // 8] = 1 << 60
        self.functions = {name.split(".")[1]: self.library.addresses[name] for name in names}

    def call(self, kind, parameters, *operands, add):
        types = [ctypes.c_void_p if name in POINTERS else ctypes.c_int64 for name in parameters.split()]
        run = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, *types, ctypes.c_bool)(self.functions[kind])
        assert run(ctypes.addressof(self.context), *operands, add) == 0
        assert not self.context[abi.LIST // 8]  # nothing stays allocated

    def product(self, a, b, c, add):
        sizes = a.shape[0], b.shape[1], a.shape[1]
        given = (a.ctypes.data, *a.strides, b.ctypes.data, *b.strides, c.ctypes.data, c.strides[0])
        self.call("blocks", BLOCKS, *sizes, *given, add=add)

    def times(self, a, x, y, add):
        vectors = (x.ctypes.data, x.strides[0], y.ctypes.data, y.strides[0])
        self.call("gemv", GEMV, *a.shape, a.ctypes.data, *a.strides, *vectors, add=add)


def matrix(random, rows, columns, layout, dtype):
    """Row-major, column-major, spread, reversed, with room beside it, all rows one."""
    shape = {1: (columns, rows), 2: (2 * rows, 3 * columns), 4: (rows, columns + 3), 5: (1, columns)}
    a = random.standard_normal(shape.get(layout, (rows, columns))).astype(dtype)
    forms = {0: a, 1: a.T, 2: a[::2, ::3], 3: a[::-1, ::-1], 4: a[:, :columns]}
    return np.broadcast_to(a, (rows, columns)) if layout == 5 else forms[layout]


def close(found, wanted, tolerance):
    return np.allclose(found, wanted, rtol=tolerance, atol=10 * tolerance)


@pytest.mark.parametrize("registers", REGISTERS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.value)
def test_blocks(dtype, registers):
    """All edges of tiles, several blocks of k and of m; what lies beside the target keeps its values."""
    made, (numpy_, tolerance), random = Made(dtype, registers), DTYPES[dtype], np.random.default_rng(3)
    sizes = [*itertools.product((1, 2, 11, 12, 13, 29), (1, 4, 7, 8, 9, 16, 17, 31, 33, 50), (1, 2, 7, 40)),
             (5, 3, 256), (13, 40, 257), (50, 33, 600), (500, 19, 9), (965, 2, 3)]  # fmt: skip
    for m, n, k in sizes:
        i, j = random.integers(0, 6, 2)
        a, b = matrix(random, m, k, i, numpy_), matrix(random, k, n, j, numpy_)
        room = random.standard_normal((m, n + 3)).astype(numpy_)
        beside, c, before = room[:, n:].copy(), room[:, :n], room[:, :n].copy()
        wanted = a.astype(float) @ b.astype(float)
        made.product(a, b, c, False)
        assert close(c, wanted, tolerance), (m, n, k, i, j)
        c[...] = before
        made.product(a, b, c, True)
        assert close(c, before + wanted, tolerance), (m, n, k, i, j)
        assert np.array_equal(room[:, n:], beside)


@pytest.mark.parametrize("registers", [r for r in REGISTERS if r.masks], ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.value)
def test_vectors(dtype, registers):
    made, (numpy_, tolerance), random = Made(dtype, registers), DTYPES[dtype], np.random.default_rng(4)
    for m, k in itertools.product((1, 5, 8, 9, 16, 17, 33, 100), (1, 2, 3, 4, 7, 8, 16, 19, 150)):
        for layout, x_step, y_step in itertools.product((1, 4, 5), (1, -2), (1, 2)):
            if layout == 1 and y_step == 2:
                continue  # columns are added to a contiguous y
            a, x = matrix(random, m, k, layout, numpy_), random.standard_normal(2 * k).astype(numpy_)[::x_step][:k]
            room = random.standard_normal(2 * m + 3).astype(numpy_)
            untouched = np.ones(len(room), bool)
            untouched[: y_step * m : y_step] = False
            kept, y = room[untouched], room[: y_step * m : y_step]
            wanted = a.astype(float) @ x.astype(float)
            before = y.copy()
            made.times(a, x, y, False)
            assert close(y, wanted, tolerance), (m, k, layout, x_step, y_step)
            y[...] = before
            made.times(a, x, y, True)
            assert close(y, before + wanted, tolerance), (m, k, layout, x_step, y_step)
            assert np.array_equal(room[untouched], kept)


class Fenced:
    """Arrays that pages nobody may touch lie directly behind, or before."""

    def __init__(self):
        self.kept = []

    def __call__(self, array, *, behind):
        page, size = mmap.PAGESIZE, -(-array.nbytes // mmap.PAGESIZE) * mmap.PAGESIZE
        room = mmap.mmap(-1, size + 2 * page)
        start = ctypes.addressof(ctypes.c_char.from_buffer(room))
        for fence in (start, start + page + size):
            no_access = 0
            assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(fence), ctypes.c_size_t(page), no_access) == 0
        self.kept.append(room)
        offset = page + size - array.nbytes if behind else page
        order = "C" if array.flags.c_contiguous else "F"
        moved = np.ndarray(array.shape, array.dtype, room, offset, order=order)
        moved[...] = array
        return moved


@pytest.mark.skipif(sys.platform == "win32", reason="pages are fenced by mprotect")
@pytest.mark.parametrize("registers", REGISTERS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.value)
def test_nothing_outside_is_touched(dtype, registers):
    made, (numpy_, tolerance), random, fenced = (
        Made(dtype, registers),
        DTYPES[dtype],
        np.random.default_rng(6),
        Fenced(),
    )
    sizes = [(1, 5, 3), (13, 9, 17), (6, 3, 33), (12, 4, 16), (50, 5, 19)]
    for (m, k, n), i, j, behind in itertools.product(sizes, (0, 1), (0, 1), (True, False)):
        a, b = (fenced(matrix(random, *shape, layout, numpy_), behind=behind)
                for shape, layout in (((m, k), i), ((k, n), j)))  # fmt: skip
        c = fenced(np.zeros((m, n), numpy_), behind=behind)
        made.product(a, b, c, True)
        assert close(c, a.astype(float) @ b.astype(float), tolerance)
        if registers.masks:
            x, y = fenced(b[:, 0].copy(), behind=behind), fenced(np.zeros(m, numpy_), behind=behind)
            made.times(a, x, y, True)
            assert close(y, c[:, 0], tolerance)


@pytest.mark.parametrize("registers", REGISTERS[1:3], ids=str)
def test_nan_and_infinity_stay_in_their_row_and_column(registers):
    made, random = Made(DType.F64, registers), np.random.default_rng(5)
    for bad in (np.nan, np.inf):
        a, b = random.standard_normal((13, 21)), random.standard_normal((21, 19))
        a[7, 20], b[3, 18] = bad, -bad
        c = np.empty((13, 19))
        made.product(a, b, c, False)
        finite = np.isfinite(c)
        assert not finite[7].any() and not finite[:, 18].any()
        assert np.delete(np.delete(finite, 7, 0), 18, 1).all()


def test_bits_do_not_depend_on_strides_or_place():
    made, random = Made(DType.F32, None), np.random.default_rng(6)
    a, b = (random.standard_normal(shape).astype(np.float32) for shape in ((70, 300), (300, 50)))
    whole = np.empty((70, 50), np.float32)
    made.product(a, b, whole, False)
    turned = np.empty_like(whole)
    made.product(np.asfortranarray(a), np.asfortranarray(b), turned, False)
    assert np.array_equal(whole, turned)
    for i, j in ((0, 0), (13, 7), (66, 49)):
        part = np.empty((70 - i, 50 - j), np.float32)
        made.product(a[i:], b[:, j:], part, False)
        assert np.array_equal(part, whole[i:, j:])


# ------------------------------------------------------------------------------------------------------- programs


@pb.jit
def product(a, b):
    return a @ b


@pb.jit
def into(a, b, out):
    out[:] = a @ b
    out += a @ b


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.complex128], ids=lambda d: d.__name__)
def test_shapes_and_strides(dtype):
    random = np.random.default_rng(7)
    tolerance = 1e-4 if dtype == np.float32 else 1e-11

    def made(rows, columns, layout):
        real = matrix(random, rows, columns, layout, float) * 4
        return (real + 1j * matrix(random, rows, columns, layout, float) if dtype == np.complex128 else real).astype(
            dtype
        )

    for _ in range(250):
        m, n, k = random.integers(0, 41, 3)
        i, j = random.integers(0, 6, 2)
        a, b = made(m, k, i), made(k, n, j)
        a.flags.writeable = False
        found = product(a, b)
        assert found.dtype == dtype and found.shape == (m, n)
        assert np.allclose(found, a @ b, rtol=tolerance, atol=20 * tolerance), (m, n, k, i, j)


@pytest.mark.parametrize("layout", range(4))
@pytest.mark.parametrize(("m", "k", "n"), [(20, 30, 25), (1, 30, 25), (20, 30, 1), (3, 2, 3)])
def test_a_target_of_any_strides(m, k, n, layout):
    random = np.random.default_rng(8)
    a, b, out = matrix(random, m, k, 0, float), matrix(random, k, n, 1, float), matrix(random, m, n, layout, float)
    into(a, b, out)
    assert np.allclose(out, 2 * (a @ b), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [2, 5, 13, 40])
def test_a_target_that_is_an_operand(size):
    a = np.random.default_rng(9).standard_normal((size, size)) / size
    for view in (lambda x: x, lambda x: x.T):
        given = a.copy()
        wanted = given @ view(given)
        wanted += wanted @ view(wanted)
        into(given, view(given), given)
        assert np.allclose(given, wanted, rtol=1e-12, atol=1e-12)


def energy(a, b, c):
    return np.sum(np.tanh(a @ b @ c.T) ** 2)


def test_gradients_and_second_order():
    random = np.random.default_rng(10)
    arguments = [random.standard_normal(shape) / 5 for shape in ((13, 20), (20, 33), (9, 33))]
    directions = [random.standard_normal(x.shape) for x in arguments]
    slopes = pb.grad(energy, (0, 1, 2))
    h = 1e-6
    ends = [slopes(*(x + sign * h * d for x, d in zip(arguments, directions, strict=True))) for sign in (1, -1)]
    _, tangent = pb.jvp(energy, tuple(arguments), tuple(directions))
    along = sum(np.sum(s * d) for s, d in zip(slopes(*arguments), directions, strict=True))
    assert along == pytest.approx(float(tangent), rel=1e-10)
    _, curved = pb.jvp(slopes, tuple(arguments), tuple(directions))
    for found, up, down in zip(curved, *ends, strict=True):
        assert np.allclose(found, (up - down) / (2 * h), rtol=1e-5, atol=1e-6)


def rows_of_products(a, bs):
    out = np.zeros((len(bs), a.shape[0], bs.shape[2]), a.dtype)
    for i in pb.prange(len(bs)):
        out[i] = a @ bs[i]
    return out


def test_threads_give_the_same_bits():
    random = np.random.default_rng(11)
    a, bs = random.standard_normal((30, 280)), random.standard_normal((16, 280, 37))
    serial = pb.jit(rows_of_products)(a, bs)
    assert np.array_equal(serial, pb.jit(rows_of_products, parallel=True)(a, bs))
    assert np.array_equal(serial[3], product(a, bs[3]))
    assert np.allclose(serial, a @ bs, rtol=1e-12, atol=1e-12)
