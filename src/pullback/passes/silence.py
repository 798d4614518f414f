"""Leaves out what a program prints: for code that runs a function again.

    text_effect{function: print}(t)      ->      (nothing)
"""

from __future__ import annotations

from pullback.ir.node import Block, Program

__all__ = ["run"]


def run(program: Program) -> None:
    """Remove every print of the program."""
    for function in program.functions.values():
        _block(function.body)


def _block(block: Block) -> None:
    block.ops = [op for op in block.ops if not (op.name == "text_effect" and op.attrs["function"] == "print")]
    for op in block.ops:
        for inner in op.blocks:
            _block(inner)
