"""Would Python's own function take these arguments?  A guard for the meanings here, which may look at fewer.

    int("11", 2, 3), xs.append(1, 2), math.fabs(x, out=y)      TypeError, whatever the handler made of it
"""

from __future__ import annotations

import collections
import inspect
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from pullback.infer.values import AV

__all__ = ["mismatch"]

_CLASSES: dict[str, type] = {
    "str": str, "list": list, "tuple": tuple, "dict": dict, "set": set, "frozenset": frozenset, "range": range,
    "deque": collections.deque, "Counter": collections.Counter, "defaultdict": collections.defaultdict,
    "OrderedDict": collections.OrderedDict, "ndarray": np.ndarray,
}  # fmt: skip
_MODULES = ("builtins", "math", "cmath", "itertools", "functools", "operator", "collections", "heapq", "bisect",
            "statistics", "copy", "numpy", "scipy")  # fmt: skip

def _takes(least: int, most: int | None = None) -> inspect.Signature:
    """The signature of so many arguments without names; most: None for any number."""
    kind = inspect.Parameter.POSITIONAL_ONLY
    needed = [inspect.Parameter(f"x{k}", kind) for k in range(least)]
    if most is None:
        return inspect.Signature([*needed, inspect.Parameter("others", inspect.Parameter.VAR_POSITIONAL)])
    return inspect.Signature([*needed, *(inspect.Parameter(f"x{k}", kind, default=None) for k in range(least, most))])


def _told() -> dict[str, inspect.Signature]:
    """The signatures of functions that do not tell theirs."""
    found = {
        "math.hypot": _takes(0), "itertools.chain": _takes(0), "builtins.next": _takes(1, 2),
        "builtins.iter": _takes(1, 2), "builtins.getattr": _takes(2, 3), "builtins.filter": _takes(2, 2),
        "cmath.log": _takes(1, 2), "cmath.rect": _takes(2, 2), "set.pop": _takes(1, 1), "set.update": _takes(1),
        "collections.deque": inspect.signature(lambda iterable=(), maxlen=None: None),
        "builtins.dict": inspect.signature(lambda mapping=(), /, **items: None),
    }  # fmt: skip
    for owner in ("dict", "Counter", "defaultdict"):
        found[f"{owner}.update"] = inspect.signature(lambda self, mapping=(), /, **items: None)
        found[f"{owner}.pop"] = _takes(2, 3)
        found |= {f"{owner}.{name}": _takes(1, 1) for name in ("clear", "copy", "items", "keys", "values")}
    for owner in ("set", "frozenset"):
        found |= {f"{owner}.{name}": _takes(1) for name in ("union", "difference", "intersection")}
        others = ("isdisjoint", "issubset", "issuperset", "symmetric_difference")
        found |= {f"{owner}.{name}": _takes(2, 2) for name in others} | {f"{owner}.copy": _takes(1, 1)}
    found |= {f"set.{name}": _takes(2, 2) for name in ("add", "discard", "remove", "symmetric_difference_update")}
    found |= {f"set.{name}_update": _takes(1) for name in ("difference", "intersection")} | {"set.clear": _takes(1, 1)}
    found |= {f"deque.{name}": _takes(1, 1) for name in ("clear", "pop", "popleft", "reverse", "copy")}
    of_items = ("append", "appendleft", "count", "extend", "extendleft", "remove")
    found |= {f"deque.{name}": _takes(2, 2) for name in of_items}
    found |= {"deque.index": _takes(2, 4), "deque.insert": _takes(3, 3), "deque.rotate": _takes(1, 2)}
    of_parts = ("count", "endswith", "find", "index", "rfind", "rindex", "startswith")
    return found | {f"str.{name}": _takes(2, 4) for name in of_parts}


_TOLD = _told()


def mismatch(name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> str | None:
    """What is wrong with the arguments, if the function of this name would not take them."""
    signature = _signature(name)
    if signature is None:
        return None
    try:
        signature.bind(*arguments, **keywords)
    except TypeError as error:
        return f"{name.rpartition('.')[2]}(): {error}"
    return None


@cache
def _signature(name: str) -> inspect.Signature | None:
    if name in _TOLD:
        return _TOLD[name]
    found = _object_of(name)
    try:
        return inspect.signature(found) if callable(found) else None
    except (ValueError, TypeError):
        return None


def _object_of(name: str) -> Any:
    owner, _, attribute = name.rpartition(".")
    if owner in _CLASSES:
        return getattr(_CLASSES[owner], attribute, None)
    module, _, cls = owner.rpartition(".")
    holder = sys.modules.get(owner) or getattr(sys.modules.get(module), cls, None)
    return getattr(holder, attribute, None) if owner.partition(".")[0] in _MODULES else None
