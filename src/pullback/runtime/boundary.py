"""From Python objects to abstract types, and what a specialization demands of the objects it is called with.

    abstract(2.0)                         Number(f64)                  a Python float: weak
    abstract(np.zeros((3, 4)))            Array(f64, 2, contiguous=True)
    abstract({"w": [1, None]})            Dict(("w",), (List((Number(i64), None)),))

A `Boundary` describes one specialization seen from Python: its parameters, the values read from globals and cells when
it is called (`Hidden`), what must still be so for it to apply (`Guard`), and the type of its result.
"""

from __future__ import annotations

import gc
import types as python_types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from pullback.runtime.fixed import Path, fixed_leaves, references
from pullback.runtime.layout import NUMPY_SCALARS
from pullback.runtime.structured import record_type, unsupported
from pullback.types import (
    NONE,
    Array,
    Complex,
    Dict,
    DType,
    List,
    Machine,
    Number,
    Ref,
    Store,
    Str,
    Tuple,
    Type,
    Union,
    slots,
)  # fmt: skip

__all__ = [
    "ABSENT", "Boundary", "Guard", "HeapShape", "Hidden", "Place", "Refusal", "Resolve", "TooLarge", "Unsupported",
    "abstract", "class_dict", "read",
]  # fmt: skip

Resolve = Callable[[object], Type]
Place = tuple[str, object, object]  # kind, container, key of a `Hidden` or a `Guard`


class _Absent:
    """The type of `ABSENT`."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()
"""What `read` gives for a name that is not set; as a guard's `expected`: the name must not be set."""


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """A value read at each call and passed after the parameters.

    kind        container             key
    "global"    a dict                a name; absent there: the specialization does not apply
    "cell"      a cell                -
    "default"   a function            index into its __defaults__
    "keyword"   a function            name in its __kwdefaults__
    "class"     a class               name in its own dictionary
    "constant"  the value itself      -
    "globals"   a dict                names that the code assigns: the dict, into which they are written back
    """

    type: Type
    kind: str
    container: object
    key: object = None


@dataclass(frozen=True, slots=True, eq=False)
class Guard:
    """A place as in `Hidden`, or "code" (a function's code object), that must hold `expected` for the code to apply.

    Strings, ints and floats of exactly these types are compared by value, everything else by identity.
    """

    kind: str
    container: object
    key: object
    expected: object


RECORDS = {f"record{count}": count for count in range(1, 33)}
"""The kinds of tuples that lie in heaps, and how many items they have."""


@dataclass(frozen=True, slots=True, eq=False)
class HeapShape:
    """Objects that compiled code keeps as rows of a table, and how Python knows them.

    kind: "object", "list", "tuple", "items" (the rows behind lists and tuples), "cell", ...  python: the class of
    objects and NamedTuples.  fields: name and type, in the order of the columns.  passed: the code takes the table as
    a parameter.
    """

    store: Store
    kind: str
    table: str
    fields: tuple[tuple[str, Type], ...]
    python: type | None = None
    passed: bool = False

    @property
    def columns(self) -> tuple[Machine, ...]:
        """The machine types of a row."""
        return tuple(slot for _, type_ in self.fields for slot in slots(type_))

    def column(self, name: str) -> int:
        """The first column of a field."""
        names = [field for field, _ in self.fields]
        return sum(len(slots(type_)) for _, type_ in self.fields[: names.index(name)])

    def type_of(self, name: str) -> Type:
        """The type of a field."""
        return dict(self.fields)[name]


@dataclass(frozen=True, slots=True, eq=False)
class Boundary:
    """One specialization as Python sees it.

    The last `keyword_only` parameters are never accepted by position.  `objects` gives the object behind each type that
    stands for one (a function, a class, a module), for parameters and for results.  `heaps` are those that arguments,
    hidden values and results refer to, directly or not; the tables of those that are passed come last of all
    parameters.  `packed` are the parameters that are passed as packed objects.  `classes`: whose objects the code has.
    """

    name: str
    parameters: tuple[str, ...]
    params: tuple[Type, ...]
    hidden: tuple[Hidden, ...] = ()
    guards: tuple[Guard, ...] = ()
    result: Type = NONE
    keyword_only: int = 0
    objects: tuple[tuple[Type, object], ...] = ()
    heaps: tuple[HeapShape, ...] = ()
    packed: tuple[int, ...] = ()
    classes: tuple[type, ...] = ()

    def __post_init__(self) -> None:
        if len(self.parameters) != len(self.params):
            raise ValueError(f"{self.name}: {len(self.parameters)} parameters but {len(self.params)} types")

    @property
    def numbers(self) -> tuple[tuple[int, Path, int], ...]:
        """The numbers that the code is made for: of which parameter, where in it, and which."""
        params = enumerate(self.params)
        return tuple((i, path, number) for i, type_ in params for path, number in self._numbers_in(type_, (), set()))

    def _numbers_in(self, type_: Type, path: Path, seen: set[int]) -> Iterator[tuple[Path, int]]:
        """Those in a value, also in the fields of objects that it refers to; of each heap on one way."""
        yield from (((*path, *inner), leaf.value) for inner, leaf, _ in fixed_leaves(type_))
        for inner, part in references(type_):
            number = self.heap_of(part)
            if number not in seen and self.heaps[number].kind == "object":
                seen.add(number)
                for name, kept in self.heaps[number].fields:
                    yield from self._numbers_in(kept, (*path, *inner, name), seen)

    @property
    def places(self) -> tuple[Place, ...]:
        """Everything outside of the function that the specialization depends on."""
        hidden = tuple((place.kind, place.container, place.key) for place in self.hidden)
        return hidden + tuple((place.kind, place.container, place.key) for place in self.guards)

    def heap_of(self, type_: Ref) -> int:
        """The number of the heap that a type refers to."""
        return next(i for i, shape in enumerate(self.heaps) if shape.store == type_.heap)

    def heaps_below(self, types: Iterable[Type]) -> set[int]:
        """The numbers of the heaps that values of the types refer to, directly or not."""
        found: set[int] = set()
        waiting = list(types)
        while waiting:
            match waiting.pop():
                case Ref() as type_:
                    number = self.heap_of(type_)
                    if number not in found:
                        found.add(number)
                        waiting += [inner for _, inner in self.heaps[number].fields]
                case Tuple(items) | List(items) | Dict(_, items) | Union(items):
                    waiting += items
        return found

    def object_of(self, type_: Type) -> object:
        """The object that a type stands for, or `ABSENT`."""
        return next((value for known, value in self.objects if known == type_), ABSENT)


def class_dict(cls: type) -> dict[str, object]:
    """The dictionary behind the read-only view that `vars` of a class gives."""
    (found,) = gc.get_referents(vars(cls))
    assert isinstance(found, dict)
    return found


def read(kind: str, container: object, key: object = None) -> object:
    """What a `Hidden` or a `Guard` refers to at this moment; `ABSENT` if it is not set."""
    match kind:
        case "global":
            assert isinstance(container, dict)
            return container.get(key, ABSENT)
        case "globals":
            assert isinstance(container, dict) and isinstance(key, tuple)
            return {name: container[name] for name in key if name in container}
        case "cell":
            assert isinstance(container, python_types.CellType)
            try:
                return container.cell_contents
            except ValueError:
                return ABSENT
        case "default":
            assert isinstance(container, python_types.FunctionType) and isinstance(key, int)
            defaults = container.__defaults__ or ()
            return defaults[key] if key < len(defaults) else ABSENT
        case "keyword":
            assert isinstance(container, python_types.FunctionType)
            assert isinstance(key, str)
            return (container.__kwdefaults__ or {}).get(key, ABSENT)
        case "class":
            assert isinstance(container, type) and isinstance(key, str)
            return vars(container).get(key, ABSENT)
        case "code":
            assert isinstance(container, python_types.FunctionType)
            return container.__code__
        case "constant":
            return container
    raise ValueError(f"unknown kind of place {kind!r}")


# -------------------------------------------------------------------------------------------------- types of values

_STRONG = {scalar: Number(dtype, weak=False) for dtype, scalar in NUMPY_SCALARS.items()}
_COMPLEX = {
    complex: Number(DType.F64), np.complex128: Number(DType.F64, weak=False),
    np.complex64: Number(DType.F32, weak=False),
}  # fmt: skip
_COMPLEX_ELEMENTS = {np.dtype(np.complex128): DType.F64, np.dtype(np.complex64): DType.F32}
_ELEMENTS = {np.dtype(scalar): dtype for dtype, scalar in NUMPY_SCALARS.items()}
_FUNCTIONS = (
    python_types.FunctionType,
    python_types.BuiltinFunctionType,
    python_types.MethodType,
    python_types.ModuleType,
    np.ufunc,
    type,
)


class Refusal(Exception):
    """A value that compiled code does not take: `reason` completes "x is ...", `help` says what to write instead."""

    def __init__(self, where: str, reason: str, help: str) -> None:
        super().__init__(f"{where} is {reason}\n  help: {help}")
        self.reason = reason
        self.help = help


class Unsupported(Refusal, TypeError):
    """A value of a type that compiled code does not take."""


class TooLarge(Refusal, OverflowError):
    """An int beyond 64 bits."""


MOST_NESTED = 50  # levels of containers; more are a container that holds itself, or as good as one


def abstract(value: object, resolve: Resolve | None = None, where: str = "x", depth: int = 0) -> Type:
    """The abstract type of an argument.

    Functions, classes, modules and other callables are given to `resolve`.  `Unsupported` for what compiled code does
    not take, `TooLarge` for an int beyond 64 bits; `where` is how the message writes the value, `depth` the containers
    around it.
    """
    kind = type(value)
    if kind is float:
        return Number(DType.F64)
    if kind is bool:
        return Number(DType.BOOL)
    if kind is int:
        return _integer(value, where)
    if value is None:
        return NONE
    if kind is str:
        assert isinstance(value, str)
        return Str(value)
    if kind in _COMPLEX:
        return Complex(_COMPLEX[kind], _COMPLEX[kind])
    if kind is np.ndarray:
        assert isinstance(value, np.ndarray)
        return _array(value, where)
    if kind in _STRONG:
        return _STRONG[kind]
    if kind is tuple or kind is list or kind is dict:
        if depth == MOST_NESTED:
            reason = f"nested more than {MOST_NESTED} levels deep, or holds itself"
            raise Unsupported(where.partition("[")[0], reason, "pass flatter data")
        return _container(value, resolve, where, depth + 1)
    if resolve is not None and (isinstance(value, _FUNCTIONS) or callable(value)):
        return resolve(value)
    raise Unsupported(where, *_refusal(value, where))


def _integer(value: object, where: str) -> Type:
    assert isinstance(value, int)
    if not -(2**63) <= value < 2**63:
        shown = f"the int {value}" if value.bit_length() < 300 else "an int"
        raise TooLarge(where, f"{shown}, which does not fit in 64 bits", "pass it as a float, or scale it")
    return Number(DType.I64)


def _container(value: object, resolve: Resolve | None, where: str, depth: int) -> Type:
    if isinstance(value, dict):
        for key in value:
            if type(key) is not str:
                reason = f"a dict with the key {key!r}: the keys must be strings"
                raise Unsupported(where, reason, "use strings, or pass a list or a tuple")
        items = tuple(abstract(item, resolve, f"{where}[{key!r}]", depth) for key, item in value.items())
        return Dict(tuple(value), items)
    assert isinstance(value, tuple | list)
    items = tuple(abstract(item, resolve, f"{where}[{i}]", depth) for i, item in enumerate(value))
    return Tuple(items) if isinstance(value, tuple) else List(items)


def _array(value: np.ndarray, where: str) -> Type:
    if value.dtype.names is not None:
        return _structured(value, where)
    element = _ELEMENTS.get(value.dtype) or _COMPLEX_ELEMENTS.get(value.dtype)
    if element is None:
        reason, help = _conversion(value.dtype, where)
        raise Unsupported(where, f"an array of dtype {value.dtype}{reason}", help)
    if not value.flags.aligned:
        raise Unsupported(where, "a misaligned array", f"write {where}.copy()")
    ones = tuple(size == 1 for size in value.shape)
    if value.dtype in _COMPLEX_ELEMENTS:
        part = Array(element, value.ndim, False, not value.flags.writeable, ones, rows=bool(value.flags.c_contiguous))
        return Complex(part, part)
    return Array(element, value.ndim, bool(value.flags.c_contiguous), not value.flags.writeable, ones)


def _structured(value: np.ndarray, where: str) -> Type:
    if reason := unsupported(value.dtype):
        fields = {name: value.dtype.fields[name][0] for name in value.dtype.names}  # type: ignore[index, union-attr]
        known = [name for name, field in fields.items() if not unsupported(np.dtype([(name, field)]))]
        help = f"pass the fields that are numbers: {where}[{known}]" if 0 < len(known) < len(fields) else ""
        help = help or "pass what is needed of it as arrays of numbers"
        raise Unsupported(where, f"a structured array whose {reason}", help)
    ones = tuple(size == 1 for size in value.shape)
    flags = value.flags
    return record_type(value.dtype, value.ndim, ones, readonly=not flags.writeable, rows=bool(flags.c_contiguous))


def _conversion(dtype: np.dtype, x: str) -> tuple[str, str]:
    """Why an array (or scalar) `x` of a dtype is not taken, to follow its description, and what to write."""
    if not dtype.isnative and dtype.newbyteorder("=") in _ELEMENTS:
        return ", whose bytes are swapped", f'write {x}.astype({x}.dtype.newbyteorder("="))'
    if dtype.names:
        return ", one record of a structured array", "pass the array and where it stands, or an array of one record"
    if dtype.kind == "c":
        return ", not complex64 or complex128", f"pass {x}.real and {x}.imag"
    if dtype.kind == "f":
        return ", not float16, float32 or float64", f"write {x}.astype(np.float64)"
    if dtype.kind == "O":
        return ": objects are not supported", f"write {x}.astype(np.float64) if they are numbers"
    return "", f"write {x}.astype(np.float64) if these are numbers"


def _refusal(value: object, x: str) -> tuple[str, str]:
    """Why the value `x`, which is nothing known, is refused, and what to write."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    if isinstance(value, np.ma.MaskedArray):
        return "a masked array", f"pass {x}.filled(value), or {x}.data and {x}.mask"
    if isinstance(value, np.ndarray):
        return f"of class {name}, a subclass of ndarray", f"write np.asarray({x})"
    if isinstance(value, np.generic):
        return _scalar(value, name, x)
    for base in (bool, int, float, complex, str, tuple, list, dict):
        if isinstance(value, base):
            return f"of class {name}, a subclass of {base.__name__}", f"write {base.__name__}({x})"
    if any(hasattr(kind, mark) for mark in ("__array__", "__dlpack__", "__array_interface__")):
        return f"of class {name}, an array of another library", f"write np.asarray({x})"
    if name.startswith("numpy.random.") and kind.__name__ == "Generator":
        reason = "a random generator, known only among the arguments of a call"
        return reason, f"make {x}, or what holds it, a parameter: its state goes on from call to call"
    if isinstance(value, range):
        return "a range", f"pass its bounds, or list({x})"
    if isinstance(value, set | frozenset):
        return f"a {name}, which has no order", f"write sorted({x}) or list({x})"
    if callable(value):
        shown = getattr(value, "__qualname__", name)
        return f"the function {shown}, which cannot be passed to compiled code", "call it outside and pass the result"
    reason = f"an object of type {name}, which is not supported"
    return reason, "take what is needed of it, as numbers, arrays, tuples, lists or dicts"


def _scalar(value: np.generic, name: str, x: str) -> tuple[str, str]:
    """`_refusal` of a NumPy scalar."""
    if value.dtype.kind in "iu":  # of C's names for one width, NumPy has two classes
        return f"of class {name}", f"write np.{value.dtype.name}({x})"
    reason, help = _conversion(value.dtype, x)
    before, cast, after = help.partition(f"{x}.astype(")
    return f"of class {name}{reason}", before + after.replace(")", f"({x})", 1) if cast else help
