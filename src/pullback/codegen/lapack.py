"""Calls of LAPACK, through the addresses that SciPy's library has for its functions.

    lu, pivots, info = lapack{routine: "getrf"}(a)   ->   copy a;  call @pb.blas.dgetrf(m, n, copy, m, pivots, info)

All arguments go by reference: sizes and flags stand in cells on the stack.  Routines that want working memory are
called twice: first they are asked how much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.codegen import abi
from pullback.codegen.arrays import array_type, fresh, sizes_of
from pullback.codegen.native import BLAS_PREFIX
from pullback.codegen.writer import FunctionWriter
from pullback.ir.node import Op, Value
from pullback.prims.lapack import ROUTINES
from pullback.types import ArrayRef, DType

__all__ = ["RULES"]

_MEMCPY = "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"


class _Call:
    """One op under translation: its cells, results and scratch memory."""

    def __init__(self, w: FunctionWriter, op: Op) -> None:
        self.w, self.op = w, op
        self.dtype = array_type(op.operands[0]).dtype
        self.complex = bool(op.attrs.get("complex"))
        self.real = {DType.F64: "d", DType.F32: "s"}[self.dtype]
        self.prefix = {"d": "z", "s": "c"}[self.real] if self.complex else self.real
        self.info = w.stack("i32")
        self.scratch: list[str] = []
        n, m = sizes_of(w, op.operands[0])[:2] if array_type(op.operands[0]).rank > 1 else ("0", "0")
        self.m, self.n = m, n
        self.k = self.least(m, n)

    # ------------------------------------------------------------------------------------------------------ numbers

    def least(self, x: str, y: str) -> str:
        return self.w.intrinsic(f"call i64 @llvm.smin.i64(i64 {x}, i64 {y})")

    def most(self, x: str, y: str) -> str:
        return self.w.intrinsic(f"call i64 @llvm.smax.i64(i64 {x}, i64 {y})")

    def cell(self, number: str) -> str:
        """A Fortran integer of 32 bits; what is larger becomes one that LAPACK refuses."""
        large = self.w.set(f"icmp ugt i64 {number}, {2**31 - 1}")
        short = self.w.set(f"trunc i64 {number} to i32")
        return self.raw("i32", self.w.set(f"select i1 {large}, i32 -2, i32 {short}"))

    def leading(self, rows: str) -> str:
        return self.cell(self.most(rows, "1"))

    def flag(self, letter: str) -> str:
        return self.raw("i8", str(ord(letter)))

    def raw(self, type_: str, value: str) -> str:
        name = self.w.stack(type_)
        self.w.do(f"store {type_} {value}, ptr {name}")
        return name

    def none(self) -> str:
        """What stands for a matrix that is not wanted."""
        return self.raw(f"[2 x {self.number}]", "zeroinitializer")

    # ------------------------------------------------------------------------------------------------------- memory

    def columns(self, value: Value) -> str:
        return sizes_of(self.w, value)[0]

    def rows(self, value: Value) -> str:
        return sizes_of(self.w, value)[1]

    def result(self, number: int, *sizes: str, zeroed: bool = False) -> str:
        """Memory of a result, of these sizes as the row-major array has them."""
        value = self.op.results[number]
        type_ = array_type(value)
        whole = [*sizes, "2"] if type_.rank > len(sizes) else list(sizes)
        data = fresh(self.w, type_.dtype, whole, zeroed)
        self.w.pieces[value] = (data, *whole)
        return data

    def copied(self, number: int, operand: Value) -> str:
        """A result that starts as a copy of an operand."""
        sizes = sizes_of(self.w, operand)
        data = self.result(number, *sizes[: 2 if array_type(operand).rank > 1 else 1])
        self.copy(data, self.w.only(operand), self.total(sizes))
        return data

    def total(self, sizes: Sequence[str]) -> str:
        total = str(self.dtype.bytes)
        for size in sizes:
            total = self.w.multiply(total, size)
        return total

    def copy(self, to: str, source: str, count: str) -> None:
        self.w.module.declare("@llvm.memcpy.p0.p0.i64", _MEMCPY)
        self.w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {to}, ptr {source}, i64 {count}, i1 false)")

    def temporary(self, count: str, item: int) -> str:
        """Memory for the time of the call."""
        data = self.w.allocate(self.w.multiply(self.most(count, "1"), str(item)))
        self.scratch.append(data)
        return data

    def duplicate(self, operand: Value) -> str:
        """A copy of an operand for the time of the call."""
        sizes = sizes_of(self.w, operand)
        count = self.total(sizes)
        data = self.temporary(count, 1)
        self.copy(data, self.w.only(operand), count)
        return data

    @property
    def number(self) -> str:
        """The LLVM type of a real number."""
        return abi.LLVM[self.dtype]

    @property
    def item(self) -> int:
        return self.dtype.bytes * (2 if self.complex else 1)

    # -------------------------------------------------------------------------------------------------------- calls

    def call(self, function: str, *arguments: str) -> None:
        symbol = f"@{BLAS_PREFIX}{self.prefix}{function}"
        self.w.module.declare(symbol, f"declare void {symbol}({', '.join(['ptr'] * len(arguments))}) nounwind")
        self.w.do(f"call void {symbol}({', '.join(f'ptr {a}' for a in arguments)})")

    def with_work(self, invoke: Callable[[str, str], None]) -> None:
        """Ask for the size of the working memory, and call with it: `invoke(work, lwork)`."""
        t = self.number
        answer = self.w.stack(f"[2 x {t}]")
        invoke(answer, self.raw("i32", "-1"))
        count = self.w.set(f"fptosi {t} {self.w.set(f'load {t}, ptr {answer}')} to i64")
        invoke(self.temporary(count, self.item), self.cell(self.most(count, "1")))

    def finish(self) -> None:
        """Give scratch memory back; `info` is the last result where the routine has one.

        A negative one says that an argument is wrong: a size beyond the 32 bits of LAPACK.
        """
        for data in self.scratch:
            self.w.do(f"call void {self.w.module.helper('pb.free')}(ptr %context, ptr {data})")
        info = self.w.set(f"load i32, ptr {self.info}")
        self.w.fail_if(self.w.set(f"icmp slt i32 {info}, 0"), abi.NO_MEMORY)
        last = self.op.results[-1]
        if not isinstance(last.type, ArrayRef):
            self.w.pieces[last] = (self.w.set(f"sext i32 {info} to i64"),)


# ---------------------------------------------------------------------------------------------------------- routines


def _getrf(c: _Call) -> None:
    (a,) = c.op.operands
    data, pivots = c.copied(0, a), c.result(1, c.k)
    c.call("getrf", c.cell(c.m), c.cell(c.n), data, c.leading(c.m), pivots, c.info)


def _getrs(c: _Call) -> None:
    lu, pivots, b = c.op.operands
    data, trans = c.copied(0, b), c.flag("T" if c.op.attrs["transposed"] else "N")
    c.call("getrs", trans, c.cell(c.n), c.cell(c.columns(b)), c.w.only(lu), c.leading(c.n), c.w.only(pivots), data,
           c.leading(c.n), c.info)  # fmt: skip


def _potrf(c: _Call) -> None:
    data = c.copied(0, c.op.operands[0])
    c.call("potrf", c.flag("L"), c.cell(c.m), data, c.leading(c.m), c.info)


def _geqrf(c: _Call) -> None:
    data, tau = c.copied(0, c.op.operands[0]), c.result(1, c.k)
    m, n, lead = c.cell(c.m), c.cell(c.n), c.leading(c.m)
    c.with_work(lambda work, size: c.call("geqrf", m, n, data, lead, tau, work, size, c.info))


def _orgqr(c: _Call) -> None:
    """The first columns of the orthogonal matrix; LAPACK writes them over the reflectors."""
    a, tau, wanted = c.op.operands
    columns = c.w.only(wanted)
    data = c.result(0, columns, c.m, zeroed=True)
    kept = c.least(c.least(c.n, columns), sizes_of(c.w, tau)[0])
    c.copy(data, c.w.only(a), c.w.multiply(c.w.multiply(kept, c.m), str(c.item)))
    m, n, k, lead = c.cell(c.m), c.cell(columns), c.cell(kept), c.leading(c.m)
    name = "ungqr" if c.complex else "orgqr"
    c.with_work(lambda work, size: c.call(name, m, n, k, data, lead, c.w.only(tau), work, size, c.info))


def _gesdd(c: _Call) -> None:
    (a,) = c.op.operands
    job = str(c.op.attrs["job"])
    data = c.duplicate(a)
    full, most = job == "A", c.most(c.m, c.n)
    if job == "N":
        s, u, vt, rows = c.result(0, c.k), c.none(), c.none(), "1"
    else:
        u, s, rows = c.result(0, c.m if full else c.k, c.m), c.result(1, c.k), c.n if full else c.k
        vt = c.result(2, c.n, rows)
    more = []
    if c.complex:  # 5 k + 7 rows of k, or twice the longer side and k more
        w = c.w
        wide = w.add(w.multiply("5", c.k), "7")
        wide = c.most(wide, w.add(w.multiply("2", w.add(most, c.k)), "1"))
        more = [c.temporary(w.multiply(c.k, wide), c.dtype.bytes)]
    whole = c.temporary(c.w.multiply("8", c.k), 4)
    flag, m, n, lead, lead_v = c.flag(job), c.cell(c.m), c.cell(c.n), c.leading(c.m), c.leading(rows)
    c.with_work(lambda work, size: c.call(
        "gesdd", flag, m, n, data, lead, s, u, lead, vt, lead_v, work, size, *more, whole, c.info))  # fmt: skip


def c_type(c: _Call) -> str:
    """The LLVM type of a real number."""
    return abi.LLVM[c.dtype]


def _syevd(c: _Call) -> None:
    """Working memory by the formulas of the manual."""
    (a,) = c.op.operands
    vectors = bool(c.op.attrs["vectors"])
    values = c.result(0, c.m)
    data = c.copied(1, a) if vectors else c.duplicate(a)
    w, n = c.w, c.m
    square = w.multiply(n, n)
    reals = w.add(w.add("64", w.multiply("64", n)), w.multiply("2", square) if vectors else "0")
    ints = w.add("3", w.multiply("5", n)) if vectors else "1"
    flags = [c.flag("V" if vectors else "N"), c.flag("L" if c.op.attrs["lower"] else "U")]
    work = [c.temporary(reals, c.dtype.bytes), c.cell(reals), c.temporary(ints, 4), c.cell(ints)]
    if c.complex:
        items = w.add(w.multiply("64", n), w.add("2", square))
        work = [c.temporary(items, c.item), c.cell(items), *work]
    c.call("heevd" if c.complex else "syevd", *flags, c.cell(n), data, c.leading(n), values, *work, c.info)


def _geev(c: _Call) -> None:
    (a,) = c.op.operands
    vectors = bool(c.op.attrs["vectors"])
    data = c.duplicate(a)
    values = [c.result(i, c.m) for i in range(1 if c.complex else 2)]
    none = c.none()
    right = c.result(len(values), c.m, c.m) if vectors else none
    lead, one, n = c.leading(c.m), c.cell("1"), c.cell(c.m)
    more = [c.temporary(c.w.multiply("2", c.m), c.dtype.bytes)] if c.complex else []
    flags = [c.flag("N"), c.flag("V" if vectors else "N")]
    c.with_work(lambda work, size: c.call(
        "geev", *flags, n, data, lead, *values, none, one, right, lead if vectors else one, work, size, *more, c.info,
    ))  # fmt: skip


def _trtrs(c: _Call) -> None:
    a, b = c.op.operands
    data, attrs = c.copied(0, b), c.op.attrs
    flags = [c.flag("L" if attrs["lower"] else "U"), c.flag("T" if attrs["transposed"] else "N"),
             c.flag("U" if attrs["unit"] else "N")]  # fmt: skip
    c.call("trtrs", *flags, c.cell(c.n), c.cell(c.columns(b)), c.w.only(a), c.leading(c.n), data, c.leading(c.n),
           c.info)  # fmt: skip


def _gees(c: _Call) -> None:
    """Schur's form of a real matrix, its values in any order."""
    data, vectors = c.copied(0, c.op.operands[0]), c.result(1, c.m, c.m)
    values = [c.temporary(c.m, c.dtype.bytes) for _ in range(2)]
    n, lead, found = c.cell(c.m), c.leading(c.m), c.cell("0")
    flags = [c.flag("V"), c.flag("N")]
    c.with_work(lambda work, size: c.call(
        "gees", *flags, "null", n, data, lead, found, *values, vectors, lead, work, size, "null", c.info))  # fmt: skip


def _trsyl(c: _Call) -> None:
    a, b, right = c.op.operands
    data, attrs = c.copied(0, right), c.op.attrs
    flags = [c.flag("T" if attrs[side] else "N") for side in ("left", "right")]
    scale, rows, columns = c.raw(c.number, "1.0"), c.m, c.rows(b)
    c.call("trsyl", *flags, c.cell("1"), c.cell(rows), c.cell(columns), c.w.only(a), c.leading(rows), c.w.only(b),
           c.leading(columns), data, c.leading(rows), scale, c.info)  # fmt: skip
    c.w.pieces[c.op.results[1]] = (c.w.set(f"load {c.number}, ptr {scale}"),)


_ROUTINES: dict[str, Callable[[_Call], None]] = {
    "getrf": _getrf, "getrs": _getrs, "potrf": _potrf, "geqrf": _geqrf, "orgqr": _orgqr, "gesdd": _gesdd,
    "syevd": _syevd, "geev": _geev, "trtrs": _trtrs, "gees": _gees, "trsyl": _trsyl,
}  # fmt: skip
assert _ROUTINES.keys() == ROUTINES.keys()


def _lapack(w: FunctionWriter, op: Op) -> None:
    call = _Call(w, op)
    square = w.set(f"mul i64 {call.m}, {call.n}")
    work = w.set(f"mul i64 {square}, {call.k}")
    w.take(w.set(f"lshr i64 {work}, 2"))
    w.count_work(abi.PRODUCTS)
    _ROUTINES[str(op.attrs["routine"])](call)
    call.finish()


RULES = {"lapack": _lapack}
