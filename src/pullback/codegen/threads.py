"""Loops over blocks, each block a function of its own that any thread may call.

    for{threads} n: body (b)     ->     record = everything from outside that the body uses
                                        pb.parallel(context, @pb.block.0, record, n)

                                        define internal {i32} @pb.block.0(context, record, b): body

The body yields nothing, and its trips touch different memory (see `passes.parallel`).  Without `parallel` such a loop
is one like all others.
"""

from __future__ import annotations

from pullback.codegen import abi
from pullback.codegen.writer import FunctionWriter
from pullback.ir.node import Block, Op, Value
from pullback.ir.walk import free_values

__all__ = ["can_share", "share"]

_RESULT = "{i32}"


def can_share(w: FunctionWriter, op: Op) -> bool:
    """May the blocks run at the same time: the code is to be parallel, and no block makes a common buffer grow."""
    if not w.module.options.parallel or w.shared or op.results:
        return False
    (body,) = op.blocks
    outside = free_values(body)
    puts = [inner for inner in body.walk() if inner.prim.name == "buffer_put" and inner.operands[0] in outside]
    return all(_sized(w, put.operands[0]) for put in puts)


def _sized(w: FunctionWriter, buffer: Value) -> bool:
    """Was the buffer made with room for all that is put there: for as many elements as loops have trips."""
    capacity = w.capacities.get(buffer)
    return capacity is not None and not capacity.isdigit()


def share(w: FunctionWriter, op: Op) -> None:
    """Write the body as a function, and the call that runs it for every block."""
    (body,) = op.blocks
    values = [v for v in free_values(body) if v in w.pieces]
    pieces = list(dict.fromkeys(piece for v in values for piece in w.pieces[v] if piece.startswith("%")))
    types = {p: t for v in values for p, t in zip(w.pieces[v], w.types([v]), strict=True)}
    number = len(w.module.blocks)
    w.module.blocks.append("")
    record = w.stack(f"[{max(1, len(pieces))} x i64], align 8")
    for i, piece in enumerate(pieces):
        w.store_piece(types[piece], piece, w.offset(record, 8 * i), "")
    w.module.blocks[number] = _block(w, body, values, pieces, types, f"@pb.block.{number}")
    ops = (inner for function in w.module.program.functions.values() for inner in function.body.walk())
    products = any(inner.name.startswith(("matmul", "lapack")) for inner in ops)
    n = w.only(op.operands[0])
    operands = f"ptr %context, ptr @pb.block.{number}, ptr {record}, i64 {n}, i1 {'true' if products else 'false'}"
    status = w.set(f"call i32 {w.module.helper('pb.parallel')}({operands})")
    w.fail_if(w.set(f"icmp ne i32 {status}, 0"), status)


def _block(
    w: FunctionWriter, body: Block, values: list[Value], pieces: list[str], types: dict[str, str], symbol: str
) -> str:  # fmt: skip
    """The text of the function."""
    inner = w.inner()
    places = [inner.offset("%record", 8 * i) for i in range(len(pieces))]
    known = {p: inner.load_piece(types[p], place, "") for p, place in zip(pieces, places, strict=True)}
    for value in values:
        inner.pieces[value] = tuple(known.get(piece, piece) for piece in w.pieces[value])
    for piece, loaded in known.items():
        if piece in w.roots:
            inner.roots[loaded] = known.get(w.roots[piece], w.roots[piece])
        if piece in w.fresh:
            inner.fresh.add(loaded)
    inner.reserved.update(op for op in body.walk() if op.prim.name == "buffer_put" and op.operands[0] in inner.pieces)
    inner.bind(body.params, ["%b"])
    inner.run(body)
    wide = any(op.prim.name == "elementwise" for op in body.walk())
    attributes = 'nounwind noinline "prefer-vector-width"="512"' if wide else "nounwind noinline"
    context = f"ptr noalias dereferenceable({abi.CONTEXT_SIZE}) %context"
    return inner.close(
        f"define internal {_RESULT} {symbol}({context}, ptr noalias readonly %record, i64 %b) {attributes}", _RESULT
    )
