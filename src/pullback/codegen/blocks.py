"""Matrix products cut into blocks that stay in the caches, and these into tiles of registers (see `tiles`).

    pb.blocks.f32(context, m, n, k, a, a0, a1, b, b0, b1, c, c0, add)           c (+)= a @ b, rows of c contiguous

    for k in pieces of 256:                          a panel of b stays in the first cache
      for m in pieces of 480:                        a block of a stays in the second
        for n in pieces of two vectors:              the panel is packed if its rows are spread, or used by many rows
          for m in pieces of 12, 4, 1:  tile

Each element of c is a sum over k in one order, whatever the strides and the place of the element: bits do not depend on
how a product is cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pullback.codegen import abi, gemv
from pullback.codegen.native import BLOCKS, GEMV
from pullback.codegen.target import Vectors, vectors
from pullback.codegen.tiles import Tiles, cut, each, helper_writer, pack, tile
from pullback.codegen.writer import FunctionWriter, ModuleWriter
from pullback.types import DType

__all__ = ["TYPES", "group", "has_vectors"]

_NAMES = [f"%{n}" for n in ("m", "n", "k", "a", "a0", "a1", "b", "b0", "b1", "c", "c0")]
TYPES = ["ptr" if n in ("%a", "%b", "%c") else "i64" for n in _NAMES]
_DEPTH = 256  # rows of a panel of b
_ROWS = 480  # of a block of a
_MANY = 48  # rows for which a panel is packed in any case


def group(module: ModuleWriter, dtype: DType, registers: Vectors | None = None) -> tuple[str, list[str]]:
    """The text of all functions of a dtype, and the names of those for others; for these registers, or the host's."""
    tiles = Tiles.of(dtype, registers or vectors())
    texts = [tile(module, tiles, height, width) for height in tiles.heights for width in (2, 1)]
    texts += [pack(module, tiles), _blocks(module, tiles)]
    if not tiles.masks:
        return "".join(texts), [f"{BLOCKS}{dtype.value}"]
    return "".join((*texts, *gemv.texts(module, tiles))), [f"{BLOCKS}{dtype.value}", f"{GEMV}{dtype.value}"]


def has_vectors() -> bool:
    """Are there functions for products with vectors."""
    return vectors().masks


@dataclass(frozen=True, slots=True)
class _Panel:
    """Operands of a product whose b is at most as wide as a tile."""

    m: str
    n: str
    k: str
    a: str
    b: str
    b0: str
    c: str
    c0: str
    add: str


def _blocks(module: ModuleWriter, tiles: Tiles) -> str:
    w = helper_writer(module)
    dtype = tiles.dtype
    spread = w.set(f"icmp ne i64 %b1, {dtype.bytes}")
    packing = w.set(f"or i1 {spread}, {w.set(f'icmp sge i64 %m, {_MANY}')}") if tiles.masks else "true"
    room = _room(w, packing, _DEPTH * tiles.pitch)
    scratch = "" if tiles.masks else w.allocate(str(_ROWS * tiles.pitch))

    def depth(p: str, k: str) -> None:
        add = w.set(f"or i1 %add, {w.set(f'icmp ne i64 {p}, 0')}")
        a, b = w.offset("%a", w.multiply(p, "%a1")), w.offset("%b", w.multiply(p, "%b0"))

        def rows(i: str, m: str) -> None:
            block, target = w.offset(a, w.multiply(i, "%a0")), w.offset("%c", w.multiply(i, "%c0"))

            def columns(j: str, n: str) -> None:
                start, step = _packed(w, tiles, packing, room, w.offset(b, w.multiply(j, "%b1")), k, n)
                goal = w.offset(target, w.multiply(j, str(dtype.bytes)))
                _panel(w, tiles, _Panel(m, n, k, block, start, step, goal, "%c0", add), scratch)
                w.burn(w.set(f"lshr i64 {w.set(f'mul i64 {m}, {k}')}, 2"))

            cut(w, "%n", str(tiles.columns), columns)

        cut(w, "%m", str(_ROWS), rows)

    cut(w, "%k", _share(w, "%k", _DEPTH), depth)
    if scratch:
        w.do(f"call void {module.helper('pb.free')}(ptr %context, ptr {scratch})")
    free, done = w.label(), w.label()
    w.branch(packing, free, done)
    w.begin(free)
    w.do(f"call void {module.helper('pb.free')}(ptr %context, ptr {room})")
    w.jump(done)
    w.begin(done)
    parameters = ", ".join(f"{t} {v}" for t, v in zip(TYPES, _NAMES, strict=True))
    head = f"define internal i32 @{BLOCKS}{dtype.value}(ptr noalias %context, {parameters}, i1 %add) noinline nounwind"
    return w.close(head, "i32")


def _room(w: FunctionWriter, wanted: str, size: int) -> str:
    """Memory, where it is wanted."""
    here, get, ready = w.block, w.label(), w.label()
    w.branch(wanted, get, ready)
    w.begin(get)
    data = w.allocate(str(size))
    last = w.block
    w.jump(ready)
    w.begin(ready)
    return w.phis(["ptr"], (here, ["null"]), (last, [data]))[0]


def _packed(w: FunctionWriter, tiles: Tiles, packing: str, room: str, part: str, k: str, n: str) -> list[str]:
    """Where the rows of some columns of b begin, and how far they are apart: as they are, or packed."""
    here, packed, ready = w.block, w.label(), w.label()
    w.branch(packing, packed, ready)
    w.begin(packed)
    w.do(f"call void {tiles.pack}(i64 {k}, i64 {n}, ptr {room}, ptr {part}, i64 %b0, i64 %b1)")
    w.jump(ready)
    w.begin(ready)
    return w.phis(["ptr", "i64"], (here, [part, "%b0"]), (packed, [room, str(tiles.pitch)]))


def _panel(w: FunctionWriter, tiles: Tiles, panel: _Panel, scratch: str) -> None:
    """Tiles write c itself; without masks, a part of a vector by way of scratch tiles."""
    if not scratch:
        _columns(w, tiles, panel)
        return
    whole, part, done = w.label(), w.label(), w.label()
    w.branch(w.set(f"icmp eq i64 {panel.n}, {tiles.columns}"), whole, part)
    w.begin(whole)
    _columns(w, tiles, panel)
    w.jump(done)
    w.begin(part)
    _columns(w, tiles, replace(panel, c=scratch, c0=str(tiles.pitch), add="false"))
    _from_scratch(w, tiles, panel, scratch)
    w.jump(done)
    w.begin(done)


def _from_scratch(w: FunctionWriter, tiles: Tiles, panel: _Panel, scratch: str) -> None:
    """The tiles' elements become those of c, or are added to them."""
    item, element = str(tiles.dtype.bytes), abi.LLVM[tiles.dtype]

    def row(i: str) -> None:
        source, goal = w.offset(scratch, w.multiply(i, str(tiles.pitch))), w.offset(panel.c, w.multiply(i, panel.c0))

        def one(j: str) -> None:
            offset = w.multiply(j, item)
            value = w.set(f"load {element}, ptr {w.offset(source, offset)}, align 1")
            place, here, more, store = w.offset(goal, offset), w.block, w.label(), w.label()
            w.branch(panel.add, more, store)
            w.begin(more)
            total = w.set(f"fadd {element} {w.set(f'load {element}, ptr {place}, align 1')}, {value}")
            w.jump(store)
            w.begin(store)
            (result,) = w.phis([element], (here, [value]), (more, [total]))
            w.do(f"store {element} {result}, ptr {place}, align 1")

        each(w, "0", panel.n, 1, one)

    each(w, "0", panel.m, 1, row)


def _columns(w: FunctionWriter, tiles: Tiles, panel: _Panel) -> None:
    """All tiles of a panel, of two vectors or of one."""
    wide, narrow, done = w.label(), w.label(), w.label()
    w.branch(w.set(f"icmp sgt i64 {panel.n}, {tiles.lanes}"), wide, narrow)
    for label, width in ((wide, 2), (narrow, 1)):
        w.begin(label)
        row = "0"
        for height in tiles.heights:
            row = _strips(w, tiles.symbol(height, width), height, row, panel)
        w.jump(done)
    w.begin(done)


def _strips(w: FunctionWriter, symbol: str, height: int, row: str, panel: _Panel) -> str:
    """Tiles of one height for as long as there are so many rows; the first row that is left."""
    before, head, loop, after = w.block, w.label(), w.label(), w.label()
    w.jump(head)
    w.begin(head)
    phis = w.open_phis(["i64"], before, [row])
    (index,) = phis.names
    end = w.set(f"add nsw i64 {index}, {height}")
    w.branch(w.set(f"icmp sle i64 {end}, {panel.m}"), loop, after)
    w.begin(loop)
    a, c = w.offset(panel.a, w.multiply(index, "%a0")), w.offset(panel.c, w.multiply(index, panel.c0))
    operands = f"ptr {a}, i64 %a0, i64 %a1, ptr {panel.b}, i64 {panel.b0}, ptr {c}, i64 {panel.c0}"
    w.do(f"call void {symbol}(i64 {panel.k}, {operands}, i64 {panel.n}, i1 {panel.add})")
    phis.close(w.block, [end])
    w.jump(head)
    w.begin(after)
    return index


def _share(w: FunctionWriter, total: str, most: int) -> str:
    """The size of the fewest pieces of about one length, each of at most so many."""
    count = w.set(f"udiv i64 {w.set(f'add i64 {total}, {most - 1}')}, {most}")
    count = w.set(f"select i1 {w.set(f'icmp eq i64 {count}, 0')}, i64 1, i64 {count}")
    above = w.set(f"add i64 {total}, {w.set(f'sub i64 {count}, 1')}")
    return w.set(f"udiv i64 {above}, {count}")
