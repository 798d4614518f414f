"""What tests of passes share: applying passes, running a program, comparing outcomes."""

import importlib

import numpy as np

from ir_text import canonical, parse
from pullback.interp import run
from pullback.ir.check import check_program
from pullback.ir.node import Program
from pullback.ir.walk import clone_function

NAMES = (
    "inline", "fold", "simplify", "cse", "dce", "licm", "bounds", "unroll", "counted", "split", "promote", "elements",
    "order", "reuse", "rows", "ownership", "equal", "fuse", "versions", "plain", "idle", "replay", "shelves", "sizes",
    "gathers", "streams", "running_sums", "rolling", "choices", "unread", "terms", "copies",
)  # fmt: skip
PASSES = {name: importlib.import_module(f"pullback.passes.{name}") for name in NAMES}


def apply(program, *names):
    for name in names:
        for function in list(program.functions.values()):
            PASSES[name].run(function, program)
        check_program(program, name)


def rewrites(names, before, after, *others):
    """The passes turn the first text into the second."""
    program = parse(before, *others)
    apply(program, *names.split())
    expected = parse(after)
    assert canonical(program.functions[program.entry]) == canonical(expected.functions[expected.entry])


def copy_of(program):
    return Program({k: clone_function(f) for k, f in program.functions.items()}, program.entry, program.layouts)


def outcome(program, arguments):
    """The results, or the exception with its message and place."""
    try:
        return [value.item() for value in run(program, arguments)]
    except (ValueError, TypeError, IndexError) as error:
        return (type(error).__name__, str(error), str(error.pullback_span))


def agree(one, other, relative=1e-12):
    if isinstance(one, tuple) or isinstance(other, tuple):
        return one == other
    return all(np.allclose(x, y, rtol=relative, atol=0, equal_nan=True) for x, y in zip(one, other, strict=True))
