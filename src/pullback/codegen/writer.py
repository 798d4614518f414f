"""Write the text of one module and of its functions: names, blocks, phis, failures, metadata.

    w.begin("L1");  t = w.set("fadd double %x, %y");  w.jump("L2")

writes

    L1:
      %t7 = fadd double %x, %y
      br label %L2

Nothing here knows primitives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pullback.codegen import abi
from pullback.codegen.costs import Costs
from pullback.codegen.templates import declaration
from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Op, Program, Value
from pullback.types import DType, Machine

__all__ = [
    "CONTEXT", "ELEMENT", "HEADER", "LIKELY", "ONLY_WHERE_ASKED", "RECORD", "STORED", "UNLIKELY", "FunctionWriter",
    "ModuleWriter", "OpenPhis", "Options", "machine",
]  # fmt: skip

# Metadata that every module has.  TBAA: the five kinds of memory never overlap.
_FIXED = """\
!0 = !{!"branch_weights", i32 1048575, i32 1}
!1 = !{!"branch_weights", i32 1, i32 1048575}
!2 = !{!"pullback"}
!3 = !{!"context", !2, i64 0}
!4 = !{!3, !3, i64 0}
!5 = !{!"buffer header", !2, i64 0}
!6 = !{!5, !5, i64 0}
!7 = !{!"buffer element", !2, i64 0}
!8 = !{!7, !7, i64 0}
!9 = !{!"record", !2, i64 0}
!10 = !{!9, !9, i64 0}
!11 = !{!"array element", !2, i64 0}
!12 = !{!11, !11, i64 0}
!13 = !{!"llvm.loop.vectorize.enable", i1 false}
!14 = !{!"llvm.loop.unroll.disable"}
!15 = !{!"pullback.loop"}
!17 = !{!"llvm.loop.vectorize.width", i32 1}
!18 = !{!"llvm.loop.interleave.count", i32 4}
!19 = !{!"llvm.loop.interleave.count", i32 2}
!16 = """
_FIRST_FREE = 20
# What to replace in the text of a module whose plain loops shall not become vectors.
ONLY_WHERE_ASKED = ('!15 = !{!"pullback.loop"}', '!15 = !{!"llvm.loop.vectorize.enable", i1 false}')
LIKELY, UNLIKELY = ", !prof !0", ", !prof !1"
CONTEXT, HEADER, STORED, RECORD, ELEMENT = (f", !tbaa !{n}" for n in (4, 6, 8, 10, 12))
ELEMENT = f", align 1{ELEMENT}"  # the fields of packed records lie anywhere


Rule = Callable[["FunctionWriter", Op], None]
_NODE = re.compile(r"!(\d+)")


def machine(value: Value) -> Machine:
    """The type of a typed value."""
    if value.type is None:
        raise InternalError(f"{value!r} has no type")
    return value.type


@dataclass(frozen=True, slots=True)
class Options:
    """What the text depends on besides the program.

    fastmath: reassociation, contraction and approximate functions are allowed.  parallel: loops over blocks run on
    several threads.
    """

    fastmath: bool = False
    parallel: bool = False


class ModuleWriter:
    """What the functions of a module share."""

    def __init__(self, program: Program, options: Options, *, calls_kernels: bool = False) -> None:
        self.program = program
        self.options = options
        self.calls_kernels = calls_kernels  # are there so many that they are functions (see `kernel_functions`)
        self.costs = Costs(program)
        self.declarations: dict[str, str] = {}
        self.sites: list[abi.ErrorSite] = []
        self.elementary: dict[tuple[str, str], None] = {}
        self.helpers: dict[str, None] = {}  # runtime functions that are called
        self.blocks: list[str] = []  # functions that are blocks of parallel loops
        self.adds_in_place = False  # does a scalar loop add to elements of arrays
        self._metadata: list[str] = []
        self._memory: dict[str, str] = {}
        self._constants: dict[bytes, str] = {}
        self._records: dict[tuple[tuple[Machine, ...], int], abi.Record] = {}
        self._kernels: dict[str, str] = {}

    def declare(self, symbol: str, line: str) -> None:
        self.declarations.setdefault(symbol, line)

    def bytes(self, data: bytes) -> str:
        """A constant of the module that holds these bytes."""
        name = self._constants.get(data)
        if name is None:
            name = self._constants[data] = f"@pb.bytes.{len(self._constants)}"
            text = "".join(chr(b) if chr(b).isalnum() and b < 128 else f"\\{b:02x}" for b in data)
            self.declare(name, f'{name} = private constant [{len(data)} x i8] c"{text}"')
        return name

    def helper(self, name: str) -> str:
        """The symbol of a runtime function (see `shared`)."""
        self.helpers[name] = None
        return f"@{name}"

    def scalar_loop(self) -> str:
        """Metadata of a loop that is neither vectorised nor unrolled."""
        number = _FIRST_FREE + len(self._metadata)
        self._metadata.append(f"!{number} = distinct !{{!{number}, !13, !14}}")
        return f", !llvm.loop !{number}"

    def vector_loop(self, masked: bool, chains: int = 1) -> str:
        """Metadata of a loop of independent trips, which may become vectors in modules of any size.

        It is not forced upon LLVM, which would write to the terminal of the user where it cannot.

        chains: 2 or 4 vectors at a time, where LLVM would not see that one has to wait for the one before.
        """
        number = _FIRST_FREE + len(self._metadata)
        more = {2: "!19, ", 4: "!18, "}.get(chains, "") + ("!16" if masked else "!14")
        self._metadata.append(f"!{number} = distinct !{{!{number}, {more}}}")
        return f", !llvm.loop !{number}"

    def plain_loop(self) -> str:
        """Metadata of a loop of which nothing is known; see `ONLY_WHERE_ASKED`."""
        number = _FIRST_FREE + len(self._metadata)
        self._metadata.append(f"!{number} = distinct !{{!{number}, !15}}")
        return f", !llvm.loop !{number}"

    def chains_loop(self) -> str:
        """Metadata of a loop of sums that should run as four at a time, not as vectors: its elements are apart."""
        number = _FIRST_FREE + len(self._metadata)
        self._metadata.append(f"!{number} = distinct !{{!{number}, !17, !18, !14}}")
        return f", !llvm.loop !{number}"

    def node(self, numbers: Sequence[int]) -> int:
        """A list of metadata nodes."""
        self._metadata.append(f"!{_FIRST_FREE + len(self._metadata)} = !{{{', '.join(f'!{n}' for n in numbers)}}}")
        return _FIRST_FREE + len(self._metadata) - 1

    def memory(self, name: str) -> str:
        """Metadata of loads and stores of memory that no other name stands for."""
        if name not in self._memory:
            number = _FIRST_FREE + len(self._metadata)
            self._metadata.append(f'!{number} = !{{!"kept {number}", !2, i64 0}}')
            self._metadata.append(f"!{number + 1} = !{{!{number}, !{number}, i64 0}}")
            self._memory[name] = f", !tbaa !{number + 1}"
        return self._memory[name]

    def alias_scopes(self, count: int) -> list[int]:
        """New scopes for alias.scope and noalias lists."""
        first = _FIRST_FREE + len(self._metadata)
        self._metadata.append(f'!{first} = distinct !{{!{first}, !"kernel"}}')
        scopes = [first + 1 + i for i in range(count)]
        self._metadata += [f"!{scope} = distinct !{{!{scope}, !{first}}}" for scope in scopes]
        return scopes

    def mark(self) -> int:
        """The next node of metadata."""
        return len(self._metadata)

    def kernel(self, result: str, text: str, start: int) -> str:
        """The symbol of a function, from what follows its name; `start`: the first node of metadata that is its own.

        Functions that differ in nothing but the numbers of their nodes are one.
        """
        first = _FIRST_FREE + start

        def relative(found: re.Match[str]) -> str:
            number = int(found.group(1))
            return f"!+{number - first}" if number >= first else found.group()

        key = _NODE.sub(relative, "\n".join((result, text, *self._metadata[start:])))
        symbol = self._kernels.get(key)
        if symbol is None:
            symbol = self._kernels[key] = f"@pb.kernel.{len(self._kernels)}"
            self.blocks.append(f"define internal {result} {symbol}{text}")
        return symbol

    def record(self, machines: Sequence[Machine], start: int = 0) -> abi.Record:
        key = (tuple(machines), start)
        found = self._records.get(key)
        if found is None:
            found = self._records[key] = abi.record(machines, start)
        return found

    def metadata(self) -> str:
        """All nodes."""
        return "\n".join((_FIXED + abi.MASKED, *self._metadata, *([abi.ADDS_IN_PLACE] if self.adds_in_place else [])))


class FunctionWriter:
    """The lines of one function.  `pieces[value]` are the operands, without types, that stand for a value."""

    def __init__(self, module: ModuleWriter, rules: Mapping[str, Rule], otherwise: Rule) -> None:
        self.module = module
        self.costs = module.costs
        self.shared = False  # is this a block of a parallel loop
        self.wide = False  # does it want the widest vectors
        self._rules = rules
        self._otherwise = otherwise
        self.fast = module.options.fastmath
        self.lines: list[str] = []
        self.frame: list[str] = []  # stack cells, made at the entry so that loops do not grow the stack
        self.pieces: dict[Value, tuple[str, ...]] = {}
        self.block = "entry"
        self.count = 0
        self.failures: list[tuple[str, str]] = []  # (status, block)
        self.depth = 0  # of loops around what is being written
        self.often = 0  # of those that may have more than a few trips
        self.lanes = False  # is it to become vectors
        self.inlined = 0  # calls of elementary functions that become part of this one
        self.compact = False  # where that may not be: code that seldom runs
        self.capacities: dict[Value, str] = {}  # of buffers, as given where they were made
        self.reserved: set[Op] = set()  # uses of buffer_put that need no test of the capacity
        self.any_order: set[Op] = set()  # additions that may be done in any order
        self.local: set[Value] = set()  # buffers whose header is on the stack
        self.kept: set[Value] = set()  # tables whose header is not
        self.roots: dict[str, str] = {}  # of pointers into arrays: the parameter or allocation they come from
        self.fresh: set[str] = set()  # roots that are allocations of this function

    def inner(self) -> FunctionWriter:
        """A writer for a function that stands for a part of this one."""
        made = FunctionWriter(self.module, self._rules, self._otherwise)
        made.shared, made.depth, made.often = True, self.depth, self.often
        made.local, made.kept, made.any_order, made.reserved = self.local, self.kept, self.any_order, self.reserved
        return made

    # ------------------------------------------------------------------------------------------------ typed IR

    def run(self, block: Block) -> None:
        """Write the ops of a block, whose parameters are bound."""
        find, otherwise = self._rules.get, self._otherwise
        for op in block.ops:
            find(op.prim.name, otherwise)(self, op)

    def bind(self, values: Sequence[Value], pieces: Sequence[str]) -> None:
        """Let consecutive pieces stand for the values."""
        position = 0
        for value in values:
            count = len(abi.pieces(machine(value)))
            self.pieces[value] = tuple(pieces[position : position + count])
            position += count

    def only(self, value: Value) -> str:
        """The piece of a value that has one."""
        return self.pieces[value][0]

    def flat(self, values: Sequence[Value]) -> list[str]:
        return [piece for value in values for piece in self.pieces[value]]

    def types(self, values: Sequence[Value]) -> list[str]:
        """LLVM types of the pieces of the values."""
        return [piece for value in values for piece in abi.pieces(machine(value))]

    def machines(self, values: Sequence[Value]) -> list[Machine]:
        return [machine(value) for value in values]

    # ------------------------------------------------------------------------------------ instructions and blocks

    def set(self, right: str) -> str:
        """`%tN = right`; the name."""
        name = f"%t{self.count}"
        self.count += 1
        self.lines.append(f"  {name} = {right}")
        return name

    def do(self, instruction: str) -> None:
        self.lines.append(f"  {instruction}")

    def intrinsic(self, call: str) -> str:
        """`%tN = call ...` of an intrinsic, which is declared."""
        declared = declaration(call)
        assert declared is not None, call
        self.module.declare(*declared)
        return self.set(call)

    def label(self) -> str:
        self.count += 1
        return f"L{self.count}"

    def begin(self, block: str) -> None:
        self.block = block
        self.lines.append(f"{block}:")

    def jump(self, block: str) -> None:
        self.lines.append(f"  br label %{block}")

    def branch(self, condition: str, yes: str, no: str, weights: str = "") -> None:
        self.lines.append(f"  br i1 {condition}, label %{yes}, label %{no}{weights}")

    def phis(self, types: Sequence[str], *incoming: tuple[str, Sequence[str]]) -> list[str]:
        """One phi per type; `incoming` are (block, operands)."""
        names = []
        for i, type_ in enumerate(types):
            arms = ", ".join(f"[ {values[i]}, %{block} ]" for block, values in incoming)
            names.append(self.set(f"phi {type_} {arms}"))
        return names

    def open_phis(self, types: Sequence[str], block: str, values: Sequence[str]) -> OpenPhis:
        """Phis of a loop head whose values from the back edge are given later."""
        names, start = [], len(self.lines)
        for type_, value in zip(types, values, strict=True):
            names.append(self.set(f"phi {type_} [ {value}, %{block} ]"))
        return OpenPhis(self, start, names)

    # ----------------------------------------------------------------------------------------------- convenience

    def stack(self, type_: str) -> str:
        """A stack cell of this call."""
        name = f"%s{len(self.frame)}"
        self.frame.append(f"  {name} = alloca {type_}")
        return name

    def buffer(self, number: int, size: int) -> str:
        """Memory of this call that whoever asks for that number shares, one after the other."""
        name = f"%buffer{number}.{size}"
        line = f"  {name} = alloca [{size} x i8], align 64"
        if line not in self.frame:
            self.frame.append(line)
        return name

    def offset(self, pointer: str, amount: str | int) -> str:
        """A pointer, some bytes on."""
        if str(amount) == "0":
            return pointer
        return self.set(f"getelementptr inbounds i8, ptr {pointer}, i64 {amount}")

    def add(self, x: str, y: str) -> str:
        return y if x == "0" else x if y == "0" else self.set(f"add nsw i64 {x}, {y}")

    def multiply(self, x: str, y: str) -> str:
        if x == "0" or y == "0":
            return "0"
        if x.isdigit() and y.isdigit():
            return str(int(x) * int(y))
        return y if x == "1" else x if y == "1" else self.set(f"mul nsw i64 {x}, {y}")

    def load(self, dtype: DType, pointer: str, kind: str) -> str:
        """An element of memory as a register value."""
        memory = abi.MEMORY[dtype]
        value = self.set(f"load {memory}, ptr {pointer}{kind}")
        return self.set(f"icmp ne i8 {value}, 0") if dtype is DType.BOOL else value

    def store(self, dtype: DType, value: str, pointer: str, kind: str) -> None:
        memory = abi.MEMORY[dtype]
        if dtype is DType.BOOL:
            value = self.set(f"zext i1 {value} to i8")
        self.do(f"store {memory} {value}, ptr {pointer}{kind}")

    def load_piece(self, type_: str, pointer: str, kind: str) -> str:
        if type_ != "i1":
            return self.set(f"load {type_}, ptr {pointer}{kind}")
        return self.load(DType.BOOL, pointer, kind)

    def store_piece(self, type_: str, value: str, pointer: str, kind: str) -> None:
        if type_ == "i1":
            self.store(DType.BOOL, value, pointer, kind)
        else:
            self.do(f"store {type_} {value}, ptr {pointer}{kind}")

    # ---------------------------------------------------------------------------------------------------- failing

    def fail_if(self, condition: str, status: str | int) -> None:
        """Return with `status` where the condition holds, which is rare."""
        after, here = self.label(), self.block
        self.branch(condition, "fail", after, UNLIKELY)
        self.failures.append((str(status), here))
        self.begin(after)

    def fail(self, status: str | int) -> None:
        """End the block by returning `status`."""
        self.failures.append((str(status), self.block))
        self.jump("fail")

    def site(self, site: abi.ErrorSite) -> int:
        self.module.sites.append(site)
        return len(self.module.sites) - 1

    def allocate(self, size: str, zeroed: bool = False) -> str:
        """Memory of the context's list; the function returns NO_MEMORY where there is none."""
        helper = self.module.helper("pb.alloc_zeroed" if zeroed else "pb.alloc")
        pointer = self.set(f"call noalias align 64 ptr {helper}(ptr %context, i64 {size})")
        self.fail_if(self.set(f"icmp eq ptr {pointer}, null"), abi.NO_MEMORY)
        self.roots[pointer] = pointer
        self.fresh.add(pointer)
        return pointer

    def count_work(self, cell: int) -> None:
        """Add one to a process-wide count of work, a cell of pb.work."""
        self.do(f"call void {self.module.helper('pb.count_work')}(i64 {8 * cell})")

    def apart(self, first: str, second: str) -> bool:
        """Is it known that two pointers never lie in one array."""
        a, b = self.roots.get(first), self.roots.get(second)
        return a is not None and b is not None and a != b and (a in self.fresh or b in self.fresh)

    # ------------------------------------------------------------------------------------------------------- fuel

    def burn(self, amount: str) -> None:
        """Take work off the fuel and poll for Ctrl-C once it is used up."""
        left = self.take(amount)
        poll, after = self.label(), self.label()
        self.branch(self.set(f"icmp slt i64 {left}, 0"), poll, after, UNLIKELY)
        self.begin(poll)
        status = self.set(f"call i32 {self.module.helper('pb.poll')}(ptr %context)")
        self.failures.append((status, poll))
        self.branch(self.set(f"icmp eq i32 {status}, 0"), after, "fail", LIKELY)
        self.begin(after)

    def take(self, amount: str) -> str:
        """Take work off the fuel; what is left."""
        place = self.offset("%context", abi.FUEL)
        left = self.set(f"sub i64 {self.set(f'load i64, ptr {place}{CONTEXT}')}, {amount}")
        self.do(f"store i64 {left}, ptr {place}{CONTEXT}")
        return left


    def close(self, header: str, result: str, values: Sequence[str] = ()) -> str:
        """Return FINE and the values (`result`: their LLVM type, i32 or a struct); the whole function."""
        if result == "i32":
            self.do(f"ret i32 {abi.FINE}")
        else:
            types = result[1:-1].split(", ")
            built = "poison"
            for i, (type_, value) in enumerate(zip(types, (str(abi.FINE), *values), strict=True)):
                built = self.set(f"insertvalue {result} {built}, {type_} {value}, {i}")
            self.do(f"ret {result} {built}")
        if self.failures:
            self.begin("fail")
            status = self.set("phi i32 " + ", ".join(f"[ {s}, %{b} ]" for s, b in self.failures))
            if result != "i32":
                status = self.set(f"insertvalue {result} zeroinitializer, i32 {status}, 0")
            self.do(f"ret {result} {status}")
        return "\n".join((header + " {", "entry:", *self.frame, *self.lines, "}", ""))


class OpenPhis:
    """Phis that wait for their back edge."""

    def __init__(self, writer: FunctionWriter, start: int, names: list[str]) -> None:
        self.writer = writer
        self.start = start
        self.names = names

    def close(self, block: str, values: Sequence[str]) -> None:
        for i, value in enumerate(values):
            self.writer.lines[self.start + i] += f", [ {value}, %{block} ]"
