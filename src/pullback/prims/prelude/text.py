"""Methods of strings that step through parts, in the accepted Python."""

from __future__ import annotations

from typing import Any

from pullback.prims.prelude.intrinsics import text_piece, text_pieces

__all__ = ["FUNCTIONS"]


def join_(separator: Any, parts: Any) -> Any:
    result = ""
    first = True
    for part in parts:
        result = result + part if first else result + separator + part
        first = False
    return result


def parts_(how: Any, text: Any, *given: Any) -> Any:
    """The pieces that a method of str cuts a text into; see `text_pieces`."""
    return [text_piece(how, i, text, *given) for i in range(text_pieces(how, text, *given))]


def more_text(text: Any, begun: bool, separator: Any, items: Any) -> Any:
    """What print() writes, after some more items; begun: are there some already."""
    for item in items:
        text = text + separator + str(item) if begun else text + str(item)
        begun = True
    return text, begun


def items_text(items: Any, opening: str, closing: str) -> Any:
    """The items of a container as repr() shows them."""
    result = opening
    first = True
    for item in items:
        result = result + repr(item) if first else result + ", " + repr(item)
        first = False
    return result + closing


def pairs_text(pairs: Any, opening: str, closing: str) -> Any:
    """The entries of a dict as repr() shows them."""
    result = opening
    first = True
    for key, value in pairs:
        entry = repr(key) + ": " + repr(value)
        result = result + entry if first else result + ", " + entry
        first = False
    return result + closing


FUNCTIONS = {
    "str.join": join_, "pullback.text_parts": parts_, "pullback.items_text": items_text,
    "pullback.pairs_text": pairs_text, "pullback.more_text": more_text,
}  # fmt: skip
