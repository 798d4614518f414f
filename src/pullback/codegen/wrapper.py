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

from collections.abc import Sequence
from dataclasses import dataclass

from pullback.codegen import abi, memory, support
from pullback.codegen.native import ENTRY, Text
from pullback.codegen.repack import Arrays, Packer, array_count
from pullback.codegen.support_arrays import handed_size
from pullback.codegen.support_stacks import GUARD, has_private_stacks
from pullback.codegen.unpack import Unpacker
from pullback.diagnostic import UNKNOWN, Span
from pullback.runtime.boundary import Boundary
from pullback.types import Machine, Never, Type, slots

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
) -> Wrapped:
    """The entry for the compiled function of the symbol `core`, whose parameters are those of the boundary.

    sites: the checks that may fail in it.  span: where it is defined, for errors that belong to no line of it.
    recursive: its stack may grow deep.  triple: the system; empty for one like Linux on x86-64.
    attributes: of the entry, an LLVM function.
    """
    wrapper = _Wrapper(boundary, core, tuple(sites), span, recursive, triple or "x86_64-unknown-linux-gnu")
    return wrapper.run(attributes)


class _Wrapper:
    def __init__(
        self, boundary: Boundary, core: str, sites: tuple[abi.ErrorSite, ...], span: Span, recursive: bool, triple: str
    ) -> None:
        self.boundary = boundary
        self.core = core
        self.sites = sites
        self.span = span
        self.switches = recursive and has_private_stacks(triple)
        self.limited = recursive and not self.switches
        self._status_slot = ""
        self.text = Text()
        self.unpacker = Unpacker(self.text, boundary)
        self.takes = _machines((*boundary.params, *(hidden.type for hidden in boundary.hidden)))
        self.gives = _machines((boundary.result,))

    def run(self, attributes: str) -> Wrapped:
        text = self.text
        pieces = self._unpack()
        self._hold("Py_IncRef")
        context = self._context()
        results = self._run_core(context, pieces)
        self._finish(context, results)
        self._miss()
        entry = text.function(f"ptr @{ENTRY}(ptr %self, ptr %args, i64 %count, ptr %names, ptr %cursor) {attributes}")
        body = self._body() if self.switches else ""
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
        for i, type_ in enumerate(boundary.params):
            pieces += self.unpacker.value(type_, text.load("ptr", "%args", 8 * i))
        for guard in boundary.guards:
            self.unpacker.guard(guard)
        for hidden in boundary.hidden:
            pieces += self.unpacker.hidden(hidden)
        return pieces

    def _hold(self, function: str) -> None:
        """Take or drop references to arrays that Python code, run by a signal or a thread, could let go meanwhile."""
        for value in self.unpacker.borrowed:
            self.text.call("void", function, f"ptr {value}")

    def _miss(self) -> None:
        text = self.text
        text.begin("miss")
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
        got = text.set(f"call {result} {self.core}({arguments})")
        status = text.set(f"extractvalue {result} {got}, 0")
        results = [text.set(f"extractvalue {result} {got}, {i + 1}") for i in range(len(abi.all_pieces(self.gives)))]
        self._check(context, status)
        return results

    def _check(self, context: str, status: str) -> None:
        text = self.text
        text.store("i32", status, self._status())
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
