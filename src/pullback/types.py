"""Two families of types: what inference reasons about, and what values of typed IR are made of.

*Abstract types* are Python's view: weak and strong numbers, tuples, closures, unions.  *Machine types* are what the
typed IR computes with: scalars, array references, boxes, buffers.  `slots` maps the first to the second, flattening
structure:

    Tuple((Number(F64, weak=True), Array(F64, 1)))   ->   (Scalar f64, ArrayRef f64 rank 1)
    Union({float, np.float64})                       ->   (Scalar i64 (tag), Scalar f64)      # one shared slot
    Closure(code, (Number(F64),))                    ->   (Scalar f64,)

so the typed IR holds no tuples, closures or unions, and differentiation never meets them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Protocol, TypeVar

__all__ = [
    "BOOL",
    "EXCEPTION",
    "F32",
    "F64",
    "I32",
    "I64",
    "NEVER",
    "NONE",
    "UNBOUND",
    "ZERO",
    "Array",
    "ArrayRef",
    "Box",
    "BoxedFunction",
    "Buffer",
    "Builtin",
    "Caught",
    "Class",
    "Closure",
    "Complex",
    "Constant",
    "DType",
    "Dict",
    "Environment",
    "Failure",
    "Fixed",
    "Iterator",
    "List",
    "Machine",
    "Member",
    "Module",
    "Never",
    "NoneType",
    "Number",
    "PackedComplex",
    "Pullback",
    "Range",
    "Record",
    "Ref",
    "Scalar",
    "Shadowed",
    "Slice",
    "Store",
    "Str",
    "Table",
    "Tame",
    "Template",
    "Text",
    "Tuple",
    "Type",
    "Unbound",
    "Union",
    "Zero",
    "distinct_slots",
    "is_float",
    "rebuilt",
    "show",
    "slot_positions",
    "slots",
    "tag_count",
    "union_of",
    "with_items",
]  # fmt: skip


class DType(Enum):
    """Element kinds.  The value is the short name used in IR text."""

    BOOL = "bool"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    F16 = "f16"
    F32 = "f32"
    F64 = "f64"

    def __init__(self, code: str) -> None:
        self.is_float = code[0] == "f"
        self.is_int = code[0] in "iu"
        self.is_unsigned = code[0] == "u"
        self.bytes = 1 if code == "bool" else int(code[1:]) // 8

    __hash__ = object.__hash__  # each is one object; Enum hashes its name, in Python

    @property
    def limits(self) -> tuple[int, int]:
        """The least and the greatest int."""
        if self is DType.BOOL:
            return 0, 1
        bits = 8 * self.bytes
        return (0, 2**bits - 1) if self.is_unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    @property
    def title(self) -> str:
        """NumPy's name of the dtype."""
        word = {"i": "int", "u": "uint", "f": "float"}.get(self.value[0])
        return "bool" if word is None else word + self.value[1:]

    def __repr__(self) -> str:
        return self.value


# ---------------------------------------------------------------------------------------------- machine types


@dataclass(frozen=True, slots=True)
class Scalar:
    """A machine number.  bool is one bit in registers and one byte in memory."""

    dtype: DType

    def __str__(self) -> str:
        return self.dtype.value


@dataclass(frozen=True, slots=True)
class ArrayRef:
    """A strided reference to memory: data pointer, `rank` sizes, `rank` byte strides (absent when `contiguous`)."""

    dtype: DType
    rank: int
    contiguous: bool = False

    def __str__(self) -> str:
        return f"{self.dtype.value}[{','.join(':' * self.rank)}]" + ("c" if self.contiguous else "")


@dataclass(frozen=True, slots=True)
class Box:
    """A reference to a heap record.  `Program.layouts[name]` holds the machine types of the slots, per variant."""

    name: str

    def __str__(self) -> str:
        return f"box {self.name}"


@dataclass(frozen=True, slots=True)
class Buffer:
    """A reference to a growable one-dimensional store of residuals; each element is written once."""

    element: Machine

    def __str__(self) -> str:
        return f"buffer<{self.element}>"


@dataclass(frozen=True, slots=True)
class Table:
    """A reference to a growable store of rows.  `Program.layouts[name]` holds the machine types of the columns."""

    name: str

    def __str__(self) -> str:
        return f"table {self.name}"


Machine = Scalar | ArrayRef | Box | Buffer | Table

EXCEPTION = Box("pb.exception")  # what was raised, before `passes.catch` takes it apart
BOOL, I32, I64 = Scalar(DType.BOOL), Scalar(DType.I32), Scalar(DType.I64)
F32, F64 = Scalar(DType.F32), Scalar(DType.F64)


def is_float(machine: Machine) -> bool:
    """True for a float scalar and for an array of floats: the values that have tangents of their own."""
    return isinstance(machine, Scalar | ArrayRef) and machine.dtype.is_float


# --------------------------------------------------------------------------------------------- abstract types


@dataclass(frozen=True, slots=True)
class Number:
    """bool, int or float.  `weak`: a Python scalar; otherwise a NumPy scalar (NEP 50)."""

    dtype: DType
    weak: bool = True


@dataclass(frozen=True, slots=True)
class Constant:
    """A Python bool whose value is known while compiling; it takes no slot."""

    value: bool


@dataclass(frozen=True, slots=True)
class Fixed:
    """An int or bool of type `of` whose value the code is made for: a parameter of a specialization, or of its entry.

    Inside the function it is a constant; the slot is passed as that of others is.
    """

    value: int
    of: Number


@dataclass(frozen=True, slots=True)
class Str:
    """A string known while compiling."""

    value: str


@dataclass(frozen=True, slots=True)
class Text:
    """A string of which only the run knows which; the slot is the address of Python's string (see `prims.text`)."""


@dataclass(frozen=True, slots=True)
class NoneType:
    """The type of None."""


@dataclass(frozen=True, slots=True)
class Never:
    """No value: the expression never yields (it raises).  The bottom of the lattice."""


@dataclass(frozen=True, slots=True)
class Unbound:
    """A local name that is not set on this path."""

    name: str


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of fixed structure; `python`: the class, if it is a NamedTuple."""

    items: tuple[Type, ...]
    python: type | None = None


@dataclass(frozen=True, slots=True)
class List:
    """A list of fixed structure: one that nothing changes.

    sites: the places that may have made it.  Where it is changed after all, these make references to heaps instead.
    """

    items: tuple[Type, ...]
    sites: frozenset[Hashable] = frozenset()


@dataclass(frozen=True, slots=True)
class Dict:
    """A dict with string keys, in key order, of fixed structure; `sites` as of lists."""

    keys: tuple[str, ...]
    items: tuple[Type, ...]
    sites: frozenset[Hashable] = frozenset()


@dataclass(frozen=True, slots=True)
class Array:
    """numpy.ndarray of one dtype and rank.

    readonly: given by Python without leave to write.  ones: per axis, is its size 1 (None or absent: not known); this
    settles while compiling which axes broadcast.  rows, columns: not contiguous, but its elements lie row after row,
    or, of two axes, column after column.  foreign: NumPy may have put its elements in another order than compiled code,
    which shows where a reshape is a view.  gaps: what lies between its elements in NumPy, which shows there too: 0 as
    here, 1 something else between any two, as in a part of complex numbers, 2 is not known.  flat: it is the `flat` of
    an array, of which slices are copies.
    """

    dtype: DType
    rank: int
    contiguous: bool = False
    readonly: bool = False
    ones: tuple[bool | None, ...] = ()
    rows: bool = False
    columns: bool = False
    foreign: bool = False
    gaps: int = 0
    flat: bool = False

    @property
    def row_major(self) -> bool:
        """Do the elements lie row after row in NumPy's array and in ours, perhaps with gaps."""
        return not self.foreign and (self.contiguous or self.rows or self.rank < 2)

    def is_one(self, axis: int) -> bool | None:
        """Is the size of the axis 1, where that is known."""
        return self.ones[axis] if self.ones else None


@dataclass(frozen=True, slots=True)
class Shadowed:
    """An array of floats in the code of a function with a backpropagator: the array and its shadow.

    Both are arrays (`Array`), or in the code of a derivative of that function arrays with shadows of their own.
    """

    primal: Type
    shadow: Type


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex number (both parts Number) or array (both parts Array, of one shape)."""

    real: Type
    imag: Type


@dataclass(frozen=True, slots=True)
class PackedComplex:
    """A complex array as NumPy keeps it: pairs along a last axis of `array`.  Only results are packed.

    real: the real part, of which a flag tells whether its imaginary part lies beside it; it is the array then.
    """

    array: Array
    real: Array | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """A structured array of `rank` axes, or (`single`) one record of one, as the array of one record that it lies in.

    items: the fields, as arrays over the same places; their axes of their own come after those of the whole.  layout:
    the dtype, as NumPy has it.
    """

    names: tuple[str, ...]
    items: tuple[Type, ...]
    layout: Hashable
    rank: int
    single: bool = False


@dataclass(frozen=True, slots=True)
class Range:
    """range(...): slots are start, trip count, step.  numbers: those that code is made for, as `Fixed` for ints."""

    numbers: tuple[int | None, int | None, int | None] = (None, None, None)


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice object; each part None or an int."""

    parts: tuple[Type, Type, Type]


@dataclass(frozen=True, slots=True)
class Iterator:
    """enumerate, zip, reversed, map, ...: a lazy iterable over `parts`."""

    kind: str
    parts: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Module:
    """A Python module, by its import name."""

    name: str


@dataclass(frozen=True, slots=True)
class Builtin:
    """A callable or class that pullback knows, by its dotted public name ("math.sin", "builtins.float")."""

    name: str


@dataclass(frozen=True, slots=True)
class Class:
    """A class of the user, known while compiling; env: of one that a function makes, where what it holds is kept."""

    python: type
    env: Type | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A Python object that is known while compiling and of which there is one: a member of an enum."""

    python: Hashable


@dataclass(frozen=True, slots=True)
class Closure:
    """A Python function; `code` identifies its untyped IR, `captured` are the types of its captured values."""

    code: Hashable
    captured: tuple[Type, ...] = ()
    name: str = ""


@dataclass(frozen=True, slots=True)
class BoxedFunction:
    """A function value of a recursive family (closures that capture one another); one reference, Box(str(family))."""

    family: Hashable


@dataclass(frozen=True, slots=True)
class Transformed:
    """grad(f), value_and_grad(f), ... as a value inside compiled code; `options` is a sorted tuple of pairs."""

    kind: str
    function: Type
    options: tuple[tuple[str, Hashable], ...] = ()


@dataclass(frozen=True, slots=True)
class Pullback:
    """What `vjp` returns in compiled code; its slot is the residual record `box`."""

    box: str
    callee: str
    wrt: tuple[int, ...]
    result: Type
    gradients: Type


class Store(Protocol):
    """What a reference needs of the heap it points into: how messages call what lies there, and to meet another heap
    in a join (`unite` tells whether the two are one from then on)."""

    @property
    def title(self) -> str: ...

    def unite(self, other: Store) -> bool: ...


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to an object that changes or is recursive: the number of its row in the heap's table."""

    heap: Store


@dataclass(frozen=True, slots=True)
class Template:
    """The text of an exception in which {0}, {1}, ... stand for numbers, as checks have it."""

    text: str
    items: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception object: its class by name (prims.exceptions), its arguments, and attributes of its own."""

    kind: str
    args: tuple[Type, ...] = ()
    fields: tuple[tuple[str, Type], ...] = ()

    def __str__(self) -> str:
        inside = [repr(t.value) if isinstance(t, Str) else show(t) for t in self.args]
        inside += [f"{name}: {show(t)}" for name, t in self.fields if name]
        return f"{show(self)}({', '.join(inside)})"


@dataclass(frozen=True, slots=True)
class Caught:
    """An exception that a handler was given: one of several; its slot keeps which, and what it carries."""

    members: tuple[Failure, ...]


@dataclass(frozen=True, slots=True)
class Zero:
    """The sensitivity of a value that has none; where it meets a number it becomes 0."""


@dataclass(frozen=True, slots=True)
class Tame:
    """A float that is a sensitivity, and finite as long as what the user computes is: products with it are plain."""

    dtype: DType


@dataclass(frozen=True, slots=True)
class Environment:
    """The code of a closure that is not called but opened: the sensitivities of what functions of a kind captured."""

    of: Hashable


@dataclass(frozen=True, slots=True)
class Union:
    """One of several types, told apart by a run-time tag: the index into `members`."""

    members: tuple[Type, ...]


Type = (
    Number | Constant | Fixed | Str | NoneType | Never | Unbound | Tuple | List | Dict | Array | Range | Slice
    | Iterator | Module | Builtin | Class | Member | Closure | BoxedFunction | Transformed | Pullback | Ref | Text
    | Template | Failure | Caught | Union | Zero | Tame | Complex | PackedComplex | Shadowed | Record
)  # fmt: skip

NONE = NoneType()
NEVER = Never()
UNBOUND = Unbound("")
_NUMBERS = {dtype: (Scalar(dtype),) for dtype in DType}
ZERO = Zero()


def slots(type_: Type) -> tuple[Machine, ...]:
    """The machine values that represent a value of `type_`."""
    match type_:
        case Number(dtype, _) | Tame(dtype):
            return _NUMBERS[dtype]
        case Fixed(_, of):
            return slots(of)
        case Array(dtype, rank, contiguous, _):
            return (ArrayRef(dtype, rank, contiguous),)
        case Tuple(items) | List(items) | Dict(_, items) | Record(_, items):
            return tuple(slot for item in items for slot in slots(item))
        case Slice(parts) | Iterator(_, parts):
            return tuple(slot for part in parts for slot in slots(part))
        case Range():
            return (I64, I64, I64)
        case Closure(_, captured, _):
            return tuple(slot for item in captured for slot in slots(item))
        case Template(_, items):
            return tuple(slot for item in items for slot in slots(item))
        case Failure(_, args, fields):
            return tuple(slot for item in (*args, *(t for _, t in fields)) for slot in slots(item))
        case Caught():
            return (EXCEPTION,)
        case Transformed(_, function, _):
            return slots(function)
        case BoxedFunction(family):
            return (Box(str(family)),)
        case Complex(real, imag):
            return (*slots(real), *slots(imag))
        case PackedComplex(array, real):
            return slots(array) if real is None else (*slots(array), BOOL, *slots(real))
        case Shadowed(primal, shadow):
            return (*slots(primal), *slots(shadow))
        case Ref() | Text() | Class(_, Ref()):
            return (I64,)
        case Pullback(box, _, _, result, _):
            arrays = [slot for slot in slots(result) if isinstance(slot, ArrayRef) and slot.dtype.is_float]
            shapes = (I64 for array in arrays for _ in range(array.rank))  # of cotangents
            return (Box(box), *shapes, *[I64] * tag_count(result))
        case Union(members):
            return (I64, *distinct_slots(members))
        case _:
            return ()


def tag_count(type_: Type) -> int:
    """How many unions, which say what they are, there are in a structure."""
    match type_:
        case Union(members):
            return 1 + sum(map(tag_count, members))
        case Tuple(items) | List(items) | Dict(_, items) | Record(_, items):
            return sum(map(tag_count, items))
    return 0


def distinct_slots(members: tuple[Type, ...]) -> tuple[Machine, ...]:
    """The payload of a union: members share slots of the same machine type, each using a slot at most once."""
    pool: list[Machine] = []
    for member in members:
        free = list(pool)
        for slot in slots(member):
            if slot in free:
                free.remove(slot)
            else:
                pool.append(slot)
    return tuple(pool)


def slot_positions(union: Union, member: Type) -> tuple[int, ...]:
    """Where in the union's slots (the tag is number 0) the slots of `member` are kept."""
    pool = distinct_slots(union.members)
    used: set[int] = set()
    positions: list[int] = []
    for slot in slots(member):
        position = next(i for i, other in enumerate(pool) if other == slot and i not in used)
        used.add(position)
        positions.append(position + 1)
    return tuple(positions)


def with_items(model: Type, items: Sequence[Type]) -> Tuple | List:
    """A plain tuple or a list type, as the model is, of other items."""
    if isinstance(model, Tuple):
        return Tuple(tuple(items))
    assert isinstance(model, List)
    return List(tuple(items), model.sites)


_Fixed = TypeVar("_Fixed", bound=Tuple | List | Dict | Record)


def rebuilt(model: _Fixed, items: Sequence[Type]) -> _Fixed:
    """The type of the same tuple, list or dict with items of other types: a NamedTuple stays one."""
    return replace(model, items=tuple(items))


def union_of(*types: Type) -> Type:
    """The union of the types without repetitions; a single type stays itself.  Members keep first-seen order."""
    members: list[Type] = []
    for type_ in types:
        for member in type_.members if isinstance(type_, Union) else (type_,):
            if member not in members and member != NEVER:
                members.append(member)
    if not members:
        return NEVER
    return members[0] if len(members) == 1 else Union(tuple(members))


_PYTHON_NAMES = {"bool": "bool", "i64": "int", "f64": "float"}


def _numpy_name(dtype: DType) -> str:
    return "np.bool_" if dtype is DType.BOOL else f"np.{dtype.title}"


def show(type_: Type) -> str:
    """The type as a user would name it."""
    match type_:
        case Number(dtype, weak):
            return _PYTHON_NAMES.get(dtype.value, dtype.value) if weak else _numpy_name(dtype)
        case Constant():
            return "bool"
        case Fixed(value, of):
            return f"{show(of)} {value}"
        case Str() | Text():
            return "str"
        case Complex(Array(dtype, rank), _):
            return f"array({'complex64' if dtype is DType.F32 else 'complex128'}, {rank}-D)"
        case Complex(Number(dtype, weak=False), _):
            return "np.complex64" if dtype is DType.F32 else "np.complex128"
        case Complex():
            return "complex"
        case PackedComplex():
            return "complex"
        case Shadowed(primal, _):
            return show(primal)
        case Tame(dtype):
            return _numpy_name(dtype)
        case NoneType():
            return "None"
        case Never():
            return "no value"
        case Unbound():
            return "an unset name"
        case Tuple(_, python) if python is not None:
            return python.__name__
        case Tuple(items):
            return "tuple[" + ", ".join(map(show, items)) + "]" if items else "tuple[()]"
        case List(items):
            return "list[" + ", ".join(dict.fromkeys(map(show, items))) + "]"
        case Dict(keys, items):
            return "dict{" + ", ".join(f"{k!r}: {show(t)}" for k, t in zip(keys, items, strict=True)) + "}"
        case Array(dtype, rank, _, _):
            return f"array({dtype.title}, {rank}-D)"
        case Record(names, _, _, rank, single):
            shown = ", ".join(names)
            return f"record({shown})" if single else f"array(records of {shown}; {rank}-D)"
        case Range():
            return "range"
        case Slice():
            return "slice"
        case Iterator(kind, _):
            return kind
        case Module(name):
            return f"module {name}"
        case Builtin(name):
            return "dtype of records" if name.startswith("dtype.{") else f"function {name}"
        case Class(python):
            return f"class {python.__name__}"
        case Member(python):
            return type(python).__name__
        case Closure(_, _, name):
            return f"function {name}"
        case BoxedFunction():
            return "function"
        case Transformed(kind, function, _):
            return f"{kind} of {show(function)}"
        case Pullback():
            return "pullback"
        case Template():
            return "str"
        case Failure(kind, _, _):
            return kind.partition("#")[0].rpartition(":")[2]
        case Caught(members):
            return " or ".join(dict.fromkeys(map(show, members))) or "an exception"
        case Zero():
            return "zero"
        case Ref(heap):
            return heap.title
        case Union(members):
            return " or ".join(dict.fromkeys(map(show, members)))
