"""Strings of which only the run knows which they are: f-strings, `str`, `print`, operators and methods.

    f"{x:.2f} of {name}"     ->     text_call{function: "format", constant: "{0:.2f} of {1}"}(x, name)

What is known while compiling stays a constant: `"a" + "b"` is "ab".  A string that is one of few is a union of
constants, told apart by its tag; it becomes a run-time string where it is joined with one or there are too many.
"""

from __future__ import annotations

import operator
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pullback.infer.dispatch import dispatch
from pullback.infer.engine import Frame
from pullback.infer.lattice import WEAK_BOOL, WEAK_FLOAT, WEAK_INT
from pullback.infer.numbers import as_number, python_int
from pullback.infer.registry import HANDLERS
from pullback.infer.values import AV, MISSING, coerce, items_of
from pullback.ir.node import Op, Value
from pullback.prims.base import get
from pullback.prims.text import MOST_CELLS
from pullback.runtime import texts as runtime
from pullback.types import (
    Array,
    Complex,
    Constant,
    Dict,
    DType,
    List,
    NoneType,
    Number,
    Ref,
    Slice,
    Str,
    Text,
    Tuple,
    Type,
    Union,
    show,
    slots,
)  # fmt: skip

__all__ = [
    "FORMATTED", "METHODS", "SHOWN", "Template", "call_text", "character", "compare_texts", "concatenated",
    "contains_text", "formatted", "fstring", "is_text", "parsed", "percent", "repeated_text", "shown", "text_item",
    "text_length", "text_slice",
]  # fmt: skip

TEXT = Text()
_WEAK = {DType.F64: "d", DType.I64: "i", DType.BOOL: "b"}
_STRONG = {
    DType.F64: "D", DType.F32: "f", DType.F16: "e", DType.BOOL: "B", DType.I8: "g", DType.I16: "h", DType.I32: "j",
    DType.I64: "I", DType.U8: "u", DType.U16: "v", DType.U32: "U", DType.U64: "V",
}  # fmt: skip
_SAMPLES: dict[str, Any] = {"d": 1.5, "i": 1, "b": True, "t": "x"}
_NO_INDEX = "string index out of range"

# How values of other types are shown, by type; modules of this room that know such types put themselves here.
SHOWN: dict[type[Type], Callable[[Frame, AV, str], AV]] = {}
# How they are shown by a format specification, which is a text.
FORMATTED: dict[type[Type], Callable[[Frame, AV, AV], AV]] = {}


def is_text(type_: Type) -> bool:
    """A string, known while compiling or not."""
    return isinstance(type_, Str | Text)


def _kind(type_: Type) -> str:
    """The letter by which runtime.texts knows an operand; "" if it does not."""
    match type_:
        case Number(dtype, weak):
            return _WEAK[dtype] if weak else _STRONG[dtype]
        case Text():
            return "t"
        case Array(dtype, rank):
            return f"a{dtype.value}:{rank}"
    return ""


def _kinds(type_: Type) -> tuple[str, ...]:
    """The letters of the operands of a value: a complex number has two."""
    if isinstance(type_, Complex):
        assert isinstance(type_.real, Number)
        letter = "z" if type_.real.weak else "w" if type_.real.dtype is DType.F32 else "Z"
        return letter, "d"
    return (_kind(type_),)


def call_text(
    cx: Frame, function: str, operands: Sequence[AV], result: Type | None, constant: str = "", *, effect: bool = False
) -> AV:
    """A function of runtime.texts on strings and numbers; computed now if all operands are known."""
    known = [_constant(cx, av) for av in operands]
    if not effect and result is not None and MISSING not in known:
        return _literal(cx, runtime.FUNCTIONS[function](constant, *known), result)
    given = [coerce(cx.e, av, TEXT) if isinstance(av.type, Str) else as_number(cx, av) for av in operands]
    kinds = tuple(kind for av in given for kind in _kinds(av.type))
    attrs: dict[str, object] = {
        "function": function, "kinds": kinds, "constant": constant,
        "type": None if result is None else slots(result)[0],
    }  # fmt: skip
    if result == TEXT:
        attrs["text"] = True
    types = () if result is None else slots(result)
    values = [value for av in given for value in av.values]
    op = cx.e.append(get("text_effect" if effect else "text_call"), values, attrs=attrs, types=types)
    return AV(NoneType()) if result is None else AV(result, tuple(op.results))


def _constant(cx: Frame, av: AV) -> object:
    match av.type:
        case Str(value) | Constant(value):
            return value
        case Number(_, True):
            return cx.literal_of(av)
    return MISSING


def _literal(cx: Frame, value: Any, result: Type) -> AV:
    if result == TEXT:
        return AV(Str(value), (), value)
    if result == WEAK_BOOL:
        return AV(Constant(bool(value)), (), bool(value))
    if result == WEAK_FLOAT:
        return AV(WEAK_FLOAT, (cx.e.constant(float(value)),), value)
    return AV(WEAK_INT, (cx.e.integer(int(value)),), int(value))


# ------------------------------------------------------------------------------------------------- showing values


@dataclass(frozen=True, slots=True)
class Field:
    """A place of a template: an operand, its conversion, and a specification, perhaps given by another operand."""

    operand: AV
    conversion: str = ""
    spec: str = ""
    computed: AV | None = None

    @property
    def operands(self) -> list[AV]:
        return [self.operand] if self.computed is None else [self.operand, self.computed]

    def written(self, number: int) -> str:
        """As Python's format strings say it, its operands being those from `number` on."""
        spec = self.spec if self.computed is None else f"{{{number + 1}}}"
        return "{" + str(number) + self.conversion + (f":{spec}" if spec else "") + "}"


@dataclass(slots=True)
class Template:
    """A string under construction: a format of Python with the values of its fields.  `risky`: formatting may fail."""

    cx: Frame
    parts: list[str | Field] = field(default_factory=list)
    risky: bool = False

    def add_text(self, text: str) -> None:
        self.parts.append(text.replace("{", "{{").replace("}", "}}"))

    def add(self, av: AV, conversion: str = "", spec: str = "") -> None:
        """A value, shown by `str`, or as conversion and format specification say."""
        cx = self.cx
        match av.type:
            case Constant(known) | Str(known):
                self.add_text(format(_CONVERSIONS[conversion](known), _checked_spec(cx, known, conversion, spec)))
            case NoneType():
                self.add_text(format(_CONVERSIONS[conversion](None), _checked_spec(cx, None, conversion, spec)))
            case Number() | Text():
                sample = _SAMPLES.get(_kind(av.type), 1.5 if _floats(av.type) else 1)
                self.parts.append(Field(av, conversion, _checked_spec(cx, sample, conversion, spec)))
            case Complex(Number(), _):
                self.parts.append(Field(av, conversion, _checked_spec(cx, 1.5 + 2j, conversion, spec)))
            case Array() if not spec:
                self.parts.append(Field(av, conversion))
            case Tuple(_, type()) if not spec:
                self.add(SHOWN[Ref](cx, av, conversion))
            case Tuple() | List() | Dict() if not spec:
                self._structure(av)
            case Union():
                self.add(dispatch(cx, [av], lambda cx, items: as_text(cx, _one(cx, items[0], conversion, spec))))
            case _:
                self.add(_other(cx, av, conversion, spec))

    def add_computed(self, av: AV, conversion: str, spec: Sequence[object], values: Sequence[AV]) -> None:
        """A value under a specification with fields of its own: its items are texts or (index, conversion, spec)."""
        inner = Template(self.cx)
        for part in spec:
            if isinstance(part, str):
                inner.add_text(part)
            else:
                assert isinstance(part, tuple)
                inner.add(values[part[0]], _marked(part[1]))
        text = inner.finish()
        if isinstance(text.type, Str):
            self.add(av, conversion, text.type.value)
            return
        if not conversion and type(av.type) in FORMATTED:
            self.add(FORMATTED[type(av.type)](self.cx, av, text))
            return
        value = av if isinstance(av.type, Number | Text) else _one(self.cx, av, conversion, "")
        self.risky = True
        if isinstance(value.type, Str):
            value = coerce(self.cx.e, value, TEXT)
        self.parts.append(Field(value, conversion if value is av else "", computed=text))

    def _structure(self, av: AV) -> None:
        """A tuple, list or dict of fixed structure: its items as `repr` shows them."""
        items = items_of(av)
        if isinstance(av.type, Dict):
            self.add_text("{")
            for i, (key, item) in enumerate(zip(av.type.keys, items, strict=True)):
                self.add_text(f"{', ' if i else ''}{key!r}: ")
                self.add(item, "!r")
            self.add_text("}")
            return
        opening, closing = "()" if isinstance(av.type, Tuple) else "[]"
        self.add_text(opening)
        for i, item in enumerate(items):
            self.add_text(", " if i else "")
            self.add(item, "!r")
        self.add_text("," + closing if isinstance(av.type, Tuple) and len(items) == 1 else closing)

    def finish(self) -> AV:
        """The string: a constant if all that it shows is known; one op for as many fields as it takes."""
        result: AV | None = None
        waiting: list[str | Field] = []
        for part in self.parts:
            if isinstance(part, Field) and _cells([*waiting, part]) > MOST_CELLS:
                piece = self._formatted(waiting)
                result = piece if result is None else concatenated(self.cx, result, piece)
                waiting = []
            waiting.append(part)
        last = self._formatted(waiting)
        return last if result is None else concatenated(self.cx, result, last)

    def _formatted(self, parts: Sequence[str | Field]) -> AV:
        written, operands = "", list[AV]()
        for part in parts:
            if isinstance(part, str):
                written += part
            else:
                written += part.written(len(operands))
                operands += part.operands
        if not operands:
            text = written.format()
            return AV(Str(text), (), text)
        return call_text(self.cx, "format", operands, TEXT, written, effect=self.risky)


def _cells(parts: Sequence[str | Field]) -> int:
    """How many machine words the operands of the fields take."""
    operands = [av for part in parts if isinstance(part, Field) for av in part.operands]
    return sum(runtime.width_of(kind) for av in operands for kind in _kinds(av.type))


_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"": lambda x: x, "!s": str, "!r": repr, "!a": ascii}


def _floats(type_: Type) -> bool:
    return isinstance(type_, Number) and type_.dtype.is_float


def _checked_spec(cx: Frame, sample: Any, conversion: str, spec: str) -> str:
    """The specification, which must suit values like the sample."""
    try:
        format(_CONVERSIONS[conversion](sample), spec)
    except (ValueError, TypeError) as error:
        raised = (type(error).__name__, str(error))
        raise cx.error(str(error), f"{spec!r} does not suit a {type(sample).__name__}", "choose a format of its type",
                       raised=raised) from None  # fmt: skip
    return spec


def _other(cx: Frame, av: AV, conversion: str, spec: str) -> AV:
    if spec and not conversion and type(av.type) in FORMATTED:
        return FORMATTED[type(av.type)](cx, av, AV(Str(spec), (), spec))
    handler = SHOWN.get(type(av.type))
    if handler is None or (spec and not conversion):
        raise cx.error(f"{show(av.type)} cannot be turned into text in compiled code", "it has no text here",
                       "format the numbers that it holds")  # fmt: skip
    text = handler(cx, av, conversion)
    return _one(cx, text, "", spec) if spec and not cx.dead else text


def _one(cx: Frame, av: AV, conversion: str, spec: str) -> AV:
    template = Template(cx)
    template.add(av, conversion, spec)
    return template.finish()


def shown(cx: Frame, av: AV) -> AV:
    """str(av)"""
    handler = SHOWN.get(type(av.type))
    if handler is not None:
        return handler(cx, av, "!s")
    return av if is_text(av.type) else _one(cx, av, "!s", "")


def as_text(cx: Frame, av: AV) -> AV:
    """A string as a run-time one."""
    return coerce(cx.e, av, TEXT)


def formatted(cx: Frame, av: AV, conversion: str = "", spec: str = "") -> AV:
    """A value as a field of an f-string shows it."""
    return _one(cx, av, conversion, spec)


def _marked(conversion: str) -> str:
    """A conversion as format strings write it."""
    return f"!{conversion}" if conversion else ""


def fstring(cx: Frame, op: Op, operands: Sequence[AV]) -> AV:
    """py.fstring: literal parts and fields (index, conversion, specification)."""
    parts = op.attrs["parts"]
    assert isinstance(parts, tuple)
    template = Template(cx)
    for part in parts:
        if isinstance(part, str):
            template.add_text(part)
            continue
        index, spec = part[0], part[2]
        conversion = _marked(part[1])
        if isinstance(spec, tuple):
            template.add_computed(operands[index], conversion, spec, operands)
        else:
            template.add(operands[index], conversion, spec or "")
    return template.finish()


# --------------------------------------------------------------------------------------------------- operators


def concatenated(cx: Frame, a: AV, b: AV) -> AV:
    """a + b"""
    return call_text(cx, "concat", [a, b], TEXT)


def repeated_text(cx: Frame, text: AV, times: AV) -> AV:
    """text * times"""
    count = as_number(cx, times)
    literal = cx.literal_of(times)
    return call_text(cx, "repeat", [text, AV(WEAK_INT, (python_int(cx, count),), literal)], TEXT)


_COMPARE = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


def compare_texts(cx: Frame, operator_: str, a: AV, b: AV) -> AV:
    """One comparison of two strings."""
    if operator_ not in ("==", "!="):
        return call_text(cx, "compare", [a, b], WEAK_BOOL, _COMPARE[operator_])
    if isinstance(a.type, Str) and isinstance(b.type, Str):
        equal = operator.eq if operator_ == "==" else operator.ne
        return _literal(cx, equal(a.type.value, b.type.value), WEAK_BOOL)
    x, y = coerce(cx.e, a, TEXT), coerce(cx.e, b, TEXT)
    return AV(WEAK_BOOL, (cx.e("eq" if operator_ == "==" else "ne", x.value, y.value),))


def contains_text(cx: Frame, text: AV, part: AV) -> AV:
    """part in text"""
    return call_text(cx, "contains", [text, part], WEAK_BOOL)


def text_length(cx: Frame, text: AV) -> AV:
    """len(text)"""
    return call_text(cx, "length", [text], WEAK_INT)


def text_item(cx: Frame, text: AV, index: AV) -> AV:
    """text[index]"""
    literal = cx.literal_of(index)
    if isinstance(text.type, Str) and isinstance(literal, int):
        if -len(text.type.value) <= literal < len(text.type.value):
            return _literal(cx, text.type.value[literal], TEXT)
        raise cx.error(_NO_INDEX, f"index {literal} of {text.type.value!r}", raised=("IndexError", _NO_INDEX))
    number = as_number(cx, index)
    if not isinstance(number.type, Number) or not number.type.dtype.is_int:
        raise cx.error(f"string indices must be integers, not {show(index.type)}", "this is no index",
                       raised=("TypeError", f"string indices must be integers, not '{show(index.type)}'"))  # fmt: skip
    k, size = python_int(cx, number), text_length(cx, text).value
    inside = cx.e("and_", cx.e("lt", k, size), cx.e("ge", k, cx.e("neg", size)))
    if cx.options.boundscheck:
        cx.check(inside, "IndexError", _NO_INDEX)
    return character(cx, text, k)


def character(cx: Frame, text: AV, k: Value) -> AV:
    """The character number k, which exists."""
    return call_text(cx, "item", [coerce(cx.e, text, TEXT), AV(WEAK_INT, (k,))], TEXT)


def text_slice(cx: Frame, text: AV, index: AV) -> AV:
    """text[start:stop:step]"""
    assert isinstance(index.type, Slice)
    given, bounds = "", []
    for part in items_of(index):
        if isinstance(part.type, NoneType):
            given += "0"
            continue
        number = as_number(cx, part)
        literal = cx.literal_of(part)
        bounds.append(AV(WEAK_INT, (python_int(cx, number),), literal))
        given += "1"
    return call_text(cx, "slice", [text, *bounds], TEXT, given)


# ------------------------------------------------------------------------------------------ methods and functions

# name -> type of the result
METHODS: dict[str, Type] = {
    **dict.fromkeys(
        ("upper", "lower", "strip", "lstrip", "rstrip", "title", "capitalize", "casefold", "swapcase", "replace",
         "zfill", "center", "ljust", "rjust", "removeprefix", "removesuffix", "expandtabs"), TEXT),
    **dict.fromkeys(
        ("isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "isnumeric", "isdecimal", "isidentifier",
         "istitle", "isascii", "isprintable"), WEAK_BOOL),
    **dict.fromkeys(("find", "rfind", "count"), WEAK_INT),
}  # fmt: skip
_ARGUMENTS = (Number, Constant, Str, Text)


def _method(name: str) -> Callable[[Frame, Sequence[AV], Mapping[str, AV]], AV]:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        if keywords or any(not isinstance(av.type, _ARGUMENTS) for av in arguments):
            raise cx.error(f"str.{name}() takes strings and numbers, by position", "this call is not supported",
                           "write its arguments by position")  # fmt: skip
        return call_text(cx, "method", [*arguments], METHODS[name], name)

    return _over_unions(handler)


def _over_unions(handler: Callable[..., AV]) -> Callable[[Frame, Sequence[AV], Mapping[str, AV]], AV]:
    def apply(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        return dispatch(cx, arguments, lambda cx, operands: handler(cx, operands, keywords))

    return apply


def _affix(name: str) -> Callable[[Frame, Sequence[AV], Mapping[str, AV]], AV]:
    """startswith and endswith, of one string or any of a tuple."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        text, wanted, *rest = arguments
        choices = items_of(wanted) if isinstance(wanted.type, Tuple) else [wanted]
        found = [call_text(cx, "method", [text, choice, *rest], WEAK_BOOL, name) for choice in choices]
        if any(av.type == Constant(True) for av in found) or all(isinstance(av.type, Constant) for av in found):
            return _literal(cx, any(av.type == Constant(True) for av in found), WEAK_BOOL)
        result = cx.e.boolean(False)
        for av in found:
            result = cx.e("or_", result, as_number(cx, av).value)
        return AV(WEAK_BOOL, (result,))

    return _over_unions(handler)


def _index(name: str) -> Callable[[Frame, Sequence[AV], Mapping[str, AV]], AV]:
    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        found = call_text(cx, "method", [*arguments], WEAK_INT, name.replace("index", "find"))
        cx.check(cx.e("ge", found.value, cx.e.integer(0)), "ValueError", "substring not found")
        return found

    return _over_unions(handler)


def _format_method(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """"...".format(...), of a template known while compiling."""
    subject, *given = arguments
    if not isinstance(subject.type, Str):
        raise cx.error("the template of str.format must be known while compiling", "this one is made at run time",
                       "write an f-string")  # fmt: skip
    template, position = Template(cx), 0
    for text, name, spec, conversion in string.Formatter().parse(subject.type.value):
        template.add_text(text)
        if name is None:
            continue
        if name == "":
            name, position = str(position), position + 1
        found = given[int(name)] if name.isdigit() and int(name) < len(given) else keywords.get(name)
        if found is None or "{" in (spec or ""):
            raise cx.error(f"str.format: the field {{{name}}} is not supported", "not among the arguments",
                           "write an f-string")  # fmt: skip
        template.add(found, f"!{conversion}" if conversion else "", spec or "")
    return template.finish()


def percent(cx: Frame, template: AV, given: AV) -> AV:
    """template % values"""
    if not isinstance(template.type, Str):
        raise cx.error("the template of % must be known while compiling", "made at run time", "write an f-string")
    values = items_of(given) if isinstance(given.type, Tuple) else [given]
    operands = [av if isinstance(av.type, Number | Text | Str) else shown(cx, av) for av in values]
    samples = tuple(_SAMPLES.get(_kind(av.type), "x" if is_text(av.type) else 1) for av in operands)
    try:
        template.type.value % samples
    except (ValueError, TypeError) as error:
        raise cx.error(str(error), "the template does not suit the values", "write an f-string",
                       raised=(type(error).__name__, str(error))) from None  # fmt: skip
    return call_text(cx, "percent", operands, TEXT, template.type.value)


def parsed(cx: Frame, name: str, text: AV, *base: AV) -> AV:
    """int(text), int(text, base) or float(text)"""
    for number in base:
        e, value = cx.e, number.value
        fits = e("and_", e("ge", value, e.integer(2)), e("le", value, e.integer(36)))
        message = "int() base must be >= 2 and <= 36, or 0"
        cx.check(e("or_", fits, e("eq", value, e.integer(0))), "ValueError", message)
    ok = call_text(cx, "parses", [text, *base], WEAK_BOOL, name)
    shown = "{1}" if base else "10"
    what = f"invalid literal for int() with base {shown}: " if name == "int" else "could not convert string to float: "
    whole = coerce(cx.e, text, TEXT)
    cx.check(as_number(cx, ok).value, "ValueError", what + "{0!r}", whole.value, *(number.value for number in base))
    return call_text(cx, "parsed", [whole, *base], WEAK_INT if name == "int" else WEAK_FLOAT, name)


def _str(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if len(arguments) > 1 or keywords:
        raise cx.type_error("str() takes one value here", f"{len(arguments) + len(keywords)} are given", "write str(x)")
    if not arguments:
        return AV(Str(""), (), "")
    return dispatch(cx, arguments, lambda cx, operands: shown(cx, operands[0]))


def _repr(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if len(arguments) != 1 or keywords:
        raise cx.type_error("repr() takes one value", f"{len(arguments) + len(keywords)} are given", "write repr(x)")
    return dispatch(cx, arguments, lambda cx, operands: formatted(cx, operands[0], "!r"))


def _ascii(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    return dispatch(cx, arguments[:1], lambda cx, operands: formatted(cx, operands[0], "!a"))


def _in_digits(spec: str) -> Callable[[Frame, Sequence[AV], Mapping[str, AV]], AV]:
    """hex, oct and bin: an int with the sign and letter of its base."""

    def handler(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
        number = as_number(cx, arguments[0])
        if not isinstance(number.type, Number) or number.type.dtype.is_float:
            title = f"'{show(number.type)}' object cannot be interpreted as an integer"
            raise cx.type_error(title, "an int is needed")
        return formatted(cx, AV(WEAK_INT, (python_int(cx, number),), number.literal), "", spec)

    return _over_unions(handler)


def _format(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    if not 1 <= len(arguments) <= 2 or keywords:
        raise cx.type_error("format() takes a value and a specification", "this call does not", "write format(x, spec)")
    spec = arguments[1].type if len(arguments) > 1 else Str("")
    if isinstance(spec, Str):
        return dispatch(cx, arguments[:1], lambda cx, operands: formatted(cx, operands[0], "", spec.value))

    def by_run_time(cx: Frame, operands: Sequence[AV]) -> AV:
        if not is_text(operands[1].type):
            raise cx.type_error("format() argument 2 must be str", f"this is {show(operands[1].type)}")
        template = Template(cx)
        template.add_computed(operands[0], "", [(1, "", "")], operands)
        return template.finish()

    return dispatch(cx, arguments, by_run_time)


def _ord(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    def one(cx: Frame, operands: Sequence[AV]) -> AV:
        (text,) = operands
        if not is_text(text.type):
            title = f"ord() expected a string, but {show(text.type)} found"
            raise cx.error(title, "a string of one character is needed")
        size = text_length(cx, text)
        message = "ord() expected a character, but string of length {0} found"
        cx.check(cx.e("eq", size.value, cx.e.integer(1)), "TypeError", message, size.value)
        return call_text(cx, "ord", [text], WEAK_INT)

    return dispatch(cx, arguments, one)


def _chr(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    number = as_number(cx, arguments[0])
    k = python_int(cx, number)
    inside = cx.e("and_", cx.e("ge", k, cx.e.integer(0)), cx.e("lt", k, cx.e.integer(0x110000)))
    cx.check(inside, "ValueError", "chr() arg not in range(0x110000)")
    return call_text(cx, "chr", [AV(WEAK_INT, (k,), cx.literal_of(number))], TEXT)


def _print(cx: Frame, arguments: Sequence[AV], keywords: Mapping[str, AV]) -> AV:
    """print(...): the whole line is one string; Python's own print writes it."""
    for name, av in keywords.items():
        if name not in ("sep", "end", "flush") and not (name == "file" and isinstance(av.type, NoneType)):
            raise cx.error(f"print() with {name}= is not supported in compiled code", "it writes to sys.stdout here",
                           "leave it out, or return the values and print them outside")  # fmt: skip
    flush = keywords.get("flush")
    if flush is not None and not isinstance(flush.type, Constant):
        raise cx.error("flush= of print() must be True or False", f"this is {show(flush.type)}", "write it out")
    template = Template(cx)
    for i, av in enumerate(arguments):
        if i:
            _separator(template, keywords.get("sep"), " ")
        template.add(av, "!s")
    _separator(template, keywords.get("end"), "\n")
    constant = "flush" if flush is not None and flush.type == Constant(True) else ""
    return call_text(cx, "print", [template.finish()], None, constant, effect=True)


def _separator(template: Template, given: AV | None, default: str) -> None:
    if given is None or isinstance(given.type, NoneType):
        template.add_text(default)
    elif is_text(given.type):
        template.add(given)
    else:
        raise template.cx.error(f"sep and end of print() are strings, not {show(given.type)}", "this is no string",
                                raised=("TypeError", "sep must be None or a string"))  # fmt: skip


HANDLERS.update({
    **{f"str.{name}": _method(name) for name in METHODS},
    "str.startswith": _affix("startswith"), "str.endswith": _affix("endswith"), "str.index": _index("index"),
    "str.rindex": _index("rindex"), "str.format": _format_method,
    "builtins.str": _str, "builtins.repr": _repr, "builtins.format": _format, "builtins.ord": _ord,
    "builtins.chr": _chr, "builtins.print": _print,
    "builtins.hex": _in_digits("#x"), "builtins.oct": _in_digits("#o"), "builtins.bin": _in_digits("#b"),
    "builtins.ascii": _ascii,
})  # fmt: skip
