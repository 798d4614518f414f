"""What exceptions were raised from, where a program reads `__cause__`.

    raise StepError("step") from error      Failure(StepError, ("step",), {"__cause__": what error is})

The first `__cause__` that inference meets starts it again, and every `raise ... from` of the program keeps its cause.
"""

from __future__ import annotations

from pullback.infer.engine import Frame
from pullback.infer.sites import Changed
from pullback.infer.values import AV
from pullback.prims.exceptions import CAUSE
from pullback.types import Failure, Type, Union

__all__ = ["are_kept", "caused", "keep"]

MOST_CAUSES = 3  # behind one another
_SITE = (CAUSE, CAUSE)


def are_kept(cx: Frame) -> bool:
    """Does the program read causes?"""
    return _SITE in cx.session.heaps


def keep(cx: Frame) -> None:
    """It does."""
    if not are_kept(cx):
        raise Changed([_SITE])


def caused(cx: Frame, av: AV, source: AV) -> AV:
    """The failure with what it is raised from."""
    assert isinstance(av.type, Failure)
    if not isinstance(source.type, Failure | Union):
        return av
    if _depth(source.type) > MOST_CAUSES:
        raise cx.error("exceptions that are raised from one another have no end", "`__cause__` is read in this program",
                       "keep what matters in `args`")  # fmt: skip
    fields = (*av.type.fields, (CAUSE, source.type))
    return AV(Failure(av.type.kind, av.type.args, fields), (*av.values, *source.values))


def _depth(type_: Type) -> int:
    """How many exceptions are raised from one another."""
    members = type_.members if isinstance(type_, Union) else (type_,)
    fields = [dict(member.fields) for member in members if isinstance(member, Failure)]
    return 1 + max((_depth(held[CAUSE]) for held in fields if CAUSE in held), default=0)
