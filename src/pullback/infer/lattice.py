"""The lattice of abstract types: how types join, and how recursive function types become references.

    join(float, np.float64)  ->  Union(float, np.float64)           join(True, bool)  ->  bool

def fact(n, k):                                   k: identity
        return k(1) if n == 0 else                    k: L(int, identity)
            fact(n - 1, lambda r: k(n * r))           k: L(int, L(int, identity))  ->  box F = identity | L(int, F)

A `Family` is the set of closures that one such reference may hold.  It only grows; when it grows after code was
inferred that calls through it, the session starts again with what is known of the families.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field

from pullback.infer.sites import Changed
from pullback.types import (
    NEVER,
    ZERO,
    Array,
    BoxedFunction,
    Builtin,
    Caught,
    Closure,
    Complex,
    Constant,
    Dict,
    DType,
    Environment,
    Iterator,
    List,
    Machine,
    Number,
    Record,
    Ref,
    Shadowed,
    Slice,
    Str,
    Tame,
    Text,
    Transformed,
    Tuple,
    Type,
    Unbound,
    Union,
    Zero,
    rebuilt,
    slots,
    union_of,
)  # fmt: skip

__all__ = [
    "ELLIPSIS", "MOST_TEXTS", "WEAK_BOOL", "WEAK_FLOAT", "WEAK_INT", "Family", "contains_code", "depth", "family_of",
    "join", "nesting", "widen",
]  # fmt: skip

MOST_TEXTS = 8  # strings known while compiling among which a tag chooses
ELLIPSIS = Builtin("builtins.Ellipsis")
WEAK_BOOL, WEAK_INT, WEAK_FLOAT = Number(DType.BOOL), Number(DType.I64), Number(DType.F64)


def join(a: Type, b: Type) -> Type:
    """The least type that holds the values of both.  Numbers of unlike kinds become a union; nothing is lost."""
    if a == b or b == NEVER:
        return a
    if a == NEVER:
        return b
    if isinstance(a, Union) or isinstance(b, Union):
        return _join_unions(a, b)
    merged = _merge(a, b)
    return merged if merged is not None else union_of(a, b)


def _merge(a: Type, b: Type) -> Type | None:
    """The join of two types of one kind, or None when they stay apart as members of a union."""
    match a, b:
        case (Constant() | Number(DType.BOOL, True), Constant() | Number(DType.BOOL, True)):
            return a if a == b else WEAK_BOOL
        case (Array(d, r, c, o), Array(d2, r2, c2, o2)) if (d, r, o, a.flat) == (d2, r2, o2, b.flat):
            rows = a.row_major and b.row_major and not (c and c2) and r > 1
            columns = a.columns and b.columns
            gaps = a.gaps if a.gaps == b.gaps else 2
            return Array(d, r, c and c2, o, _join_ones(a, b), rows, columns, a.foreign or b.foreign, gaps, a.flat)
        case (Tuple(x, python), Tuple(y, other)) if len(x) == len(y) and python is other:
            return rebuilt(a, _join_all(x, y))
        case (List(x, sites), List(y, others)) if len(x) == len(y):
            return List(_join_all(x, y), sites | others)
        case (Dict(k, x, sites), Dict(k2, y, others)) if k == k2:
            return Dict(k, _join_all(x, y), sites | others)
        case (List() | Dict(), Ref()) | (Ref(), List() | Dict()):
            _meet_heap(a, b)
        case (Record(_, x, layout), Record(_, y, other)) if (layout, a.rank, a.single) == (other, b.rank, b.single):
            return _join_records(a, b)
        case (Slice(x), Slice(y)):
            return Slice(_join_all(x, y))  # type: ignore[arg-type]
        case (Iterator(k, x), Iterator(k2, y)) if k == k2 and len(x) == len(y):
            return Iterator(k, _join_all(x, y))
        case (Closure(c, x, n), Closure(c2, y, _)) if c == c2 and len(x) == len(y):
            return Closure(c, _join_all(x, y), n)
        case (Transformed(k, f, o), Transformed(k2, g, o2)) if (k, o) == (k2, o2):
            return Transformed(k, join(f, g), o)
        case (Unbound(), Unbound()):
            return a
        case (Caught(x), Caught(y)):
            return Caught(tuple(dict.fromkeys((*x, *y))))
        case (Complex(), Complex()):
            return _join_complex(a, b)
        case (Shadowed(x, p), Shadowed(y, q)):
            primal, shadow = _merge(x, y) if x != y else x, _merge(p, q) if p != q else p
            return None if primal is None or shadow is None else Shadowed(primal, shadow)
        case (Text(), Str()) | (Str(), Text()):
            return Text()
        case (Ref(heap), Ref(other)):
            return a if heap.unite(other) else None
        case (BoxedFunction(), Closure()) | (Closure(), BoxedFunction()):
            boxed, closure = (a, b) if isinstance(a, BoxedFunction) else (b, a)
            assert isinstance(boxed, BoxedFunction) and isinstance(closure, Closure)
            family_of(boxed).add(closure)
            return boxed
        case (Tame(d), Number(d2, False)) | (Number(d, False), Tame(d2)) if d == d2:
            return Number(d, weak=False)
        case (Zero(), other) | (other, Zero()):
            return _with_zero(other)
    return None


def _with_zero(other: Type) -> Type | None:
    """A sensitivity that may be zero: of numbers and tuples zero is one; of functions it stays apart, for of which
    function it is the sensitivity is not known where others join later."""
    match other:
        case Number() | Tame():
            return other
        case Tuple(items):
            return rebuilt(other, [join(ZERO, item) for item in items])
        case BoxedFunction():
            family_of(other).add(Closure(Environment(ZERO), (), "nothing"))
            return other
    return None


def _meet_heap(a: Type, b: Type) -> None:
    """A list or dict of fixed structure meets one that changes: what its sites make changes as well."""
    fixed, ref = (b, a) if isinstance(a, Ref) else (a, b)
    assert isinstance(fixed, List | Dict) and isinstance(ref, Ref)
    if fixed.sites and ref.heap.title == ("list" if isinstance(fixed, List) else "dict"):
        raise Changed(fixed.sites)


def _join_ones(a: Array, b: Array) -> tuple[bool | None, ...]:
    """What is known of the sizes of both."""
    return known_ones([x if x == b.is_one(axis) else None for axis, x in enumerate(a.ones)])


def known_ones(flags: Sequence[bool | None]) -> tuple[bool | None, ...]:
    """Flags in the one form they have in types: empty when nothing is known."""
    return () if all(flag is None for flag in flags) else tuple(flags)


def family_of(type_: BoxedFunction) -> Family:
    """The set of closures behind a reference."""
    assert isinstance(type_.family, Family)
    return type_.family


def _join_all(x: Sequence[Type], y: Sequence[Type]) -> tuple[Type, ...]:
    return tuple(join(a, b) for a, b in zip(x, y, strict=True))


def _join_unions(a: Type, b: Type) -> Type:
    found: list[Type] = list(a.members) if isinstance(a, Union) else [a]
    for member in b.members if isinstance(b, Union) else (b,):
        if isinstance(member, Zero) and member not in found and sum(_merge(t, member) is not None for t in found) > 1:
            found.append(member)  # of which of them it is zero is not known
            continue
        for i, other in enumerate(found):
            merged = other if other == member else _merge(other, member)
            if merged is not None:
                found[i] = merged
                break
        else:
            found.append(member)
    return union_of(*_few_texts(found))


def _join_complex(a: Complex, b: Complex) -> Complex | None:
    """Of numbers of one kind or arrays of one rank; others stay apart."""
    real, imag = join(a.real, b.real), join(a.imag, b.imag)
    return Complex(real, imag) if isinstance(real, Number | Array) and isinstance(imag, Number | Array) else None


def _join_records(a: Record, b: Record) -> Record | None:
    """Of one dtype and rank, both to be written or both not."""
    found = _join_all(a.items, b.items)
    return None if any(isinstance(type_, Union) for type_ in found) else rebuilt(a, found)


def _few_texts(found: Sequence[Type]) -> Sequence[Type]:
    """The members of a union; many strings that are known, or those beside one that is not, become one that is not."""
    if sum(isinstance(member, Str) for member in found) <= MOST_TEXTS and Text() not in found:
        return found
    return [Text() if isinstance(member, Str) else member for member in found]


def depth(type_: Type) -> int:
    """How deep structures nest: what grows without bound is recursive data."""
    match type_:
        case Tuple(items) | List(items) | Dict(_, items) | Iterator(_, items) | Closure(_, items, _) | Union(items):
            return 1 + max(map(depth, items), default=0)
        case Transformed(_, function, _):
            return 1 + depth(function)
        case _:
            return 0


def nesting(type_: Type) -> int:
    """How deep data nests: `depth` without what backpropagators captured, which nest as calls do."""
    match type_:
        case Closure(code) if _is_derivative(code):
            return 0
        case Tuple(items) | List(items) | Dict(_, items) | Iterator(_, items) | Closure(_, items, _) | Union(items):
            return 1 + max(map(nesting, items), default=0)
        case Transformed(_, function, _):
            return 1 + nesting(function)
        case _:
            return 0


# -------------------------------------------------------------------------------- recursive function types

_serial = itertools.count()


@dataclass(eq=False, slots=True)
class Family:
    """The closures that may stand behind one reference; `codes` are the functions that made it recursive."""

    codes: set[Hashable]
    members: list[Closure] = field(default_factory=list)
    changes: int = 0
    number: int = field(default_factory=lambda: next(_serial))
    known: list[Family] = field(default_factory=list)  # the families of the session

    def __str__(self) -> str:
        return f"functions_{self.number}"

    @property
    def type(self) -> BoxedFunction:
        return BoxedFunction(self)

    @property
    def layout(self) -> list[tuple[Machine, ...]]:
        """Per member, the machine types of what it captured."""
        return [tuple(s for t in member.captured for s in slots(t)) for member in self.members]

    def index(self, closure: Closure) -> int | None:
        """The number of the member of the same function."""
        for number, member in enumerate(self.members):
            if member.code == closure.code and len(member.captured) == len(closure.captured):
                return number
        return None

    def forget(self, wrong: Callable[[Type], bool]) -> None:
        """Captured values whose types are of an understanding that is over are learned anew."""
        for number, member in enumerate(self.members):
            captured = tuple(NEVER if wrong(type_) else type_ for type_ in member.captured)
            self.members[number] = Closure(member.code, captured, member.name)

    def add(self, closure: Closure) -> None:
        """Make room for a closure: a new member, or a wider one."""
        inner = Closure(closure.code, tuple(widen(t, self.known or [self]) for t in closure.captured), closure.name)
        number = self.index(inner)
        if number is None:
            self.members.append(inner)
            self.changes += 1
            return
        known = self.members[number]
        joined = tuple(join(a, b) for a, b in zip(known.captured, inner.captured, strict=True))
        if joined != known.captured:
            self.members[number] = Closure(known.code, joined, known.name)
            self.changes += 1


def widen(type_: Type, families: list[Family]) -> Type:
    """The type with recursive closures replaced by references; families are found or made in `families`."""
    match type_:
        case Closure(code, captured, name):
            return _widen_closure(type_, code, captured, name, families)
        case Tuple(items) | List(items):
            return rebuilt(type_, [widen(t, families) for t in items])
        case Dict(keys, items):
            return Dict(keys, tuple(widen(t, families) for t in items), type_.sites)
        case Iterator(kind, parts):
            return Iterator(kind, tuple(widen(t, families) for t in parts))
        case Transformed(kind, function, options):
            return Transformed(kind, widen(function, families), options)
        case Union(members):
            return _widen_union(members, families)
        case _:
            return type_


def _widen_closure(
    type_: Closure, code: Hashable, captured: tuple[Type, ...], name: str, families: list[Family]
) -> Type:
    for family in families:
        if code in family.codes:
            family.add(type_)
            return family.type
    if any(contains_code(t, code) for t in captured):
        family = Family({code}, known=families)
        families.append(family)
        _collect(type_, family)
        return family.type
    inner = tuple(widen(t, families) for t in captured)
    return Closure(code, inner, name) if inner != captured else type_


def _widen_union(members: tuple[Type, ...], families: list[Family]) -> Type:
    result: Type | None = None
    for member in members:
        wide = widen(member, families)
        result = wide if result is None else join(result, wide)
    assert result is not None
    return result


def contains_code(type_: Type, code: Hashable) -> bool:
    """Does a closure of that function occur in the type?"""
    match type_:
        case Closure(other, captured, _):
            return other == code or any(contains_code(t, code) for t in captured)
        case Tuple(items) | List(items) | Dict(_, items) | Iterator(_, items) | Union(items):
            return any(contains_code(t, code) for t in items)
        case Transformed(_, function, _):
            return contains_code(function, code)
        case _:
            return False


def _is_derivative(code: Hashable) -> bool:
    untyped = getattr(code, "untyped", None)
    return isinstance(code, Environment) or (untyped is not None and "derivative" in untyped.attrs)


def _collect(type_: Type, family: Family) -> None:
    """Add the closure and everything that stands where it occurs inside itself."""
    assert isinstance(type_, Closure)
    if _is_derivative(type_.code):
        family.add(type_)  # backpropagators of unlike kinds nest: what is in between is of another kind
        return
    positions = [i for i, t in enumerate(type_.captured) if any(contains_code(t, c) for c in family.codes)]
    inner = list(type_.captured)
    for i in positions:
        nested = type_.captured[i]
        if isinstance(nested, Closure):
            inner[i] = family.type
            if nested.code in family.codes:
                _collect_all(nested, positions, family)
            else:
                # A closure in between belongs to the family as well.
                family.codes.add(nested.code)
                _collect_all(nested, [], family)
    family.add(Closure(type_.code, tuple(inner), type_.name))


def _collect_all(nested: Closure, positions: list[int], family: Family) -> None:
    """The inner occurrence, and at the same positions of it whatever other function stands there."""
    inner = list(nested.captured)
    for i in positions:
        other = nested.captured[i]
        if isinstance(other, Closure):
            inner[i] = family.type
            if other.code in family.codes:
                _collect_all(other, positions, family)
            else:
                family.add(other)
    family.add(Closure(nested.code, tuple(inner), nested.name))
