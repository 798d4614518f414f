"""Arithmetic on numbers: promotion (NEP 50), Python's checks for Python scalars, NumPy's silence for NumPy scalars.

    float / float     check(y != 0, ZeroDivisionError); div          result float
    np.float32 * 2.0  mul of f32                                     result np.float32
    int + int         check(not add_overflows); add                  result int
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.infer.calls import call_builtin
from pullback.infer.complexes import complex_binary, complex_unary
from pullback.infer.containers import special
from pullback.infer.dispatch import dispatch
from pullback.infer.elementwise import elementwise
from pullback.infer.engine import Frame
from pullback.infer.enums import as_plain, flag_result
from pullback.infer.joined_tuples import is_of_run_time
from pullback.infer.lattice import WEAK_FLOAT, WEAK_INT
from pullback.infer.linear import matmul
from pullback.infer.numbers import as_number, convert, fitted, promote
from pullback.infer.protocols import binary_method, binary_of_whole, is_left_operand, unary_method
from pullback.infer.registry import HANDLERS
from pullback.infer.samples import BINARY, UNARY, python_error, python_message
from pullback.infer.static import ask_count
from pullback.infer.texts import concatenated, percent, repeated_text
from pullback.infer.values import AV, MISSING, members
from pullback.ir.node import Value
from pullback.types import (
    Array,
    Builtin,
    Closure,
    Complex,
    Dict,
    DType,
    Iterator,
    List,
    NoneType,
    Number,
    Ref,
    Str,
    Text,
    Tuple,
    Type,
    show,
)

__all__ = ["DIVISION", "OVERFLOW", "binary", "number_binary", "power", "python_message", "unary"]

MOST_PAIRS = 8  # of types of two operands that are tried each with each, where the left one has a special method
MOST_ITEMS = 1000  # of a repeated tuple
MOST_POWI = 32  # literal exponents up to this are expanded to multiplications


_ZERO = 0
DIVISION = {
    ("/", True): python_message(lambda: 1.0 / _ZERO), ("//", True): python_message(lambda: 1.0 // _ZERO),
    ("%", True): python_message(lambda: 1.0 % _ZERO), ("/", False): python_message(lambda: 1 / _ZERO),
    ("//", False): python_message(lambda: 1 // _ZERO), ("%", False): python_message(lambda: 1 % _ZERO),
}  # fmt: skip
ZERO_POWER = python_message(lambda: 0.0**-1.0)
POWER_RANGE = python_message(lambda: 1e300**2.0)
OVERFLOW = "integer overflow: the result does not fit 64 bits"
_SIMPLE = {"+": "add", "-": "sub", "*": "mul"}
_BITS = {"&": "and_", "|": "or_", "^": "xor_"}
_SHIFTS = {"<<": "shl", ">>": "shr"}


METHODS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
           "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift"}  # fmt: skip


def binary(cx: Frame, operator: str, a: AV, b: AV) -> AV:
    """`a operator b` for any abstract values."""
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        found = flag_result(cx, operator, *operands) or binary_method(cx, operator, *operands)
        if found is not None:
            return found
        x, y = (as_number(cx, as_plain(cx, av)) for av in operands)
        if operator == "@":
            if isinstance(x.type, Complex) or isinstance(y.type, Complex):
                return call_builtin(cx, "numpy.matmul", [x, y], {})
            return matmul(cx, x, y)
        match x.type, y.type:
            case Number(), Number():
                return number_binary(cx, operator, x, y)
            case (Array(DType.BOOL), Number(DType.I64, True)) if operator == "**" and cx.literal_of(y) == 2:
                return HANDLERS["numpy.square"](cx, [x], {})  # as NumPy takes it, which gives int8
            case (Array() | Number(), Array() | Number()):
                pair = fitted(cx, [x, y])
                return elementwise(cx, pair, lambda cx, items: number_binary(cx, operator, *items))
            case (Array(), Tuple() | List()):
                return binary(cx, operator, x, HANDLERS["numpy.array"](cx, [y], {}))
            case (Tuple() | List(), Array()):
                return binary(cx, operator, HANDLERS["numpy.array"](cx, [x], {}), y)
            case (Tuple(p), Tuple(q)) if operator == "+":
                if is_of_run_time(cx, len(p) + len(q)):
                    return HANDLERS["tuple.__add__"](cx, [x, y], {})
                return AV(Tuple((*p, *q)), (*x.values, *y.values))
            case (List(), List()) if operator == "+":
                return HANDLERS["list.joined"](cx, [x, y], {})
            case (Dict(), Dict()) if operator == "|":
                return HANDLERS["dict.joined"](cx, [x, y], {})
            case (Iterator("dict_keys"), _) if operator in ("&", "|", "-", "^"):
                return binary(cx, operator, HANDLERS["builtins.set"](cx, [x], {}), y)
            case (Ref(), _) if (found := special(cx, f"__{METHODS[operator]}__", x, y)) is not None:
                return found
            case (_, Ref()) if (found := special(cx, f"__r{METHODS[operator]}__", y, x)) is not None:
                return found
            case (Tuple() | List(), Number(DType.I64 | DType.BOOL)) if operator == "*":
                return _repeated(cx, x, y)
            case (Number(DType.I64 | DType.BOOL), Tuple() | List()) if operator == "*":
                return _repeated(cx, y, x)
            case (Complex(), _) | (_, Complex()):
                return complex_binary(cx, operator, x, y)
            case (Str() | Text(), Str() | Text()) if operator == "+":
                return concatenated(cx, x, y)
            case (Str() | Text(), Number(DType.I64 | DType.BOOL)) if operator == "*":
                return repeated_text(cx, x, y)
            case (Number(DType.I64 | DType.BOOL), Str() | Text()) if operator == "*":
                return repeated_text(cx, y, x)
            case (Str() | Text(), _) if operator == "%":
                return percent(cx, x, y)
        raise cx.error(
            f"unsupported operand types for {operator}: {show(x.type)} and {show(y.type)}",
            f"{operator} has no meaning for these types", _operand_help(operator, x.type, y.type),
            raised=python_error(BINARY[operator], x.type, y.type),
        )  # fmt: skip

    pairs = len(members(a)) * len(members(b))
    if pairs > MOST_PAIRS and all(is_left_operand(cx, m, operator, b.type) for m in members(a)):
        return dispatch(cx, [a], lambda cx, operands: binary_of_whole(cx, operator, operands[0], b, rule))
    return dispatch(cx, [a, b], rule)


def _repeated(cx: Frame, sequence: AV, times: AV) -> AV:
    """A tuple or list several times over."""
    assert isinstance(sequence.type, Tuple | List)
    count = cx.number_of(times)
    if count is None:
        ask_count(cx, cx.op, as_number(cx, times).value)
    if isinstance(sequence.type, List) or not isinstance(count, int) or count * len(sequence.type.items) > MOST_ITEMS:
        return HANDLERS["list.repeated"](cx, [sequence, times], {})
    return AV(Tuple(sequence.type.items * count), sequence.values * count)


def _operand_help(operator: str, x: Type, y: Type) -> str:
    """What may be meant where an operator has no meaning."""
    kinds = {type(x), type(y)}
    if NoneType in kinds:
        return "let every path of the function that gave None return a value"
    if Str in kinds or Text in kinds:
        return "turn the number into text, str(x), or the text into a number, float(text)"
    if Closure in kinds or Builtin in kinds:
        return "call the function: f(x), not f"
    if kinds == {Tuple, List} and operator == "+":
        return "join a tuple with a tuple, a list with a list"
    if kinds & {Tuple, List} and operator in "+-*/":
        return "write the elements one by one, or use arrays"
    return ""


def number_binary(cx: Frame, operator: str, a: AV, b: AV) -> AV:
    """`a operator b` for two numbers."""
    a, b = fitted(cx, [as_number(cx, a), as_number(cx, b)])
    assert isinstance(a.type, Number) and isinstance(b.type, Number)
    result = promote(a.type, b.type)
    if operator == "**":
        return power(cx, a, b, result)
    if operator in _BITS:
        return _bits(cx, operator, a, b, result)
    if operator in _SHIFTS:
        return _shift(cx, operator, a, b, result)
    if result.dtype is DType.BOOL:
        return _bool_arithmetic(cx, operator, a, b)
    if operator == "/" and not result.dtype.is_float:
        result = Number(DType.F64, result.weak)
        return _divide(cx, a, b, result, integers=True)
    if operator == "/":
        return _divide(cx, a, b, result, integers=False)
    x, y = convert(cx, a, result.dtype), convert(cx, b, result.dtype)
    if operator in ("//", "%"):
        return _floor(cx, operator, x, y, result, b)
    return AV(result, (checked(cx, _SIMPLE[operator], x, y, result),))


def checked(cx: Frame, name: str, x: Value, y: Value, result: Number) -> Value:
    """add, sub or mul; Python ints are checked for leaving 64 bits."""
    if result.weak and result.dtype.is_int and cx.options.checks:
        cx.check(cx.e("not_", cx.e(f"{name}_overflows", x, y)), "OverflowError", OVERFLOW)
    return cx.e(name, x, y)


def _checks(cx: Frame, result: Number) -> bool:
    return result.weak and cx.options.checks


def _divide(cx: Frame, a: AV, b: AV, result: Number, *, integers: bool) -> AV:
    x, y = convert(cx, a, result.dtype), convert(cx, b, result.dtype)
    if _checks(cx, result) and not _literal_nonzero(b):
        message = DIVISION["/", not integers]
        cx.check(cx.e("ne", y, cx.e.like(0.0, y)), "ZeroDivisionError", message)
    return AV(result, (cx.e("div", x, y),))


def _literal_nonzero(av: AV) -> bool:
    return isinstance(av.literal, int | float) and av.literal is not MISSING and av.literal != 0


def _floor(cx: Frame, operator: str, x: Value, y: Value, result: Number, divisor: AV) -> AV:
    e = cx.e
    if _checks(cx, result):
        if not _literal_nonzero(divisor):
            message = DIVISION[operator, result.dtype.is_float]
            cx.check(e("ne", y, e.like(0, y)), "ZeroDivisionError", message)
        if operator == "//" and result.dtype.is_int and (divisor.literal is MISSING or divisor.literal == -1):
            smallest = e("sub_overflows", e.like(0, x), x)
            cx.check(e("not_", e("and_", smallest, e("eq", y, e.like(-1, y)))), "OverflowError", OVERFLOW)
    return AV(result, (e("floordiv" if operator == "//" else "mod", x, y),))


def _bits(cx: Frame, operator: str, a: AV, b: AV, result: Number) -> AV:
    assert isinstance(a.type, Number) and isinstance(b.type, Number)
    if a.type.dtype is DType.BOOL and b.type.dtype is DType.BOOL:
        kind = Number(DType.BOOL, a.type.weak and b.type.weak)
    elif result.dtype.is_float:
        raise cx.error(f"unsupported operand types for {operator}: {show(a.type)} and {show(b.type)}",
                       "bitwise operators take ints and bools", "convert with int(...)",
                       raised=python_error(BINARY[operator], a.type, b.type))  # fmt: skip
    else:
        kind = result
    return AV(kind, (cx.e(_BITS[operator], convert(cx, a, kind.dtype), convert(cx, b, kind.dtype)),))


def _shift(cx: Frame, operator: str, a: AV, b: AV, result: Number) -> AV:
    if result.dtype.is_float:
        raise cx.error(f"unsupported operand types for {operator}: {show(a.type)} and {show(b.type)}",
                       "shifts take ints", "convert with int(...)",
                       raised=python_error(BINARY[operator], a.type, b.type))  # fmt: skip
    if result.dtype is DType.BOOL:
        result = _int_of_bools(result)
    e = cx.e
    x, n = convert(cx, a, result.dtype), convert(cx, b, result.dtype)
    if _checks(cx, result):
        cx.check(e("ge", n, e.like(0, n)), "ValueError", "negative shift count")
    shifted = e(_SHIFTS[operator], x, n)
    if _checks(cx, result) and operator == "<<":
        fits = e("and_", e("lt", n, e.like(64, n)), e("eq", e("shr", shifted, n), x))
        cx.check(e("or_", fits, e("eq", x, e.like(0, x))), "OverflowError", OVERFLOW)
    return AV(result, (shifted,))


def _bool_arithmetic(cx: Frame, operator: str, a: AV, b: AV) -> AV:
    """NumPy: + and * of bools are logical; - is refused; // and % are those of int8."""
    names = {"+": "or_", "*": "and_"}
    if operator in names:
        x, y = convert(cx, a, DType.BOOL), convert(cx, b, DType.BOOL)
        return AV(Number(DType.BOOL, False), (cx.e(names[operator], x, y),))
    if operator == "/":
        return _divide(cx, a, b, Number(DType.F64, False), integers=True)
    if operator in ("//", "%"):
        kind = Number(DType.I8, False)
        return _floor(cx, operator, convert(cx, a, kind.dtype), convert(cx, b, kind.dtype), kind, b)
    raise cx.error(f"unsupported operand types for {operator}: {show(a.type)} and {show(b.type)}",
                   f"numpy bools have no {operator}", "convert with int(...) or .astype first")  # fmt: skip


def _int_of_bools(kind: Number) -> Number:
    """What operators without a meaning for bools compute in: Python's ints, or NumPy's shortest."""
    return WEAK_INT if kind.weak else Number(DType.I8, False)


# ----------------------------------------------------------------------------------------------------- power


def power(cx: Frame, a: AV, b: AV, result: Number) -> AV:
    """a ** b.  A negative base with a fractional exponent is a ValueError (Python gives a complex number)."""
    negative_literal = isinstance(b.literal, int) and b.literal < 0
    if result.weak and result.dtype.is_int and negative_literal:
        result = WEAK_FLOAT
    if result.dtype is DType.BOOL:
        result = _int_of_bools(result)
    if result.dtype.is_int:
        return _int_power(cx, a, b, result)
    x = convert(cx, a, result.dtype)
    exponent = b.literal
    if isinstance(exponent, int) and not isinstance(exponent, bool) and abs(exponent) <= MOST_POWI:
        if exponent < 0 and _checks(cx, result):
            cx.check(cx.e("ne", x, cx.e.like(0.0, x)), "ZeroDivisionError", ZERO_POWER)
        value = cx.e("powi", x, n=exponent)
        if exponent not in (0, 1):
            _check_power_range(cx, result, value, x)
        return AV(result, (value,))
    return AV(result, (_float_power(cx, x, convert(cx, b, result.dtype), result),))


def _check_power_range(cx: Frame, result: Number, value: Value, *operands: Value) -> None:
    if not _checks(cx, result):
        return
    e = cx.e
    fine = e("not_", e("isinf", value))
    for operand in operands:
        fine = e("or_", fine, e("not_", e("isfinite", operand)))
    cx.check(fine, "OverflowError", POWER_RANGE)


def _float_power(cx: Frame, x: Value, y: Value, result: Number) -> Value:
    e = cx.e
    zero = e.like(0.0, x)
    if _checks(cx, result):
        bad = e("and_", e("eq", x, zero), e("lt", y, zero))
        cx.check(e("not_", bad), "ZeroDivisionError", ZERO_POWER)
    value = e("pow", x, y)
    if _checks(cx, result):
        fine = e("or_", e("not_", e("isnan", value)), e("or_", e("isnan", x), e("isnan", y)))
        message = "a negative number to a fractional power is complex; pullback has real powers only"
        cx.check(fine, "ValueError", message)
        _check_power_range(cx, result, value, x, y)
    return value


def _int_power(cx: Frame, a: AV, b: AV, result: Number) -> AV:
    e = cx.e
    x, n = convert(cx, a, result.dtype), convert(cx, b, result.dtype)
    if not (isinstance(b.literal, int) and b.literal >= 0) and not result.dtype.is_unsigned:
        message = (
            "int ** negative int is a float in Python; write float(x) ** n" if result.weak
            else "Integers to negative integer powers are not allowed."
        )  # fmt: skip
        cx.check(e("ge", n, e.like(0, n)), "ValueError", message)
    if _checks(cx, result):
        cx.check(e("not_", e("pow_overflows", x, n)), "OverflowError", OVERFLOW)
    return AV(result, (e("ipow", x, n),))


# ----------------------------------------------------------------------------------------------------- unary


def unary(cx: Frame, operator: str, a: AV) -> AV:
    """-a, +a, ~a."""
    def rule(cx: Frame, operands: Sequence[AV]) -> AV:
        found = flag_result(cx, operator, operands[0]) or unary_method(cx, operator, operands[0])
        if found is not None:
            return found
        x = as_number(cx, as_plain(cx, operands[0]))
        match x.type:
            case Number():
                return _number_unary(cx, operator, x)
            case Array():
                return elementwise(cx, [x], lambda cx, items: _number_unary(cx, operator, items[0]))
            case Complex():
                return complex_unary(cx, operator, x)
        raise cx.error(f"unsupported operand type for unary {operator}: {show(x.type)}",
                       "a number or an array is needed", _operand_help(operator, x.type, x.type),
                       raised=python_error(UNARY[operator], x.type))  # fmt: skip

    return dispatch(cx, [a], rule)


def _number_unary(cx: Frame, operator: str, x: AV) -> AV:
    assert isinstance(x.type, Number)
    if operator == "~":
        if x.type.dtype.is_float:
            raise cx.error("unsupported operand type for unary ~: float", "~ takes an int", "convert with int(...)")
        kind = WEAK_INT if x.type == Number(DType.BOOL) else x.type
        return AV(kind, (cx.e("not_", convert(cx, x, kind.dtype)),))
    if x.type.dtype is DType.BOOL:
        if not x.type.weak:
            raise cx.error(f"unsupported operand type for unary {operator}: np.bool_", "NumPy has no sign of a bool",
                           "convert with int(...), or write `not` or ~")  # fmt: skip
        x = AV(WEAK_INT, (convert(cx, x, DType.I64),))
    if operator == "+":
        return x
    assert isinstance(x.type, Number)
    value = x.value
    if isinstance(x.literal, int | float):
        negative = cx.e.like(-x.literal, value)
        cx.literals[negative] = -x.literal
        return AV(x.type, (negative,), -x.literal)
    if x.type.dtype.is_int and _checks(cx, x.type):
        cx.check(cx.e("not_", cx.e("sub_overflows", cx.e.like(0, value), value)), "OverflowError", OVERFLOW)
    return AV(x.type, (cx.e("neg", value),))
