"""Copies a plain function, and all functions, classes and objects it reaches, into another world of numbers.

    Rebinder(WORLD).value(f)          f, whose `math.sin` is what WORLD puts in its place

A world says what stands for `math`, `np`, `float` and their like, and what becomes of float literals and arrays.
Nothing of the program is parsed or rewritten. What a program shares, the copies share: one copy per function, class,
object.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol

import numpy as np

from structures import children, is_object, is_users_class, rebuilt, with_children

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class World:
    """Substitutes by identity, the builtins, what a float constant becomes, what an array becomes, transformations."""

    substitutes: Mapping[int, Any]
    builtins: Mapping[str, Any]
    literal: Callable[[float], Any]
    array: Callable[[np.ndarray[Any, Any], dict[int, Any]], Any]
    transforms: Mapping[str, Callable[..., Any]]


class Rebinder:
    """One copy of a program; ``buffers`` keeps arrays that share memory sharing it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.functions: dict[int, types.FunctionType] = {}
        self.namespaces: dict[int, dict[str, Any]] = {}
        self.cells: dict[int, types.CellType] = {}
        self.buffers: dict[int, Any] = {}
        self.containers: dict[int, Any] = {}

    def value(self, value: Any) -> Any:
        """What the value is in the other world."""
        if id(value) in self.world.substitutes:
            return self.world.substitutes[id(value)]
        if isinstance(value, types.FunctionType):
            return value if is_foreign(value) else self.function(value)
        if isinstance(value, np.ndarray) and value.dtype.kind in "fib":
            return self.shared(value, lambda: self.world.array(value, self.buffers))
        if is_users_class(value):
            return self.class_(value)
        if isinstance(value, types.ModuleType):
            return _Module(self, value) if is_local(value) else value
        if isinstance(value, functools.partial):
            return functools.partial(self.value(value.func), *map(self.value, value.args), **self.items(value.keywords))
        if isinstance(value, types.MethodType):
            return types.MethodType(self.value(value.__func__), self.value(value.__self__))
        if hasattr(type(value), "specializations"):
            return self.transformed(value)
        return self.container(value)

    def container(self, value: Any) -> Any:
        if id(value) in self.containers:
            return self.containers[id(value)][1]
        parts = children(value)
        if parts is None:
            return value
        if isinstance(value, tuple):
            copy = with_children(value, [self.value(item) for _, item in parts])
            if type(copy) is not tuple:
                copy = tuple.__new__(self.value(type(value)), copy)
            return self.shared(value, lambda: copy)
        cls = self.value(type(value)) if is_object(value) else None
        copy = rebuilt(value, (), cls) if cls else type(value)()
        self.containers[id(value)] = value, copy  # before its parts: they may refer to it
        for key, item in parts:
            moved = self.value(item)
            if isinstance(value, list):
                copy.append(moved)
            elif isinstance(value, dict):
                copy[key] = moved
            else:
                object.__setattr__(copy, key, moved)
        return copy

    def items(self, mapping: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self.value(item) for name, item in mapping.items()}

    def shared(self, value: Any, copy: Callable[[], Any]) -> Any:
        """One copy per object, so that what the program changes through one name it sees through the others."""
        if id(value) not in self.containers:
            self.containers[id(value)] = value, copy()
        return self.containers[id(value)][1]

    def transformed(self, compiled: Any) -> Any:
        """A function that `pb.jit` or `pb.grad` made already."""
        kind, function, settings = compiled.__pullback__
        return self.shared(compiled, lambda: self.world.transforms[kind](self.value(function), **dict(settings)))

    def function(self, function: types.FunctionType) -> types.FunctionType:
        if id(function) in self.functions:
            return self.functions[id(function)]
        namespace = self.namespaces.setdefault(
            id(function.__globals__),
            {"__builtins__": self.world.builtins, "__name__": function.__globals__.get("__name__")},
        )
        closure = tuple(self.cell(cell) for cell in function.__closure__ or ())
        code = mark_literals(function.__code__, self.world.literal)
        copy = types.FunctionType(code, namespace, function.__name__, None, closure)
        self.functions[id(function)] = copy
        copy.__defaults__ = self.value(function.__defaults__)
        copy.__kwdefaults__ = self.items(function.__kwdefaults__ or {})
        for cell, original in zip(closure, function.__closure__ or (), strict=True):
            try:
                cell.cell_contents = self.value(original.cell_contents)
            except ValueError:  # the original cell is empty as well
                continue
        for name in names_read(code):
            if name in function.__globals__ and name not in namespace:
                namespace[name] = self.value(function.__globals__[name])
        return copy

    def cell(self, cell: types.CellType) -> types.CellType:
        return self.cells.setdefault(id(cell), types.CellType())

    # --- classes

    def class_(self, cls: type) -> type:
        if id(cls) in self.containers:
            return self.containers[id(cls)][1]  # type: ignore[no-any-return]
        bases = tuple(self.value(base) for base in cls.__bases__ if base not in (Generic, Protocol))
        first = {name: vars(cls)[name] for name in ("__module__", "__qualname__", "__slots__") if name in vars(cls)}
        copy = type(cls)(cls.__name__, bases, first)
        self.containers[id(cls)] = cls, copy  # before its members: they may refer to it
        for name, member in vars(cls).items():
            if name not in first and name not in ("__dict__", "__weakref__", "_abc_impl"):
                if not isinstance(member, types.MemberDescriptorType):
                    setattr(copy, name, self.member(member))
        return copy

    def member(self, member: Any) -> Any:
        if isinstance(member, (staticmethod, classmethod)):
            return type(member)(self.value(member.__func__))
        if isinstance(member, property):
            return property(*[self.value(part) for part in (member.fget, member.fset, member.fdel)])
        if isinstance(member, functools.cached_property):
            copy = functools.cached_property(self.value(member.func))
            copy.__set_name__(None, member.attrname)  # type: ignore[arg-type]
            return copy
        return self.value(member)


class _Module:
    """A module of the tests whose functions are copied as they are asked for."""

    def __init__(self, rebinder: Rebinder, module: types.ModuleType) -> None:
        self._rebinder, self._module = rebinder, module

    def __getattr__(self, name: str) -> Any:
        return self._rebinder.value(getattr(self._module, name))


def is_local(module: types.ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return file is not None and Path(file).resolve().is_relative_to(HERE)


def is_foreign(function: types.FunctionType) -> bool:
    """A function of the standard library that holds nothing of the program."""
    top = (function.__module__ or "").partition(".")[0]
    return top in sys.stdlib_module_names and top != "__main__" and not function.__closure__


def mark_literals(code: types.CodeType, literal: Callable[[float], Any]) -> types.CodeType:
    """The code with every float constant made what the world wants."""

    def mark(constant: Any) -> Any:
        if type(constant) is float:
            return literal(constant)
        return mark_literals(constant, literal) if isinstance(constant, types.CodeType) else constant

    return code.replace(co_consts=tuple(mark(constant) for constant in code.co_consts))


def names_read(code: types.CodeType) -> set[str]:
    inner = [names_read(constant) for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*inner)
