"""The parts of classes that compiled functions make: found for an object or a class, and written.

p.area()            the part `area` of the class of p, by the row that p refers to
P.scale = 3.0       a write to the row of P
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from pullback.infer.engine import Frame
from pullback.infer.heaps import Heap, heap_of, heap_of_type, read, write
from pullback.infer.sites import Changed
from pullback.infer.templates import CLASS, Local, OwnClass, Part, is_dynamic, local_of
from pullback.infer.values import AV
from pullback.ir.node import Value
from pullback.types import NEVER, Class, Closure, Ref, Tuple, Type, show, slots

__all__ = [
    "class_behind", "class_type", "code_of_part", "is_local", "may_be_assigned", "part_value", "set_part",
    "type_of_part",
]  # fmt: skip

_ASSIGNED = "class attribute"  # the kind of the sites of attributes of classes that are assigned


def class_behind(cx: Frame, subject: AV, cls: type) -> AV:
    """The class of a value, as a value: `cls` is what is known of it."""
    if isinstance(subject.type, Class):
        return subject
    if not is_dynamic(cls):
        return AV(Class(cls))
    heap = heap_of_type(subject.type) if isinstance(subject.type, Ref) else None
    if heap is None:
        raise cx.error(
            f"a method of {cls.__name__} needs variables of the function that makes the class",
            "a tuple or exception does not know which", "make it a dataclass, or define it at the top of the module",
        )  # fmt: skip
    return read(cx, heap, subject.value, CLASS)


def class_type(cx: Frame, cls: type) -> Class:
    """The type of a class of the user as a value."""
    return Class(cls, _row_heap(cx, cls).type if is_dynamic(cls) else None)


def part_value(cx: Frame, part: Part, subject: AV | None) -> AV:
    """What a part is for an object or a class (static: for any), `Unbound` perhaps among its types."""
    local = part.local
    assert local.template is not None
    if not local.dynamic:
        type_, numbers = local.static[part.name]
        values = tuple(cx.e.constant(n, machine) for n, machine in zip(numbers, slots(type_), strict=True))
        return _with_class(AV(type_, values), local.key, AV(Class(local.template)))
    assert subject is not None
    cls = subject.type.python if isinstance(subject.type, Class) else _class_of(subject.type)
    owner = _along(cx, class_behind(cx, subject, cls), local.template) if cls is not None else None
    if owner is None:
        raise cx.error(f"{part.name} of {local.template.__name__} is not known here", f"this is {show(subject.type)}")
    found = read(cx, _row_heap(cx, local.template), owner.value, part.name)
    return found if cx.dead else _with_class(found, local.key, owner)


def type_of_part(cx: Frame, part: Part) -> Type:
    """The type of a part as far as is known."""
    local = part.local
    assert local.template is not None
    return _row_heap(cx, local.template).known(part.name) if local.dynamic else local.static[part.name][0]


def code_of_part(cx: Frame, part: Part) -> Hashable:
    """The code of a part that is a function of the user."""
    type_ = type_of_part(cx, part)
    type_ = part.local.kinds[part.name] if type_ == NEVER else type_
    return type_.code if isinstance(type_, Closure) else None


def _class_of(type_: Type) -> type | None:
    if isinstance(type_, Tuple):
        return type_.python
    heap = heap_of_type(type_)
    return None if heap is None else heap.python


def _along(cx: Frame, found: AV, template: type) -> AV | None:
    """The class itself, or that of its bases which is the template."""
    assert isinstance(found.type, Class)
    if found.type.python is template:
        return found
    local = local_of(found.type.python)
    for base, name in local.bases.items() if local is not None else ():
        if issubclass(base, template):
            return _along(cx, read(cx, _row_heap(cx, found.type.python), found.value, name), template)
    return None


def _row_heap(cx: Frame, template: type) -> Heap:
    return heap_of(cx, "class", template)


# --------------------------------------------------------------------------------------------------------- writing


def may_be_assigned(cx: Frame, key: Hashable) -> list[str]:
    """The attributes of the class that a statement makes which the program assigns, as far as was seen."""
    keys = (found for kind, found in cx.session.heaps if kind == _ASSIGNED)
    return sorted(found[1] for found in keys if isinstance(found, tuple) and found[0] == key)


def set_part(cx: Frame, cls: AV, name: str, value: AV) -> bool:
    """cls.name = value; False where it is no class that a function made."""
    assert isinstance(cls.type, Class)
    local = local_of(cls.type.python)
    if local is None:
        return False
    site = (_ASSIGNED, (local.key, name))
    if site not in cx.session.heaps:
        raise Changed([site])  # it is a part from the next pass on
    write(cx, _row_heap(cx, cls.type.python), cls.value, name, value)
    return True


# ------------------------------------------------------------------------------------------------------- own class


def _with_class(av: AV, key: Hashable, owner: AV) -> AV:
    """The value with the class in the places that stand for it."""
    parts = _filled(av.type, list(av.values), key, owner)
    return AV(parts[0], tuple(parts[1])) if parts[0] != av.type else av


def _filled(type_: Type, values: list[Value], key: Hashable, owner: AV) -> tuple[Type, list[Value]]:
    if not isinstance(type_, Closure):
        return type_, values
    if type_.code == OwnClass(key):
        return owner.type, list(owner.values)
    captured: list[Type] = []
    found: list[Value] = []
    for item in type_.captured:
        width = len(slots(item))
        new, filled = _filled(item, values[:width], key, owner)
        values = values[width:]
        captured.append(new)
        found += filled
    return replace(type_, captured=tuple(captured)), found


def is_local(owner: type) -> bool:
    """Does a function make the class: nothing from outside changes it."""
    return isinstance(local_of(owner), Local)
