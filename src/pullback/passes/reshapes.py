"""Decides where a reshape is a view and where it is a copy.

    r = reshape{whole} a, n        NumPy: a view of `a` if that is contiguous, else a copy

    nobody can tell, since neither is written while the other is in use:       a copy (a view where `a` is contiguous)
    a write would tell:          p = array_contiguous a
                                 r = if p: then: view_reshape{given=whole} a, n   else: a copy
    a write would tell, and the memory order of NumPy's `a` is not known:      a CompileError

Inference writes `reshape` where the type of an array does not settle the matter; none is left after this pass, which
runs before all others and is not left out.  Who writes and who is in use is asked of a copy of the program in which the
calls are inlined.  Shadows of arrays whose strides come from outside may have other strides, and so a reshape of them
that a write would tell from a copy has no derivative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from pullback.analysis.alias import Aliases, record_links, written_parameters
from pullback.analysis.effects import VIEWS, is_reference
from pullback.diagnostic import CompileError, Diagnostic, Span
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.rule import mentioned_by_rule
from pullback.ir.walk import clone_function
from pullback.passes import inline
from pullback.prims import get
from pullback.prims.base import Emitter
from pullback.types import ArrayRef, Scalar

__all__ = ["run"]

_REQUESTS = frozenset({"value_and_grad", "jvp", "vjp", "pullback"})
_SITE = "site"  # an attribute: the number of the op, the same in copies of it


class _Verdict(Enum):
    """What is known of a reshape: nobody can tell a view from a copy; one can; and it has no derivative."""

    SETTLED = 0
    OPEN = 1
    UNFOLLOWED = 2


def run(program: Program) -> None:
    """Replace every `reshape` of the program."""
    ops = [op for function in program.functions.values() for op in _reshapes(function)]
    if not ops:
        return
    for number, op in enumerate(ops):
        op.attrs[_SITE] = number
    verdicts = _judged(program, len(ops))
    for function in program.functions.values():
        _rewrite(function.body, verdicts)


def _reshapes(function: Function) -> list[Op]:
    return [op for op in function.body.walk() if op.name == "reshape"]


# ----------------------------------------------------------------------------------------------------- judging


def _judged(program: Program, count: int) -> list[_Verdict]:
    """The verdict on each reshape, which is that on the worst of its copies."""
    functions = {name: clone_function(function) for name, function in program.functions.items()}
    copy = Program(functions, program.entry, program.layouts)
    for function in list(functions.values()):
        inline.run(function, copy)
    inline.prune(copy)
    written, links = written_parameters(copy), record_links(copy)
    followed = _followed(copy)
    verdicts = [_Verdict.SETTLED] * count
    for name, function in copy.functions.items():
        ops = _reshapes(function)
        if not ops:
            continue
        judge = _Judge(function, Aliases(function, written, links))
        for op in ops:
            site = int(str(op.attrs[_SITE]))
            verdict = judge.verdict(op, name in followed)
            verdicts[site] = max(verdicts[site], verdict, key=lambda v: v.value)
    return verdicts


def _followed(program: Program) -> set[str]:
    """The functions that are differentiated, and what they call."""
    calls: dict[str, set[str]] = {}
    waiting: list[str] = []
    for name, function in program.functions.items():
        calls[name] = {str(op.attrs["callee"]) for op in function.body.walk() if "callee" in op.attrs}
        calls[name].update(mentioned_by_rule(function))
        waiting += [str(op.attrs["callee"]) for op in function.body.walk() if op.name in _REQUESTS]
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += calls.get(name, ())
    return found


@dataclass(frozen=True, slots=True)
class _Side:
    """The array, or what its reshape gave: its origins, the ops that touch their memory, and is it known outside."""

    origins: frozenset[Value]
    uses: tuple[Op, ...]
    escapes: bool


class _Judge:
    """Of one function: may a write to one side of a reshape be seen on the other."""

    def __init__(self, function: Function, aliases: Aliases) -> None:
        self.body = function.body
        self.aliases = aliases
        ops = list(function.body.walk())
        self.ops = [op for op in ops if op.name not in _SILENT and any(is_reference(v.type) for v in _mentioned(op))]
        left = [*function.body.results, *(v for op in self.ops if op.name in _KEEPING for v in op.operands)]
        self.outside = set(function.body.params)
        self.outside.update(origin for v in left if is_reference(v.type) for origin in aliases.origins(v))
        self.reshapes = [(op, [frozenset(aliases.origins(v)) for v in (op.operands[0], op.result)])
                         for op in ops if op.name == "reshape"]  # fmt: skip

    def verdict(self, op: Op, followed: bool) -> _Verdict:
        """The verdict on a reshape; `followed`: the function is differentiated."""
        source, result = self.side(op.operands[0], op), self.side(op.result, op)
        both = source.escapes and result.escapes and not op.attrs.get("spread")
        told = both or self.seen(op, source, result) or self.seen(op, result, source)
        if not told:
            return _Verdict.SETTLED
        own = self.aliases.origins(op.operands[0])  # what other reshapes give is judged there
        strided = any(isinstance(v.type, ArrayRef) and not v.type.contiguous for v in own)
        return _Verdict.UNFOLLOWED if followed and strided else _Verdict.OPEN

    def side(self, value: Value, judged: Op) -> _Side:
        """What the value may share memory with but for the reshape that is judged: other reshapes may be views."""
        origins = frozenset(self.aliases.origins(value))
        while True:
            near = [ends for op, ends in self.reshapes if op is not judged
                    and sum(map(origins.isdisjoint, ends)) == 1]  # fmt: skip
            if not near:
                break
            origins = origins.union(*(end for ends in near for end in ends))
        uses = tuple(op for op in self.ops if self.mean(_mentioned(op), origins))
        return _Side(origins, uses, not origins.isdisjoint(self.outside))

    def mean(self, values: Sequence[Value], origins: frozenset[Value]) -> bool:
        """May one of the values refer to memory of these origins."""
        return any(is_reference(v.type) and not origins.isdisjoint(self.aliases.origins(v)) for v in values)

    def seen(self, op: Op, written: _Side, other: _Side) -> bool:
        """May one side be written after the reshape, and the other be in use then or later."""
        home = self.aliases.home(op.result)
        start = None if home is None else self.aliases.index(op, home)
        assert home is not None and start is not None
        once, local = home is self.body, self.local(other, home)
        for write in {write for origin in written.origins for write, _ in self.aliases.writes_near(origin)}:
            place = self.aliases.index(write, home)
            if once or local:
                if place is None or place < start:
                    continue  # before the reshape, or when the other side is gone
                if other.escapes or any(self.from_place(use, home, place) for use in other.uses):
                    return True
            elif other.escapes or other.uses:
                return True
        return False

    def from_place(self, op: Op, home: Block, place: int) -> bool:
        """May the op run when that at the place in the block has begun."""
        index = self.aliases.index(op, home)
        return index is None or index >= place

    def local(self, side: _Side, home: Block) -> bool:
        """Is the side made anew in each run of the block, and gone at its end."""
        if side.escapes or any(self.aliases.home(origin) is not home for origin in side.origins):
            return False
        inside = all(self.aliases.index(op, home) is not None for op in side.uses)
        return inside and not self.mean(home.results, side.origins)


_KEEPING = frozenset({"box", "buffer_put"})
_SILENT = VIEWS | {"array_size", "array_same", "array_overlap"}  # touch no memory


def _mentioned(op: Op) -> list[Value]:
    return [*op.operands, *(v for block in op.blocks for v in block.results)]


# ---------------------------------------------------------------------------------------------------- rewriting


def _rewrite(block: Block, verdicts: list[_Verdict]) -> None:
    old, block.ops = block.ops, []
    for op in old:
        for inner in op.blocks:
            _rewrite(inner, verdicts)
        if op.name != "reshape":
            block.ops.append(op)
            continue
        verdict = verdicts[int(str(op.attrs[_SITE]))]
        e = Emitter(block, op.span)
        if op.attrs.get("spread"):
            if verdict is not _Verdict.SETTLED:
                raise _is_copy(op)
            if op.attrs.get("flat"):
                _settled(e, op)
            else:
                e.block.ops.append(_copying(op.operands[0], _sizes(op), op.result, op.span))
        elif verdict is _Verdict.SETTLED:
            _settled(e, op)
        elif op.attrs["foreign"]:
            raise _order_unknown(op)
        elif verdict is _Verdict.UNFOLLOWED:
            raise _strides_unknown(op)
        else:
            _open(e, op)


def _settled(e: Emitter, op: Op) -> None:
    """A view of a contiguous array, else a copy."""
    array, sizes = op.operands[0], _sizes(op)
    _result(e, op, array if _type(array).contiguous else _copied(e, array), sizes)


def _sizes(op: Op) -> list[Value]:
    """The new sizes; behind them stand both parts of complex numbers, if it is a part of such that is reshaped."""
    return op.operands[1:-2] if "part" in op.attrs else op.operands[1:]


def _at_most_one(e: Emitter, sizes: Sequence[Value]) -> Value:
    """Has an array of these sizes one element at most: that is contiguous whatever lies behind it."""
    total = e.integer(1)
    for size in sizes:
        total = e("mul", total, size)
    return e("le", total, e.integer(1))


def _result(e: Emitter, op: Op, array: Value, sizes: list[Value], result: Value | None = None) -> None:
    """Let the result of the op, or another one, be the last view of the array, which is contiguous."""
    if not _type(op.result).contiguous:
        array, sizes = e("view_reshape", array, *sizes), []
    name = "view_reshape" if _type(op.result).contiguous else "view_relax"
    e.block.ops.append(Op(get(name), [array, *sizes], op.results if result is None else [result], span=op.span))


def _open(e: Emitter, op: Op) -> None:
    array, sizes = op.operands[0], _sizes(op)
    whole = bool(op.attrs["whole"])
    if _type(array).contiguous and "gaps" not in op.attrs:
        _result(e, op, array, sizes)
        return
    parts = op.operands[-2:] if "part" in op.attrs else [array]
    if "gaps" in op.attrs:
        shares, whole = _at_most_one(e, sizes), False
    else:
        shares = e("array_contiguous", *parts) if whole else e("array_fits", array, *sizes)
    whole = whole and len(parts) == 1  # the strides of a part are those of the numbers
    if op.attrs["readonly"]:
        apart = e("not_", shares)
        attrs: dict[str, object] = {"exception": "ValueError", "message": "assignment destination is read-only"}
        e.append(get("check"), [apart], attrs=attrs, types=())
        _settled(e, op)
        return
    then, other = Emitter(Block(), op.span), Emitter(Block(), op.span)
    view = then("view_reshape", array, *sizes, given="whole" if whole or _type(op.result).contiguous else "fits")
    then.block.results = [view]
    _result(other, op, _copied(other, array), sizes, copy := Value(op.result.type))
    other.block.results = [copy]
    e.block.ops.append(Op(get("if"), [shares], op.results, blocks=[then.block, other.block], span=op.span))


def _type(value: Value) -> ArrayRef:
    assert isinstance(value.type, ArrayRef)
    return value.type


def _copied(e: Emitter, array: Value) -> Value:
    """A contiguous copy."""
    type_ = _type(array)
    sizes = [e("array_size", array, axis=axis) for axis in range(type_.rank)]
    op = _copying(array, sizes, Value(ArrayRef(type_.dtype, type_.rank, True)), e.span)
    e.block.ops.append(op)
    return op.result


def _copying(array: Value, sizes: Sequence[Value], result: Value, span: Span) -> Op:
    """The op that copies an array, broadcast to the sizes."""
    param = Value(Scalar(_type(array).dtype))
    attrs: dict[str, object] = {"rank": len(sizes), "outputs": ("new",), "targets": 0}
    block = Block([param], [], [param])
    return Op(get("elementwise"), [*sizes, array], [result], attrs, [block], span)


def _is_copy(op: Op) -> CompileError:
    title = "compiled code copies elements here that NumPy shows in a view, and a write would tell"
    return CompileError(
        Diagnostic(title, op.span, "one of the two is written later", "write np.array(...) around this for a copy")
    )


def _order_unknown(op: Op) -> CompileError:
    title = "whether this shares memory with the array depends on the order in which NumPy keeps its elements"
    return CompileError(
        Diagnostic(
            title, op.span, "its elements may lie column after column, and one of the two is written later",
            "write np.ascontiguousarray(...) around the array where it is made, or .copy() after this",
        )
    )  # fmt: skip


def _strides_unknown(op: Op) -> CompileError:
    title = "whether this shares memory with an argument depends on its strides, which has no derivative"
    return CompileError(
        Diagnostic(
            title, op.span, "one of the two is written later", "write .copy() after this, or index the argument itself"
        )
    )  # fmt: skip
