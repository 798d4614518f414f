"""Arguments of known functions by the names of their parameters.

    np.roll(a, 1, axis=0)      {"a": a, "shift": 1, "axis": 0}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pullback.infer.engine import Frame
from pullback.infer.values import AV

__all__ = ["Arguments", "arguments_of"]


class Arguments(dict[str, AV]):
    """Arguments by name; one that is asked for and was not given is an error of the call."""

    def __init__(self, cx: Frame, name: str, found: Mapping[str, AV]) -> None:
        super().__init__(found)
        self.cx, self.name = cx, name

    def __missing__(self, key: str) -> AV:
        raise self.cx.type_error(f"{self.name}() missing required argument '{key}'")

    def replaced(self, values: Sequence[AV]) -> Arguments:
        """The arguments with other values, in their order."""
        return Arguments(self.cx, self.name, dict(zip(self, values, strict=True)))


def arguments_of(
    cx: Frame, name: str, names: Sequence[str], given: Sequence[AV], keywords: Mapping[str, AV]
) -> Arguments:
    """Arguments by parameter name; unknown keywords are refused."""
    if len(given) > len(names):
        raise cx.type_error(f"{name}() takes at most {len(names)} arguments here ({len(given)} given)")
    found = Arguments(cx, name, dict(zip(names, given, strict=False)))
    for key, av in keywords.items():
        if key not in names or key in found:
            raise cx.error(f"{name}: the argument {key}= is not supported here", "known are " + ", ".join(names))
        found[key] = av
    return found
