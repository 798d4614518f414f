"""Functions under inference as a program: what facts of alias classes are asked of.

    reached(cx, f)      Program(f and what it calls, as far as that is inferred)
"""

from __future__ import annotations

from pullback.infer.engine import Frame
from pullback.ir.node import Function, Program

__all__ = ["reached"]


def reached(cx: Frame, function: Function) -> Program:
    """The function with what it calls, as far as that is inferred."""
    known = {spec.name: spec.function for spec in cx.session.order}
    found, pending = {function.name: function}, [function]
    while pending:
        for op in pending.pop().body.walk():
            callee = known.get(str(op.attrs.get("callee")))
            if callee is not None and callee.name not in found:
                found[callee.name] = callee
                pending.append(callee)
    return Program(found, function.name)
