"""Warm starts: native code kept under what was asked for, so that nothing is parsed, inferred or emitted again.

    name = key(request, options)                       from f's code object, the types of the arguments, the options
    save(name, f, entry)                               after compiling
    load(name, f)                                      in another process: linked code, in a few milliseconds

The code refers to objects: dicts of globals, cells, helper functions, strings.  Each is written down as a way to find
it from `f` (its third cell; the global `helper` of its module; the code of that) and found again when loading;
functions on the way must still have the same code, and the user's classes that the compiler met must be what they were
(`class_prints`), with the fields of their objects at the same places.  What the guards of the code check is checked by
the code itself: a loaded entry may find that it does not apply, and then the caller compiles as if nothing had been
there.  An object that cannot be named so means that nothing is kept.

Closures of one function that have captured different things, and one function before and after a helper was changed,
have the same key: a few entries are kept under it, told apart by the marks of what they reach.
"""

from __future__ import annotations

import enum
import importlib
import pickle
import sys
import types
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from pullback.codegen import abi, attributes, build, cache
from pullback.codegen.class_prints import Nameless, class_print, code_print, is_users
from pullback.codegen.target import fingerprint
from pullback.diagnostic import InternalError, Span
from pullback.prims.stated import stated
from pullback.runtime.boundary import ABSENT, Boundary, class_dict, read
from pullback.runtime.callobject import transform_of
from pullback.runtime.fixed import Path, fixed_leaves, value_at
from pullback.runtime.packing import Key
from pullback.runtime.request import Options, Request
from pullback.runtime.sketch import sketch
from pullback.runtime.state import NOTHING_HELD, Held, is_value
from pullback.runtime.structured import RecordMaker

__all__ = ["key", "load", "request_key", "save"]

# A way to an object: () is the function asked for; (way, "cell", 2), (way, "read", kind, name) and so on go on.
Way = tuple[Any, ...]
_PLACES = 6  # entries under one key


# --------------------------------------------------------------------------------------------------- fingerprints


def _names(code: types.CodeType) -> set[str]:
    """The names that code and the code nested in it may look up."""
    nested = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*map(_names, nested))


def _print(value: Any) -> str | None:
    """What must be equal when an object is found again: of functions and of jit(f), grad(f), ...; None for others.

    A name that was not a global must not be one now: it may have been that of a builtin.
    """
    if isinstance(value, types.FunctionType):
        missing = sorted(_names(value.__code__).difference(value.__globals__))
        return f"{code_print(value.__code__)} {' '.join(missing)}{_rule_print(value)}"
    if isinstance(value, property | classmethod | staticmethod):
        return " ".join(str(_print(function)) for function in _functions_in(value))
    request = transform_of(value)
    return None if request is None else repr((request[0], request[2]))


def _rule_print(function: types.FunctionType) -> str:
    """Which rules a function has for its derivative; these are functions that are found from it."""
    rule = stated(function)
    if rule is None:
        return ""
    given = [part is not None for part in (rule.jvp, rule.forward, rule.backward)]
    return f" rule {given} {rule.nondiff}"


def _mark(value: Any) -> str | None:
    """What must be equal of what is found in a place: `_print`, of constants the value, of other values the looks."""
    if value is None or type(value) in (bool, str) or isinstance(value, np.dtype):
        return repr(value)
    mark = _print(value)
    if mark is not None or not is_value(value):
        return mark
    try:
        return repr(sketch(value))
    except (TypeError, OverflowError):
        return None


def _functions_in(value: Any) -> list[Any]:
    """The functions of a property, class method or static method."""
    if isinstance(value, property):
        return [value.fget, value.fset, value.fdel]
    return [value.__func__]


def _rules_of(function: Any) -> tuple[Any, ...]:
    """The functions of the derivative rule of a function."""
    rule = stated(function)
    return () if rule is None else rule.functions


class _Ways:
    """The objects that can be found from a function, by identity."""

    def __init__(self, root: object) -> None:
        self.prints: list[tuple[Way, str]] = []
        self.classes: dict[Way, str] = {}
        self._known: dict[int, Way] = {}
        self._kept: list[object] = []  # so that identities stay
        self.add((), root)

    def add(self, way: Way, value: Any) -> None:
        """Note an object and what it leads to."""
        if id(value) in self._known:
            return
        self._note(way, value)
        mark = _print(value)
        if mark is None:
            raise Nameless(repr(value))  # code kept for it would be taken for that of another
        self.prints.append((way, mark))
        if isinstance(value, types.FunctionType):
            self._note((way, "code"), value.__code__)
            self._note((way, "globals"), value.__globals__)
            for i, cell in enumerate(value.__closure__ or ()):
                self._note((way, "cell", i), cell)
            for i, rule in enumerate(_rules_of(value)):
                self.add((way, "rule", i), rule)
        elif isinstance(value, property | classmethod | staticmethod):
            for i, function in enumerate(_functions_in(value)):
                if isinstance(function, types.FunctionType):
                    self.add((way, "function", i), function)
        else:
            self.add((way, "of"), value.__pullback__[1])

    def _note(self, way: Way, value: object) -> None:
        self._known.setdefault(id(value), way)
        self._kept.append(value)

    def follow(self, boundary: Boundary) -> None:
        """Note the functions that guards expect in places that are known."""
        for kind in boundary.classes:
            self.find(kind)
        for guard in boundary.guards:
            if guard.kind == "class":
                assert isinstance(guard.container, type)
                self._note((self.find(guard.container), "class names"), class_dict(guard.container))
            way = (self.find(guard.container), "read", guard.kind, guard.key)
            if _print(guard.expected) is not None:
                self.add(way, guard.expected)
            elif (mark := _mark(guard.expected)) is not None:
                self.prints.append((way, mark))
                if isinstance(guard.expected, np.dtype) and guard.expected.names:
                    self._note(way, guard.expected)  # equal ones are other objects
            elif guard.kind == "class" and is_users(guard.container):  # what it is the hash of the class tells
                self._note(way, guard.expected)
        for sort, container, name in boundary.places:
            if (mark := _mark(read(sort, container, name))) is not None:
                self.prints.append(((self.find(container), "read", sort, name), mark))

        for place in boundary.hidden:
            if paths := tuple(path for path, _, _ in fixed_leaves(place.type)):
                start = (self.find(place.container), "read", place.kind, place.key)
                value = read(place.kind, place.container, place.key)
                self.prints.append(((start, "numbers", paths), repr(_shown(value, paths))))

    def find(self, value: Any) -> Way:
        """The way to an object."""
        known = self._known.get(id(value))
        if known is not None:
            return known
        if isinstance(value, types.ModuleType) and sys.modules.get(value.__name__) is value:
            return ("module", value.__name__)
        if type(value) is dict:
            module = sys.modules.get(str(value.get("__name__")))
            if module is not None and vars(module) is value:
                return (("module", module.__name__), "names")
        if isinstance(value, np.dtype) and not value.names and np.dtype(value.str) is value:
            return ("dtype", value.str)
        if isinstance(value, np.bool_):
            return ("numpy bool", bool(value))
        if isinstance(value, Key):
            return ("key",)
        if not _is_own(value) and (isinstance(value, types.FunctionType) or transform_of(value) is not None):
            raise Nameless(repr(value))  # found by its name it might be another one, and nothing would tell
        if isinstance(value, enum.Enum):
            self.find(type(value))
        way = ("pickle", _pickled(value))
        if is_users(value) and way not in self.classes:
            self.classes[way] = ""  # bases and what they hold may lead back here
            self.classes[way] = class_print(value)
        return way


def _shown(value: object, paths: Sequence[Path]) -> str:
    """The numbers at places in a value."""
    return " ".join(f"{type(value).__name__} {value_at(value, path)}" for path in paths)


def _is_own(value: object) -> bool:
    """Does it belong to this package: then the key says which it is."""
    return str(getattr(value, "__module__", "")).partition(".")[0] == "pullback"


_VALUES = (str, int, float, Span, RecordMaker)


def _pickled(value: object) -> bytes:
    """What is as good as itself after pickling: a text, a number, error sites, or something found by its name."""
    by_value = type(value) in _VALUES or (isinstance(value, np.dtype) and value.names)
    by_value = by_value or (type(value) is tuple and all(type(v) is abi.ErrorSite for v in value))
    try:
        data = pickle.dumps(value)
        if by_value or pickle.loads(data) is value:
            return data
    except Exception as error:  # pickle and the objects' own methods raise anything
        raise Nameless(repr(value)) from error
    raise Nameless(repr(value))


def _go(way: Way, root: Any) -> Any:
    """The object at the end of a way; LookupError or AttributeError if there is none any more."""
    match way:
        case ():
            return root
        case ("module", name):
            # NumPy loads some of its modules when they are first asked for
            return importlib.import_module(name) if name.startswith(("pullback.", "numpy.")) else sys.modules[name]
        case ("dtype", name):
            return np.dtype(name)
        case ("numpy bool", value):
            return np.bool_(value)
        case ("key",):
            return Key()
        case ("pickle", data):
            value = pickle.loads(data)
            return sys.intern(value) if type(value) is str else value
        case (start, "numbers", paths):
            return _shown(_go(start, root), paths)
        case (start, "names"):
            return vars(_go(start, root))
        case (start, "class names"):
            return class_dict(_go(start, root))
        case (start, "function", number):
            return _functions_in(_go(start, root))[number]
        case (start, "rule", number):
            return _rules_of(_go(start, root))[number]
        case (start, "code"):
            return _go(start, root).__code__
        case (start, "globals"):
            return _go(start, root).__globals__
        case (start, "cell", number):
            return _go(start, root).__closure__[number]
        case (start, "of"):
            return _go(start, root).__pullback__[1]
        case (start, "read", kind, key):
            found = read(kind, _go(start, root), key)
            if found is ABSENT:
                raise LookupError(key)
            return found
    raise LookupError(way)


# ------------------------------------------------------------------------------------------------ keys and entries


def key(request: Request, options: Options) -> str | None:
    """The name under which code for this request is kept."""
    named = request.names[len(request.names) - request.keyword_only :]
    settings = repr((options, named, *request.static))
    return request_key(request.kind, request.function, request.arguments, settings, request.held)


def request_key(
    kind: str, function: object, arguments: Sequence[object], options: str, held: Held = NOTHING_HELD
) -> str | None:
    """The name under which code for this request is kept; None if an argument is (or holds) a function."""
    if held.constants:
        return None  # what is no longer so is not found again
    try:
        shapes = [sketch(argument) for argument in (*arguments, *(value for _, value in held.values))]
        ways = _Ways(function)
        places = [(sort, ways.find(container), name) for (sort, container, name), _ in held.values]
    except (TypeError, OverflowError):
        return None
    except Nameless:
        return None
    parts = (kind, options, repr(shapes), repr(ways.prints), repr(places))
    return cache.key("manifest", cache.compiler_fingerprint(), fingerprint(), *parts)


def save(key: str | None, function: object, entry: build.Entry) -> None:
    """Keep the code of an entry.  Does nothing where that is not possible."""
    if key is None or entry.boundary is None:
        return
    try:
        ways = _Ways(function)
        ways.follow(entry.boundary)
        fields = [(ways.find(kind), name, attributes.place(kind, name)) for kind, name in _fields(entry.boundary)]
        objects = [ways.find(value) for value in entry.artifact.objects]
        places = [(kind, ways.find(container), name) for kind, container, name in entry.places]
    except Nameless:
        return
    if entry.boundary.numbers:
        key = _note_numbers(key, entry.boundary.numbers)
    facts: Facts = (ways.prints, ways.classes, [*fields])
    kept = (entry.artifact.code, entry.artifact.imports, objects, places, facts)
    cache.store(_place(key, facts), pickle.dumps(kept))


Facts = tuple[list[tuple[Way, str]], dict[Way, str], list[tuple[Way, str, object]]]
"""What must be so for an entry to be used: marks of functions, hashes of classes, where objects have their fields."""


def _fields(boundary: Boundary) -> list[tuple[type, str]]:
    """The fields of objects that the code may read and write where they lie."""
    return [(shape.python, name) for shape in boundary.heaps if shape.python is not None for name, _ in shape.fields]


def _hold(facts: Facts, function: object) -> bool:
    """Are the facts of an entry what they were when it was kept."""
    marks, classes, fields = facts
    return (
        all(_mark(_go(way, function)) == mark for way, mark in marks)
        and all(class_print(_go(way, function)) == mark for way, mark in classes.items())
        and all(attributes.place(_go(way, function), name) == place for way, name, place in fields)
    )


Numbers = Sequence[tuple[int, Path, int | None]]
"""Those that code is made for: of which argument, where in it, and which."""


def _numbered(key: str, numbers: Numbers) -> str:
    """The key of code that is made for numbers."""
    return cache.key(key, "numbers", repr(tuple(numbers)))


def _paths(key: str) -> list[tuple[tuple[int, Path], ...]]:
    """Which arguments of such calls are such numbers, as far as was seen."""
    data = cache.load(cache.key(key, "paths"), counted=False)
    with suppress(*_UNREADABLE):
        found: list[tuple[tuple[int, Path], ...]] = [] if data is None else pickle.loads(data)
        return found
    return []


def _note_numbers(key: str, numbers: Numbers) -> str:
    """The key for these numbers, which is found from now on."""
    known, paths = _paths(key), tuple((i, path) for i, path, _ in numbers)
    if paths not in known:
        cache.store(cache.key(key, "paths"), pickle.dumps([*known, paths][-_PLACES:]))
    return _numbered(key, numbers)


def _names_of(key: str) -> list[str]:
    return [cache.key(key, str(number)) for number in range(_PLACES)]


def _place(key: str, facts: Facts) -> str:
    """Where an entry goes: in place of one for the same, where there is none, or in place of the oldest."""
    for name in _names_of(key):
        data = cache.load(name, counted=False)
        if data is None:
            return name
        with suppress(*_UNREADABLE):
            if pickle.loads(data)[-1] == facts:
                return name
    return cache.oldest(_names_of(key))


def load(key: str | None, function: object, arguments: Sequence[object] = ()) -> build.Entry | None:
    """The code kept under a key, linked; None if there is none or if what it refers to has changed.

    arguments: code that is made for numbers among them has a key of its own.  Whether guards hold shows when it is
    called.
    """
    if key is None:
        return None
    found = _load(key, function)
    for paths in _paths(key) if found is None else ():
        with suppress(*_UNREADABLE):
            numbers = tuple((i, path, value_at(arguments[i], path)) for i, path in paths)
            found = _load(_numbered(key, numbers), function)
            if found is not None:
                return replace(found, numbers=numbers)
    return found


def _load(key: str, function: object) -> build.Entry | None:
    for name in _names_of(key):
        data = cache.load(name)
        if data is None:
            return None
        with suppress(*_UNREADABLE):
            code, imports, ways, places, facts = pickle.loads(data)
            if not _hold(facts, function):
                continue
            objects = tuple(_go(way, function) for way in ways)
            found = tuple((kind, _go(way, function), name) for kind, way, name in places)
            return replace(build.link(build.Artifact(code, imports, objects), {}), places=found)
    return None


# What reading an entry raises that is damaged, or leads to something that is no longer there.
_UNREADABLE = (
    LookupError, AttributeError, TypeError, ValueError, ImportError, EOFError, pickle.UnpicklingError, InternalError,
    Nameless,
)  # fmt: skip
