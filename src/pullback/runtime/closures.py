"""Functions that compiled code returns to Python: made again from their code and what they captured.

    def scaled(a):
        def f(x): return a * x
        return f

    f = jit(scaled)(2.0)       a Python function with f's code and a cell that holds 2.0, compiled when it is called

What several functions share and change is a cell of Python's, so it is shared on.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["FunctionMaker", "Maker", "TransformMaker", "connect"]

Transform = Callable[[str, Any, tuple[tuple[str, Any], ...]], Any]
_transform: list[Transform] = []


def connect(transform: Transform) -> None:
    """Tell how jit(f), grad(f), ... are made: `transform(kind, function, options)`."""
    _transform[:] = [transform]


@dataclass(frozen=True, slots=True, eq=False)
class FunctionMaker:
    """Makes functions of one code.  `captured` names what it is given first; after that come defaults.

    self_name: the variable by which the function calls itself.  defaults: names of parameters with one.
    """

    code: types.CodeType
    scope: dict[str, Any]
    captured: tuple[str, ...]
    self_name: str | None
    defaults: tuple[str, ...]

    def __call__(self, values: tuple[Any, ...]) -> Any:
        """A compiled function, given what it captured and its defaults."""
        return _transform[0]("jit", self.function(values), ())

    def function(self, values: tuple[Any, ...]) -> types.FunctionType:
        """The plain function."""
        given = dict(zip(self.captured, values, strict=False))
        cells = {name: v if isinstance(v, types.CellType) else types.CellType(v) for name, v in given.items()}
        if self.self_name is not None:
            cells[self.self_name] = types.CellType()
        closure = tuple(cells[name] for name in self.code.co_freevars)
        made = types.FunctionType(self.code, self.scope, self.code.co_name, None, closure)
        defaults = dict(zip(self.defaults, values[len(self.captured) :], strict=True))
        positional = self.code.co_varnames[: self.code.co_argcount]
        made.__defaults__ = tuple(defaults[name] for name in positional if name in defaults) or None
        made.__kwdefaults__ = {name: v for name, v in defaults.items() if name not in positional} or None
        if self.self_name is not None:
            cells[self.self_name].cell_contents = made
        return made


@dataclass(frozen=True, slots=True, eq=False)
class TransformMaker:
    """Makes grad(f), ... of functions that another maker makes, or of one function."""

    kind: str
    options: tuple[tuple[str, Any], ...]
    inner: Any

    def __call__(self, values: tuple[Any, ...]) -> Any:
        """The transformed function, given what the function captured."""
        function = self.inner
        if isinstance(function, FunctionMaker):
            function = function.function(values)
        elif isinstance(function, TransformMaker):
            function = function(values)
        return _transform[0](self.kind, function, self.options)


Maker = FunctionMaker | TransformMaker
