"""What to write instead of a callable that compiled code does not know.

    sorted(t)              help: sort outside the compiled function and pass the result
    random.random()        help: draw the numbers outside and pass them as arguments
    raise MyError("x")     the exception MyError is not supported yet; help: raise a builtin exception, ...
"""

from __future__ import annotations

import difflib
import math
import sysconfig
import types as python_types
from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["is_foreign", "is_library", "missing_import", "nearest", "refusal"]

_OUTSIDE = "do this outside the compiled function and pass what it gives as an argument"
_DRAW = "draw the numbers outside the compiled function and pass them as arguments"
_LOOP = "write a `for` loop"
_ATTRIBUTES = "name the attribute in the source: compiled code has no objects to ask"
_TEXT = "text cannot be computed in compiled code: return the numbers and format them outside"
_SCOPE = "name the variables in the source: compiled code has no dictionary of them"

# By dotted name without `builtins.`, or by the name of a module and all below it.
_HELP = {
    **dict.fromkeys(("str", "repr", "format", "ascii", "chr", "ord", "bytes", "bytearray", "hex", "bin", "oct"), _TEXT),
    **dict.fromkeys(("set", "frozenset"), "use a tuple: `x in (1, 2, 3)` works"),
    **dict.fromkeys(("map", "filter", "iter", "next", "functools.reduce", "itertools"), _LOOP),
    **dict.fromkeys(("getattr", "hasattr", "setattr", "delattr", "vars", "dir"), _ATTRIBUTES),
    **dict.fromkeys(("locals", "globals", "eval", "exec", "compile"), _SCOPE),
    **dict.fromkeys(("open", "input", "os", "sys", "io", "posix", "time", "datetime", "json", "logging", "pathlib",
                     "threading", "subprocess", "sorted", "numpy.sort", "numpy.argsort"), _OUTSIDE),
    **dict.fromkeys(("random", "secrets"), _DRAW),
    "numpy.random": "write `rng = np.random.default_rng(seed)`, and draw with its methods",
    "numpy.poly1d": "keep the coefficients in an array: np.polyval(p, x), np.polyder(p), np.polymul(p, q), np.roots(p)",
    "scipy.linalg.sqrtm": "of a Hermitian matrix write w, v = np.linalg.eigh(a) and (v * np.sqrt(w)) @ v.conj().T",
    "scipy.linalg.logm": "of a Hermitian matrix write w, v = np.linalg.eigh(a) and (v * np.log(w)) @ v.conj().T",
    "numpy.polynomial": "keep the coefficients in an array, and use the functions of numpy.polynomial.polynomial, "
                        ".chebyshev, ...: polyval(x, c), chebval(x, c), polyder(c), polymul(c, d)",
    "type": "use isinstance(x, float), or convert with float(x), int(x)",
    "complex": "keep real and imaginary parts in two floats",
    "slice": "write the slice as a[start:stop:step]",
    "super": "call the function itself: classes are not supported yet",
    "functools.partial": "write a lambda: `lambda x: f(a, x)`",
    "numpy.lib.stride_tricks": "write np.lib.stride_tricks.sliding_window_view(a, n), or index the array",
    "numpy.vectorize": "write the loop, or ufuncs of the whole array",
    "numpy.linalg.norm": "write np.sqrt(np.sum(x * x))",
    "numpy.std": "write np.sqrt(np.mean((x - np.mean(x)) ** 2))",
    "numpy.var": "write np.mean((x - np.mean(x)) ** 2)",
    "numpy.linalg": "write the algorithm out in Python, or " + _OUTSIDE.replace("do this", "call it"),
    "pullback.explain": "call it outside: explain(f)(*arguments)",
    "pullback.check_grads": "call it outside: check_grads(f, arguments)",
    "pullback.hessian": "write grad(grad(f)), or jvp of grad(f)",
    "pullback.hvp": "write jvp of grad(f)",
}  # fmt: skip
_PLAIN = "write it out as a Python function"
_LIBRARY = sysconfig.get_path("stdlib")
_FOREIGN = ("numpy", "scipy", "pullback.api", "pullback.compiled", "pullback.checking")


def is_foreign(function: python_types.FunctionType) -> bool:
    """A Python function of NumPy, SciPy or of this package's own surface: its source is not the user's to read."""
    module = function.__module__ or ""
    return any(module == root or module.startswith(root + ".") for root in _FOREIGN)


def refusal(value: Any, name: str) -> tuple[str, str, str]:
    """Title, label and help for a callable that is not known; `name` is how the program speaks of it."""
    full = _dotted(value)
    if isinstance(value, type):
        return _class(value, name, full)
    if isinstance(value, python_types.MethodType) and _help(full or name, name) == _PLAIN:
        kind = type(value.__self__).__name__
        return (
            f"{kind}.{value.__name__} is a method", "methods of objects cannot be compiled yet",
            "write a function that takes what it needs of the object as arguments",
        )  # fmt: skip
    inner = getattr(value, "__wrapped__", None)
    if isinstance(inner, python_types.FunctionType) and not is_foreign(inner):
        kind = type(value).__name__.strip("_")
        help = f"use the function inside, {name.rpartition(' ')[2]}.__wrapped__"
        return f"{name} is a wrapper around {inner.__name__}() ({kind})", "this wrapper is not plain Python", help
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if full is None or kind in _HELP:
        known = _help(kind, kind)
        return (
            f"{name} is an object of class {type(value).__name__}", "objects of classes cannot be used yet",
            known if known != _PLAIN else "write a function that takes numbers, arrays, tuples, lists or dicts",
        )  # fmt: skip
    shown = name if "." in name or name == full else f"{name} ({full})" if "." in full else name
    return f"{shown} is not known to pullback", "neither plain Python nor one of the known functions", _help(full, name)


def is_library(file: str) -> bool:
    """A file of Python's own library."""
    return file.startswith(_LIBRARY) and "site-packages" not in file


def _class(value: type, name: str, full: str | None) -> tuple[str, str, str]:
    if issubclass(value, BaseException):
        return (
            f"the exception {name} is not supported yet", "only Python's own exceptions can be raised in compiled code",
            "raise a builtin exception, for example ValueError",
        )  # fmt: skip
    known = _help(full or name, name)
    if known != _PLAIN:
        return f"{name} is not known to pullback", "this class has no meaning in compiled code", known
    return (
        f"the class {name} is not supported yet", "objects of classes cannot be made or used in compiled code",
        "use a tuple or a dict, and functions of it",
    )  # fmt: skip


def _dotted(value: Any) -> str | None:
    """module.name of a function or class; None for other objects."""
    name = getattr(value, "__qualname__", None) or (getattr(value, "__name__", None) if callable(value) else None)
    if not isinstance(name, str):
        return None
    module = getattr(value, "__module__", None) or ""
    owner = getattr(value, "__self__", None)
    if not module and owner is not None and not isinstance(owner, python_types.ModuleType):
        module = type(owner).__module__  # such as random.random, a method of a hidden object
    module = module.removeprefix("builtins").lstrip("_")
    return f"{module}.{name}" if module else name


def _help(full: str, name: str) -> str:
    for key in (full, name):
        while key:
            if key in _HELP:
                return _HELP[key]
            key = key.rpartition(".")[0]
    return _PLAIN


def missing_import(name: str) -> str:
    """Where a name that is not defined may have been meant to come from."""
    if name in ("math", "cmath", "numpy"):
        return f"write `import {name}` at the top of the file"
    if name == "np":
        return "write `import numpy as np` at the top of the file"
    if hasattr(math, name):
        return f"write math.{name}, and `import math` at the top of the file"
    return f"write np.{name}, and `import numpy as np` at the top of the file" if hasattr(np, name) else ""


def nearest(name: str, known: Iterable[str], before: str = "") -> str:
    """`did you mean ...?` for a misspelt name, empty where nothing is close."""
    spellings = {other.lower(): other for other in known if not other.startswith("_")}
    found = difflib.get_close_matches(name.lower(), spellings, n=1, cutoff=0.75)
    return f"did you mean {before}{spellings[found[0]]}?" if found else ""
