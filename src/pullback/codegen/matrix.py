"""Matrix products: loops for very small ones, blocks of our own or BLAS (through SciPy) for the others.

    c = matmul(a, b)        ->   c = fresh;  pb.matmul.f64(context, m, n, k, a, strides, b, strides, c, strides, 0)
    matmul_inc(s, a, b)     ->   the same with s and 1

Blocks (see `blocks`) take operands of any strides.  Products with a vector are BLAS's, and very large ones, for which
it may use threads.  BLAS is column-major: a row-major C = A B is computed as C' = B' A'.  An operand whose rows and
columns are both spread is copied first; a target of that kind gets its product from a temporary.  Integers and bools
use the loops at every size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.codegen import abi, blocks, gemv
from pullback.codegen.arrays import array_type, fresh, sizes_of, strides_of
from pullback.codegen.loops import repeat
from pullback.codegen.native import BLAS_PREFIX, BLOCKS, GEMV
from pullback.codegen.records import plus
from pullback.codegen.scalars import constant
from pullback.codegen.templates import FAST
from pullback.codegen.writer import ELEMENT, FunctionWriter, ModuleWriter
from pullback.diagnostic import InternalError
from pullback.ir.node import Op
from pullback.types import DType

__all__ = ["RULES", "group", "signature"]

_SMALL, _SHORT = 8, 64  # m*n*k up to which the loops win: of matrices, and with a vector
# From here on BLAS may use threads: products of matrices, and with vectors.  How many there are does not choose, as it
# would change bits.
_HUGE, _LONG = 1 << 27, 1 << 20
_OF_BLAS = {DType.F64: "d", DType.F32: "s"}
_NAMES = [f"%{n}" for n in ("m", "n", "k", "a", "a0", "a1", "b", "b0", "b1", "c", "c0", "c1")]
_TYPES = ["ptr" if n in ("%a", "%b", "%c") else "i64" for n in _NAMES]


def _matmul(w: FunctionWriter, op: Op) -> None:
    a, b = op.operands
    dtype = array_type(a).dtype
    sizes = [sizes_of(w, a)[0], sizes_of(w, b)[1]]
    data = fresh(w, dtype, sizes)
    w.pieces[op.result] = (data, *sizes)
    item = str(dtype.bytes)
    _product(w, op, dtype, [data, w.multiply(sizes[1], item), item], "false")


def _matmul_inc(w: FunctionWriter, op: Op) -> None:
    target = op.operands[0]
    _product(w, op, array_type(target).dtype, [w.only(target), *strides_of(w, target)], "true")


def _product(w: FunctionWriter, op: Op, dtype: DType, target: list[str], add: str) -> None:
    w.count_work(abi.PRODUCTS)
    a, b = op.operands[-2:]
    (m, k), (_, n) = sizes_of(w, a), sizes_of(w, b)
    operands = [m, n, k, w.only(a), *strides_of(w, a), w.only(b), *strides_of(w, b), *target]
    _call(w, w.module.helper(f"pb.matmul.{dtype.value}"), operands, add)


def _call(w: FunctionWriter, symbol: str, operands: Sequence[str], add: str) -> None:
    arguments = "".join(f", {t} {v}" for t, v in zip(_TYPES, operands, strict=True))
    status = w.set(f"call i32 {symbol}(ptr %context{arguments}, i1 {add})")
    w.fail_if(w.set(f"icmp ne i32 {status}, 0"), status)


def signature(name: str) -> str:
    """The declaration of a helper."""
    others = {"pb.matrix_copy.": _COPY_TYPES, BLOCKS: blocks.TYPES, GEMV: gemv.TYPES}
    types = next((types for prefix, types in others.items() if name.startswith(prefix)), _TYPES)
    return f"declare i32 @{name}(ptr, {', '.join(types)}, i1) nounwind"


def group(module: ModuleWriter, dtype: DType) -> tuple[str, list[str]]:
    """The text of all helpers of a dtype, and their names; each returns a status."""
    written = {"pb.matmul_loops.": _loops, "pb.matrix_copy.": _copy, "pb.matmul.": _choose}
    if dtype not in _OF_BLAS:
        del written["pb.matrix_copy."]
    texts = [_text(module, prefix + dtype.value, write, dtype) for prefix, write in written.items()]
    if dtype in _OF_BLAS:
        module.declare("@llvm.smax.i64", "declare i64 @llvm.smax.i64(i64, i64)")
        texts.append(_LEADING)
    return "".join(texts), [prefix + dtype.value for prefix in written]


def _text(module: ModuleWriter, name: str, write: Callable[[FunctionWriter, DType], None], dtype: DType) -> str:
    w = FunctionWriter(module, {}, _no_ops)
    write(w, dtype)
    copies = name.startswith("pb.matrix_copy.")
    names, types = (_COPY_NAMES, _COPY_TYPES) if copies else (_NAMES, _TYPES)
    parameters = ", ".join(f"{t} {v}" for t, v in zip(types, names, strict=True))
    return w.close(f"define internal i32 @{name}(ptr noalias %context, {parameters}, i1 %add) noinline nounwind", "i32")


def _no_ops(w: FunctionWriter, op: Op) -> None:
    raise InternalError(f"{op.name} in a helper")


def _up_to(w: FunctionWriter, n: str, step: Callable[[str], None], mark: str = "") -> None:
    """Run `step` for 0 <= k < n, without polls."""
    start, done = w.label(), w.label()
    w.branch(w.set(f"icmp sgt i64 {n}, 0"), start, done)
    w.begin(start)

    def once(index: str, _: list[str]) -> list[str]:
        step(index)
        return []

    repeat(w, "0", n, [], [], once, mark)
    w.jump(done)
    w.begin(done)


# ------------------------------------------------------------------------------------------------------- loops


def _loops(w: FunctionWriter, dtype: DType) -> None:
    """c[i, :] (+)= a[i, p] * b[p, :], with unit strides along the row where they are so; one column: dot products."""
    column, rows, end = w.label(), w.label(), w.label()
    w.branch(w.set("icmp eq i64 %n, 1"), column, rows)
    w.begin(column)
    _dots(w, dtype)
    w.jump(end)
    w.begin(rows)
    unit = [w.set(f"icmp eq i64 {s}, {dtype.bytes}") for s in ("%b1", "%c1")]
    fast, slow, done = w.label(), w.label(), w.label()
    w.branch(w.set(f"and i1 {unit[0]}, {unit[1]}"), fast, slow)
    w.begin(fast)
    _nest(w, dtype, str(dtype.bytes), str(dtype.bytes), False)
    w.jump(done)
    w.begin(slow)
    _nest(w, dtype, "%b1", "%c1", True)
    w.jump(done)
    w.begin(done)
    w.jump(end)
    w.begin(end)


def _dots(w: FunctionWriter, dtype: DType) -> None:
    """c[i] (+)= sum of a[i, p] * b[p]."""
    t, work = abi.LLVM[dtype], w.set("add i64 %k, 4")

    def row(i: str) -> None:
        a, c = w.offset("%a", w.multiply(i, "%a0")), w.offset("%c", w.multiply(i, "%c0"))
        start, done, before = w.label(), w.label(), w.block
        w.branch(w.set("icmp sgt i64 %k, 0"), start, done)
        w.begin(start)

        def term(p: str, carried: list[str]) -> list[str]:
            x = w.load(dtype, w.offset(a, w.multiply(p, "%a1")), ELEMENT)
            y = w.load(dtype, w.offset("%b", w.multiply(p, "%b0")), ELEMENT)
            return [plus(w, dtype, carried[0], _times(w, dtype, x, y))]

        nothing = constant(0, dtype)
        (total,) = repeat(w, "0", "%k", [t], [nothing], term)
        last = w.block
        w.jump(done)
        w.begin(done)
        (total,) = w.phis([t], (before, [nothing]), (last, [total]))
        increase, store = w.label(), w.label()
        here = w.block
        w.branch("%add", increase, store)
        w.begin(increase)
        more = plus(w, dtype, w.load(dtype, c, ELEMENT), total)
        w.jump(store)
        w.begin(store)
        (value,) = w.phis([t], (here, [total]), (increase, [more]))
        w.store(dtype, value, c, ELEMENT)
        w.burn(work)

    _up_to(w, "%m", row)


def _nest(w: FunctionWriter, dtype: DType, b1: str, c1: str, scalar: bool) -> None:
    work = w.set(f"mul i64 {w.set('add i64 %n, 4')}, %k")

    def row(i: str) -> None:
        a, c = w.offset("%a", w.multiply(i, "%a0")), w.offset("%c", w.multiply(i, "%c0"))

        def clear(j: str) -> None:
            w.store(dtype, constant(0, dtype), _at(w, dtype, c, j, c1), ELEMENT)

        def term(p: str) -> None:
            factor = w.load(dtype, w.offset(a, w.multiply(p, "%a1")), ELEMENT)
            b = w.offset("%b", w.multiply(p, "%b0"))

            def add(j: str) -> None:
                product = _times(w, dtype, factor, w.load(dtype, _at(w, dtype, b, j, b1), ELEMENT))
                place = _at(w, dtype, c, j, c1)
                w.store(dtype, plus(w, dtype, w.load(dtype, place, ELEMENT), product), place, ELEMENT)

            _up_to(w, "%n", add, w.module.scalar_loop() if scalar else "")

        zero, ready = w.label(), w.label()
        w.branch("%add", ready, zero)
        w.begin(zero)
        _up_to(w, "%n", clear, w.module.scalar_loop())
        w.jump(ready)
        w.begin(ready)
        _up_to(w, "%k", term)
        w.burn(work)

    _up_to(w, "%m", row)


def _at(w: FunctionWriter, dtype: DType, base: str, index: str, stride: str) -> str:
    if stride == str(dtype.bytes):
        return w.set(f"getelementptr inbounds {abi.MEMORY[dtype]}, ptr {base}, i64 {index}")
    return w.offset(base, w.multiply(index, stride))


_COPY_NAMES = [f"%{n}" for n in ("rows", "columns", "to", "to0", "to1", "from", "from0", "from1")]
_COPY_TYPES = ["ptr" if n in ("%to", "%from") else "i64" for n in _COPY_NAMES]


def _copy(w: FunctionWriter, dtype: DType) -> None:
    """to (+)= from."""
    t = abi.LLVM[dtype]

    def row(i: str) -> None:
        source, goal = w.offset("%from", w.multiply(i, "%from0")), w.offset("%to", w.multiply(i, "%to0"))

        def column(j: str) -> None:
            value = w.load(dtype, w.offset(source, w.multiply(j, "%from1")), ELEMENT)
            place = w.offset(goal, w.multiply(j, "%to1"))
            total = plus(w, dtype, w.load(dtype, place, ELEMENT), value)
            w.store(dtype, w.set(f"select i1 %add, {t} {total}, {t} {value}"), place, ELEMENT)

        _up_to(w, "%columns", column, w.module.scalar_loop())
        w.burn("%columns")

    _up_to(w, "%rows", row)


def _times(w: FunctionWriter, dtype: DType, x: str, y: str) -> str:
    operation = f"fmul {FAST if w.fast else ''}" if dtype.is_float else "mul " if dtype.is_int else "and "
    return w.set(f"{operation}{abi.LLVM[dtype]} {x}, {y}")


# -------------------------------------------------------------------------------------------------------- BLAS


def _choose(w: FunctionWriter, dtype: DType) -> None:
    """Loops if small, else BLAS after operands and target have got a form that it takes."""
    loops = w.module.helper(f"pb.matmul_loops.{dtype.value}")
    if dtype not in _OF_BLAS:
        _call(w, loops, _NAMES, "%add")
        return
    work = w.set(f"mul i64 {w.set('mul i64 %m, %n')}, %k")
    few, many, done = (w.label() for _ in range(3))
    w.branch(_small(w, work), few, many)
    w.begin(few)
    _call(w, loops, _NAMES, "%add")
    w.jump(done)
    w.begin(many)
    _large(w, dtype, work, done)
    w.begin(done)


def _small(w: FunctionWriter, work: str) -> str:
    """An i1: also for sizes past the 32 bits of BLAS."""
    vector = w.set(f"or i1 {w.set('icmp eq i64 %m, 1')}, {w.set('icmp eq i64 %n, 1')}")
    few = w.set(f"icmp ule i64 {work}, {w.set(f'select i1 {vector}, i64 {_SHORT}, i64 {_SMALL}')}")
    for size in ("%m", "%n", "%k"):
        few = w.set(f"or i1 {few}, {w.set(f'icmp ugt i64 {size}, {2**31 - 1}')}")
    return few


def _large(w: FunctionWriter, dtype: DType, work: str, done: str) -> None:
    item = str(dtype.bytes)
    swap, target, direct = w.label(), w.label(), w.label()
    rows = _leading(w, item, "%c", "%m", "%n", "%c0", "%c1")
    columns = _leading(w, item, "%c", "%n", "%m", "%c1", "%c0")
    # A row vector times a matrix, and a column-major target: transpose the whole product.
    vector = w.set(f"and i1 {w.set('icmp eq i64 %m, 1')}, {w.set('icmp ne i64 %n, 1')}")
    other = w.set(f"or i1 {vector}, {w.set(f'icmp eq i64 {rows}, 0')}")
    swappable = w.set(f"and i1 {other}, {w.set(f'icmp ne i64 {columns}, 0')}")
    w.branch(swappable, swap, target)
    w.begin(swap)
    m, n, k, a, a0, a1, b, b0, b1, c, c0, c1 = _NAMES
    _call(w, f"@pb.matmul.{dtype.value}", [n, m, k, b, b1, b0, a, a1, a0, c, c1, c0], "%add")
    w.jump(done)
    w.begin(target)
    spread = w.label()
    w.branch(w.set(f"icmp eq i64 {rows}, 0"), spread, direct)
    w.begin(spread)
    _by_temporary(w, dtype)
    w.jump(done)
    w.begin(direct)
    blas = w.label()
    _ours(w, dtype, work, blas, done)
    w.begin(blas)
    w.take(w.set(f"lshr i64 {work}, 2"))
    _direct(w, dtype, rows, done)


def _leading(w: FunctionWriter, item: str, data: str, rows: str, columns: str, s0: str, s1: str) -> str:
    """The leading dimension of a matrix as BLAS wants it, or 0 where its rows are not contiguous, or its elements (of a
    field of packed records) not aligned."""
    return w.set(f"call i64 @pb.leading(i64 {rows}, i64 {columns}, i64 {s0}, i64 {s1}, i64 {item}, ptr {data})")


_LEADING = """
define internal i64 @pb.leading(i64 %rows, i64 %columns, i64 %s0, i64 %s1, i64 %item, ptr %data) nounwind memory(none) {
  %unit = icmp eq i64 %s1, %item
  %narrow = icmp sle i64 %columns, 1
  %row = or i1 %unit, %narrow
  %one = icmp sle i64 %rows, 1
  %least = call i64 @llvm.smax.i64(i64 %columns, i64 1)
  %bytes = mul i64 %least, %item
  %wide = icmp sge i64 %s0, %bytes
  %below = icmp slt i64 %s0, 8589934592
  %mask = sub i64 %item, 1
  %address = ptrtoint ptr %data to i64
  %bits = or i64 %s0, %address
  %odd = and i64 %bits, %mask
  %whole = icmp eq i64 %odd, 0
  %x = and i1 %wide, %below
  %aligned = and i64 %address, %mask
  %based = icmp eq i64 %aligned, 0
  %y = and i1 %x, %whole
  %near = and i1 %one, %based
  %steps = or i1 %y, %near
  %good = and i1 %row, %steps
  %dimension = sdiv i64 %s0, %item
  %some = select i1 %one, i64 %least, i64 %dimension
  %result = select i1 %good, i64 %some, i64 0
  ret i64 %result
}
"""


def _call_copy(w: FunctionWriter, dtype: DType, operands: Sequence[str], add: str) -> None:
    symbol = w.module.helper(f"pb.matrix_copy.{dtype.value}")
    arguments = "".join(f", {t} {v}" for t, v in zip(_COPY_TYPES, operands, strict=True))
    status = w.set(f"call i32 {symbol}(ptr %context{arguments}, i1 {add})")
    w.fail_if(w.set(f"icmp ne i32 {status}, 0"), status)


def _by_temporary(w: FunctionWriter, dtype: DType) -> None:
    """c (+)= product, by way of a fresh product."""
    item = str(dtype.bytes)
    data = fresh(w, dtype, ["%m", "%n"])
    stride = w.multiply("%n", item)
    _call(w, f"@pb.matmul.{dtype.value}", [*_NAMES[:9], data, stride, item], "false")

    _call_copy(w, dtype, ["%m", "%n", "%c", "%c0", "%c1", data, stride, item], "%add")
    w.do(f"call void {w.module.helper('pb.free')}(ptr %context, ptr {data})")


def _ours(w: FunctionWriter, dtype: DType, work: str, blas: str, done: str) -> None:
    """By blocks, or by rows or columns times a vector; goes on at `blas` where BLAS does as well or better."""
    matrix, vector, many, form = (w.label() for _ in range(4))
    m, _, k, a, a0, a1, b, b0, _, c, c0, _ = _NAMES
    w.branch(w.set("icmp eq i64 %n, 1"), vector, matrix)
    w.begin(matrix)
    w.branch(w.set(f"icmp ult i64 {work}, {_HUGE}"), many, blas)
    w.begin(many)
    _call_ours(w, BLOCKS, dtype, blocks.TYPES, _NAMES[:-1])
    w.jump(done)
    w.begin(vector)
    if not blocks.has_vectors():
        w.jump(blas)
        return
    row, column, target = (w.set(f"icmp eq i64 {stride}, {dtype.bytes}") for stride in (a1, a0, c0))
    contiguous = w.set(f"or i1 {row}, {w.set(f'and i1 {column}, {target}')}")
    w.branch(w.set(f"and i1 {contiguous}, {w.set(f'icmp ult i64 {work}, {_LONG}')}"), form, blas)
    w.begin(form)
    _call_ours(w, GEMV, dtype, gemv.TYPES, [m, k, a, a0, a1, b, b0, c, c0])
    w.jump(done)


def _call_ours(w: FunctionWriter, prefix: str, dtype: DType, types: Sequence[str], operands: Sequence[str]) -> None:
    arguments = ", ".join(f"{t} {v}" for t, v in zip(types, operands, strict=True))
    status = w.set(f"call i32 {w.module.helper(prefix + dtype.value)}(ptr %context, {arguments}, i1 %add)")
    w.fail_if(w.set(f"icmp ne i32 {status}, 0"), status)


def _direct(w: FunctionWriter, dtype: DType, leading_c: str, done: str) -> None:
    """The target's rows are contiguous: gemv for one column, else gemm."""
    t, char = abi.LLVM[dtype], _OF_BLAS[dtype]
    a, lead_a, trans_a = _form(w, dtype, "%m", "%k", "%a", "%a0", "%a1")
    b, lead_b, trans_b = _form(w, dtype, "%k", "%n", "%b", "%b0", "%b1")
    cells = {name: _cell(w, "i32", w.set(f"trunc i64 {value} to i32")) for name, value in (
        ("m", "%m"), ("n", "%n"), ("k", "%k"), ("a", lead_a), ("b", lead_b), ("c", leading_c))}  # fmt: skip
    one, zero = constant(1.0, dtype), constant(0.0, dtype)
    alpha = _cell(w, t, one)
    beta = _cell(w, t, w.set(f"select i1 %add, {t} {one}, {t} {zero}"))
    vector, matrix, clean = w.label(), w.label(), w.label()
    # One column in row-major form: consecutive elements are a leading dimension apart, in b and in c.
    column = w.set(f"and i1 {w.set('icmp eq i64 %n, 1')}, {w.set(f'icmp eq i8 {trans_b}, {ord(_PLAIN)}')}")
    w.branch(column, vector, matrix)
    w.begin(vector)
    # Row-major A (m by k) is BLAS's k by m, so the untransposed A is its transpose.
    plain = w.set(f"icmp eq i8 {trans_a}, {ord(_PLAIN)}")
    flag = _cell(w, "i8", w.set(f"select i1 {plain}, i8 {ord(_TURNED)}, i8 {ord(_PLAIN)}"))
    first = w.set(f"select i1 {plain}, ptr {cells['k']}, ptr {cells['m']}")
    second = w.set(f"select i1 {plain}, ptr {cells['m']}, ptr {cells['k']}")
    _blas(w, f"{char}gemv", [flag, first, second, alpha, a, cells["a"], b, cells["b"], beta, "%c", cells["c"]])
    w.jump(clean)
    w.begin(matrix)
    _blas(w, f"{char}gemm", [
        _cell(w, "i8", trans_b), _cell(w, "i8", trans_a), cells["n"], cells["m"], cells["k"], alpha, b, cells["b"], a,
        cells["a"], beta, "%c", cells["c"],
    ])  # fmt: skip
    w.jump(clean)
    w.begin(clean)
    for used, given in ((a, "%a"), (b, "%b")):
        own, after = w.label(), w.label()
        w.branch(w.set(f"icmp eq ptr {used}, {given}"), after, own)
        w.begin(own)
        w.do(f"call void {w.module.helper('pb.free')}(ptr %context, ptr {used})")
        w.jump(after)
        w.begin(after)
    w.jump(done)


_PLAIN, _TURNED = "N", "T"


def _form(w: FunctionWriter, dtype: DType, rows: str, columns: str, data: str, s0: str, s1: str) -> list[str]:
    """Data, leading dimension and transposition flag (i8): as it is, transposed, or copied."""
    item = str(dtype.bytes)
    plain = _leading(w, item, data, rows, columns, s0, s1)
    turned = _leading(w, item, data, columns, rows, s1, s0)
    copy, ready = w.label(), w.label()
    usable = w.set(f"icmp ne i64 {w.set(f'or i64 {plain}, {turned}')}, 0")
    is_plain = w.set(f"icmp ne i64 {plain}, 0")
    leading = w.set(f"select i1 {is_plain}, i64 {plain}, i64 {turned}")
    flag = w.set(f"select i1 {is_plain}, i8 {ord(_PLAIN)}, i8 {ord(_TURNED)}")
    here = w.block
    w.branch(usable, ready, copy)
    w.begin(copy)
    packed = fresh(w, dtype, [rows, columns])
    stride = w.multiply(columns, item)

    _call_copy(w, dtype, [rows, columns, packed, stride, item, data, s0, s1], "false")
    end = w.block
    w.jump(ready)
    w.begin(ready)
    return w.phis(["ptr", "i64", "i8"], (here, [data, leading, flag]), (end, [packed, columns, str(ord(_PLAIN))]))


def _cell(w: FunctionWriter, type_: str, value: str) -> str:
    """A stack cell with a value."""
    name = w.stack(type_)
    w.do(f"store {type_} {value}, ptr {name}")
    return name


def _blas(w: FunctionWriter, function: str, arguments: Sequence[str]) -> None:
    symbol = f"@{BLAS_PREFIX}{function}"
    w.module.declare(symbol, f"declare void {symbol}({', '.join(['ptr'] * len(arguments))}) nounwind")
    w.do(f"call void {symbol}({', '.join(f'ptr {a}' for a in arguments)})")


RULES = {"matmul": _matmul, "matmul_inc": _matmul_inc}
