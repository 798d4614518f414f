"""Answers to `differentiated`: is anything differentiated by what a cache would be asked for (see `infer.caches`).

    again = differentiated x        ->        again = const true            where x is varied

A copy of what a key is made of is asked about, so it does not matter whether that reaches a result.  Where x is not
varied, the question stays for a derivative around this one, and is false once there is none left to take.
"""

from __future__ import annotations

from collections.abc import Callable

from pullback.analysis.keys import refused
from pullback.ir.node import Block, Value
from pullback.prims.base import get

__all__ = ["answer"]


def answer(body: Block, varied: Callable[[Value], bool]) -> None:
    """Let the questions about varied values be true."""
    for op in body.walk():
        if op.name == "differentiated" and varied(op.operands[0]):
            if op.attrs.get("effects"):
                raise refused(op.span)
            op.prim, op.operands, op.attrs = get("const"), [], {"value": True}
