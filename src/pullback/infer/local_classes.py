"""Class statements in functions: the template, the row of its parts, and what decorators of the library do to it.

    class P(Base):                      template: type("P", (Base,), {"scale": a stand-in, "area": a stand-in})
        scale = 2.0 * x          ->     P = a new row of P's table, with scale and area in it
        def area(self): ...             (no row where no part has values of the run)

A template is made once for a statement, its bases and what is known of its parts.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import types as python_types
from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from pullback.infer.bound import Application, apply_to
from pullback.infer.calls import call
from pullback.infer.classes import bound_member, member
from pullback.infer.engine import Code, Frame
from pullback.infer.hashes import UNHASHABLE
from pullback.infer.heaps import allocate, heap_of, kind_of, write
from pullback.infer.parts import class_type, may_be_assigned
from pullback.infer.registry import HANDLERS
from pullback.infer.templates import Local, OwnClass, Part, local_of, mark, stand_in
from pullback.infer.values import AV, MISSING, items_of
from pullback.ir.node import Op
from pullback.types import (
    NONE,
    UNBOUND,
    Array,
    Builtin,
    Class,
    Closure,
    Constant,
    Dict,
    List,
    Member,
    Module,
    NoneType,
    Str,
    Tuple,
    Type,
    show,
)  # fmt: skip

__all__ = ["class_statement", "own_class", "python_behind"]

_PROPERTY, _STATIC, _CLASS, _CACHED = "class.property", "class.staticmethod", "class.classmethod", "class.cached"
_ABSTRACT, _FIELD = "class.abstract", Builtin("pullback.field")
_METACLASSES = (type, ABCMeta, enum.EnumType, type(NamedTuple("_N", [])))
# Objects that each execution of a class body makes anew.
_MADE_ANEW: tuple[type, ...] = (property, staticmethod, classmethod, dataclasses.Field, enum.auto)
_DECORATED: dict[tuple[type, str, Hashable], type] = {}


def own_class(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """py.own_class: what stands for the class until one of its functions is looked up."""
    return AV(Closure(OwnClass(op.attrs["key"]), (), "the class"))


def class_statement(cx: Frame, op: Op, operands: list[AV]) -> AV:
    """py.class: the class as a value."""
    count, names, keywords = op.attrs["bases"], op.attrs["names"], op.attrs["keywords"]
    assert isinstance(count, int) and isinstance(names, tuple) and isinstance(keywords, tuple)
    bases, rest = operands[:count], operands[count:]
    named = {name: _python(cx, av, f"the keyword {name}") for name, av in zip(keywords, rest, strict=False)}
    body = dict(zip(names, rest[len(keywords) :], strict=True))
    body.update((name, AV(UNBOUND)) for name in may_be_assigned(cx, op.attrs["key"]) if name not in body)
    made = _Template(cx, op, bases, named, body)
    cls = made.value()
    _tell_bases(cx, cls)
    return cx.stop() if cx.dead else cls


def python_behind(cx: Frame, av: AV) -> Any:
    """The object of Python that a value is while compiling; MISSING for others."""
    match av.type:
        case Class(python, None):
            return python
        case Constant(value) | Str(value):
            return value
        case NoneType():
            return None
        case Member(python):
            return python
        case Closure(Code(python=function)) if function is not None:
            return function
        case Builtin("pullback.auto"):
            return enum.auto()
        case Builtin() | Module():
            return _named(av.type)
        case Tuple(_, None):
            items = [python_behind(cx, item) for item in items_of(av)]
            return MISSING if any(item is MISSING for item in items) else tuple(items)
    known = cx.literal_of(av)
    return known if type(known) in (bool, int, float, str) else MISSING


def _named(type_: Builtin | Module) -> Any:
    import importlib  # not at the top: few programs come here

    if isinstance(type_, Module):
        return importlib.import_module(type_.name)
    module, _, name = type_.name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        return MISSING


def _python(cx: Frame, av: AV, what: str) -> Any:
    found = python_behind(cx, av)
    if found is MISSING:
        raise cx.error(f"{what} of a class must be known while compiling", f"this is {show(av.type)}",
                       "define the class at the top of the module")  # fmt: skip
    return found


# ------------------------------------------------------------------------------------------------------- templates


class _Template:
    """One class statement: its parts, by name, and what stands for them in the template."""

    def __init__(
        self, cx: Frame, op: Op, bases: Sequence[AV], keywords: dict[str, Any], body: Mapping[str, AV]
    ) -> None:
        self.cx = cx
        self.op = op
        self.bases = bases
        self.keywords = keywords
        self.body = body
        self.local = Local(op.attrs["key"])
        self.parts: dict[str, AV] = {}
        self.assigned = may_be_assigned(cx, op.attrs["key"])
        self.functions: dict[str, AV] = {}

    def value(self) -> AV:
        namespace = {name: self.placed(name, av) for name, av in self.body.items()}
        python_bases = tuple(self.base(av) for av in self.bases)
        held = {f"base {i}": av for i, av in enumerate(self.bases) if av.values}
        static = {name: self.static(av) for name, av in self.parts.items()}
        known = not held and not self.assigned and None not in static.values()
        key = (
            self.op.attrs["key"], self.cx.code, python_bases, known, self.cx.skeleton if known else None,
            tuple((n, self.fixed(n, namespace[n]), av.type if known else _shape(av.type))
                  for n, av in self.body.items()),
            tuple(static.items()) if known else None,
            tuple((name, repr(value)) for name, value in self.keywords.items()),
        )  # fmt: skip
        template = self.cx.session.classes.get(key)
        if template is None:
            template = self.cx.session.classes[key] = self.made(namespace, python_bases)
            local = local_of(template)
            assert local is not None
            local.dynamic = not known
            local.static = {name: found for name, found in static.items() if known and found is not None}
            local.bases = {b: f"base {i}" for i, b in enumerate(python_bases) if f"base {i}" in held}
        local = local_of(template)
        assert local is not None
        local.kinds = {name: av.type for name, av in self.parts.items()}
        type_ = class_type(self.cx, template)
        if known:
            return AV(type_)
        heap = heap_of(self.cx, "class", template)
        row = allocate(self.cx, heap)
        for name, av in {**self.parts, **held}.items():
            write(self.cx, heap, row, name, av)
        return AV(type_, (row,))

    def static(self, av: AV) -> tuple[Type, tuple[Any, ...]] | None:
        """The type of a part and the numbers in it; None where one is of the run."""
        numbers = tuple(self.cx.literal_at(value) for value in av.values)
        plain = all(type(number) in (int, float, bool) for number in numbers)
        return (av.type, numbers) if plain else None

    def fixed(self, name: str, value: Any) -> Hashable:
        """What tells templates apart by what they hold under a name."""
        if name in self.parts or isinstance(value, _MADE_ANEW):
            return None
        return (type(value), value) if type(value) in (bool, int, float, str, tuple) else id(value)

    def base(self, av: AV) -> Any:
        found = av.type.python if isinstance(av.type, Class) else _python(self.cx, av, "a base")
        if not isinstance(found, type) and not hasattr(found, "__mro_entries__"):
            raise self.cx.error("a base of a class must be a class", f"this is {show(av.type)}")
        kind = self.keywords.get("metaclass", type(found))
        if isinstance(found, type) and kind not in _METACLASSES:
            raise self.cx.error(f"the class {found.__name__} has a metaclass of its own", f"this is {kind.__name__}",
                                "define the class at the top of the module")  # fmt: skip
        return found

    def made(self, namespace: dict[str, Any], bases: tuple[Any, ...]) -> type:
        """The class of Python."""
        name, qualified = str(self.op.attrs["name"]), str(self.cx.code.untyped.attrs.get("qualified_name", ""))
        scope = self.cx.code.globals
        before = {"__module__": scope.get("__name__", "builtins"), "__qualname__": f"{qualified}.<locals>.{name}"}
        if self.op.attrs["doc"] is not None:
            before["__doc__"] = self.op.attrs["doc"]
        whole = {**before, **self.annotations(), **namespace}

        def fill(found: Any) -> None:
            for key, value in whole.items():
                found[key] = value

        try:
            made: type = python_types.new_class(name, bases, self.keywords, fill)
        except Exception as error:  # metaclasses and decorators of the library raise what they like
            kind = type(error).__name__
            raise self.cx.error(str(error), "Python cannot make this class either", raised=(kind, str(error))) from None
        mark(made, self.local)
        self.local.template = self.local.cell.cell_contents = made
        return made

    def annotations(self) -> dict[str, Any]:
        found = self.op.attrs["annotations"]
        assert isinstance(found, tuple)
        return {"__annotations__": dict(found)} if found else {}

    # ------------------------------------------------------------------------------------------------- stand-ins

    def placed(self, name: str, av: AV) -> Any:
        """What the template holds under a name."""
        match av.type:
            case Closure(str() as kind) if kind.startswith("class."):
                return self.descriptor(kind, name, items_of(av))
            case Closure(Application(target=target)) if target == _FIELD:
                return self.field(name, av)
            case Closure(Code(python=None)):
                return self.function(name, av)
        found = python_behind(self.cx, av)
        if found is not MISSING and name not in self.assigned and not isinstance(found, python_types.ModuleType):
            return found
        if any(isinstance(base.type, Class) and isinstance(base.type.python, enum.EnumType) for base in self.bases):
            raise self.cx.error(f"the value of {name} must be known while compiling", f"this is {show(av.type)}",
                                "write the number or the text")  # fmt: skip
        return self.part(name, av)

    def descriptor(self, kind: str, name: str, inner: Sequence[AV]) -> Any:
        if kind == _PROPERTY:
            given = [None if isinstance(av.type, NoneType) else self.held(f"{name}.{i}", av)
                     for i, av in enumerate(inner)]  # fmt: skip
            return property(*given)
        function = self.held(name, inner[0])
        if kind == _ABSTRACT:
            return abstractmethod(function)
        makers: dict[str, Callable[[Any], Any]] = {
            _STATIC: staticmethod, _CLASS: classmethod, _CACHED: functools.cached_property
        }  # fmt: skip
        return makers[kind](function)

    def held(self, name: str, av: AV) -> Any:
        """A function inside a descriptor."""
        match av.type:
            case Closure(str() as kind) if kind.startswith("class."):
                return self.descriptor(kind, name, items_of(av))
            case Closure(Code(python=python)) if python is not None:
                return python
        return self.function(name, av)

    def function(self, name: str, av: AV) -> Any:
        self.parts[name] = av
        real = None if name == "__init_subclass__" else self.real(av)
        self.local.partial = self.local.partial or real is None
        return stand_in(_function(name) if real is None else real, self.local, name)

    def real(self, av: AV) -> python_types.FunctionType | None:
        """The function of Python that a part is, where no value of the run is in it: for objects that Python gets."""
        type_ = av.type
        code = type_.code.untyped if isinstance(type_, Closure) and isinstance(type_.code, Code) else None
        python = code.attrs.get("code") if code is not None else None
        if code is None or not isinstance(type_, Closure) or not isinstance(python, python_types.CodeType):
            return None
        names, parameters = code.attrs["captures"], code.attrs["parameters"]
        assert isinstance(names, tuple) and isinstance(parameters, tuple)
        inside = items_of(av)
        given = dict(zip(names, inside, strict=False))
        cells = [self.cell(given.get(name)) for name in python.co_freevars]
        optional = [(name, kind) for name, kind, has_default in parameters if has_default]
        values = [python_behind(self.cx, default) for default in inside[len(names) :]]
        if None in cells or MISSING in values:
            return None
        made = python_types.FunctionType(python, self.cx.code.globals, python.co_name, None, tuple(cells))  # type: ignore[arg-type]
        defaults = list(zip(optional, values, strict=True))
        made.__defaults__ = tuple(v for (_, kind), v in defaults if kind != "keyword_only") or None
        made.__kwdefaults__ = {name: v for (name, kind), v in defaults if kind == "keyword_only"} or None
        return made

    def cell(self, av: AV | None) -> python_types.CellType | None:
        if av is None:
            return None
        if isinstance(av.type, Closure) and av.type.code == OwnClass(self.local.key):
            return self.local.cell
        found = python_behind(self.cx, av)
        found = self.real(av) or MISSING if found is MISSING else found
        return None if found is MISSING else python_types.CellType(found)

    def field(self, name: str, av: AV) -> Any:
        """dataclasses.field(...): its options are known, its default is a part."""
        assert isinstance(av.type, Closure) and isinstance(av.type.code, Application)
        given: dict[str, Any] = {}
        for option, value in zip(av.type.code.keywords, items_of(av)[1:], strict=True):
            found = python_behind(self.cx, value)
            if found is MISSING or (option == "default_factory" and isinstance(found, python_types.FunctionType)):
                if option not in ("default", "default_factory"):
                    raise self.cx.error(f"the option {option} of a field must be known while compiling",
                                        f"this is {show(value.type)}")  # fmt: skip
                inside = f"{name}.{option}"
                found = self.function(inside, value) if option == "default_factory" else self.part(inside, value)
            given[option] = found
        return dataclasses.field(**given)

    def part(self, name: str, av: AV) -> Part:
        self.parts[name] = av
        return Part(self.local, name)


def _function(name: str) -> Any:
    """A function that only stands for another."""

    def stand_in(*arguments: Any, **named: Any) -> Any:
        if name == "__init_subclass__":  # it is called once the class is there
            return None
        raise TypeError(f"{name}() is of a class that a compiled function made, and works only in there")

    stand_in.__name__ = stand_in.__qualname__ = name
    return stand_in


def _shape(type_: Type) -> Hashable:
    """What of a part decides how the template is made; the rest is known of the row."""
    if isinstance(type_, Closure):
        return "function", type_.code if isinstance(type_.code, str | Application) else None
    return "value"


def _tell_bases(cx: Frame, cls: AV) -> None:
    """Base.__init_subclass__(), of a base that a function made."""
    assert isinstance(cls.type, Class)
    found = member(cx, cls.type.python, "__init_subclass__", after=cls.type.python)
    if found is None or found[0] is object:
        return
    if local_of(found[0]) is None:
        raise cx.error(f"{found[0].__name__} has an __init_subclass__", "it would run while compiling",
                       "define the class at the top of the module")  # fmt: skip
    call(cx, bound_member(cx, cls, cls.type.python, found, "__init_subclass__"), [], {})


# ------------------------------------------------------------------------------------------------------ decorators


def _wrapper(kind: str) -> Callable[[Frame, Sequence[AV], Mapping[str, AV]], AV]:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        (function,) = arguments
        return AV(Closure(kind, (function.type,), kind.partition(".")[2]), function.values)

    return handler


def _property(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """property(fget, fset, fdel)"""
    given = dict(zip(("fget", "fset", "fdel"), arguments, strict=False)) | dict(keywords)
    parts = [given.get(name, AV(NONE)) for name in ("fget", "fset", "fdel")]
    return AV(Closure(_PROPERTY, tuple(p.type for p in parts), "property"), tuple(v for p in parts for v in p.values))


def _with_accessor(position: int) -> Callable[[Frame, Sequence[AV], Mapping[str, AV]], AV]:
    """x.setter(function) and the like."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        before, function = arguments
        parts = [*items_of(before)]
        parts[position] = function
        return _property(cx, parts, {})

    return handler


def _field(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return apply_to(AV(_FIELD), arguments, keywords)


def _dataclass(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """@dataclass and @dataclass(...), of a class that a function makes."""
    if not arguments:
        return apply_to(AV(Builtin("dataclasses.dataclass")), [], keywords)
    return _decorated(cx, arguments[0], "dataclass", dataclasses.dataclass, keywords)


def _total_ordering(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return _decorated(cx, arguments[0], "total_ordering", functools.total_ordering, {})


def _decorated(
    cx: Frame, cls: AV, name: str, decorator: Callable[..., Any], keywords: Mapping[str, AV]
) -> AV:
    """What a decorator of the library makes of a template, once."""
    local = local_of(cls.type.python) if isinstance(cls.type, Class) else None
    if local is None or not isinstance(cls.type, Class):
        raise cx.error(f"{name}() of {show(cls.type)} is not supported", "only of a class that is defined here",
                       "decorate the class where it is defined")  # fmt: skip
    options = {key: _python(cx, av, f"the option {key}") for key, av in keywords.items()}
    key = (cls.type.python, name, tuple(sorted(options.items())))
    if key not in _DECORATED:
        _require_hashable(cx, local)
        try:
            _DECORATED[key] = decorator(cls.type.python, **options)
        except (TypeError, ValueError) as error:
            kind = type(error).__name__
            raise cx.error(str(error), "Python cannot make this class either", raised=(kind, str(error))) from None
    made = _DECORATED[key]
    if made is not cls.type.python:
        local.template = local.cell.cell_contents = made  # with slots it is another class
        if local.dynamic:
            return _copied(cx, cls, made)
    return AV(class_type(cx, made), cls.values)


def _copied(cx: Frame, cls: AV, made: type) -> AV:
    raise cx.error("a dataclass with slots in a function cannot hold values of the run", "this is one",
                   "leave out slots=True")  # fmt: skip


def _require_hashable(cx: Frame, local: Local) -> None:
    """As dataclass does: a default that changes would be shared."""
    template = local.template
    assert template is not None
    for name, type_ in local.kinds.items():
        is_field = name in vars(template).get("__annotations__", {})
        if is_field and (isinstance(type_, List | Dict | Array) or kind_of(type_) in UNHASHABLE):
            kind = f"<class '{kind_of(type_) or show(type_).partition('[')[0]}'>"
            title = f"mutable default {kind} for field {name} is not allowed: use default_factory"
            raise cx.error(title, "all objects would share it", "write field(default_factory=...)",
                           raised=("ValueError", title))  # fmt: skip


def _named_tuple(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    raise cx.error("NamedTuple() as a function is not supported", "it is called here",
                   "write class Point(NamedTuple): and the fields")  # fmt: skip


HANDLERS.update({
    "builtins.property": _property, "builtins.staticmethod": _wrapper(_STATIC),
    "builtins.classmethod": _wrapper(_CLASS), "functools.cached_property": _wrapper(_CACHED),
    "abc.abstractmethod": _wrapper(_ABSTRACT), "dataclasses.field": _field, "dataclasses.dataclass": _dataclass,
    "enum.auto": lambda cx, arguments, keywords: AV(Builtin("pullback.auto")),
    "functools.total_ordering": _total_ordering, "typing.NamedTuple": _named_tuple,
    "property.getter": _with_accessor(0), "property.setter": _with_accessor(1), "property.deleter": _with_accessor(2),
})  # fmt: skip
