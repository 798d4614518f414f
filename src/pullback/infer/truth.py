"""Truth values and comparisons, and what they tell of the types of unions."""

from __future__ import annotations

import operator as operators
from collections.abc import Callable, Sequence
from enum import Flag

from pullback.diagnostic import CompileError
from pullback.infer.comparisons import Logic, compare_objects, is_constant_union, same_member, same_object
from pullback.infer.complexes import complex_compare, complex_truth
from pullback.infer.containers import changed, special
from pullback.infer.dispatch import dispatch, fails
from pullback.infer.dtypes import is_dtype, numpy_dtype
from pullback.infer.elementwise import elementwise
from pullback.infer.engine import Fact, Frame
from pullback.infer.enums import as_plain, flag_contains
from pullback.infer.lattice import WEAK_BOOL
from pullback.infer.numbers import as_number, compare_numbers, python_int
from pullback.infer.protocols import object_truth
from pullback.infer.registry import HANDLERS
from pullback.infer.samples import COMPARE, python_error
from pullback.infer.texts import compare_texts, contains_text, text_length
from pullback.infer.values import AV, items_of
from pullback.ir.node import Value
from pullback.runtime.fixed import is_static
from pullback.types import (
    NONE,
    Array,
    BoxedFunction,
    Builtin,
    Class,
    Closure,
    Complex,
    Constant,
    Dict,
    DType,
    Iterator,
    List,
    Member,
    Module,
    NoneType,
    Number,
    Range,
    Record,
    Ref,
    Str,
    Text,
    Transformed,
    Tuple,
    Type,
    Union,
    show,
    slots,
)  # fmt: skip

__all__ = ["compare", "constant", "negate", "truth"]

_INTS = {
    "==": operators.eq, "!=": operators.ne, "<": operators.lt,
    "<=": operators.le, ">": operators.gt, ">=": operators.ge,
}  # fmt: skip
_SWAPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_COMPARE = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}


_KNOWN = Builtin | Module | Closure | Class


def constant(value: bool) -> AV:
    """A bool that is known while compiling: no machine value, branches on it fold."""
    return AV(Constant(value), (), value)


def truth(cx: Frame, av: AV, subject: Value | None = None) -> AV:
    """bool(av): a Constant or a machine bool."""
    result = dispatch(cx, [av], lambda cx, operands: _truth(cx, operands[0]))
    if isinstance(av.type, Union) and subject is not None and result.values:
        # None is false: where the condition holds, the value is not None.
        holds = tuple(m for m in av.type.members if not isinstance(m, NoneType))
        cx.facts.setdefault(result.value, Fact(subject, holds, av.type.members))
    return result


def _truth(cx: Frame, av: AV) -> AV:
    if isinstance(av.type, Array):
        av = as_number(cx, av)  # of rank 0
    if (found := object_truth(cx, av)) is not None:
        return found
    av = as_plain(cx, av)
    if is_static(av.type) and (known := cx.number_of(av)) is not None:
        return constant(bool(known))
    match av.type:
        case Constant():
            return av
        case Number(DType.BOOL, _):
            return AV(WEAK_BOOL, av.values)
        case Number():
            return AV(WEAK_BOOL, (cx.e("ne", av.value, cx.e.like(0, av.value)),))
        case NoneType():
            return constant(False)
        case Str(value):
            return constant(bool(value))
        case Complex():
            return complex_truth(cx, av)
        case Text():
            return AV(WEAK_BOOL, (cx.e("gt", text_length(cx, av).value, cx.e.integer(0)),))
        case Tuple(items) | List(items) | Dict(_, items):
            return constant(bool(items))
        case Ref() if (found := special(cx, "__bool__", av)) is not None:
            return found
        case Range():
            return AV(WEAK_BOOL, (cx.e("gt", av.values[1], cx.e.integer(0)),))
        case Member(Flag() as value):
            return constant(bool(value))
        case Closure() | Builtin() | Module() | Transformed() | BoxedFunction() | Class() | Member():
            return constant(True)
        case Array():
            raise cx.error("the truth value of an array is ambiguous", f"this is {show(av.type)}",
                           "compare a single element, or use np.sum(...) > 0")  # fmt: skip
    raise cx.error(f"no truth value for {show(av.type)}", "this cannot be a condition", "compare it with something")


def negate(cx: Frame, av: AV) -> AV:
    """not av, for a truth value."""
    if cx.dead:
        return cx.stop()
    if isinstance(av.type, Constant):
        return constant(not av.type.value)
    if (known := cx.number_of(av)) is not None:
        return constant(not known)
    result = cx.e("not_", av.value)
    fact = cx.facts.get(av.value)
    if fact is not None:
        cx.facts[result] = fact.negated()
    return AV(WEAK_BOOL, (result,))


# Whether two values are one object, where one is of such a type; modules that know such types put themselves here.
IDENTITIES: dict[type[Type], Callable[[Frame, AV, AV], AV]] = {}


def compare(cx: Frame, operator: str, a: AV, b: AV, subject: Value | None = None) -> AV:
    """One comparison; chains are split by the front end."""
    if operator in ("is", "is not", "==", "!=") and not isinstance(b.type, NoneType):
        kinds = {type(m) for av in (a, b) for m in getattr(av.type, "members", (av.type,))}
        handler = next((IDENTITIES[kind] for kind in kinds if kind in IDENTITIES), None)
        if handler is not None:
            same = dispatch(cx, [a, b], lambda cx, operands: handler(cx, *operands))
            return same if operator in ("is", "==") else negate(cx, same)
    if operator in ("is", "is not"):
        return _identity(cx, operator, a, b, subject)
    if operator in ("in", "not in"):
        found = _contains(cx, b, a)
        return negate(cx, found) if operator == "not in" else found
    if operator in ("==", "!=") and _are_members(a.type) and _are_members(b.type):
        return same_member(cx, a, b, wanted=operator == "==")
    return dispatch(cx, [a, b], lambda cx, operands: _compare(cx, operator, *operands))


def _are_members(type_: Type) -> bool:
    """A union of members of enums that are nothing but members."""
    return isinstance(type_, Union) and all(
        isinstance(m, Member) and type(m.python).__eq__ is object.__eq__ for m in type_.members
    )


def _compare(cx: Frame, operator: str, a: AV, b: AV) -> AV:
    if operator in ("==", "!=") and (result := _static_equality(a, b)) is not None:
        return constant(result is (operator == "=="))
    if (found := compare_objects(cx, operator, a, b, _LOGIC)) is not None:
        return found
    if isinstance(a.type, Record) or isinstance(b.type, Record):
        return HANDLERS["record.compare"](cx, [AV(Str(operator)), a, b], {})
    a, b = as_number(cx, as_plain(cx, a)), as_number(cx, as_plain(cx, b))
    match a.type, b.type:
        case Number(), Number():
            return _compare_numbers(cx, operator, a, b)
        case (Array() | Number(), Array() | Number()):
            return elementwise(cx, [a, b], lambda cx, items: _compare_numbers(cx, operator, *items))
        case (Ref(), _) if (found := special(cx, f"compare {operator}", a, b)) is not None:
            return found
        case (_, Ref()) if (found := special(cx, f"compare {_SWAPPED[operator]}", b, a)) is not None:
            return found
        case (Complex(), Complex() | Number() | Array()) | (Number() | Array(), Complex()):
            return complex_compare(cx, operator, a, b)
        case (Str() | Text(), Str() | Text()):
            return compare_texts(cx, operator, a, b)
        case (Tuple(p), Tuple(q)) | (List(p), List(q)):
            return _compare_sequences(cx, operator, a, b, len(p), len(q))
        case (Dict(p), Dict(q)) if operator in ("==", "!="):
            return _compare_dicts(cx, operator, a, b, p, q)
    if operator in ("==", "!="):
        return constant(operator == "!=")
    help = "test `is None` first" if NoneType in (type(a.type), type(b.type)) else ""
    raise cx.error(f"{operator} is not supported between {show(a.type)} and {show(b.type)}",
                   "these have no order", help,
                   raised=python_error(COMPARE[operator], a.type, b.type))  # fmt: skip


def _static_equality(a: AV, b: AV) -> bool | None:
    match a.type, b.type:
        case (Str(x), Str(y)):
            return x == y
        case (NoneType(), NoneType()):
            return True
        case (Constant(x), Constant(y)):
            return x == y
        case (Member(x), Member(y)):
            return x == y
    if is_dtype(a.type) or is_dtype(b.type):
        one, other = numpy_dtype(a.type), numpy_dtype(b.type)
        return one is not None and other is not None and one == other
    if isinstance(a.type, _KNOWN) and isinstance(b.type, _KNOWN):
        return a.type == b.type
    return None


def _compare_numbers(cx: Frame, operator: str, a: AV, b: AV) -> AV:
    assert isinstance(a.type, Number) and isinstance(b.type, Number)
    x, y = (cx.number_of(av) if is_static(av.type) and av.type.weak else None for av in (a, b))  # type: ignore[union-attr]
    if x is not None and y is not None:
        return constant(bool(_INTS[operator](x, y)))  # a.ndim == 2 picks its branch while compiling
    weak = a.type.weak and b.type.weak
    return AV(Number(DType.BOOL, weak), (compare_numbers(cx, _COMPARE[operator], a, b),))


def _compare_sequences(cx: Frame, operator: str, a: AV, b: AV, m: int, n: int) -> AV:
    pairs = list(zip(items_of(a), items_of(b), strict=False))
    if operator in ("==", "!="):
        equal = constant(m == n)
        if m == n:
            for x, y in pairs:
                equal = _both(cx, equal, truth(cx, compare(cx, "==", x, y)))
        return negate(cx, equal) if operator == "!=" else equal
    return _lexicographic(cx, operator, pairs, constant({"<": m < n, "<=": m <= n, ">": m > n, ">=": m >= n}[operator]))


def _compare_dicts(cx: Frame, operator: str, a: AV, b: AV, p: Sequence[str], q: Sequence[str]) -> AV:
    equal = constant(set(p) == set(q))
    if equal.type.value:  # type: ignore[union-attr]
        others = dict(zip(q, items_of(b), strict=True))
        for key, item in zip(p, items_of(a), strict=True):
            equal = _both(cx, equal, truth(cx, compare(cx, "==", item, others[key])))
    return negate(cx, equal) if operator == "!=" else equal


def _lexicographic(cx: Frame, operator: str, pairs: Sequence[tuple[AV, AV]], last: AV) -> AV:
    """The first pair that differs decides; whether the others have an order is not asked then."""
    if not pairs:
        return last
    (x, y), *others = pairs
    differs = truth(cx, compare(cx, "!=", x, y))
    if cx.dead:
        return cx.stop()
    if isinstance(differs.type, Constant):
        known = differs.type.value
        return truth(cx, compare(cx, operator[0], x, y)) if known else _lexicographic(cx, operator, others, last)
    if all(isinstance(item.type, Number | Constant) for pair in pairs for item in pair):
        decided = as_number(cx, truth(cx, compare(cx, operator[0], x, y)))
        rest = as_number(cx, _lexicographic(cx, operator, others, last))
        return AV(WEAK_BOOL, (cx.e("select", differs.value, decided.value, rest.value),))
    (result,) = cx.choose(
        differs.value, lambda: [truth(cx, compare(cx, operator[0], x, y))],
        lambda: [_later(cx, operator, others, last)],
    )  # fmt: skip
    return result


def _later(cx: Frame, operator: str, pairs: Sequence[tuple[AV, AV]], last: AV) -> AV:
    """`_lexicographic` of what comes after items that may be equal: what has no order fails where they are."""
    try:
        return _lexicographic(cx, operator, pairs, last)
    except CompileError as error:
        return fails(cx, error)


def _both(cx: Frame, a: AV, b: AV) -> AV:
    if cx.dead:  # one of them has no value
        return cx.stop()
    if isinstance(a.type, Constant):
        return b if a.type.value else a
    if isinstance(b.type, Constant):
        return a if b.type.value else b
    return AV(WEAK_BOOL, (cx.e("and_", a.value, b.value),))


def _contains(cx: Frame, container: AV, item: AV) -> AV:
    if isinstance(container.type, Union):
        return dispatch(cx, [container], lambda cx, operands: _contains(cx, operands[0], item))
    if isinstance(container.type, Str | Text | Member) and isinstance(item.type, Union):
        return dispatch(cx, [item], lambda cx, operands: _contains(cx, container, operands[0]))
    if isinstance(container.type, Dict):
        if not isinstance(item.type, Str):
            changed(cx, container, f"searched for {show(item.type)}: its keys are strings known while compiling")
        assert isinstance(item.type, Str)
        return constant(item.type.value in container.type.keys)
    if isinstance(container.type, Ref | Tuple) and (found := special(cx, "__contains__", container, item)) is not None:
        return truth(cx, found)
    if isinstance(container.type, Str | Text) and isinstance(item.type, Str | Text):
        return contains_text(cx, container, item)
    if (held := flag_contains(container, item)) is not None:
        return constant(held)
    if isinstance(container.type, Range | Iterator):
        return _contains_in_steps(cx, container, item)
    if not isinstance(container.type, Tuple | List):
        raise cx.error(f"`in` is not supported on {show(container.type)}", "tuples, lists and dicts are")
    result: AV = constant(False)
    for other in items_of(container):
        equal = truth(cx, compare(cx, "==", other, item))
        result = negate(cx, _both(cx, negate(cx, result), negate(cx, equal)))
    return result


def _contains_in_steps(cx: Frame, container: AV, item: AV) -> AV:
    """`in` on a range, and on what is only stepped through."""
    if isinstance(container.type, Iterator) and container.type.kind == "dict_keys":
        return _contains(cx, items_of(container)[0], item)
    number = as_number(cx, item)
    if isinstance(container.type, Range) and isinstance(number.type, Number) and not number.type.dtype.is_float:
        start, count, step = container.values
        away = cx.e("sub", python_int(cx, number), start)
        k = cx.e("floordiv", away, step)
        inside = cx.e("and_", cx.e("ge", k, cx.e.integer(0)), cx.e("lt", k, count))
        return AV(WEAK_BOOL, (cx.e("and_", inside, cx.e("eq", cx.e("mul", k, step), away)),))
    return HANDLERS["list.__contains__"](cx, [container, item], {})


def _identity(cx: Frame, operator: str, a: AV, b: AV, subject: Value | None) -> AV:
    """`is` for None, bools and functions."""
    wanted = operator == "is"
    references = any(isinstance(m, Ref) for av in (a, b) for m in getattr(av.type, "members", (av.type,)))
    if references and not any(isinstance(av.type, NoneType) for av in (a, b)):
        if isinstance(a.type, Union) or isinstance(b.type, Union):
            return same_member(cx, a, b, wanted=wanted)
        return same_object(cx, a, b, wanted=wanted)
    if is_constant_union(a.type) and is_constant_union(b.type):
        return same_member(cx, a, b, wanted=wanted)
    if is_constant_union(b.type) and not slots(a.type):
        return _is_constant(cx, b, a.type, wanted, None)
    if isinstance(b.type, NoneType | Class | Member | Constant | Builtin | Closure | Module | Str):
        return _is_constant(cx, a, b.type, wanted, subject)
    if isinstance(a.type, NoneType):
        return _is_constant(cx, b, NONE, wanted, None)
    if a.values and a.values == b.values and a.type == b.type:
        return constant(wanted)
    raise cx.error(f"`{operator}` between {show(a.type)} and {show(b.type)} has no fixed answer",
                   "identity of numbers and arrays is not tracked", "compare with ==")  # fmt: skip


def _is_constant(cx: Frame, av: AV, target: Type, wanted: bool, subject: Value | None) -> AV:
    if isinstance(target, Constant) and av.type == WEAK_BOOL:
        same = av.value if target.value else cx.e("not_", av.value)
        return AV(WEAK_BOOL, (same if wanted else cx.e("not_", same),))
    if not isinstance(av.type, Union):
        return constant((av.type == target) is wanted)
    if target not in av.type.members:
        return constant(not wanted)
    index = av.type.members.index(target)
    tag = cx.e("eq" if wanted else "ne", av.values[0], cx.e.integer(index))
    if subject is not None:
        others = tuple(m for m in av.type.members if m != target)
        fact = Fact(subject, (target,), others)
        if av.values[0] in cx.classes:  # type(x) is C tells of x
            about, types, by_class = cx.classes[av.values[0]]
            fact = Fact(about, (by_class[target],), tuple(m for m in types if m != by_class[target]))
        cx.facts[tag] = fact if wanted else fact.negated()
    return AV(WEAK_BOOL, (tag,))


def require_array(cx: Frame, av: AV) -> Array:
    """The array type of a value that must be an array."""
    if not isinstance(av.type, Array):
        raise cx.error(f"an array is needed, not {show(av.type)}", "this is no array", "pass an array made by NumPy")
    return av.type


_LOGIC = Logic(compare, truth, negate)
