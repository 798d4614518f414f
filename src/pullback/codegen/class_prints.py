"""What the compiler may have read of a class, as a hash: code kept on disk for a class is not used for another one.

    class P: x: float; def area(self): ...      class_print(P)    a hash of its bases, attributes, annotations, the
                                                                  code of its methods, where CPython keeps its fields

It covers more than compiled code depends on; a change that makes no difference only means compiling once more.  An
attribute of a kind that is not known here (nothing of it could be compared) means that nothing is kept: `Nameless`.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import sys
import types
import typing
from dataclasses import Field
from typing import Any

import numpy as np

from pullback.runtime.callobject import transform_of

__all__ = ["Nameless", "class_print", "code_print", "is_users"]

_GENERATED = frozenset({
    "__doc__", "__dict__", "__weakref__", "__module__", "__firstlineno__", "_abc_impl", "__abstractmethods__",
    "_pullback_helpers", "__parameters__",
})  # fmt: skip
_HEAP_TYPE = 1 << 9
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented))
_SLOTS = (types.MemberDescriptorType, types.GetSetDescriptorType)
_NATIVE = (
    types.BuiltinFunctionType, types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType,
    np.ufunc,
)  # fmt: skip
_DEEPEST = 12  # levels of what attributes hold


class Nameless(Exception):
    """An object that cannot be found again, or not be compared, in another process."""


def is_users(value: object) -> bool:
    """Is this a class that a program defines; others change with the interpreter and the packages."""
    if not isinstance(value, type) or not value.__flags__ & _HEAP_TYPE:
        return False
    module = str(value.__module__).partition(".")[0]
    return module == "__main__" or (module not in sys.stdlib_module_names and module not in ("pullback", "numpy"))


def class_print(kind: type) -> str:
    """A hash of a class and its bases.  `Nameless` where one has an attribute that cannot be compared."""
    found = [f"{sys.implementation.cache_tag} {sys.version_info[:3]}"]
    found += [_own_print(base) for base in kind.__mro__ if base is not object]
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


def _own_print(kind: type) -> str:
    names = sorted(name for name in vars(kind) if name not in _GENERATED) if is_users(kind) else []
    parts = [f"{name}: {_value_print(vars(kind)[name], 0)}" for name in names]
    layout = f"{kind.__basicsize__} {kind.__flags__ & _HEAP_TYPE} {type(kind).__qualname__}"
    return f"{kind.__module__}.{kind.__qualname__} {layout} {' '.join(parts)}"


def code_print(code: types.CodeType) -> str:
    """A hash of all that a code object says, source positions and nested code included."""
    parts: list[object] = [
        *(code.co_code, code.co_linetable, code.co_exceptiontable, code.co_flags),
        *(code.co_filename, code.co_qualname, code.co_firstlineno),
        *(code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
        *(code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars),
    ]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            parts.append(code_print(constant))
        else:
            parts.append(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _value_print(value: Any, depth: int) -> str:
    """What an attribute holds."""
    kind, inner = type(value), depth + 1
    if depth > _DEEPEST:
        raise Nameless(f"an attribute nested more than {_DEEPEST} levels deep")
    if kind in _PLAIN:
        return f"{kind.__name__} {value!r}"
    if isinstance(value, enum.Enum):
        return f"{kind.__module__}.{kind.__qualname__}.{value.name}"
    if isinstance(value, type):
        return f"class {value.__module__}.{value.__qualname__}"
    if isinstance(value, types.FunctionType):
        return _function_print(value, inner)
    if isinstance(value, property):
        return f"property {[_value_print(part, inner) for part in (value.fget, value.fset, value.fdel)]}"
    if isinstance(value, classmethod | staticmethod):
        return f"{kind.__name__} {_value_print(value.__func__, inner)}"
    if isinstance(value, _SLOTS):
        return f"{kind.__name__} {value.__name__}"
    if isinstance(value, _NATIVE):
        return f"{kind.__name__} {getattr(value, '__qualname__', value.__name__)}"
    request = transform_of(value)
    if request is not None:
        return f"{request[0]} {request[2]!r} {_value_print(request[1], inner)}"
    if isinstance(value, functools.cached_property):
        return f"cached property {_value_print(value.func, inner)}"
    if isinstance(value, Field) or (kind.__module__ == "dataclasses" and hasattr(kind, "__slots__")):
        return f"{kind.__name__} {_slots_print(value, inner)}"
    return _structure_print(value, inner)


def _structure_print(value: Any, depth: int) -> str:
    kind = type(value)
    if kind in (tuple, list):
        return f"{kind.__name__} {[_value_print(item, depth) for item in value]}"
    if kind in (set, frozenset):
        return f"{kind.__name__} {sorted(_value_print(item, depth) for item in value)}"
    if kind in (dict, types.MappingProxyType):
        pairs = [(_value_print(k, depth), _value_print(v, depth)) for k, v in value.items()]
        return f"{kind.__name__} {pairs}"
    if kind is np.ndarray or isinstance(value, np.generic):  # read when the code is called
        return f"{kind.__name__} {value.dtype} {value.shape}"
    if isinstance(value, types.UnionType | types.GenericAlias | typing.TypeVar) or kind.__module__ == "typing":
        return repr(value)
    if kind.__qualname__ == "_tuplegetter":
        return f"item {value.__reduce__()[1][0]}"
    if kind.__module__ == "dataclasses":  # MISSING, KW_ONLY
        return kind.__qualname__
    raise Nameless(f"an attribute of type {kind.__qualname__}")


def _slots_print(value: Any, depth: int) -> list[str]:
    """What a field of a dataclass, or its parameters, say."""
    names = [name for name in type(value).__slots__ if name not in ("_field_type", "metadata")]
    return [f"{name}={_value_print(getattr(value, name, None), depth)}" for name in names]


def _function_print(function: types.FunctionType, depth: int) -> str:
    """Code, defaults and what is captured."""
    cells = [_cell_print(cell, depth) for cell in function.__closure__ or ()]
    defaults = [_value_print(value, depth) for value in function.__defaults__ or ()]
    named = sorted((name, _value_print(value, depth)) for name, value in (function.__kwdefaults__ or {}).items())
    return f"{code_print(function.__code__)} {defaults} {named} {cells}"


def _cell_print(cell: Any, depth: int) -> str:
    try:
        return _value_print(cell.cell_contents, depth)
    except ValueError:  # it is not set
        return "unset"
