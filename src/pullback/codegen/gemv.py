"""Products of a matrix and a vector, for processors that load and store some lanes of a vector alone.

    pb.gemv.f32(context, m, k, a, a0, a1, x, x0, y, y0, add)                    y[i] (+)= sum of a[i, p] * x[p]

    rows of a contiguous        dots: 8 rows at a time, a vector of sums for each, which are added up at the end
    columns contiguous          8 columns at a time are added to y, which stays in the first cache; of a small matrix,
                                all columns to one or two vectors of y, as 4 sums in registers

Such a product reads the matrix once: what counts is that several rows are on their way from the caches at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pullback.codegen.native import GEMV
from pullback.codegen.tiles import Lanes, Tiles, carry, cut, define, each, helper_writer, row_starts, write
from pullback.codegen.writer import FunctionWriter, ModuleWriter

__all__ = ["NAMES", "TYPES", "texts"]

NAMES = [f"%{n}" for n in ("m", "k", "a", "a0", "a1", "x", "x0", "y", "y0")]
TYPES = ["ptr" if n in ("%a", "%x", "%y") else "i64" for n in NAMES]
_TOGETHER = 8  # rows
_CHAINS = 4  # sums of one part of y
_SMALL = 4096  # elements of a matrix that stays in the first cache while its parts are read one after the other
_ROWS = "i64 %n, ptr %a, i64 %a0, ptr %x, ptr %c, i64 %c0, i1 %add"
_COLUMNS = "i64 %n, ptr %a, i64 %a0, ptr %x, i64 %x0, ptr %y"
_SUMS = "i64 %k, i64 %columns, ptr %a, i64 %a0, ptr %x, i64 %x0, ptr %c, i1 %add"


def texts(module: ModuleWriter, tiles: Tiles) -> list[str]:
    """The texts of all functions."""
    groups = [make(module, tiles, count) for make in (_rows, _columns) for count in (_TOGETHER, 1)]
    return [*groups, _sums(module, tiles), _choose(module, tiles)]


def _symbol(kind: str, tiles: Tiles) -> str:
    return f"@pb.gemv_{kind}.{tiles.dtype.value}"


Step = Callable[[str, list[str]], Sequence[str]]  # (offset in bytes, carried) -> next carried


def _along(w: FunctionWriter, lanes: Lanes, values: Sequence[str], step: Step) -> list[str]:
    """Run `step` for the vectors of a row of n elements: the whole ones, then what is left under a mask."""
    types, size = [lanes.type] * len(values), lanes.lanes * lanes.item
    left = w.set(f"and i64 %n, {lanes.lanes - 1}")
    whole = w.multiply(w.set(f"sub i64 %n, {left}"), str(lanes.item))
    values = carry(w, "0", whole, size, types, values, step)
    before, rest, done = w.block, w.label(), w.label()
    w.branch(w.set(f"icmp eq i64 {left}, 0"), done, rest)
    w.begin(rest)
    lanes.limit(left)
    following = step(whole, list(values))
    last = w.block
    w.jump(done)
    w.begin(done)
    return w.phis(types, (before, values), (last, following))


def _rows(module: ModuleWriter, tiles: Tiles, count: int) -> str:
    """c[i] (+)= a[i, :] x for some rows i."""
    w = helper_writer(module)
    lanes = Lanes(w, tiles)
    starts = row_starts(w, count)

    def step(offset: str, sums: list[str]) -> list[str]:
        row, factor = w.offset("%a", offset), lanes.load(w.offset("%x", offset))
        return [lanes.multiply_add(lanes.load(w.offset(row, s)), factor, t) for s, t in zip(starts, sums, strict=True)]

    sums = [lanes.total(each_) for each_ in _along(w, lanes, ["zeroinitializer"] * count, step)]
    increase, store, done = w.label(), w.label(), w.label()
    w.branch("%add", increase, store)
    for label, adds in ((increase, True), (store, False)):
        w.begin(label)
        place, element = "%c", lanes.element
        for i, total in enumerate(sums):
            place = w.offset(place, "%c0") if i else place
            before = w.set(f"load {element}, ptr {place}, align 1") if adds else ""
            value = w.set(f"fadd {element} {before}, {total}") if adds else total
            w.do(f"store {element} {value}, ptr {place}, align 1")
        w.jump(done)
    w.begin(done)
    w.do("ret void")
    return define(w, _symbol(f"rows{count}", tiles), _ROWS)


def _columns(module: ModuleWriter, tiles: Tiles, count: int) -> str:
    """y += the sum of some columns, each times its element of x.  A row here is a column of the matrix."""
    w = helper_writer(module)
    lanes = Lanes(w, tiles)
    starts, place, factors = row_starts(w, count), "%x", list[str]()
    for i in range(count):
        place = w.offset(place, "%x0") if i else place
        factors.append(lanes.broadcast(place))

    def step(offset: str, _: list[str]) -> list[str]:
        row, goal = w.offset("%a", offset), w.offset("%y", offset)
        sums = [lanes.load(goal), "zeroinitializer"]
        for i in range(count):
            sums[i % 2] = lanes.multiply_add(lanes.load(w.offset(row, starts[i])), factors[i], sums[i % 2])
        lanes.store(w.set(f"fadd {lanes.type} {sums[0]}, {sums[1]}") if count > 1 else sums[0], goal)
        return []

    _along(w, lanes, [], step)
    w.do("ret void")
    return define(w, _symbol(f"columns{count}", tiles), _COLUMNS)


def _sums(module: ModuleWriter, tiles: Tiles) -> str:
    """One or two vectors of y, of all columns: neighbouring columns go to different sums, which do not wait."""
    w = helper_writer(module)
    lanes = Lanes(w, tiles)
    lanes.limit("%columns", 2)
    starts = row_starts(w, _CHAINS)
    several = w.set(f"and i64 %k, -{_CHAINS}")
    places = ["%a", "%x", *["zeroinitializer"] * (2 * _CHAINS)]
    types = ["ptr", "ptr", *[lanes.type] * (2 * _CHAINS)]

    def one(a: str, x: str, sums: Sequence[str]) -> list[str]:
        factor = lanes.broadcast(x)
        return [lanes.multiply_add(lanes.load(a, j), factor, sums[j]) for j in (0, 1)]

    def step(_: str, carried: list[str]) -> list[str]:
        a, x, *sums = carried
        following, place = list[str](), x
        for i in range(_CHAINS):
            following += one(w.offset(a, starts[i]), place, sums[2 * i : 2 * i + 2])
            place = w.offset(place, "%x0")
        return [w.offset(a, w.set(f"shl i64 %a0, {_CHAINS.bit_length() - 1}")), place, *following]

    a, x, *sums = carry(w, "0", several, _CHAINS, types, places, step)

    def last(_: str, carried: list[str]) -> list[str]:
        a, x, *sums = carried
        return [w.offset(a, "%a0"), w.offset(x, "%x0"), *one(a, x, sums)]

    _, _, *sums[:2] = carry(w, several, "%k", 1, types[:4], [a, x, *sums[:2]], last)
    while len(sums) > 2:
        sums = [w.set(f"fadd {lanes.type} {sums[i]}, {sums[i + len(sums) // 2]}") for i in range(len(sums) // 2)]
    write(w, lanes, 2, sums)
    return define(w, _symbol("sums", tiles), _SUMS)


# ------------------------------------------------------------------------------------------------------ which of them


def _choose(module: ModuleWriter, tiles: Tiles) -> str:
    """The matrix has contiguous rows; or contiguous columns, and so is y."""
    w = helper_writer(module)
    item = tiles.dtype.bytes
    tests = [w.set(f"icmp eq i64 {stride}, {item}") for stride in ("%a0", "%y0")]
    other = w.set(f"or i1 {w.set(f'icmp ne i64 %a1, {item}')}, {w.set('icmp eq i64 %k, 1')}")
    columns, rows, done = w.label(), w.label(), w.label()
    w.branch(w.set(f"and i1 {other}, {w.set(f'and i1 {tests[0]}, {tests[1]}')}"), columns, rows)
    w.begin(columns)
    _by_columns(w, tiles)
    w.jump(done)
    w.begin(rows)
    _by_rows(w, tiles)
    w.jump(done)
    w.begin(done)
    parameters = ", ".join(f"{t} {v}" for t, v in zip(TYPES, NAMES, strict=True))
    head = f"define internal i32 @{GEMV}{tiles.dtype.value}(ptr noalias %context, {parameters}, i1 %add)"
    return w.close(f"{head} noinline nounwind", "i32")


def _by_rows(w: FunctionWriter, tiles: Tiles) -> None:
    """x is made contiguous first."""
    item, element = tiles.dtype.bytes, Lanes(w, tiles).element
    here, spread, ready = w.block, w.label(), w.label()
    w.branch(w.set(f"icmp eq i64 %x0, {item}"), ready, spread)
    w.begin(spread)
    copied = w.allocate(w.multiply("%k", str(item)))

    def copy(p: str) -> None:
        value = w.set(f"load {element}, ptr {w.offset('%x', w.multiply(p, '%x0'))}, align 1")
        w.do(f"store {element} {value}, ptr {w.offset(copied, w.multiply(p, str(item)))}, align 1")

    each(w, "0", "%k", 1, copy)
    last = w.block
    w.jump(ready)
    w.begin(ready)
    x, own = w.phis(["ptr", "i1"], (here, ["%x", "false"]), (last, [copied, "true"]))

    def group(i: str, count: int) -> None:
        a, y = w.offset("%a", w.multiply(i, "%a0")), w.offset("%y", w.multiply(i, "%y0"))
        symbol = _symbol(f"rows{count}", tiles)
        w.do(f"call void {symbol}(i64 %k, ptr {a}, i64 %a0, ptr {x}, ptr {y}, i64 %y0, i1 %add)")
        w.burn("%k")

    _grouped(w, "%m", group)
    free, done = w.label(), w.label()
    w.branch(own, free, done)
    w.begin(free)
    w.do(f"call void {w.module.helper('pb.free')}(ptr %context, ptr {x})")
    w.jump(done)
    w.begin(done)


def _grouped(w: FunctionWriter, total: str, body: Callable[[str, int], None]) -> None:
    several = w.set(f"and i64 {total}, -{_TOGETHER}")
    each(w, "0", several, _TOGETHER, lambda i: body(i, _TOGETHER))
    each(w, several, total, 1, lambda i: body(i, 1))


def _by_columns(w: FunctionWriter, tiles: Tiles) -> None:
    item = str(tiles.dtype.bytes)
    small = w.set(f"icmp sle i64 {w.set('mul i64 %m, %k')}, {_SMALL}")
    small = w.set(f"or i1 {small}, {w.set(f'icmp sle i64 %m, {tiles.columns}')}")
    parts, whole, done = w.label(), w.label(), w.label()
    w.branch(small, parts, whole)
    w.begin(parts)

    def part(i: str, count: str) -> None:
        offset = w.multiply(i, item)
        a, y = w.offset("%a", offset), w.offset("%y", offset)
        operands = f"ptr {a}, i64 %a1, ptr %x, i64 %x0, ptr {y}, i1 %add"
        w.do(f"call void {_symbol('sums', tiles)}(i64 %k, i64 {count}, {operands})")
        w.burn("%k")

    cut(w, "%m", str(tiles.columns), part)
    w.jump(done)
    w.begin(whole)
    clear, ready = w.label(), w.label()
    w.branch("%add", ready, clear)
    w.begin(clear)
    w.module.declare("@llvm.memset.p0.i64", "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
    w.do(f"call void @llvm.memset.p0.i64(ptr %y, i8 0, i64 {w.multiply('%m', item)}, i1 false)")
    w.jump(ready)
    w.begin(ready)

    def group(p: str, count: int) -> None:
        a, x = w.offset("%a", w.multiply(p, "%a1")), w.offset("%x", w.multiply(p, "%x0"))
        w.do(f"call void {_symbol(f'columns{count}', tiles)}(i64 %m, ptr {a}, i64 %a1, ptr {x}, i64 %x0, ptr %y)")
        w.burn("%m")

    _grouped(w, "%k", group)
    w.jump(done)
    w.begin(done)
