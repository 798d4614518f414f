"""A writer of LLVM text that handles Python objects: names, branches, object constants, and field access.

    t = Text()
    kind = t.load("ptr", value, layout.OBJECT_TYPE)
    t.require(t.set(f"icmp eq ptr {kind}, {t.symbol(float)}"), "miss")

writes

    %f0 = getelementptr i8, ptr %v, i64 8
    %t1 = load ptr, ptr %f0
    %t2 = icmp eq ptr %t1, @pb.object.0
    br i1 %t2, label %b3, label %miss, !prof !100000
  b3:

Objects become external symbols numbered in the order they are met; their addresses are given when the code is linked,
so the text, and the machine code kept on disk, are the same in every process.
"""

from __future__ import annotations

from collections.abc import Sequence

from pullback.runtime.layout import OBJECT_TYPE

__all__ = ["BLAS_PREFIX", "BLOCKS", "ENTRY", "GEMV", "MATRIX_HELPERS", "OBJECT_PREFIX", "Text"]

ENTRY = "pb.entry"
OBJECT_PREFIX = "pb.object."
BLAS_PREFIX = "pb.blas."  # of the imported BLAS functions
BLOCKS, GEMV = "pb.blocks.", "pb.gemv."  # products by blocks, and with vectors
MATRIX_HELPERS = ("pb.matmul.", "pb.matmul_loops.", "pb.matrix_copy.", BLOCKS, GEMV)

_LIKELY = ", !prof !100000"
_METADATA = '!100000 = !{!"branch_weights", i32 1048575, i32 1}'


class Text:
    """One function under construction, and what the module around it needs."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.frame: list[str] = []  # stack slots, made at the function's entry
        self.declarations: dict[str, str] = {}
        self.objects: list[object] = []
        self._numbers: dict[int, int] = {}
        self._count = 0

    # ---------------------------------------------------------------------------------------------- instructions

    def name(self, prefix: str = "t") -> str:
        self._count += 1
        return f"%{prefix}{self._count}"

    def set(self, right: str) -> str:
        """`%tN = right`; the name."""
        name = self.name()
        self.lines.append(f"  {name} = {right}")
        return name

    def do(self, line: str) -> None:
        self.lines.append(f"  {line}")

    def slot(self, type_: str, count: int = 1) -> str:
        """Room on the stack; its address."""
        name = self.name("s")
        self.frame.append(f"  {name} = alloca {f'[{count} x {type_}]' if count != 1 else type_}, align 8")
        return name

    def at(self, pointer: str, offset: int) -> str:
        """The address some bytes on."""
        return self.set(f"getelementptr i8, ptr {pointer}, i64 {offset}") if offset else pointer

    def load(self, type_: str, pointer: str, offset: int = 0) -> str:
        return self.set(f"load {type_}, ptr {self.at(pointer, offset)}")

    def store(self, type_: str, value: str, pointer: str, offset: int = 0) -> None:
        place = self.at(pointer, offset)
        self.do(f"store {type_} {value}, ptr {place}")

    def call(self, result: str, function: str, *arguments: str) -> str:
        """Call of an outside function, declared from the types of its arguments ("ptr %x", ...)."""
        types = ", ".join(argument.split()[0] for argument in arguments)
        self.declarations[f"@{function}"] = f"declare {result} @{function}({types})"
        text = f"call {result} @{function}({', '.join(arguments)})"
        if result == "void":
            self.do(text)
            return ""
        return self.set(text)

    # --------------------------------------------------------------------------------------------------- control

    def label(self) -> str:
        self._count += 1
        return f"b{self._count}"

    def begin(self, block: str) -> None:
        self.lines.append(f"{block}:")

    def jump(self, block: str) -> None:
        self.do(f"br label %{block}")

    def branch(self, condition: str, yes: str, no: str) -> None:
        self.do(f"br i1 {condition}, label %{yes}, label %{no}")

    def require(self, condition: str, otherwise: str) -> None:
        """Go on where the condition holds, which is usual; else jump."""
        after = self.label()
        self.do(f"br i1 {condition}, label %{after}, label %{otherwise}{_LIKELY}")
        self.begin(after)

    # --------------------------------------------------------------------------------------------------- objects

    def symbol(self, value: object) -> str:
        """The symbol that stands for a Python object; one object has one symbol."""
        number = self._numbers.setdefault(id(value), len(self._numbers))
        if number == len(self.objects):
            self.objects.append(value)
        return f"@{OBJECT_PREFIX}{number}"

    def type_of(self, value: str) -> str:
        return self.load("ptr", value, OBJECT_TYPE)

    def is_(self, value: str, object_: object) -> str:
        """Whether a pointer is a given object."""
        return self.set(f"icmp eq ptr {value}, {self.symbol(object_)}")

    # ---------------------------------------------------------------------------------------------------- module

    def function(self, head: str) -> str:
        """The text of the function whose lines were written; the writer is ready for the next one."""
        written = "\n".join((f"define {head} {{", "entry:", *self.frame, *self.lines, "}", ""))
        self.lines, self.frame = [], []
        return written

    def module_parts(self) -> tuple[str, str]:
        """Text before the functions (types, objects) and after them (metadata)."""
        names = (f"@{OBJECT_PREFIX}{i} = external global %pb.opaque" for i in range(len(self.objects)))
        return "\n".join(("%pb.opaque = type opaque", *names, "")), f"\n{_METADATA}\n"

    def join(self, values: Sequence[str], types: Sequence[str]) -> str:
        """Operands with their types, as an argument list."""
        return ", ".join(f"{type_} {value}" for type_, value in zip(types, values, strict=True))
