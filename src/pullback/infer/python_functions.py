"""Python's builtins: numbers, conversions, iteration, extrema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from pullback.infer.arithmetic import OVERFLOW, binary, python_message
from pullback.infer.calls import call
from pullback.infer.complexes import halves
from pullback.infer.containers import special
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import array_sizes, elementwise
from pullback.infer.engine import BUILTINS, Frame
from pullback.infer.enums import as_plain
from pullback.infer.generators import is_pushed
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT
from pullback.infer.lists import range_length
from pullback.infer.loops import lazily, range_value
from pullback.infer.numbers import as_number, convert, python_int, whole
from pullback.infer.protocols import call_special
from pullback.infer.records import leaf_of
from pullback.infer.registry import HANDLERS, Handler, prelude
from pullback.infer.samples import python_error
from pullback.infer.texts import parsed, text_length
from pullback.infer.truth import constant, truth
from pullback.infer.values import AV, MISSING, items_of
from pullback.types import (
    NONE,
    Array,
    Class,
    Complex,
    Constant,
    Dict,
    DType,
    Iterator,
    List,
    NoneType,
    Number,
    Range,
    Record,
    Ref,
    Slice,
    Str,
    Text,
    Tuple,
    Type,
    Union,
    show,
)  # fmt: skip


def _arity(cx: Frame, name: str, arguments: Sequence[AV], keywords: Mapping[str, AV], low: int, high: int) -> None:
    if keywords:
        shown = ", ".join(f"{keyword}=" for keyword in keywords)
        raise cx.type_error(f"{name}() takes no keyword arguments here", f"{shown} cannot be given", "leave it out")
    if not low <= len(arguments) <= high:
        wanted = str(low) if low == high else f"{low} to {high}"
        plural = "" if wanted == "1" else "s"
        label = "too many arguments" if len(arguments) > high else "too few arguments"
        raise cx.type_error(f"{name}() takes {wanted} argument{plural} ({len(arguments)} given)", label)


def _on_number(name: str, rule: Callable[[Frame, AV], AV], *, arrays: bool = False) -> Handler:
    """A builtin of one number; `arrays`: also elementwise."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        _arity(cx, name, arguments, keywords, 1, 1)

        def one(cx: Frame, operands: Sequence[AV]) -> AV:
            if (found := call_special(cx, f"__{name}__", operands[0])) is not None:
                return found
            av = as_number(cx, as_plain(cx, operands[0]))
            if isinstance(av.type, Array) and arrays:
                return elementwise(cx, [av], lambda cx, items: rule(cx, items[0]))
            if not isinstance(av.type, Number):
                raise cx.error(f"{name}() of {show(av.type)} is not supported", "a number is needed",
                               _number_help(name, av.type), raised=python_error(BUILTINS[name], av.type)
                               if name in BUILTINS else None)  # fmt: skip
            return rule(cx, av)

        return dispatch(cx, arguments, one)

    return handler


def _number_help(name: str, type_: Type) -> str:
    if isinstance(type_, NoneType):
        return "let every path of the function that gave None return a value"
    if isinstance(type_, Array):
        return "take one element, a[i]" if name in ("int", "float", "bool") else f"use np.{name}"
    return ""


def _abs(cx: Frame, av: AV) -> AV:
    kind, value = av.type, av.value
    assert isinstance(kind, Number)
    if kind.dtype is DType.BOOL:
        if not kind.weak:  # NumPy's bool keeps its type, Python's is an int
            return AV(kind, av.values)
        kind, value = WEAK_INT, python_int(cx, av)
    if kind.dtype.is_int and kind.weak and cx.options.checks:
        negative = cx.e("lt", value, cx.e.integer(0))
        smallest = cx.e("and_", negative, cx.e("sub_overflows", cx.e.integer(0), value))
        cx.check(cx.e("not_", smallest), "OverflowError", OVERFLOW)
    return AV(kind, (cx.e("abs", value),))


def _int(cx: Frame, av: AV) -> AV:
    assert isinstance(av.type, Number)
    if av.type.dtype.is_float:
        return whole(cx, cx.e("trunc", av.value if av.type.dtype is DType.F64 else convert(cx, av, DType.F64)))
    return AV(WEAK_INT, (python_int(cx, av),), av.literal if isinstance(av.literal, int) else MISSING)


def _float(cx: Frame, av: AV) -> AV:
    literal = float(av.literal) if isinstance(av.literal, int | float) else MISSING
    return AV(WEAK_FLOAT, (convert(cx, av, DType.F64),), literal)


def _bool(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    _arity(cx, "bool", arguments, keywords, 0, 1)
    return truth(cx, arguments[0]) if arguments else constant(False)


def _zero_int(cx: Frame) -> AV:
    return AV(WEAK_INT, (cx.e.integer(0),), 0)


def _zero_float(cx: Frame) -> AV:
    return AV(WEAK_FLOAT, (cx.e.constant(0.0),), 0.0)


def _default(handler: Handler, value: Callable[[Frame], AV]) -> Handler:
    """int() and float() without arguments."""
    return lambda cx, arguments, keywords: handler(cx, arguments, keywords) if arguments or keywords else value(cx)


def _of_text(name: str, handler: Handler) -> Handler:
    """int(text), int(text, base) and float(text); of what is no text, by the handler."""

    def checked(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if name == "int" and (len(arguments) == 2 or "base" in keywords):
            return _in_base(cx, arguments, keywords)
        if len(arguments) == 1 and not keywords and isinstance(arguments[0].type, Str):
            return _written(cx, name, arguments[0].type.value)
        if len(arguments) == 1 and not keywords and isinstance(arguments[0].type, Text):
            return parsed(cx, name, arguments[0])
        return handler(cx, arguments, keywords)

    return checked


def _written(cx: Frame, name: str, text: str, *base: int) -> AV:
    """The number of a text that is known while compiling."""
    try:
        if name == "float":
            return AV(WEAK_FLOAT, (cx.e.constant(float(text)),), float(text))
        number = int(text, *base)
        if not -(2**63) <= number < 2**63:
            raise cx.error("this int has more than 64 bits", text, "use float(...)", raised=("OverflowError", OVERFLOW))
        return AV(WEAK_INT, (cx.e.integer(number),), number)
    except ValueError as error:
        raise cx.error(str(error), "this text is no number", "write the number itself",
                       raised=("ValueError", str(error))) from None  # fmt: skip


def _in_base(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """int(text, base)"""
    _arity(cx, "int", [*arguments, *keywords.values()], {k: v for k, v in keywords.items() if k != "base"}, 1, 2)
    if not arguments:
        raise cx.type_error("int() missing string argument", "a base needs a text")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        text, base = operands[0], as_number(cx, operands[1])
        if not isinstance(text.type, Str | Text):
            raise cx.type_error("int() can't convert non-string with explicit base", f"this is {show(text.type)}")
        if not isinstance(base.type, Number) or base.type.dtype.is_float:
            raise cx.type_error(f"'{show(base.type)}' object cannot be interpreted as an integer", "the base is an int")
        known = cx.number_of(base)
        if isinstance(text.type, Str) and known is not None:
            return _written(cx, "int", text.type.value, known)
        return parsed(cx, "int", text, AV(WEAK_INT, (python_int(cx, base),)))

    return dispatch(cx, [arguments[0], arguments[1] if len(arguments) == 2 else keywords["base"]], rule)


def _round(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    given = dict(zip(("number", "ndigits"), arguments, strict=False)) | dict(keywords)
    digits = given.get("ndigits")
    if digits is not None and not isinstance(digits.type, NoneType):
        return _round_digits(cx, given["number"], digits)

    def one(cx: Frame, operands: Sequence[AV]) -> AV:
        av = as_number(cx, operands[0])
        if not isinstance(av.type, Number):
            raise cx.error(f"round() of {show(av.type)} is not supported", "a number is needed",
                           _number_help("round", av.type))  # fmt: skip
        if not av.type.dtype.is_float:
            return AV(WEAK_INT, (python_int(cx, av),))
        return whole(cx, cx.e("rint", convert(cx, av, DType.F64)))

    return dispatch(cx, [given["number"]], one)


def _round_digits(cx: Frame, number: AV, digits: AV) -> AV:
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        av, count = (as_number(cx, av) if isinstance(av.type, Constant) else av for av in operands)
        count = as_number(cx, count)
        if not isinstance(count.type, Number) or count.type.dtype.is_float:
            raise cx.type_error(f"'{show(count.type)}' object cannot be interpreted as an integer", "digits are an int")
        known = cx.number_of(count)
        is_int = isinstance(av.type, Number) and not av.type.dtype.is_float
        if is_int and known is not None and known >= 0:
            return AV(WEAK_INT, (python_int(cx, av),)) if av.type.weak else av  # type: ignore[union-attr]
        if (not is_int and av.type != WEAK_FLOAT) or (is_int and not av.type.weak):  # type: ignore[union-attr]
            raise cx.error(f"round(x, n) of {show(av.type)} is not supported", "a Python number is needed",
                           "convert with float(...) or int(...)")  # fmt: skip
        if known is not None and 0 <= known <= 15:
            scale = AV(WEAK_FLOAT, (cx.e.constant(10.0**known),))
            return call(cx, prelude(cx, "pullback.round_digits"), [av, scale], {})
        whole = AV(WEAK_INT, (python_int(cx, count),))
        return call(cx, prelude(cx, f"pullback.round_{'int' if is_int else 'float'}"), [av, whole], {})

    return dispatch(cx, [number, digits], rule)


def _len(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    _arity(cx, "len", arguments, keywords, 1, 1)

    def one(cx: Frame, operands: Sequence[AV]) -> AV:
        (av,) = operands
        match av.type:
            case Ref() | Tuple(_, type()) if (found := special(cx, "__len__", av)) is not None:
                return found
            case Tuple(items) | List(items) | Dict(_, items):
                return AV(WEAK_INT, (cx.e.integer(len(items)),), len(items))
            case Str(text):
                return AV(WEAK_INT, (cx.e.integer(len(text)),), len(text))
            case Text():
                return text_length(cx, av)
            case Complex(Array(_, rank), _) if rank > 0:
                return AV(WEAK_INT, (array_sizes(cx, halves(av)[0])[0],))
            case Record(names, single=True):
                return AV(WEAK_INT, (cx.e.integer(len(names)),), len(names))
            case Record(rank=rank) if rank > 0:
                return AV(WEAK_INT, (array_sizes(cx, leaf_of(av))[0],))
            case Iterator("dict_keys" | "dict_values" | "dict_items", _):
                return _len(cx, items_of(av), {})
            case Class(python) if issubclass(python, Enum):
                return AV(WEAK_INT, (cx.e.integer(len(python)),), len(python))
            case Array(_, rank, _) if rank > 0:
                return AV(WEAK_INT, (array_sizes(cx, av)[0],))
            case Range():
                return AV(WEAK_INT, (range_length(cx, av),))
        help = "let every path of the function that gave None return a value" if isinstance(av.type, NoneType) else ""
        raise cx.error(f"{show(av.type)} has no len()", "tuples, lists, dicts and arrays have", help,
                       raised=python_error(len, av.type))  # fmt: skip

    return dispatch(cx, arguments, one)


def _pow(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    given = dict(zip(("base", "exp", "mod"), arguments, strict=False)) | dict(keywords)
    if "mod" not in given or isinstance(given["mod"].type, NoneType):
        return binary(cx, "**", given["base"], given["exp"])
    if missing := [name for name in ("base", "exp") if name not in given]:
        raise cx.type_error(f"pow() missing required argument '{missing[0]}'", "it must be given")

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        numbers = [as_number(cx, av) for av in operands]
        if not all(isinstance(av.type, Number) and not av.type.dtype.is_float for av in numbers):
            raise cx.type_error("pow() 3rd argument not allowed unless all arguments are integers", "this has one")
        whole = [AV(WEAK_INT, (python_int(cx, av),)) for av in numbers]
        return call(cx, prelude(cx, "pullback.power_modulo"), whole, {})

    return dispatch(cx, [given[name] for name in ("base", "exp", "mod")], rule)


def _divmod(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    _arity(cx, "divmod", arguments, keywords, 2, 2)

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        x, y = (as_number(cx, av) for av in operands)
        if isinstance(x.type, Number) and isinstance(y.type, Number) and x.type.weak and y.type.weak:
            _check_divisor(cx, y, floats=x.type.dtype.is_float or y.type.dtype.is_float)
        quotient, rest = binary(cx, "//", x, y), binary(cx, "%", x, y)
        return AV(Tuple((quotient.type, rest.type)), (*quotient.values, *rest.values))

    return dispatch(cx, arguments, rule)


def _check_divisor(cx: Frame, divisor: AV, *, floats: bool) -> None:
    """divmod has a message of its own in some versions of Python."""
    if cx.options.checks and not (isinstance(divisor.literal, int | float) and divisor.literal != 0):
        message = python_message((lambda: divmod(1.0, 0.0)) if floats else (lambda: divmod(1, 0)))
        cx.check(cx.e("ne", divisor.value, cx.e.like(0, divisor.value)), "ZeroDivisionError", message)


def _range(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    _arity(cx, "range", arguments, keywords, 1, 3)
    if not any(isinstance(av.type, Union) for av in arguments):
        return range_value(cx, arguments)
    # ints that may be Python's or NumPy's have one machine form
    return dispatch(cx, arguments, range_value)


def _lazy(kind: str, low: int, high: int) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        parts = list(arguments)
        if kind == "enumerate":
            extra = dict(keywords)
            start = extra.pop("start", None) or (parts.pop(1) if len(parts) > 1 else AV(WEAK_INT, (cx.e.integer(0),)))
            _arity(cx, kind, parts, extra, 1, 1)
            parts.append(as_number(cx, start))
        else:
            strict = dict(keywords)
            if kind == "zip":
                strict.pop("strict", None)
            _arity(cx, kind, parts, strict, low, high)
        for part in parts[: 1 if kind == "enumerate" else None]:
            if not isinstance(part.type, Union) and not is_pushed(part.type):
                lazily(cx, part)
        if kind == "zip" and "strict" in keywords:
            _same_lengths(cx, keywords["strict"], parts)
        return AV(Iterator(kind, tuple(p.type for p in parts)), tuple(v for p in parts for v in p.values))

    return handler


def _same_lengths(cx: Frame, strict: AV, parts: Sequence[AV]) -> None:
    if not isinstance(strict.type, Constant):
        raise cx.error("zip: strict must be True or False", f"this is {show(strict.type)}", "write strict=True")
    if not strict.type.value:
        return
    lengths = [_len(cx, [part], {}) for part in parts]
    for position, other in enumerate(lengths[1:], 2):
        before = "argument 1" if position == 2 else f"arguments 1-{position - 1}"
        for test, word in (("ge", "shorter"), ("le", "longer")):
            ok = cx.e(test, other.value, lengths[0].value)
            cx.check(ok, "ValueError", f"zip() argument {position} is {word} than {before}")


_ABSTRACT = ("numpy.ndarray", "numpy.generic", "numpy.number", "numpy.integer", "numpy.floating")


def _no_instance(name: str) -> Handler:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        raise cx.error(f"{name} cannot be called in compiled code", "it is only known as a class",
                       "make arrays with np.zeros, np.array and the like")  # fmt: skip

    return handler


def _stop(cx: Frame, av: AV) -> AV:
    assert isinstance(av.type, Number)
    return AV(av.type, (cx.e("stop", av.value),)) if av.type.dtype.is_float else av


def _discrete(cx: Frame, av: AV) -> AV:
    assert isinstance(av.type, Number)
    return AV(av.type, (cx.e("discrete", av.value),)) if av.type.dtype.is_float else av


def _rint(cx: Frame, av: AV) -> AV:
    return AV(WEAK_FLOAT, (cx.e("rint", convert(cx, av, DType.F64)),))


def _attach(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    y, x, w = arguments

    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        a, b, c = (as_number(cx, av) for av in operands)
        if any(isinstance(av.type, Array) for av in (a, b, c)):
            return elementwise(cx, [a, b, c], rule)
        assert isinstance(a.type, Number)
        if not a.type.dtype.is_float:
            return a
        return AV(a.type, (cx.e("attach", a.value, convert(cx, b, a.type.dtype), convert(cx, c, a.type.dtype)),))

    return dispatch(cx, [y, x, w], rule)


def _slice(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """slice(stop), slice(start, stop), slice(start, stop, step)"""
    _arity(cx, "slice", arguments, keywords, 1, 3)
    start, stop, step = [AV(NONE), *arguments, AV(NONE)] if len(arguments) == 1 else [*arguments, AV(NONE)][:3]
    return AV(Slice((start.type, stop.type, step.type)), (*start.values, *stop.values, *step.values))


HANDLERS.update({name: _no_instance(name) for name in _ABSTRACT})
HANDLERS.update({
    "builtins.abs": _on_number("abs", _abs, arrays=True),
    "builtins.int": _default(_of_text("int", _on_number("int", _int)), _zero_int),
    "builtins.float": _default(_of_text("float", _on_number("float", _float)), _zero_float),
    "builtins.bool": _bool, "builtins.slice": _slice, "builtins.round": _round, "builtins.len": _len,
    "builtins.pow": _pow,
    "builtins.divmod": _divmod, "builtins.range": _range, "builtins.enumerate": _lazy("enumerate", 1, 2),
    "builtins.zip": _lazy("zip", 1, 64), "builtins.reversed": _lazy("reversed", 1, 1),
    "pullback.discrete": _on_number("discrete", _discrete, arrays=True),
    "pullback.stop": _on_number("stop", _stop, arrays=True), "pullback.rint": _on_number("rint", _rint),
    "pullback.attach": _attach,
})  # fmt: skip
