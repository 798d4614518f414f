"""A small writer of scalar LLVM functions, used by the elementary-function library.

Arithmetic on `Value` objects appends instructions to the `Body` that owns them; every Python number met on the way
becomes a literal of the other operand's type:

    body = Body("double", single=False)
    x = body.argument("double", "%x")
    y = body.fma(x, x, 1.0) * 0.5

writes

    %t0 = call double @llvm.fma.f64(double %x, double %x, double 0x3FF0000000000000)
    %t1 = fmul double %t0, 0x3FE0000000000000

Nothing is simplified, reassociated or contracted: the instructions appear as they were written, because the
error-free transformations of the library depend on it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

PAIR = "{ double, double }"
_SUFFIX = {"double": "f64", "float": "f32", "i64": "i64", "i128": "i128", "i32": "i32"}
_FLOATS = frozenset({"double", "float"})


def literal(type_name: str, number: float | int) -> str:
    """Return the LLVM spelling of a number: floats as the bits of the (exactly representable) double."""
    if type_name not in _FLOATS:
        return str(int(number))
    value = float(number)
    if type_name == "float":
        value = struct.unpack("<f", struct.pack("<f", value))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """One SSA value (or literal) of a function under construction."""

    body: Body
    type: str
    text: str

    def _binary(self, operation: str, other: Value | float | int, swapped: bool = False) -> Value:
        right = self.body.operand(other, self.type)
        left, right = (right, self) if swapped else (self, right)
        name = f"f{operation}" if self.type in _FLOATS else operation
        return self.body.emit(self.type, f"{name} {self.type} {left.text}, {right.text}")

    def __add__(self, other: Value | float | int) -> Value:
        return self._binary("add", other)

    def __radd__(self, other: float | int) -> Value:
        return self._binary("add", other, swapped=True)

    def __sub__(self, other: Value | float | int) -> Value:
        return self._binary("sub", other)

    def __rsub__(self, other: float | int) -> Value:
        return self._binary("sub", other, swapped=True)

    def __mul__(self, other: Value | float | int) -> Value:
        return self._binary("mul", other)

    def __rmul__(self, other: float | int) -> Value:
        return self._binary("mul", other, swapped=True)

    def __truediv__(self, other: Value | float) -> Value:
        return self._binary("div", other)

    def __rtruediv__(self, other: float) -> Value:
        return self._binary("div", other, swapped=True)

    def __and__(self, other: Value | int) -> Value:
        return self._binary("and", other)

    def __or__(self, other: Value | int) -> Value:
        return self._binary("or", other)

    def __xor__(self, other: Value | int) -> Value:
        return self._binary("xor", other)

    def __lshift__(self, other: Value | int) -> Value:
        return self._binary("shl", other)

    def __rshift__(self, other: Value | int) -> Value:
        """Shift logically: zeros enter from the left."""
        return self._binary("lshr", other)

    def __neg__(self) -> Value:
        if self.type in _FLOATS:
            return self.body.emit(self.type, f"fneg {self.type} {self.text}")
        return self._binary("sub", 0, swapped=True)

    def compare(self, predicate: str, other: Value | float | int) -> Value:
        """Compare with an LLVM predicate (`olt`, `ueq`, `slt`, ...) to an i1."""
        right = self.body.operand(other, self.type)
        name = "fcmp" if self.type in _FLOATS else "icmp"
        return self.body.emit("i1", f"{name} {predicate} {self.type} {self.text}, {right.text}")

    def less(self, other: Value | float) -> Value:
        return self.compare("olt", other)

    def greater(self, other: Value | float) -> Value:
        return self.compare("ogt", other)

    def equal(self, other: Value | float) -> Value:
        return self.compare("oeq", other)


@dataclass(slots=True)
class Body:
    """The instructions of one function and what they need from the module.

    `single` tells recipes that the result will be rounded to float32, so that shorter polynomials suffice.
    """

    single: bool
    lines: list[str] = field(default_factory=list)
    functions: dict[str, None] = field(default_factory=dict)
    declarations: set[str] = field(default_factory=set)
    tables: dict[str, str] = field(default_factory=dict)
    externals: set[str] = field(default_factory=set)
    block: str = "entry"
    _count: int = 0

    def value(self, type_name: str, text: str) -> Value:
        return Value(self, type_name, text)

    def constant(self, type_name: str, number: float | int) -> Value:
        return Value(self, type_name, literal(type_name, number))

    def operand(self, other: Value | float | int, type_name: str) -> Value:
        if isinstance(other, Value):
            assert other.type == type_name, (other.type, type_name)
            return other
        return self.constant(type_name, other)

    def emit(self, type_name: str, instruction: str) -> Value:
        name = f"%t{self._count}"
        self._count += 1
        self.lines.append(f"  {name} = {instruction}")
        return Value(self, type_name, name)

    def select(self, condition: Value, yes: Value | float | int, no: Value | float | int) -> Value:
        """Choose between two values; at least one is a `Value` or both are doubles."""
        type_name = next((v.type for v in (yes, no) if isinstance(v, Value)), "double")
        first, second = self.operand(yes, type_name), self.operand(no, type_name)
        return self.emit(type_name, f"select i1 {condition.text}, {type_name} {first.text}, {type_name} {second.text}")

    def convert(self, operation: str, value: Value, type_name: str) -> Value:
        return self.emit(type_name, f"{operation} {value.type} {value.text} to {type_name}")

    def bits(self, value: Value) -> Value:
        return self.convert("bitcast", value, "i64" if value.type == "double" else "i32")

    def from_bits(self, value: Value) -> Value:
        return self.convert("bitcast", value, "double" if value.type == "i64" else "float")

    def intrinsic(self, name: str, *arguments: Value, flag: str = "") -> Value:
        """Call an overloaded LLVM intrinsic whose result has the type of its arguments."""
        type_name = arguments[0].type
        full = f"@llvm.{name}.{_SUFFIX[type_name]}"
        extra = [("i1", flag)] if flag else []
        kinds = [a.type for a in arguments] + [kind for kind, _ in extra]
        texts = [f"{a.type} {a.text}" for a in arguments] + [f"{kind} {text}" for kind, text in extra]
        self.declarations.add(f"declare {type_name} {full}({', '.join(kinds)})")
        return self.emit(type_name, f"call {type_name} {full}({', '.join(texts)})")

    def fma(self, left: Value, right: Value | float, addend: Value | float) -> Value:
        """left * right + addend, rounded once."""
        return self.intrinsic("fma", left, self.operand(right, left.type), self.operand(addend, left.type))

    def fabs(self, value: Value) -> Value:
        return self.intrinsic("fabs", value)

    def sqrt(self, value: Value) -> Value:
        return self.intrinsic("sqrt", value)

    def trunc(self, value: Value) -> Value:
        return self.intrinsic("trunc", value)

    def copysign(self, magnitude: Value, sign: Value) -> Value:
        return self.intrinsic("copysign", magnitude, sign)

    def pairs(self, x: Value, coefficients: Sequence[float | Value]) -> list[float | Value]:
        """Return c0 + c1 x, c2 + c3 x, ...: the coefficients of a polynomial in x**2."""
        count = len(coefficients)
        row: list[float | Value] = [self.fma(x, coefficients[i + 1], coefficients[i]) for i in range(0, count - 1, 2)]
        return [*row, coefficients[-1]] if count % 2 else row

    def estrin(self, x: Value, coefficients: Sequence[float | Value]) -> Value:
        """Evaluate c0 + c1 x + c2 x**2 + ... in a tree of depth log2: the short dependence chain is what counts."""
        row: Sequence[float | Value] = coefficients
        while len(row) > 1:
            row = self.pairs(x, row)
            if len(row) > 1:
                x = x * x
        return self.operand(row[0], x.type)

    def load(self, table: str, values: Sequence[float | int], type_name: str, index: Value) -> Value:
        """Read one element of a constant table of the module."""
        numbers = ", ".join(f"{type_name} {literal(type_name, v)}" for v in values)
        shape = f"[{len(values)} x {type_name}]"
        self.tables[table] = f"@{table} = internal unnamed_addr constant {shape} [{numbers}], align 64"
        pointer = self.emit("ptr", f"getelementptr inbounds {shape}, ptr @{table}, i64 0, i64 {index.text}")
        return self.emit(type_name, f"load {type_name}, ptr {pointer.text}, align 8")

    def call(self, symbol: str, result: str, *arguments: Value, attributes: str = "") -> Value:
        """Call another function of the library, given by its symbol without the @."""
        self.functions[symbol] = None
        texts = ", ".join(f"{a.type} {a.text}" for a in arguments)
        return self.emit(result, f"call {result} @{symbol}({texts}){attributes}")

    def external(self, function: str, result: str, *arguments: Value) -> Value:
        """Call a C function imported under the name pb.c.<function>."""
        symbol = f"pb.c.{function}"
        self.externals.add(symbol)
        kinds = ", ".join(a.type for a in arguments)
        self.declarations.add(f"declare {result} @{symbol}({kinds}) nounwind willreturn memory(none)")
        texts = ", ".join(f"{a.type} {a.text}" for a in arguments)
        return self.emit(result, f"call {result} @{symbol}({texts})")

    def pack(self, high: Value, low: Value) -> Value:
        """Two doubles as one value, which a function may return; `unpack` takes them apart."""
        first = self.emit(PAIR, f"insertvalue {PAIR} poison, double {high.text}, 0")
        return self.emit(PAIR, f"insertvalue {PAIR} {first.text}, double {low.text}, 1")

    def unpack(self, pair: Value) -> tuple[Value, Value]:
        high, low = (self.emit("double", f"extractvalue {PAIR} {pair.text}, {i}") for i in (0, 1))
        return high, low

    def otherwise_call(self, usual: Value, fast: Value, symbol: str, *arguments: Value, attributes: str = "") -> Value:
        """Return `fast` where `usual` holds, and else the result of the cold function `symbol`, in a branch of its own.

        Before `usual` is tested the fast value has been computed anyway, so it must not trap for any argument.
        """
        self.declarations.add("declare i1 @llvm.expect.i1(i1, i1)")
        expected = self.emit("i1", f"call i1 @llvm.expect.i1(i1 {usual.text}, i1 true)")
        number, before = self._count, self.block
        cold, done = f"cold{number}", f"done{number}"
        self.lines += [f"  br i1 {expected.text}, label %{done}, label %{cold}", f"{cold}:"]
        slow = self.call(symbol, fast.type, *arguments, attributes=attributes)
        self.lines += [f"  br label %{done}", f"{done}:"]
        self.block = done
        return self.emit(fast.type, f"phi {fast.type} [ {fast.text}, %{before} ], [ {slow.text}, %{cold} ]")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one elementary function is written.

    `build` gets the body and one value per entry of `arguments` ("x" stands for the dtype of the instance). A recipe
    that is not `native` always computes in double; its float32 instance widens the arguments and rounds the result.
    """

    build: Callable[..., Value]
    arguments: tuple[str, ...] = ("x",)
    result: str = "x"
    native: bool = False


Recipes = dict[str, Recipe]
Builder = Callable[..., Value]


def recipe(
    table: Recipes, name: str, arguments: tuple[str, ...] = ("x",), result: str = "x", native: bool = False
) -> Callable[[Builder], Builder]:
    """Enter the decorated builder under a name in a table of recipes."""

    def enter(build: Builder) -> Builder:
        assert name not in table, name
        table[name] = Recipe(build, arguments, result, native)
        return build

    return enter


def chosen(body: Body, double: Sequence[float], single: Sequence[float]) -> Sequence[float]:
    """Return the polynomial that the precision of the body asks for."""
    return single if body.single else double
