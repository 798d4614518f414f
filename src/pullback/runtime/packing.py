"""Objects packed for compiled code: a copy of their own, of which compiled functions keep native images.

    p = pb.pack(tree)          tree itself stays as it is
    loss(p), grad(loss)(p)     as with the tree; the second call of a function copies memory and visits no object
    p.unpack()                 a tree again: with what functions have written

A function that writes into a packed object writes into the copy, and its images are made anew.
"""

from __future__ import annotations

from typing import Any

from pullback.runtime.copies import copied
from pullback.runtime.objects import is_user_object

__all__ = ["Key", "Packed", "pack"]


class Key:
    """What the images for one code are known by."""

    __slots__ = ("__weakref__",)


class Packed:
    """A packed object.  `object`: the copy.  `images`: native ones, by the code they are for."""

    __slots__ = ("__weakref__", "images", "object")

    def __init__(self, value: Any) -> None:
        self.object = value
        self.images: dict[object, object] = {}

    def unpack(self) -> Any:
        """The object as it is now, as an object of Python again."""
        return copied(self.object)

    def __repr__(self) -> str:
        return f"<packed {type(self.object).__name__}>"

    def __copy__(self) -> Packed:
        return Packed(self.unpack())

    def __deepcopy__(self, memo: object) -> Packed:
        return Packed(self.unpack())

    def __reduce__(self) -> Any:
        return pack, (self.unpack(),)


def pack(obj: Any) -> Packed:
    """A copy of an object or a list, with all that it refers to, for calls of compiled functions.

    TypeError for what needs no packing: numbers, arrays, tuples and dicts are passed as they are.
    """
    if isinstance(obj, Packed):
        return Packed(obj.unpack())
    if not is_user_object(obj) and type(obj) is not list:
        raise TypeError(f"pack takes objects and lists, not {type(obj).__name__}: pass it as it is")
    return Packed(copied(obj))
