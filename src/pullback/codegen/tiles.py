"""Micro-kernels of matrix products: a tile of the target in registers, and panels of operands laid out for it.

    pb.tile.f32.12x2(k, a, a0, a1, b, b0, c, c0, columns, add)      c[12, columns] (+)= a[12, k] @ b[k, columns]

A tile is some rows by one or two vectors.  In each of the k steps it loads a row of b as vectors and broadcasts an
element of a for each of its rows, from wherever the strides a0 and a1 say; rows of b and of c have to be contiguous.
Columns past `columns` are neither read nor written where the processor has masks; elsewhere b has room for them, and c
is a scratch tile.  The scheme is that of Goto and van de Geijn (Anatomy of high-performance matrix multiplication,
2008) and of BLIS (Van Zee and van de Geijn, 2015); `blocks` cuts a product into such tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pullback.codegen import abi
from pullback.codegen.loops import repeat
from pullback.codegen.target import Vectors
from pullback.codegen.writer import FunctionWriter, ModuleWriter
from pullback.diagnostic import InternalError
from pullback.ir.node import Op
from pullback.types import DType

__all__ = ["Lanes", "Tiles", "carry", "cut", "define", "each", "helper_writer", "pack", "row_starts", "tile", "write"]

_TILE = "i64 %k, ptr %a, i64 %a0, i64 %a1, ptr %b, i64 %b0, ptr %c, i64 %c0, i64 %columns, i1 %add"
_PACK = "i64 %k, i64 %columns, ptr %to, ptr %from, i64 %b0, i64 %b1"
_SQUARE = 4  # rows and columns that are transposed in registers


@dataclass(frozen=True, slots=True)
class Tiles:
    """Which tiles there are for a dtype: heights from high to low, the last is 1."""

    dtype: DType
    lanes: int
    heights: tuple[int, ...]
    masks: bool

    @staticmethod
    def of(dtype: DType, vectors: Vectors) -> Tiles:
        """Tiles that fill the registers: accumulators, a row of b, and an element of a."""
        heights = (12, 4, 1) if vectors.count >= 32 else (6, 3, 1)
        return Tiles(dtype, vectors.bytes // dtype.bytes, heights, vectors.masks)

    @property
    def columns(self) -> int:
        """Of the wide tiles."""
        return 2 * self.lanes

    @property
    def pitch(self) -> int:
        """Bytes from row to row of a packed panel."""
        return self.columns * self.dtype.bytes

    def symbol(self, height: int, width: int) -> str:
        return f"@pb.tile.{height}x{width}.{self.dtype.value}"

    @property
    def pack(self) -> str:
        return f"@pb.pack.{self.dtype.value}"


def helper_writer(module: ModuleWriter) -> FunctionWriter:
    """For a function without ops."""
    return FunctionWriter(module, {}, _no_ops)


def _no_ops(w: FunctionWriter, op: Op) -> None:
    raise InternalError(f"{op.name} in a helper")


def define(w: FunctionWriter, symbol: str, parameters: str) -> str:
    """The text of a function that returns nothing."""
    return "\n".join((f"define internal void {symbol}({parameters}) noinline nounwind {{", "entry:", *w.lines, "}", ""))


def each(w: FunctionWriter, start: str, end: str, step: int, body: Callable[[str], None]) -> None:
    """Run `body` for start, start + step, ... before end; not at all where start is not below it."""

    def once(index: str, _: list[str]) -> list[str]:
        body(index)
        return []

    carry(w, start, end, step, [], [], once)


def carry(
    w: FunctionWriter, start: str, end: str, step: int, types: Sequence[str], values: Sequence[str],
    body: Callable[[str, list[str]], Sequence[str]],
) -> list[str]:  # fmt: skip
    """The same with values that each run gives to the next; the last ones."""
    before, head, loop, done = w.block, w.label(), w.label(), w.label()
    w.jump(head)
    w.begin(head)
    phis = w.open_phis(["i64", *types], before, [start, *values])
    index, *carried = phis.names
    w.branch(w.set(f"icmp slt i64 {index}, {end}"), loop, done)
    w.begin(loop)
    following = body(index, carried)
    phis.close(w.block, [w.set(f"add nsw i64 {index}, {step}"), *following])
    w.jump(head)
    w.begin(done)
    return carried


def cut(w: FunctionWriter, total: str, size: str, body: Callable[[str, str], None]) -> None:
    """Run `body` for the start and the length of consecutive pieces of a size."""
    before, head, loop, done = w.block, w.label(), w.label(), w.label()
    w.jump(head)
    w.begin(head)
    phis = w.open_phis(["i64"], before, ["0"])
    (start,) = phis.names
    left = w.set(f"sub nsw i64 {total}, {start}")
    w.branch(w.set(f"icmp sgt i64 {left}, 0"), loop, done)
    w.begin(loop)
    length = w.intrinsic(f"call i64 @llvm.smin.i64(i64 {left}, i64 {size})")
    body(start, length)
    phis.close(w.block, [w.set(f"add nsw i64 {start}, {length}")])
    w.jump(head)
    w.begin(done)


class Lanes:
    """Loads and stores of consecutive vectors, whole ones or under masks."""

    def __init__(self, w: FunctionWriter, tiles: Tiles) -> None:
        self.w, self.lanes, self.item = w, tiles.lanes, tiles.dtype.bytes
        self.element = abi.LLVM[tiles.dtype]
        self.type = f"<{self.lanes} x {self.element}>"
        self.suffix = f"v{self.lanes}{tiles.dtype.value}"
        self._masks: list[str] = []

    def limit(self, count: str, width: int = 1) -> None:
        """From here on, only so many elements of so many vectors are there."""
        self._masks = [self._mask(count, j) for j in range(width)]

    def _mask(self, count: str, vector: int) -> str:
        type_ = f"<{self.lanes} x i64>"
        left = self._spread(self.w.set(f"sub i64 {count}, {vector * self.lanes}"), "i64")
        numbers = ", ".join(f"i64 {i}" for i in range(self.lanes))
        return self.w.set(f"icmp slt {type_} <{numbers}>, {left}")

    def broadcast(self, pointer: str) -> str:
        """An element of memory in all lanes."""
        return self._spread(self.w.set(f"load {self.element}, ptr {pointer}, align 1"), self.element)

    def _spread(self, value: str, element: str) -> str:
        type_ = f"<{self.lanes} x {element}>"
        first = self.w.set(f"insertelement {type_} poison, {element} {value}, i64 0")
        return self.w.set(f"shufflevector {type_} {first}, {type_} poison, <{self.lanes} x i32> zeroinitializer")

    def _place(self, row: str, vector: int) -> str:
        return self.w.offset(row, vector * self.lanes * self.item)

    def call(self, result: str, function: str, *arguments: tuple[str, str]) -> str:
        """A call of an intrinsic on vectors; its arguments are (type, operand)."""
        symbol = f"@llvm.{function}.{self.suffix}{'.p0' if function.startswith('masked') else ''}"
        types, given = (", ".join(part) for part in ([t for t, _ in arguments], [f"{t} {v}" for t, v in arguments]))
        self.w.module.declare(symbol, f"declare {result} {symbol}({types})")
        return f"call {result} {symbol}({given})"

    def load(self, row: str, vector: int = 0) -> str:
        place = self._place(row, vector)
        if not self._masks:
            return self.w.set(f"load {self.type}, ptr {place}, align 1")
        mask = (f"<{self.lanes} x i1>", self._masks[vector])
        return self.w.set(self.call(self.type, "masked.load", ("ptr", place), mask, (self.type, "zeroinitializer")))

    def store(self, value: str, row: str, vector: int = 0) -> None:
        place = self._place(row, vector)
        if not self._masks:
            self.w.do(f"store {self.type} {value}, ptr {place}, align 1")
            return
        mask = (f"<{self.lanes} x i1>", self._masks[vector])
        self.w.do(self.call("void", "masked.store", (self.type, value), ("ptr", place), mask))

    def total(self, value: str) -> str:
        """The sum of all lanes, in any order."""
        symbol = f"@llvm.vector.reduce.fadd.{self.suffix}"
        self.w.module.declare(symbol, f"declare {self.element} {symbol}({self.element}, {self.type})")
        return self.w.set(f"call reassoc {self.element} {symbol}({self.element} -0.0, {self.type} {value})")

    def multiply_add(self, x: str, y: str, sum_: str) -> str:
        """x y + sum, with one rounding where the processor can: as in BLAS, whose products NumPy has."""
        return self.w.set(self.call(self.type, "fmuladd", *((self.type, v) for v in (x, y, sum_))))


# --------------------------------------------------------------------------------------------------------- tiles


def tile(module: ModuleWriter, tiles: Tiles, height: int, width: int) -> str:
    """The text of one micro-kernel; k is at least 1."""
    w = helper_writer(module)
    lanes = Lanes(w, tiles)
    if tiles.masks:
        lanes.limit("%columns", width)
    rows = row_starts(w, height)
    count = height * width
    head, done = w.label(), w.label()
    w.jump(head)
    w.begin(head)
    types, start = ["i64", "ptr", "ptr", *[lanes.type] * count], ["0", "%a", "%b", *["zeroinitializer"] * count]
    phis = w.open_phis(types, "entry", start)
    step, a, b, *sums = phis.names
    row = [lanes.load(b, j) for j in range(width)]
    following = []
    for r in range(height):
        factor = lanes.broadcast(w.offset(a, rows[r]))
        for j in range(width):
            following.append(lanes.multiply_add(factor, row[j], sums[r * width + j]))
    after = w.set(f"add nuw nsw i64 {step}, 1")
    phis.close(head, [after, w.offset(a, "%a1"), w.offset(b, "%b0"), *following])
    w.branch(w.set(f"icmp eq i64 {after}, %k"), done, head)
    w.begin(done)
    write(w, lanes, width, following)
    return define(w, tiles.symbol(height, width), _TILE)


def row_starts(w: FunctionWriter, height: int) -> list[str]:
    """How far the rows of a are from the first.  From odd multiples on a processor computes the even ones as it loads;
    LLVM would step from row to row, in a chain that the next step waits for: it shall not see what they have in common.
    """
    starts = ["0", "%a0"]
    for r in range(2, height):
        even = starts[r // 2] if r % 2 == 0 and r <= 8 else ""
        product = w.set(f"shl i64 {even}, 1" if even else f"mul i64 %a0, {r}")
        starts.append(product if even else w.set(f'call i64 asm "", "=r,0"(i64 {product})'))
    return starts[:height]


def write(w: FunctionWriter, lanes: Lanes, width: int, sums: Sequence[str]) -> None:
    """Rows of vectors become those of c, or are added to them; the end of the function."""
    increase, store = w.label(), w.label()
    w.branch("%add", increase, store)
    for label, adds in ((increase, True), (store, False)):
        w.begin(label)
        row = "%c"
        for i, value in enumerate(sums):
            total = w.set(f"fadd {lanes.type} {lanes.load(row, i % width)}, {value}") if adds else value
            lanes.store(total, row, i % width)
            if (i + 1) % width == 0 and i + 1 < len(sums):
                row = w.offset(row, "%c0")
        w.do("ret void")


# ------------------------------------------------------------------------------------------------------- packing


def pack(module: ModuleWriter, tiles: Tiles) -> str:
    """The text of `pb.pack`: some columns of b, at most as many as a wide tile has, as rows one after the other."""
    w = helper_writer(module)
    item = tiles.dtype.bytes
    rows, other, turned, spread, done = (w.label() for _ in range(5))
    unit = w.set(f"icmp eq i64 %b1, {item}")
    if not tiles.masks:
        unit = w.set(f"and i1 {unit}, {w.set(f'icmp eq i64 %columns, {tiles.columns}')}")
    w.branch(unit, rows, other)
    w.begin(rows)
    _pack_rows(w, tiles)
    w.jump(done)
    w.begin(other)
    w.branch(w.set(f"icmp eq i64 %b0, {item}"), turned, spread)
    w.begin(turned)
    _pack_turned(w, tiles)
    w.jump(done)
    w.begin(spread)
    _pack_elements(w, tiles, "0", "%k", "0", "%columns")
    w.jump(done)
    w.begin(done)
    w.do("ret void")
    return define(w, tiles.pack, _PACK)


def _pack_rows(w: FunctionWriter, tiles: Tiles) -> None:
    lanes = Lanes(w, tiles)
    if tiles.masks:
        lanes.limit("%columns", 2)

    def row(p: str, _: list[str]) -> list[str]:
        source, goal = w.offset("%from", w.multiply(p, "%b0")), w.offset("%to", w.multiply(p, str(tiles.pitch)))
        for j in (0, 1):
            lanes.store(lanes.load(source, j), goal, j)
        return []

    repeat(w, "0", "%k", [], [], row)


def _pack_turned(w: FunctionWriter, tiles: Tiles) -> None:
    """Columns of b are contiguous: squares are transposed in registers, what is left goes element by element."""
    whole, across = (w.set(f"and i64 {size}, -{_SQUARE}") for size in ("%k", "%columns"))

    def column(j: str) -> None:
        each(w, "0", whole, _SQUARE, lambda p: _turn(w, tiles, p, j))

    each(w, "0", across, _SQUARE, column)
    _pack_elements(w, tiles, whole, "%k", "0", across)
    _pack_elements(w, tiles, "0", "%k", across, "%columns")


def _turn(w: FunctionWriter, tiles: Tiles, p: str, j: str) -> None:
    """A square, by two rounds of exchanges."""
    item, element = tiles.dtype.bytes, abi.LLVM[tiles.dtype]
    type_ = f"<{_SQUARE} x {element}>"
    source = w.offset(w.offset("%from", w.multiply(j, "%b1")), w.multiply(p, str(item)))
    goal = w.offset(w.offset("%to", w.multiply(p, str(tiles.pitch))), w.multiply(j, str(item)))
    columns = []
    for _ in range(_SQUARE):
        columns.append(w.set(f"load {type_}, ptr {source}, align 1"))
        source = w.offset(source, "%b1")

    def mix(x: str, y: str, lanes: tuple[int, ...]) -> str:
        chosen = ", ".join(f"i32 {lane}" for lane in lanes)
        return w.set(f"shufflevector {type_} {x}, {type_} {y}, <{_SQUARE} x i32> <{chosen}>")

    low, high = (0, 4, 1, 5), (2, 6, 3, 7)
    pairs = [[mix(columns[i], columns[i + 2], lanes) for lanes in (low, high)] for i in (0, 1)]
    rows = [mix(pairs[0][half], pairs[1][half], lanes) for half in (0, 1) for lanes in (low, high)]
    for i, row in enumerate(rows):
        w.do(f"store {type_} {row}, ptr {w.offset(goal, i * tiles.pitch)}, align 1")


def _pack_elements(w: FunctionWriter, tiles: Tiles, p0: str, p1: str, j0: str, j1: str) -> None:
    item, element = str(tiles.dtype.bytes), abi.LLVM[tiles.dtype]

    def row(p: str) -> None:
        source, goal = w.offset("%from", w.multiply(p, "%b0")), w.offset("%to", w.multiply(p, str(tiles.pitch)))

        def one(j: str) -> None:
            value = w.set(f"load {element}, ptr {w.offset(source, w.multiply(j, '%b1'))}, align 1")
            w.do(f"store {element} {value}, ptr {w.offset(goal, w.multiply(j, item))}, align 1")

        each(w, j0, j1, 1, one)

    each(w, p0, p1, 1, row)
