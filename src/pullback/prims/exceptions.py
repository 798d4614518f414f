"""Exception classes by name: builtin ones by their own, those of the user by module and qualified name.

    name_of(ValueError) -> "ValueError"      name_of(Diverged) -> "model:Diverged"
    takes(("LookupError",), "KeyError") -> True

Programs and what is kept on disk name classes; `class_of` finds the class again, in another process too.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Iterable

__all__ = ["CAUSE", "REPR", "class_of", "name_of", "short_name", "takes"]

REPR = "\x01"
"""Begins a message that is repr() of the exception's argument: KeyError(2)."""

CAUSE = "__cause__"
"""The field of a failure that holds what it was raised from."""

_KNOWN: dict[str, type[BaseException]] = {}  # classes of the user that this process has met


def name_of(kind: type[BaseException]) -> str:
    """The name of a class; of two that cannot be told apart by module and name, the later one gets a number."""
    if getattr(builtins, kind.__name__, None) is kind:
        return str(kind.__name__)
    name = plain = f"{kind.__module__}:{kind.__qualname__}"
    number = 1
    while _KNOWN.setdefault(name, kind) is not kind:
        number += 1
        name = f"{plain}#{number}"
    return name


def class_of(name: str) -> type[BaseException] | None:
    """The class of the name, or None if this process does not have it."""
    found = _KNOWN.get(name) or getattr(builtins, name, None)
    if found is None and ":" in name:
        module, _, path = name.partition("#")[0].partition(":")
        try:
            found = operator.attrgetter(path)(sys.modules[module])
        except (KeyError, AttributeError):
            return None
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def short_name(name: str) -> str:
    """The name as messages show it."""
    plain = name.partition("#")[0]
    return plain[max(plain.rfind(":"), plain.rfind(".")) + 1 :]


def takes(kinds: Iterable[str], name: str) -> bool:
    """Does a handler of these classes take an exception of the class `name`."""
    kind = class_of(name)
    found = [class_of(other) for other in kinds]
    return kind is not None and any(other is not None and issubclass(kind, other) for other in found)
