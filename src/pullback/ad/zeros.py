"""Shadows of zeros for records that differentiated code meets but did not make.

    def zeros.node(record):          one function per layout; variants by the record's tag
        tag = box_tag record
        return if tag == 0 { v, next = unbox record;  box node' (0.0, zeros.node(next)) } else { box node' () }
"""

from __future__ import annotations

from pullback.ad.primal import Derivations
from pullback.ad.shadows import array_sizes, coerce, make_record, open_record, scalar_zero, zero_array
from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Function, Value
from pullback.prims.base import Emitter, get
from pullback.types import ArrayRef, Box, Machine, Scalar

__all__ = ["zeros_function"]


def zeros_function(derivations: Derivations, box: str, name: str) -> Function:
    """`name(record) -> a shadow of zeros` of the same structure."""
    param = Value(Box(box), "record")
    body = Emitter(Block([param]))
    body.block.results = [_choose(derivations, body, param, box, 0)]
    return Function(name, body.block)


def _choose(derivations: Derivations, e: Emitter, record: Value, box: str, first: int) -> Value:
    """One arm per variant, tested in order."""
    variants = derivations.program.layouts[box]
    if first == len(variants) - 1:
        return _case(derivations, e, record, box, first)
    found = e("eq", e("box_tag", record), e.integer(first))
    yes, no = Emitter(Block()), Emitter(Block())
    yes.block.results = [_case(derivations, yes, record, box, first)]
    no.block.results = [_choose(derivations, no, record, box, first + 1)]
    shadow = Box(derivations.types.box(box))
    return e.append(get("if"), [found], blocks=[yes.block, no.block], types=[shadow]).result


def _case(derivations: Derivations, e: Emitter, record: Value, box: str, variant: int) -> Value:
    types = derivations.types
    layout = tuple(derivations.program.layouts[box][variant])
    opened = open_record(e, record, variant, layout)
    slots = [_zero(derivations, e, v, t) for v in opened if (t := types.machine(v.type)) is not None]
    return make_record(e, types.box(box), variant, slots)


def _zero(derivations: Derivations, e: Emitter, value: Value, type_: Machine) -> Value:
    match value.type:
        case Scalar():
            return scalar_zero(e, type_)
        case ArrayRef():
            return coerce(e, zero_array(e, value.type, array_sizes(e, value)), type_)
        case Box(inner):
            functions = derivations.program.functions.values()
            if any(op.name == "box_null" and op.attrs["name"] == inner for f in functions for op in f.body.walk()):
                raise InternalError("the shadow of a record of unknown origin that may hold a placeholder")
            callee = derivations.zeros(inner)
            return e.append(get("call"), [value], attrs={"callee": callee}, types=[type_]).result
    raise InternalError("the shadow of a record of unknown origin that holds buffers")
