"""The entry of one specialization: LLVM text between a vectorcall of CPython and the compiled function.

    wrap(boundary for f(x: float) -> float, core "@pb.f.f")

writes, in outline,

    define ptr @pb.entry(self, args, count, names, cursor):
        count != 1, or args[0] not a float             -> miss: the next entry of the chain takes the call
        a guarded global is not what it was            -> miss
        context on the stack; {status, r} = @pb.f.f(context, value of args[0])
        status != 0                                    -> pb.fail: the exception is set; null
        result = PyFloat_FromDouble(r); memory settled; result

Recursive programs run on a private stack: then arguments and results go through a record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pullback.codegen import abi, attributes, memory, support, support_graphs
from pullback.codegen.graphs import Graph, Use
from pullback.codegen.images import Images
from pullback.codegen.native import ENTRY, Text
from pullback.codegen.repack import Arrays, Packer, array_count
from pullback.codegen.support_arrays import handed_size
from pullback.codegen.support_stacks import GUARD, has_private_stacks
from pullback.codegen.unpack import Unpacker
from pullback.diagnostic import UNKNOWN, Span
from pullback.runtime.boundary import Boundary
from pullback.runtime.packing import Packed
from pullback.types import Machine, Never, Table, Type, slots

__all__ = ["Wrapped", "wrap"]


@dataclass(frozen=True, slots=True)
class Wrapped:
    """LLVM text around a compiled function: `before` and `after` enclose the text of the module.

    `objects[i]` is the Python object behind the symbol pb.object.<i>.
    """

    before: str
    after: str
    declarations: dict[str, str]
    objects: tuple[object, ...]


def wrap(
    boundary: Boundary,
    core: str,
    sites: Sequence[abi.ErrorSite] = (),
    span: Span = UNKNOWN,
    recursive: bool = False,
    triple: str = "",
    attributes: str = "nounwind",
    tables: Mapping[str, Use] = MappingProxyType({}),
    gives_up: bool = False,
    inlined: bool = True,
) -> Wrapped:
    """The entry for the compiled function of the symbol `core`, whose parameters are those of the boundary.

    sites: the checks that may fail in it.  span: where it is defined, for errors that belong to no line of it.
    recursive: its stack may grow deep.  triple: the system; empty for one like Linux on x86-64.
    attributes: of the entry, an LLVM function.  tables: what the program does with its tables.
    gives_up: it may end as if there were no code for the call (`OVER_BUDGET`).
    inlined: the compiled function may become part of the entry.
    """
    wrapper = _Wrapper(boundary, core, tuple(sites), span, recursive, triple or "x86_64-unknown-linux-gnu", tables)
    wrapper.gives_up, wrapper.inlined = gives_up, inlined
    return wrapper.run(attributes)


class _Wrapper:
    def __init__(
        self, boundary: Boundary, core: str, sites: tuple[abi.ErrorSite, ...], span: Span, recursive: bool, triple: str,
        tables: Mapping[str, Use],
    ) -> None:  # fmt: skip
        self.gives_up, self.inlined = False, True
        self.boundary = boundary
        self.core = core
        self.sites = sites
        self.span = span
        self.switches = recursive and has_private_stacks(triple)
        self.limited = recursive and not self.switches
        self._status_slot = ""
        self.text = Text()
        self.graph = Graph(self.text, boundary, tables, span)
        self.images = Images(self.graph)
        self.unpacker = Unpacker(self.text, boundary, graph="%graph" if boundary.heaps else "")
        self.passed = sorted((n for n, shape in enumerate(boundary.heaps) if shape.passed), key=self._table_name)
        handed = tuple(Table(self._table_name(n)) for n in self.passed)
        self.takes = (*_machines((*boundary.params, *(hidden.type for hidden in boundary.hidden))), *handed)
        self.gives = _machines((boundary.result,))

    def _table_name(self, number: int) -> str:
        return self.boundary.heaps[number].table

    def run(self, attributes: str) -> Wrapped:
        text = self.text
        context = self._context() if self.boundary.heaps else ""
        if context:
            self._begin_graph(context)
        pieces = self._unpack()
        if context:
            text.require(text.set("call i1 @pb.import(ptr %graph)"), "miss")
            self._require_apart()
            pieces += [self.graph.table(number) for number in self.passed]
        else:
            self._hold("Py_IncRef")
            context = self._context()
        results = self._run_core(context, pieces)
        self._finish(context, results)
        self._miss(context)
        entry = text.function(f"ptr @{ENTRY}(ptr %self, ptr %args, i64 %count, ptr %names, ptr %cursor) {attributes}")
        body = self._body() if self.switches else ""
        body += self.graph.functions() if self.boundary.heaps else ""
        body += self.images.functions() if self.boundary.packed else ""
        before, after = text.module_parts()
        return Wrapped(before, f"{entry}\n{body}{after}", text.declarations, tuple(text.objects))

    # ------------------------------------------------------------------------------------------------- arguments

    def _unpack(self) -> list[str]:
        text, boundary = self.text, self.boundary
        count, mask = len(boundary.params), (1 << 63) - 1
        if boundary.keyword_only:
            count |= support.BOUND
        else:
            mask &= ~support.BOUND
        given = text.set(f"and i64 %count, {mask}")
        text.require(text.set(f"icmp eq i64 {given}, {count}"), "miss")
        pieces: list[str] = []
        packed = {i: self._packed(i, first=not k) for k, i in enumerate(boundary.packed)}
        for i, type_ in enumerate(boundary.params):
            pieces += [packed[i]] if i in packed else self.unpacker.value(type_, text.load("ptr", "%args", 8 * i))
        for guard in boundary.guards:
            self.unpacker.guard(guard)
        for hidden in boundary.hidden:
            pieces += self.unpacker.hidden(hidden)
        return pieces

    def _packed(self, number: int, *, first: bool) -> str:
        """The row of a packed object.  The first one's rows are there before all others, so they may come from an
        image."""
        text, type_ = self.text, self.boundary.params[number]
        value = text.load("ptr", "%args", 8 * number)
        text.require(text.is_(text.type_of(value), Packed), "miss")

        def enter(object_: str) -> str:
            return self.unpacker.value(type_, object_)[0]

        if first:
            return self.images.enter(number, value, enter)
        return enter(text.load("ptr", value, attributes.known_offset(Packed, "object")))

    def _hold(self, function: str) -> None:
        """Take or drop references to arrays that Python code, run by a signal or a thread, could let go meanwhile."""
        for value in self.unpacker.borrowed:
            self.text.call("void", function, f"ptr {value}")

    def _begin_graph(self, context: str) -> None:
        """An empty graph, with room on the stack for a few objects."""
        text, heaps = self.text, len(self.boundary.heaps)
        size = support_graphs.graph_size(heaps)
        text.frame.append(f"  %graph = alloca [{support_graphs.first_size(heaps)} x i8], align 16")
        zeroed = support_graphs.zeroed_size(heaps)
        text.call("void", "llvm.memset.p0.i64", "ptr %graph", "i8 0", f"i64 {zeroed}", "i1 false")
        text.store("ptr", context, "%graph", support_graphs.CONTEXT)
        for place, value, offset in support_graphs.first_places(heaps):
            text.store("ptr", text.at("%graph", size + offset), "%graph", place)
            text.store("i64", str(value), "%graph", place + 8)

    def _require_apart(self) -> None:
        """Miss where a list or dict of fixed structure is also one that may change."""
        if any(shape.kind not in ("object", "items", "cell", "globals") for shape in self.boundary.heaps):
            for value in self.unpacker.fixed:
                known = self.text.call("i1", "pb.graph_knows", "ptr %graph", f"ptr {value}")
                self.text.require(self.text.set(f"xor i1 {known}, true"), "miss")

    def _miss(self, context: str) -> None:
        text = self.text
        text.begin("miss")
        if self.boundary.heaps:
            self._free(context, "null")
        self._pass_on()
        if self.gives_up:
            text.begin("over")
            self._settle(context, "null")
            self._pass_on()

    def _pass_on(self) -> None:
        """Let the next entry of the chain take the call."""
        text = self.text
        rest = text.at("%cursor", 8)
        following = text.load("ptr", rest)
        operands = f"ptr %self, ptr %args, i64 %count, ptr %names, ptr {rest}"
        text.do(f"ret ptr {text.set(f'tail call ptr {following}({operands})')}")

    # ---------------------------------------------------------------------------------------------------- calling

    def _context(self) -> str:
        text = self.text
        context = text.slot("i64", abi.CONTEXT_SIZE // 8)
        text.call("void", "llvm.memset.p0.i64", f"ptr {context}", "i8 0", f"i64 {abi.CONTEXT_SIZE}", "i1 false")
        text.store("i64", str(memory.REFILL), context, abi.FUEL)
        return context

    def _run_core(self, context: str, pieces: list[str]) -> list[str]:
        """Call the compiled function; its results without the status.  On a failure the function ends."""
        text = self.text
        if self.switches:
            return self._run_on_private_stack(context, pieces)
        if self.limited:
            text.store("ptr", text.call("ptr", "pb.stack_limit"), context, abi.STACK_LIMIT)
        result = abi.result_type(self.gives)
        arguments = text.join([context, *pieces], ["ptr", *abi.all_pieces(self.takes)])
        got = text.set(f"call {result} {self.core}({arguments}){'' if self.inlined else ' noinline'}")
        status = text.set(f"extractvalue {result} {got}, 0")
        results = [text.set(f"extractvalue {result} {got}, {i + 1}") for i in range(len(abi.all_pieces(self.gives)))]
        self._hold_gil(context)
        self._check(context, status)
        return results

    def _hold_gil(self, context: str) -> None:
        """Take the GIL back if the call, being long, has given it away."""
        text = self.text
        away, after = text.label(), text.label()
        text.branch(text.set(f"icmp eq ptr {text.load('ptr', context, abi.THREAD)}, null"), after, away)
        text.begin(away)
        text.call("void", "pb.hold", f"ptr {context}")
        text.jump(after)
        text.begin(after)

    def _check(self, context: str, status: str) -> None:
        text = self.text
        text.store("i32", status, self._status())
        if self.gives_up:
            text.require(text.set(f"icmp ne i32 {status}, {abi.OVER_BUDGET}"), "over")
        text.require(text.set(f"icmp eq i32 {status}, {abi.FINE}"), "failed")

    def _status(self) -> str:
        if not self._status_slot:
            self._status_slot = self.text.slot("i32")
        return self._status_slot

    def _record(self) -> tuple[abi.Record, int, int]:
        """Arguments and results in memory: layout, where the status lies, size.  The context comes first."""
        layout = abi.record((*self.takes, *self.gives), 8)
        return layout, layout.size, layout.size + 8

    def _run_on_private_stack(self, context: str, pieces: list[str]) -> list[str]:
        text = self.text
        record, status_at, size = self._record()
        packed = text.slot("i8", size)
        text.store("ptr", context, packed)
        offsets = [place for places in record.offsets for place in places]
        types = abi.all_pieces((*self.takes, *self.gives))
        for value, type_, offset in zip(pieces, types, offsets, strict=False):
            self._keep(type_, value, packed, offset)
        stack = text.call("ptr", "pb.stack_take")
        text.store("i32", str(abi.NO_MEMORY), self._status())
        text.require(text.set(f"icmp ne ptr {stack}, null"), "failed")
        text.store("ptr", text.at(text.load("ptr", stack, 8), sum(GUARD)), context, abi.STACK_LIMIT)
        text.store("ptr", text.call("ptr", "llvm.stacksave.p0"), context, abi.CALLER_STACK)
        text.call("void", "pb.switch", f"ptr {stack}", "ptr @pb.body", f"ptr {packed}")
        self._hold_gil(context)
        text.call("void", "pb.stack_give", f"ptr {stack}")
        text.store("ptr", "null", context, abi.CALLER_STACK)
        self._check(context, text.load("i32", packed, status_at))
        return [
            self._kept(type_, packed, offset)
            for type_, offset in zip(types[len(pieces) :], offsets[len(pieces) :], strict=True)
        ]

    def _body(self) -> str:
        """What runs on the private stack: the call, with everything in a record."""
        text = self.text
        record, status_at, _ = self._record()
        types = abi.all_pieces((*self.takes, *self.gives))
        offsets = [place for places in record.offsets for place in places]
        count = len(abi.all_pieces(self.takes))
        pieces = [self._kept(types[i], "%packed", offsets[i]) for i in range(count)]
        context = text.load("ptr", "%packed")
        result = abi.result_type(self.gives)
        arguments = text.join([context, *pieces], ["ptr", *types[:count]])
        got = text.set(f"call {result} {self.core}({arguments})")
        text.store("i32", text.set(f"extractvalue {result} {got}, 0"), "%packed", status_at)
        for i, (type_, offset) in enumerate(zip(types[count:], offsets[count:], strict=True)):
            self._keep(type_, text.set(f"extractvalue {result} {got}, {i + 1}"), "%packed", offset)
        text.do("ret void")
        return text.function("internal void @pb.body(ptr %packed) nounwind noinline")

    def _keep(self, type_: str, value: str, pointer: str, offset: int) -> None:
        if type_ == "i1":
            type_, value = "i8", self.text.set(f"zext i1 {value} to i8")
        self.text.store(type_, value, pointer, offset)

    def _kept(self, type_: str, pointer: str, offset: int) -> str:
        if type_ == "i1":
            return self.text.set(f"icmp ne i8 {self.text.load('i8', pointer, offset)}, 0")
        return self.text.load(type_, pointer, offset)

    # --------------------------------------------------------------------------------------------------- results

    def _finish(self, context: str, results: list[str]) -> None:
        """Build the object, settle memory, return; and the same after a failure."""
        text = self.text
        if self.boundary.heaps:
            return self._finish_graph(context, results)
        handed, arrays = self._arrays(context)
        root = text.slot("ptr")
        text.store("ptr", "null", root)
        if isinstance(self.boundary.result, Never):
            # A function that always raises has returned: its status must have told.
            text.store("i32", "-1", self._status())
            text.jump("failed")
        else:
            values = _by_machine(results, self.gives)
            Packer(text, self.boundary, arrays, self.span).put(self.boundary.result, values, root)
            self._settle(context, handed)
            text.do(f"ret ptr {text.load('ptr', root)}")
            text.begin("unpacked")
            self._settle(context, handed)
            text.call("void", "Py_DecRef", f"ptr {text.load('ptr', root)}")
            text.do("ret ptr null")
        text.begin("failed")
        operands = (f"i32 {text.load('i32', self._status())}", f"ptr {text.symbol(self.sites)}")
        nothing = text.call("ptr", "pb.fail", f"ptr {context}", *operands, f"ptr {text.symbol(self.span)}")
        self._settle(context, "null")
        text.do(f"ret ptr {nothing}")

    def _finish_graph(self, context: str, results: list[str]) -> None:
        """`_finish` where there are objects: what has changed goes back into them first, also after a failure."""
        text = self.text
        root = text.slot("ptr")
        text.store("ptr", "null", root)
        handed = self._handed(context)
        if isinstance(self.boundary.result, Never):
            text.store("i32", "-1", self._status())
            text.jump("failed")
        else:
            text.require(text.set("call i1 @pb.export(ptr %graph)"), "unpacked")
            packer = Packer(text, self.boundary, self.graph.arrays(), self.span, graph="%graph")
            packer.put(self.boundary.result, _by_machine(results, self.gives), root)
            text.require(text.set("call i1 @pb.fill(ptr %graph)"), "unpacked")
            self._settle(context, handed)
            text.do(f"ret ptr {text.load('ptr', root)}")
            text.begin("unpacked")
            self._settle(context, handed)
            text.call("void", "Py_DecRef", f"ptr {text.load('ptr', root)}")
            text.do("ret ptr null")
        text.begin("failed")
        saved = [text.slot("ptr") for _ in range(3)]
        places = [f"ptr {place}" for place in saved]
        handed = self._handed(context)
        text.call("void", "PyErr_Fetch", *places)
        done = text.set("call i1 @pb.export(ptr %graph)")
        text.require(done, "lost")
        text.call("void", "PyErr_Restore", *(f"ptr {text.load('ptr', place)}" for place in saved))
        operands = (f"i32 {text.load('i32', self._status())}", f"ptr {text.symbol(self.sites)}")
        nothing = text.call("ptr", "pb.fail", f"ptr {context}", *operands, f"ptr {text.symbol(self.span)}")
        self._settle(context, handed)
        text.do(f"ret ptr {nothing}")
        text.begin("lost")
        for place in saved:
            text.call("void", "Py_DecRef", f"ptr {text.load('ptr', place)}")
        self._settle(context, handed)
        text.do("ret ptr null")

    def _handed(self, context: str) -> str:
        """Room to note the blocks that arrays of results are given, known to the graph."""
        text = self.text
        bound = text.set(f"add i64 {self.graph.array_bound()}, {array_count(self.boundary.result)}")
        size = text.set(f"add i64 {text.set(f'mul i64 {bound}, 16')}, 8")
        handed = text.call("ptr", "pb.alloc_zeroed", f"ptr {context}", f"i64 {size}") if bound != "0" else "null"
        text.store("ptr", handed, "%graph", support_graphs.HANDED)
        return handed

    def _arrays(self, context: str) -> tuple[str, Arrays]:
        text = self.text
        count = array_count(self.boundary.result)
        if not count:
            return "null", Arrays(context, "null", "null", 0)
        handed = text.slot("i8", handed_size(count))
        text.store("i64", "0", handed)
        known = self.unpacker.arrays
        candidates = text.slot("ptr", max(1, len(known)))
        for i, value in enumerate(known):
            text.store("ptr", value, candidates, 8 * i)
        return handed, Arrays(context, handed, candidates, len(known))

    def _settle(self, context: str, handed: str) -> None:
        """Free what the call allocated, if anything, and give back references."""
        text = self.text
        if self.boundary.packed and self.graph.changes():
            for number in self.boundary.packed:
                self.images.forget(text.load("ptr", "%args", 8 * number))
        self._free(context, handed)

    def _free(self, context: str, handed: str) -> None:
        text = self.text
        if self.boundary.heaps:
            text.call("void", "pb.graph_drop", "ptr %graph", f"i64 {len(self.boundary.heaps)}")
        some, after = text.label(), text.label()
        empty = text.set(f"icmp eq ptr {text.load('ptr', context, abi.LIST)}, null")
        text.branch(empty, after, some)
        text.begin(some)
        text.call("void", "pb.settle", f"ptr {context}", f"ptr {handed}")
        text.jump(after)
        text.begin(after)
        self._hold("Py_DecRef")


def _machines(types: Sequence[Type]) -> tuple[Machine, ...]:
    return tuple(slot for type_ in types for slot in slots(type_))


def _by_machine(pieces: Sequence[str], machines: Sequence[Machine]) -> list[Sequence[str]]:
    """Pieces grouped by machine value."""
    groups: list[Sequence[str]] = []
    position = 0
    for machine in machines:
        count = len(abi.pieces(machine))
        groups.append(pieces[position : position + count])
        position += count
    return groups
