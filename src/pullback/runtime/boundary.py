"""From Python objects to abstract types, and what a specialization demands of the objects it is called with.

    abstract(2.0)                         Number(f64)                  a Python float: weak
    abstract(np.zeros((3, 4)))            Array(f64, 2, contiguous=True)
    abstract({"w": [1, None]})            Dict(("w",), (List((Number(i64), None)),))

A `Boundary` describes one specialization seen from Python: its parameters, the values read from globals and cells when
it is called (`Hidden`), what must still be so for it to apply (`Guard`), and the type of its result.
"""

from __future__ import annotations

import re
import types as python_types
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pullback.runtime.layout import NUMPY_SCALARS
from pullback.types import NONE, Array, Dict, DType, List, Number, Str, Tuple, Type

__all__ = ["ABSENT", "Boundary", "Guard", "Hidden", "Resolve", "abstract", "read"]

Resolve = Callable[[object], Type]


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
    "constant"  the value itself      -
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


@dataclass(frozen=True, slots=True, eq=False)
class Boundary:
    """One specialization as Python sees it.

    The last `keyword_only` parameters are never accepted by position.  `objects` gives the object behind each type that
    stands for one (a function, a class, a module), for parameters and for results.
    """

    name: str
    parameters: tuple[str, ...]
    params: tuple[Type, ...]
    hidden: tuple[Hidden, ...] = ()
    guards: tuple[Guard, ...] = ()
    result: Type = NONE
    keyword_only: int = 0
    objects: tuple[tuple[Type, object], ...] = ()

    def __post_init__(self) -> None:
        if len(self.parameters) != len(self.params):
            raise ValueError(f"{self.name}: {len(self.parameters)} parameters but {len(self.params)} types")

    def object_of(self, type_: Type) -> object:
        """The object that a type stands for, or `ABSENT`."""
        return next((value for known, value in self.objects if known == type_), ABSENT)


def read(kind: str, container: object, key: object = None) -> object:
    """What a `Hidden` or a `Guard` refers to at this moment; `ABSENT` if it is not set."""
    match kind:
        case "global":
            assert isinstance(container, dict)
            return container.get(key, ABSENT)
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
        case "code":
            assert isinstance(container, python_types.FunctionType)
            return container.__code__
        case "constant":
            return container
    raise ValueError(f"unknown kind of place {kind!r}")


# -------------------------------------------------------------------------------------------------- types of values

_STRONG = {scalar: Number(dtype, weak=False) for dtype, scalar in NUMPY_SCALARS.items()}
_ELEMENTS = {np.dtype(scalar): dtype for dtype, scalar in NUMPY_SCALARS.items()}
_FUNCTIONS = (
    python_types.FunctionType,
    python_types.BuiltinFunctionType,
    python_types.MethodType,
    python_types.ModuleType,
    np.ufunc,
    type,
)


def abstract(value: object, resolve: Resolve | None = None, where: str = "argument") -> Type:
    """The abstract type of an argument.

    Functions, classes, modules and other callables are given to `resolve`.  TypeError (with what to write instead) for
    what compiled code does not take, OverflowError for an int beyond 64 bits; `where` begins the message.
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
    if kind is np.ndarray:
        assert isinstance(value, np.ndarray)
        return _array(value, where)
    if kind in _STRONG:
        return _STRONG[kind]
    if kind is tuple or kind is list or kind is dict:
        return _container(value, resolve, where)
    if resolve is not None and (isinstance(value, _FUNCTIONS) or callable(value)):
        return resolve(value)
    raise TypeError(f"{where}: {_refusal(value)}")


def _integer(value: object, where: str) -> Type:
    assert isinstance(value, int)
    if not -(2**63) <= value < 2**63:
        shown = f"the int {value}" if value.bit_length() < 300 else "an int"
        raise OverflowError(f"{where}: {shown} does not fit in 64 bits")
    return Number(DType.I64)


def _container(value: object, resolve: Resolve | None, where: str) -> Type:
    if isinstance(value, dict):
        for key in value:
            if type(key) is not str:
                raise TypeError(f"{where}: a dict with the key {key!r}: the keys must be strings; use a list or tuple")
        items = tuple(abstract(item, resolve, f"{where}[{key!r}]") for key, item in value.items())
        return Dict(tuple(value), items)
    assert isinstance(value, tuple | list)
    items = tuple(abstract(item, resolve, f"{where}[{i}]") for i, item in enumerate(value))
    return Tuple(items) if isinstance(value, tuple) else List(items)


def _array(value: np.ndarray, where: str) -> Type:
    element = _ELEMENTS.get(value.dtype)
    if element is None:
        raise TypeError(f"{where}: an array of dtype {value.dtype}: {_conversion(value.dtype)}")
    if not value.flags.aligned:
        raise TypeError(f"{where}: a misaligned array: write x.copy()")
    return Array(element, value.ndim, bool(value.flags.c_contiguous), not value.flags.writeable)


def _conversion(dtype: np.dtype) -> str:
    """What to write for an array (or scalar) of a dtype that is not taken."""
    if not dtype.isnative and dtype.newbyteorder("=") in _ELEMENTS:
        return 'its bytes are swapped: write x.astype(x.dtype.newbyteorder("="))'
    if dtype.names:
        return "pass its fields one by one, x['name']"
    if dtype.kind == "c":
        return "complex numbers are not supported: pass x.real and x.imag"
    if dtype.kind == "f":
        return f"write x.astype(np.{'float32' if dtype.itemsize < 4 else 'float64'})"
    if dtype.kind in "iu":
        return f"write x.astype(np.{'int32' if dtype.itemsize < 4 else 'int64'})"
    if dtype.kind == "O":
        return "objects are not supported: write x.astype(np.float64) if they are numbers"
    return "write x.astype(np.float64) if these are numbers"


def _refusal(value: object) -> str:
    """Why a value that is nothing known is refused, and what to write."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    if isinstance(value, np.ma.MaskedArray):
        return "a masked array: pass x.filled(value), or x.data and x.mask"
    if isinstance(value, np.ndarray):
        return f"{name}, a subclass of ndarray: write np.asarray(x)"
    if isinstance(value, np.generic):
        if kind in (np.longlong, np.intc):
            return f"{name}: write np.int64(x) or np.int32(x)"
        return f"{name}: " + re.sub(r"x\.astype\((np\.\w+)\)", r"\1(x)", _conversion(value.dtype))
    if isinstance(value, complex):
        return "complex numbers are not supported: pass x.real and x.imag"
    for base in (bool, int, float, str, tuple, list, dict):
        if isinstance(value, base):
            return f"{name}, a subclass of {base.__name__}: write {base.__name__}(x)"
    if any(hasattr(kind, mark) for mark in ("__array__", "__dlpack__", "__array_interface__")):
        return f"{name} is an array of another library: write np.asarray(x)"
    if isinstance(value, range):
        return "range: pass its bounds, or a list"
    if isinstance(value, set | frozenset):
        return f"{name} has no order: write sorted(x) or list(x)"
    if callable(value):
        return f"the function {getattr(value, '__qualname__', name)} cannot be passed to compiled code"
    return f"an object of type {name} is not supported: pass numbers, arrays, tuples, lists or dicts of them"
