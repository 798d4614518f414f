"""Strings in pieces: split, rsplit, splitlines, partition and rpartition.

    text.split(",", 1)      known while compiling: a list of constants; else a list of what the run finds
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_INT
from pullback.infer.numbers import as_number, python_int
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.texts import TEXT, call_text, is_text, text_length
from pullback.infer.values import AV
from pullback.types import Constant, List, NoneType, Number, Str, show

# The parameters of each method after the text, and their defaults.
_PARAMETERS: dict[str, tuple[tuple[str, object], ...]] = {
    "split": (("sep", None), ("maxsplit", -1)), "rsplit": (("sep", None), ("maxsplit", -1)),
    "splitlines": (("keepends", False),), "partition": (("sep", ...),), "rpartition": (("sep", ...),),
}  # fmt: skip


def _method(name: str) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        names = [parameter for parameter, _ in _PARAMETERS[name]]
        given = dict(zip(names, arguments[1:], strict=False)) | dict(keywords)
        if len(arguments) > 1 + len(names) or set(given) - set(names):
            raise cx.type_error(f"str.{name}() takes {', '.join(names)}", "not these arguments")
        kinds = list(given)

        def rule(cx: Frame, operands: Sequence[AV]) -> AV:
            return _pieces(cx, name, operands[0], dict(zip(kinds, operands[1:], strict=True)))

        return dispatch(cx, [arguments[0], *given.values()], rule)

    return handler


def _pieces(cx: Frame, name: str, text: AV, given: Mapping[str, AV]) -> AV:
    """The pieces of a text; `how`: the method, and whether it is told no separator though it is told more."""
    operands: list[AV] = []
    how = name
    for parameter, default in _PARAMETERS[name]:
        av = given.get(parameter)
        if parameter == "sep":
            if av is None and default is ...:
                raise cx.type_error(f"str.{name}() takes exactly one argument (0 given)", "a separator is needed")
            if av is None or isinstance(av.type, NoneType):
                how = f"{name} None"
            else:
                operands.append(_separator(cx, av))
        elif av is not None:
            operands.append(_number(cx, av))
        elif parameter == "maxsplit":
            operands.append(AV(WEAK_INT, (cx.e.integer(-1),), -1))
        else:
            operands.append(AV(Constant(False), (), False))
    known = [_known(cx, av) for av in (text, *operands)]
    if None not in known:
        return _constants(name, known if how == name else [known[0], None, *known[1:]])
    whole = [AV(Str(how), (), how), text, *operands]
    if "partition" in name:
        numbers = [AV(WEAK_INT, (cx.e.integer(k),), k) for k in range(3)]
        return pack_tuple([call_text(cx, "piece", [number, *whole[1:]], TEXT, how) for number in numbers])
    return call(cx, prelude(cx, "pullback.text_parts"), whole, {})


def _separator(cx: Frame, av: AV) -> AV:
    if not is_text(av.type):
        raise cx.type_error(f"must be str or None, not {show(av.type)}", "the separator is a string")
    size = text_length(cx, av)
    cx.check(cx.e("gt", size.value, cx.e.integer(0)), "ValueError", "empty separator")
    return av


def _number(cx: Frame, av: AV) -> AV:
    number = as_number(cx, av)
    if not isinstance(number.type, Number) or number.type.dtype.is_float:
        raise cx.type_error(f"'{show(av.type)}' object cannot be interpreted as an integer", "an int is needed")
    return AV(WEAK_INT, (python_int(cx, number),), av.literal)


def _known(cx: Frame, av: AV) -> Any:
    """A text or number that is known while compiling, else None."""
    if isinstance(av.type, Str | Constant):
        return av.type.value
    return cx.number_of(av)


def _constants(name: str, known: Sequence[Any]) -> AV:
    text, *rest = known
    if rest and rest[0] == "":
        rest[0] = " "  # the check before has failed
    found = getattr(text, name)(*rest)
    if isinstance(found, list):
        return AV(List(tuple(Str(piece) for piece in found)))
    return pack_tuple([AV(Str(piece), (), piece) for piece in found])


def _counted(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """text_pieces(how, text, ...)"""
    how, *operands = arguments
    assert isinstance(how.type, Str)
    return call_text(cx, "pieces", operands, WEAK_INT, how.type.value)


def _piece(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """text_piece(how, index, text, ...)"""
    how, *operands = arguments
    assert isinstance(how.type, Str)
    return call_text(cx, "piece", operands, TEXT, how.type.value)


HANDLERS.update({f"str.{_name}": _method(_name) for _name in _PARAMETERS})
HANDLERS.update({"pullback.text_pieces": _counted, "pullback.text_piece": _piece})
