"""Exceptions as values: made, raised, asked by handlers.

    raise Diverged("no end", x)      check{failure: Diverged(str, float)}(false, x)       by value, no object is made
    except Diverged as e: e.args[1]  caught_values{member}(exception): one of the failures that the body may raise
    class E with an __init__         an object of a heap; what Python is to see goes along when it is raised

An exception object does not change after it was raised.  Types: `Failure` one that was made, `Caught` one of several.
"""

from __future__ import annotations

import re
import types as python_types
from collections.abc import Mapping, Sequence

from pullback.infer.binding import pack_tuple
from pullback.infer.calls import call
from pullback.infer.causes import are_kept, caused, keep
from pullback.infer.classes import bound_member, class_value, instance_class, member
from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Fact, Frame
from pullback.infer.heaps import allocate, heap_of, heap_of_type, read, write
from pullback.infer.lattice import WEAK_BOOL
from pullback.infer.object_writes import OBJECTS
from pullback.infer.registry import HANDLERS, is_exception
from pullback.infer.structures import ATTRIBUTES, attribute
from pullback.infer.templates import is_dynamic
from pullback.infer.texts import SHOWN, call_text, concatenated, formatted
from pullback.infer.truth import IDENTITIES, compare
from pullback.infer.values import AV, choose_value, coerce, items_of
from pullback.ir.node import Value
from pullback.prims.base import get
from pullback.prims.exceptions import CAUSE, REPR, class_of, name_of, short_name, takes
from pullback.types import (
    NONE,
    Builtin,
    Caught,
    Class,
    Constant,
    Failure,
    NoneType,
    Ref,
    Str,
    Template,
    Text,
    Tuple,
    Union,
    show,
    slots,
    union_of,
)  # fmt: skip

__all__ = [
    "construct", "is_by_value", "is_instance", "kinds_of", "opened", "raise_value", "reraise", "set_arguments",
    "stored",
]  # fmt: skip

OBJECT = ""  # the field of a failure that holds the object itself
_NOT_KNOWN = ("__cause__", "__context__", "__traceback__", "__notes__", "add_note", "with_traceback")


# ------------------------------------------------------------------------------------------------------ making


def is_by_value(cls: type) -> bool:
    """Exceptions of a class that only keeps its arguments need no object."""
    made = isinstance(cls.__new__, python_types.BuiltinMethodType) and not is_dynamic(cls)
    return made and isinstance(getattr(cls, "__init__", None), python_types.WrapperDescriptorType)


def construct(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """An exception of the class of that name (prims.exceptions), which only keeps its arguments."""
    short = short_name(name)
    if keywords:
        title = f"{short}() takes no keyword arguments"
        raise cx.error(title, "an exception takes values by position", raised=("TypeError", title))
    _require_makeable(cx, name, arguments)
    args = tuple(av.type for av in arguments)
    return AV(Failure(name, args), tuple(value for av in arguments for value in av.values))


def _require_makeable(cx: Frame, name: str, arguments: Sequence[AV]) -> None:
    """Some builtin classes take only certain arguments, or make an exception of another class of them."""
    cls = class_of(name)
    if cls is None or cls.__flags__ & _HEAP_TYPE or cls.__init__ is BaseException.__init__:
        return
    samples = [av.type.value if isinstance(av.type, Str) else 1 for av in arguments]
    try:
        made = cls(*samples)
    except TypeError as error:
        raise cx.type_error(f"{short_name(name)}: {error}", "Python cannot make this exception either") from None
    if type(made) is not cls or made.args != tuple(samples):
        raise cx.error(f"{short_name(name)} with these arguments is not supported", "Python makes another object of it",
                       "give it one text")  # fmt: skip


_HEAP_TYPE = 1 << 9


def set_arguments(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """BaseException.__init__(obj, *arguments), and what making an object does before."""
    subject, *given = arguments
    heap = heap_of_type(subject.type)
    if keywords or heap is None:
        raise cx.type_error(f"{show(subject.type)}() takes no keyword arguments", "give them by position")
    write(cx, heap, subject.value, "args", pack_tuple(given))
    return AV(NONE)


def _builtin(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """SomeError(*arguments), of a builtin class."""
    kind, *given = arguments
    assert isinstance(kind.type, Builtin)
    return construct(cx, kind.type.name.removeprefix("builtins."), given, keywords)


HANDLERS.update({"exception.__init__": set_arguments, "exception": _builtin})


def failure_parts(cx: Frame, av: AV) -> tuple[list[AV], dict[str, AV]]:
    """The arguments and fields of a failure."""
    failure = av.type
    assert isinstance(failure, Failure)
    names = [name for name, _ in failure.fields]
    items = cx.split([*failure.args, *(type_ for _, type_ in failure.fields)], av.values)
    count = len(failure.args)
    return items[:count], dict(zip(names, items[count:], strict=True))


# ------------------------------------------------------------------------------------------------------ raising


def raise_value(cx: Frame, av: AV, cause: AV | None = None) -> AV:
    """raise av, or raise av from cause."""
    match av.type:
        case Union():
            return dispatch(cx, [av], lambda cx, operands: raise_value(cx, operands[0], cause))
        case Failure():
            return _raise(cx, av, cause)
        case Caught():
            return reraise(cx, av)
    made = _instance(cx, av)
    if made is None:
        title = f"only exceptions can be raised, not {show(av.type)}"
        raised = ("TypeError", "exceptions must derive from BaseException")
        raise cx.error(title, "needs an exception class or object", 'write raise ValueError("...")', raised=raised)
    return AV(NONE) if cx.dead else raise_value(cx, made, cause)


def _instance(cx: Frame, av: AV) -> AV | None:
    """The exception that a class makes without arguments, or the failure of an object."""
    match av.type:
        case Builtin(name) if is_exception(name):
            return construct(cx, name.removeprefix("builtins."), [], {})
        case Class(python) if issubclass(python, BaseException):
            return call(cx, av, [], {})
        case Ref():
            cls = instance_class(av.type)
            return _failure_of(cx, av, cls) if cls is not None and issubclass(cls, BaseException) else None
    return None


def _failure_of(cx: Frame, av: AV, cls: type[BaseException]) -> AV:
    """What goes along when an object is raised: its arguments, its fields as they are now, and itself."""
    heap = heap_of_type(av.type)
    assert heap is not None
    fields = {name: read(cx, heap, av.value, name) for name in sorted(heap.representative.fields) if name != "args"}
    heap.representative.missed.update(set(fields) | {"args"})

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        args = items_of(operands[0])
        parts = {**fields, OBJECT: av}
        kind = Failure(name_of(cls), tuple(a.type for a in args), tuple((n, p.type) for n, p in parts.items()))
        return AV(kind, tuple(v for part in (*args, *parts.values()) for v in part.values))

    return dispatch(cx, [read(cx, heap, av.value, "args")], rule)


def _raise(cx: Frame, av: AV, cause: AV | None) -> AV:
    if cause is not None and isinstance(cause.type, Union):
        return dispatch(cx, [cause], lambda cx, operands: _raise(cx, av, operands[0]))
    if cause is not None and are_kept(cx):
        whole = opened(cx, cause) if isinstance(cause.type, Caught) else _instance(cx, cause) or cause
        av = av if cx.dead else caused(cx, av, whole)
    failure = av.type
    assert isinstance(failure, Failure)
    text = failure.args[0] if len(failure.args) == 1 else None
    plain = not failure.fields and (not failure.args or (isinstance(text, Str) and bool(text.value)))
    message = text.value if plain and isinstance(text, Str) else ""
    attrs: dict[str, object] = {"exception": failure.kind, "message": message}
    operands = [cx.e.boolean(False)]
    if not plain:
        attrs["failure"] = failure
        operands += av.values
    if cause is not None and isinstance(cause.type, NoneType):
        attrs["suppress"] = True
    elif cause is not None:
        raised_from = cause if isinstance(cause.type, Failure | Caught) else _instance(cx, cause)
        if raised_from is None:
            raise cx.error("exception causes must derive from BaseException", f"this is {show(cause.type)}",
                           raised=("TypeError", "exception causes must derive from BaseException"))  # fmt: skip
        attrs["cause"] = raised_from.type
        operands += raised_from.values
    cx.e.append(get("check"), operands, attrs=attrs, types=())
    return cx.stop()


def _cause_of(cx: Frame, av: AV) -> AV:
    """What a caught exception was raised from."""
    keep(cx)
    whole = opened(cx, av)
    if cx.dead:
        return whole
    return dispatch(cx, [whole], lambda cx, found: failure_parts(cx, found[0])[1].get(CAUSE, AV(NONE)))


def reraise(cx: Frame, av: AV) -> AV:
    """The exception of a handler goes on."""
    assert isinstance(av.type, Caught)
    cx.e.append(get("reraise"), av.values, attrs={"members": av.type.members}, types=())
    return cx.stop()


# ----------------------------------------------------------------------------------------------------- classes


def kinds_of(cx: Frame, av: AV) -> list[str] | None:
    """The names of the exception classes that a value is: a class, or a tuple of them; None for others."""
    match av.type:
        case Builtin(name) if is_exception(name):
            return [name.removeprefix("builtins.")]
        case Class(python) if issubclass(python, BaseException):
            return [name_of(python)]
        case Tuple():
            found = [kinds_of(cx, item) for item in items_of(av)]
            return None if None in found else [name for names in found if names is not None for name in names]
    return None


def is_instance(cx: Frame, av: AV, names: Sequence[str], subject: Value | None) -> AV:
    """Is a caught exception of one of the classes."""
    assert isinstance(av.type, Caught)
    hits = tuple(member for member in av.type.members if takes(names, member.kind))
    rest = tuple(member for member in av.type.members if member not in hits)
    if not hits or not rest:
        return AV(Constant(bool(hits)), (), bool(hits))
    found = cx.e("caught_is", av.value, kinds=tuple(names))
    if subject is not None:
        cx.facts[found] = Fact(subject, (Caught(hits),), (Caught(rest),))
    return AV(WEAK_BOOL, (found,))


# ----------------------------------------------------------------------------------------------------- reading


def opened(cx: Frame, av: AV) -> AV:
    """A caught exception as a failure, or as a union of those that it may be."""
    assert isinstance(av.type, Caught)
    members = [_contents(cx, av, failure) for failure in av.type.members]
    if not members:
        return cx.stop()
    target = union_of(*av.type.members)
    if not isinstance(target, Union):
        return members[0]
    tag = cx.e("caught_member", av.value, members=av.type.members)
    result = list(coerce(cx.e, members[-1], target).values)
    for number in reversed(range(len(members) - 1)):
        hit = cx.e("eq", tag, cx.e.integer(number))
        for i, value in enumerate(coerce(cx.e, members[number], target).values):
            result[i] = choose_value(cx.e, hit, value, result[i])
    return AV(target, (tag, *result[1:]))


def stored(cx: Frame, av: AV) -> AV:
    """The value as it is kept in memory: of an exception that a handler was given, what it holds."""
    members = av.type.members if isinstance(av.type, Union) else (av.type,)
    if cx.dead or not any(isinstance(member, Caught) for member in members):
        return av
    return dispatch(cx, [av], lambda cx, given: opened(cx, given[0]) if isinstance(given[0].type, Caught) else given[0])


def _contents(cx: Frame, av: AV, failure: Failure) -> AV:
    types = slots(failure)
    if not types:
        return AV(failure)
    op = cx.e.append(get("caught_values"), [av.value], attrs={"member": failure, "types": types}, types=types)
    return AV(failure, tuple(op.results))


def exception_attribute(cx: Frame, av: AV, name: str) -> AV:
    """e.args, fields, and what the class holds."""
    if isinstance(av.type, Caught) and name == CAUSE:
        return _cause_of(cx, av)
    if isinstance(av.type, Caught):
        whole = opened(cx, av)
        return whole if cx.dead else attribute(cx, whole, name)
    failure = av.type
    assert isinstance(failure, Failure)
    cls = class_of(failure.kind)
    assert cls is not None
    arguments, fields = failure_parts(cx, av)
    if OBJECT in fields:
        return attribute(cx, fields[OBJECT], name)
    if name == "args":
        return pack_tuple([_shown_argument(cx, argument) for argument in arguments])
    if name == "__class__":
        return AV(Class(cls) if ":" in failure.kind else Builtin(f"builtins.{failure.kind}"))
    if name == "value" and issubclass(cls, StopIteration):
        return arguments[0] if arguments else AV(NONE)
    found = member(cx, cls, name) if cls.__flags__ & _HEAP_TYPE else None
    if found is None or not found[0].__flags__ & _HEAP_TYPE or name in _NOT_KNOWN:
        title = f"{short_name(failure.kind)!r} object has no attribute '{name}'"
        known = hasattr(cls, name)
        raise cx.error(f"the attribute '{name}' of exceptions is not supported" if known else title,
                       "`args` and the attributes of their own classes are known",
                       raised=None if known else ("AttributeError", title))  # fmt: skip
    if isinstance(found[1], python_types.FunctionType | property):
        return bound_member(cx, _as_object(cx, cls, arguments), cls, found, name)
    return class_value(cx, found[0], found[1], name, av)


def _as_object(cx: Frame, cls: type, arguments: Sequence[AV]) -> AV:
    """An object of the class, for its methods."""
    heap = heap_of(cx, "object", cls)
    subject = AV(heap.type, (allocate(cx, heap),))
    write(cx, heap, subject.value, "args", pack_tuple(arguments))
    return subject


def _shown_argument(cx: Frame, argument: AV) -> AV:
    """An argument as Python has it: of a text with numbers in it the text."""
    if not isinstance(argument.type, Template):
        return argument
    if argument.type.text.startswith(REPR):
        raise cx.error("the argument of this exception is not supported", "it is known by its text only",
                       "use what led to it instead")  # fmt: skip
    numbers = cx.split(argument.type.items, argument.values)
    escaped = argument.type.text.replace("{", "{{").replace("}", "}}")
    return call_text(cx, "format", numbers, Text(), re.sub(r"\{\{(\d+)\}\}", r"{\1}", escaped))


def exception_text(cx: Frame, av: AV, conversion: str) -> AV:
    """str(e), or repr(e)."""
    if isinstance(av.type, Caught):
        whole = opened(cx, av)
        return whole if cx.dead else dispatch(cx, [whole], lambda cx, items: exception_text(cx, items[0], conversion))
    assert isinstance(av.type, Failure)
    cls = class_of(av.type.kind)
    assert cls is not None
    arguments, fields = failure_parts(cx, av)
    wanted = "__repr__" if conversion == "!r" else "__str__"
    own = getattr(cls, wanted)
    if isinstance(own, python_types.FunctionType):
        subject = fields[OBJECT] if OBJECT in fields else _as_object(cx, cls, arguments)
        return call(cx, attribute(cx, subject, wanted), [], {})
    shown = [_shown_argument(cx, argument) for argument in arguments]
    if conversion == "!r":
        inside = formatted(cx, shown[0], "!r") if len(shown) == 1 else None
        whole = formatted(cx, pack_tuple(shown), "!r")
        if inside is not None:
            whole = concatenated(cx, concatenated(cx, _text("("), inside), _text(")"))
        return concatenated(cx, _text(short_name(av.type.kind)), whole)
    if not shown:
        return _text("")
    if len(shown) == 1:
        return formatted(cx, shown[0], "!r" if issubclass(cls, KeyError) else "!s")
    return formatted(cx, pack_tuple(shown), "!r")


def _text(value: str) -> AV:
    return AV(Str(value), (), value)


def same_exception(cx: Frame, a: AV, b: AV) -> AV:
    """Are the two one object; known of exceptions that are objects of heaps."""
    if a.values and a.values == b.values and a.type == b.type:
        return AV(Constant(True), (), True)
    if any(isinstance(av.type, NoneType) for av in (a, b)):
        return AV(Constant(False), (), False)
    return compare(cx, "is", _object_in(cx, a), _object_in(cx, b))


def _object_in(cx: Frame, av: AV) -> AV:
    if isinstance(av.type, Caught):
        whole = opened(cx, av)
        return whole if cx.dead else dispatch(cx, [whole], lambda cx, operands: _object_in(cx, operands[0]))
    if not isinstance(av.type, Failure):
        return av
    found = failure_parts(cx, av)[1].get(OBJECT)
    if found is None:
        raise cx.error(f"the identity of {show(av.type)} is not tracked", "this exception is known by what it holds",
                       "compare its class and its args")  # fmt: skip
    return found


def _object_or_none(cx: Frame, av: AV) -> AV | None:
    """The object of an exception whose class has an __init__ of its own."""
    failures = av.type.members if isinstance(av.type, Caught) else (av.type,)
    known = all(isinstance(f, Failure) and any(name == OBJECT for name, _ in f.fields) for f in failures)
    return _object_in(cx, av) if known else None


OBJECTS.update({Failure: _object_or_none, Caught: _object_or_none})


IDENTITIES.update({Failure: same_exception, Caught: same_exception})
ATTRIBUTES.update({Failure: exception_attribute, Caught: exception_attribute})
SHOWN.update({Failure: exception_text, Caught: exception_text})

