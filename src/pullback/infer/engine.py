"""Inference as abstract interpretation that emits: untyped IR in, typed specializations out.

    def f(x, n):                 f(float, int):                    f__1(x: f64, n: i64) -> f64
        r = 1.0          ->      walk the ops once with      ->        c: f64 = const 1.0
        for i in range(n): ...   abstract values, loops            r: f64 = for n, c: ...
                                 to a fixpoint of types

One specialization per (function, abstract arguments).  Recursion starts from "no value" and repeats until the result
type is stable; specializations inferred against an older estimate are dropped.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any, Protocol

from pullback.diagnostic import CompileError, CompileTypeError, Diagnostic, InternalError, Span
from pullback.infer.advice import is_library
from pullback.infer.asked import Ask, Asked, mentions
from pullback.infer.heaps import Heap, skeleton
from pullback.infer.knowledge import Definitions
from pullback.infer.lattice import Family, depth, join, nesting, widen
from pullback.infer.sites import Changed, sites_in
from pullback.infer.values import AV, MISSING, coerce
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.prims.base import Emitter, get
from pullback.prims.control import MOST_PAYLOAD
from pullback.prims.stated import Stated, stated
from pullback.runtime.boundary import RECORDS, Guard, Hidden
from pullback.runtime.fixed import fixed_leaves, loose
from pullback.runtime.state import NOTHING_HELD, Held
from pullback.types import BOOL, NEVER, Closure, Dict, Failure, List, Table, Tuple, Type, Union, slots

__all__ = [
    "BUILTINS", "JOINED", "Branch", "Code", "Fact", "Frame", "Options", "Session", "Specialization", "deep_recursion",
    "outside_library",
]  # fmt: skip

MOST_DEPTH = 8  # nesting of structured types before they count as recursive data
MOST_GROWN = 3  # tries of a function whose result has no end: each takes twice as long as the last
MOST_LENGTHS = 6  # of tuples or lists that one loop variable may hold before it counts as growing
JOINED = "joined"  # sites of tuples that are made of others: see `joined_tuples`
MOST_BACKPROPAGATORS = 64  # that may nest beyond that
MOST_PAIRS = 4  # around data in derivatives by closures: of values and backpropagators, of sensitivities
MOST_SPECIALIZATIONS = 64  # of one function before its argument types count as growing
MOST_NUMBERS = 256  # that one function is made for before that counts as having no end


@dataclass(frozen=True, slots=True)
class Options:
    """What the user may switch: `checks` Python's float and int errors, `boundscheck` index errors."""

    checks: bool = True
    boundscheck: bool = True


UNCHECKED = Options(checks=False, boundscheck=False)


@dataclass(eq=False, slots=True)
class Code:
    """An untyped function and where its names are looked up.  `python`: the function object of a top-level one."""

    untyped: Function
    globals: dict[str, Any]
    python: FunctionType | None = None
    primal: Code | None = None  # of a function with backpropagators: the code of the function that it is made of
    level: int = 0  # how many derivatives it is in the code of, where arrays have shadows: they differ in types

    @property
    def order(self) -> int:
        """How often J was applied to it."""
        return 0 if self.primal is None else self.level - self.primal.level

    @property
    def name(self) -> str:
        name = str(self.untyped.attrs.get("python_name", self.untyped.name))
        return name.rstrip("_") if self.is_prelude else name

    @property
    def is_prelude(self) -> bool:
        """Is this not the user's code, but a definition of what the user calls?"""
        return str(self.globals.get("__name__")).startswith("pullback.prims.prelude")

    @property
    def is_structural(self) -> bool:
        """Does it only move rows of heaps: nothing in it is checked, so that it need not know who calls it."""
        return self.python is not None and "__pullback_structural__" in self.python.__dict__

    @property
    def is_outlined(self) -> bool:
        """Does it stay a function of its own: it is long, or seldom called."""
        return self.python is not None and "__pullback_outlined__" in self.python.__dict__

    @property
    def stated(self) -> Stated | None:
        """The derivative rule of the function, if it has one of its own."""
        return None if self.python is None else stated(self.python)


@dataclass(eq=False, slots=True)
class Specialization:
    """One typed version of a function: `parameters` are the abstract types of captured values, then arguments."""

    name: str
    code: Code
    parameters: tuple[Type, ...]
    definitions: Definitions
    result: Type = NEVER
    function: Function | None = None
    running: bool = False
    used: bool = False
    depth: int = 0  # among those that are running
    head: Specialization | None = None  # the first of those that call one another, which settles their results
    seen_at: Span | None = None  # the call in the user's code that a function of the prelude stands for


class Backward(Protocol):
    """What inference asks of the formulation of derivatives by closures."""

    @property
    def transform(self) -> Callable[[Function], Function]:
        """A function that returns its value and a backpropagator, of a function of untyped IR."""
        ...

    @property
    def plain(self) -> Callable[[Program], None]:
        """What makes flags of the exceptions that a typed program catches."""
        ...

    def add(self, cx: Frame, a: AV, b: AV) -> AV:
        """The sum of sensitivities behind references."""
        ...

    def outside(self, cx: Frame, where: Hashable, av: AV) -> AV:
        """What was found outside, its arrays with shadows."""
        ...

    def reject_unnoticed(self, cx: Frame) -> None:
        """Guard: in a function with a backpropagator, nothing is stored without one."""
        ...


@dataclass(eq=False, slots=True)
class Session:
    """One compilation: all specializations reached from one entry, with the guards and hidden inputs they rest on."""

    parse: Callable[[FunctionType], Function]
    frame: type[Frame]
    options: Options = field(default_factory=Options)
    held: Held = NOTHING_HELD
    specializations: dict[tuple[Code, tuple[Type, ...], Span | None], Specialization] = field(default_factory=dict)
    order: list[Specialization] = field(default_factory=list)
    lowest: list[Specialization] = field(default_factory=list)  # of those that run, the first that each one waits for
    unsettled: int = 0  # results that changed after they had been used
    estimates: dict[tuple[Code, tuple[Type, ...], Span | None], Type] = field(default_factory=dict)
    hidden: dict[tuple[int, object], Hidden] = field(default_factory=dict)
    guards: dict[tuple[int, object], Guard] = field(default_factory=dict)
    objects: list[tuple[Type, object]] = field(default_factory=list)  # functions in hidden containers
    codes: dict[object, Code] = field(default_factory=dict)
    names: dict[str, int] = field(default_factory=dict)
    families: list[Family] = field(default_factory=list)
    heaps: dict[tuple[str, Hashable], Heap] = field(default_factory=dict)
    displays: dict[tuple[str, Hashable], int] = field(default_factory=dict)  # of tuples: how deep what they made is
    lengths: dict[tuple[str, Hashable], set[int]] = field(default_factory=dict)  # of what joined tuples made
    rows: set[tuple[str, Hashable]] = field(default_factory=set)  # displays (their spans) and NamedTuples with heaps
    imported: dict[int, tuple[object, Heap]] = field(default_factory=dict)  # Python objects with a row, by identity
    resolved: dict[int, tuple[Type, object]] = field(default_factory=dict)  # functions and the like in such objects
    importer: object = None  # the walk over them (`imports`)
    lenient: bool = False  # an op without meaning ends its path: what is known of heaps is not all there is to know
    passed_over: bool = False  # such an op was met
    catching: list[tuple[str, ...]] = field(default_factory=list)  # what the `try` around takes, classes by name
    handled: dict[Hashable, dict[Failure, None]] = field(default_factory=dict)  # what handlers may be given
    newly_handled: int = 0
    changed_exceptions: set[str] = field(default_factory=set)  # classes whose objects change after they are made
    guard_count: int = 0
    ruled: dict[str, Function] = field(default_factory=dict)  # of derivative rules (`ruled`)
    named: dict[str, Specialization] = field(default_factory=dict)
    asked: Asked = field(default_factory=Asked)
    classes: dict[Hashable, type] = field(default_factory=dict)  # templates of those that functions make
    entry: Code | None = None  # the function that Python calls
    log: list[str] = field(default_factory=list)
    given_depth: int = 0  # of the nesting of what Python passes
    performed: dict[Hashable, Op] = field(default_factory=dict)  # for ops with backpropagators, the ops themselves
    shadowed: bool = False  # arrays in derivatives by closures have shadows: the program writes to some, or stores some
    overwrites: bool = False  # it writes to some
    outside: bool = False  # and to some that it finds in globals, cells and defaults
    places: dict[Hashable, Type] = field(default_factory=dict)  # these, where derivatives read any
    called: dict[object, Function] = field(default_factory=dict)  # functions whose loops are calls in derivatives
    grown: dict[Code, list[CompileError]] = field(default_factory=dict)  # of which results had no end, in this pass
    origins: dict[Op, Op] = field(default_factory=dict)  # the loops in these, as they are in the source
    recalled: int = 0  # counts changes that were seen when another loop became a call
    backward: Backward | None = None  # derivatives are closures (`ad.closures`), not requests that `ad` expands

    @property
    def most_nesting(self) -> int:
        """How deep data nests before it counts as recursive."""
        return MOST_DEPTH + self.given_depth + (0 if self.backward is None else MOST_PAIRS)

    def is_deep(self, type_: Type) -> bool:
        """Does the type nest as deep as what grows without end?  Backpropagators nest as calls do, so further."""
        if self.backward is None:
            return depth(type_) > self.most_nesting
        return nesting(type_) > self.most_nesting or depth(type_) > self.most_nesting + MOST_BACKPROPAGATORS

    def code_of(self, function: FunctionType) -> Code:
        """The untyped IR of a Python function object, parsed once."""
        found = self.codes.get(function)
        if found is None:
            found = Code(self.parse(function), function.__globals__, function)
            self.codes[function] = found
        return found

    def local_code(self, owner: Code, untyped: Function) -> Code:
        """The code of a nested function; its names resolve where its owner's do."""
        level = owner.level if self.shadowed else 0
        owner = owner.primal or owner
        key = (owner, untyped, level)
        found = self.codes.get(key)
        if found is None:
            found = Code(untyped, owner.globals, level=level)
            self.codes[key] = found
        return found

    def unique(self, name: str) -> str:
        clean = "".join(c if c.isalnum() or c == "_" else "_" for c in name)
        number = self.names.get(clean, 0) + 1
        self.names[clean] = number
        return f"{clean}_{number}"

    def specialize(self, code: Code, parameters: tuple[Type, ...], span: Span) -> Specialization:
        """The specialization for these types, inferred if it is new."""
        # checks of the prelude fail at the line that calls it
        seen_at = span if code.is_prelude and not code.is_structural else None
        key = (code, parameters, seen_at)
        found = self.specializations.get(key)
        if found is not None:
            self._depend(found)
            return found
        if len(grown := self.grown.get(code, [])) >= MOST_GROWN:
            raise _seen_from(grown[0], code, span)
        self._guard_growth(code, parameters, span)
        estimate = self.estimates.get(key, NEVER)
        spec = Specialization(
            self.unique(code.name), code, parameters, Definitions(self), estimate, seen_at=seen_at
        )  # fmt: skip
        self.specializations[key] = self.named[spec.name] = spec
        position = len(self.order)
        self.order.append(spec)
        try:
            self._infer(spec)
        except CompileError as error:
            # One that cannot be inferred is none: where only a path needs it, the rest of the program goes on.
            self._drop_since(position)
            raise _seen_from(error, code, span) from None
        return spec

    def _guard_growth(self, code: Code, parameters: tuple[Type, ...], span: Span) -> None:
        others = [other for other in self.order if other.code is code and other.seen_at in (None, span)]
        self._guard_numbers(code, parameters, len(others), span)
        count = len({tuple(map(loose, other.parameters)) for other in others}) if len(others) > 1 else len(others)
        if count >= MOST_SPECIALIZATIONS or any(map(self.is_deep, parameters)):
            if sites := self.endless(parameters):
                raise Changed(sites)  # lists of lists, without end: rows of a heap
            raise CompileError(
                Diagnostic(
                    f"the types of the arguments of {code.name}() grow without bound", span,
                    "each call passes a larger structure than the last",
                    "pass a list on, or objects of a class, in place of longer and longer tuples",
                )
            )  # fmt: skip

    def _guard_numbers(self, code: Code, parameters: Sequence[Type], count: int, span: Span) -> None:
        """A function that is made for numbers is not called with ever new ones."""
        if count >= MOST_NUMBERS and any(True for type_ in parameters for _ in fixed_leaves(type_)):
            raise CompileError(
                Diagnostic(
                    f"{code.name}() would be compiled for ever new numbers", span,
                    f"a number that must be known while compiling is another one in each of {count} calls",
                    "loop over run-time numbers with indices or slices, not with axes or lengths of tuples",
                )
            )  # fmt: skip

    def is_settled(self, spec: Specialization) -> bool:
        """Is a function inferred, and does it wait for none that is not."""
        head: Specialization | None = spec
        while head is not None and not head.running:
            head = head.head if head.head is not head else None
        return head is None and spec.function is not None

    def _infer(self, spec: Specialization) -> None:
        """Infer a specialization; the first of those that call one another goes round until nothing changes."""
        position, spec.depth = len(self.order), len(self.lowest)
        spec.running = True
        self.lowest.append(spec)
        try:
            while True:
                spec.used, self.lowest[spec.depth] = False, spec
                unsettled = self.unsettled
                spec.definitions = Definitions(self)
                function, result = self.frame(self, spec.code, spec.seen_at).infer_function(spec)
                merged = join(spec.result, result)
                changed = merged != spec.result and spec.used
                spec.head = self.lowest[spec.depth]
                if spec.head is not spec:
                    self.unsettled += changed
                    break
                if not changed and self.unsettled == unsettled:
                    break
                self._guard_result(spec, merged)
                self.unsettled, spec.result = unsettled, merged
                self._drop_since(position)
        finally:
            spec.running = False
            self.lowest.pop()
        spec.result, spec.function = merged, function
        self._depend(spec)
        if merged == NEVER and spec.used and spec.head is spec and not _raises(function):
            raise CompileError(
                Diagnostic(
                    f"the recursion of {spec.code.name}() has no end", spec.code.untyped.span,
                    "no path returns without calling itself again", "add a case that returns",
                )
            )  # fmt: skip

    def _depend(self, found: Specialization) -> None:
        """What is being inferred calls this one: if that is running, or waits for one that is, it waits as well."""
        found.used = found.used or found.running
        head: Specialization | None = found
        while head is not None and not head.running:
            head = head.head if head.head is not head else None
        if head is not None and self.lowest and head.depth < self.lowest[-1].depth:
            self.lowest[-1] = head

    def _guard_result(self, spec: Specialization, result: Type) -> None:
        """What a recursive function returns has an end; lists and tuples that get longer are of run-time length."""
        deep = self.is_deep(result)
        if (deep or _lengths(result) > MOST_LENGTHS) and (sites := self.endless((result,))):
            raise Changed(sites)
        if not deep:
            return
        error = CompileError(
            Diagnostic(
                f"the type of what {spec.code.name}() returns grows without bound", spec.code.untyped.span,
                "each level of the recursion returns a larger structure",
                "use a class for the nodes, or a list",
            )
        )  # fmt: skip
        self.grown.setdefault(spec.code, []).append(error)
        raise error

    def _drop_since(self, position: int) -> None:
        for other in self.order[position:]:
            key = (other.code, other.parameters, other.seen_at)
            self.specializations.pop(key, None)
            self.estimates[key] = other.result  # a part of what it will be; so mutual recursion settles soon
        del self.order[position:]

    @property
    def changes(self) -> int:
        """How often something was learned of families and heaps that code inferred before did not know."""
        heaps = sum(heap.changes for heap in self.heaps.values() if heap.merged is None)
        families = sum(family.changes for family in self.families)
        by_closures = self.shadowed + self.overwrites + self.outside + len(self.places) + self.recalled
        return heaps + families + self.newly_handled + len(self.asked.asks) + by_closures

    def endless(self, types: Sequence[Type]) -> frozenset[Hashable]:
        """The sites whose values make a type that has no end: of lists and dicts, displays of tuples in tuples, or
        tuples that get longer."""
        deep = {site for site, levels in self.displays.items() if levels > self.most_nesting // 2}
        long = {site for site, lengths in self.lengths.items() if len(lengths) >= MOST_LENGTHS}
        return frozenset(long) or sites_in(types) or frozenset(deep)

    def change(self, sites: Iterable[Hashable]) -> None:
        """What these sites make is changed: they make references to heaps from the next pass on."""
        changed = frozenset(sites)
        self.imported.clear()
        if rows := {(kind, _of_rows(key)) for kind, key in changed if kind in (JOINED, *RECORDS)}:  # type: ignore[misc,has-type]
            self.rows |= rows
            # Tuples as they were made before are those of no value any more.
            if any(kind == JOINED for kind, _ in rows):
                self._forget(lambda type_: _lengths(type_) > 1)
            if any(kind in RECORDS for kind, _ in rows):
                self._forget(lambda type_: _tuple_depth(type_) > 1)
            if self.backward is not None:
                self._derive_anew()  # what a row is made of has its sensitivities in the twins of the heap
                return
        if self.backward is not None and any(isinstance(site, tuple) and site[0] == "global" for site in changed):
            self._derive_anew()  # reads of such a global have sensitivities
        for site in changed:
            assert isinstance(site, tuple)
            kind, key = site
            self.heaps.setdefault((kind, key), Heap(kind, key)).changes += 1
        for heap in self.heaps.values():
            heap.forget(lambda type_: not changed.isdisjoint(sites_in((type_,))))
        for family in self.families:
            family.forget(lambda type_: not changed.isdisjoint(sites_in((type_,))))

    def _forget(self, gone: Callable[[Type], bool]) -> None:
        """What heaps and results were known to hold, where it is of such types, is learned anew."""
        self.estimates.clear()
        for heap in self.heaps.values():
            heap.forget(gone)
        for family in self.families:
            family.forget(gone)

    def ask(self, asks: Iterable[Ask]) -> None:
        """Note what must be known; what is to be of fixed structure from the next pass on has no heap any more."""
        made = {ask.key for ask in asks if ask.kind == "made"} - {ask.key for ask in self.asked.asks}
        self.asked.add(asks)
        classes = {ask.key[0] for ask in asks if ask.kind == "field" and isinstance(ask.key, tuple)}
        if classes:
            self.imported.clear()  # objects of these classes lie in other heaps from now on
        gone = [place for place, heap in self.heaps.items() if mentions(heap.key, made) or heap.python in classes]
        stores = {self.heaps.pop(place).representative for place in gone}
        for heap in self.heaps.values():
            heap.forget(lambda type_: mentions(type_, stores))
        for family in self.families:
            family.forget(lambda type_: mentions(type_, stores))

    def want_shadows(self, *, overwrites: bool, outside: bool) -> None:
        """Arrays in derivatives have shadows from the next pass on."""
        if outside and not self.outside:
            self._derive_anew()
        self.shadowed, self.overwrites = True, self.overwrites or overwrites
        self.outside = self.outside or outside

    def call(self, loop: Op) -> None:
        """The loop becomes a call of its body in derivatives, which are made anew."""
        self.origins.get(loop, loop).attrs["called"] = True
        self._derive_anew()

    def _derive_anew(self) -> None:
        """Functions with backpropagators are made anew, and all that was learned of them."""
        self.recalled = self.changes + 1  # more than before, although heaps and families go
        self.codes = {key: code for key, code in self.codes.items() if isinstance(key, FunctionType)}
        self.families.clear()
        assigned = [place for place in self.heaps if place[0] == "global"]
        self.heaps.clear()
        self.heaps.update((place, Heap(*place)) for place in assigned)
        self.imported.clear()
        self.performed.clear()

    def new_guard(self) -> int:
        """A number for a `try`."""
        self.guard_count += 1
        return self.guard_count

    def restarted(self, *, lenient: bool = False) -> Session:
        """A new session that knows the families and heaps found so far."""
        return Session(
            self.parse, self.frame, self.options, self.held, codes=self.codes, families=self.families,
            heaps=self.heaps, imported=self.imported, resolved=self.resolved, lenient=lenient, backward=self.backward,
            handled=self.handled, performed=self.performed, asked=self.asked, entry=self.entry, classes=self.classes,
            shadowed=self.shadowed, overwrites=self.overwrites, outside=self.outside, places=self.places,
            called=self.called, origins=self.origins, recalled=self.recalled, rows=self.rows,
        )  # fmt: skip

    def program(self, entry: str) -> Program:
        """The typed functions inferred so far."""
        functions = {s.name: s.function for s in self.order if s.function is not None} | self.ruled
        layouts = {str(family): family.layout for family in self.families}
        layouts |= {str(heap): [heap.columns] for heap in self.heaps.values()}
        return Program(functions, entry, layouts)


def _of_rows(key: Any) -> Hashable:
    """What stands for a site of tuples in `Session.rows`: the place of the display, or the class of NamedTuples."""
    return key if isinstance(key, type) else key[1].span


def _raises(function: Function) -> bool:
    """Is there an end by an exception?"""
    return any(op.name == "check" for op in function.body.walk())


MOST_CALLERS = 3  # named in a message
CALLED = "called from"


def _seen_from(error: CompileError, code: Code, span: Span) -> CompileError:
    """The error as the caller at `span` reports it: where it has no place of its own, and who called."""
    found = error.diagnostic
    if not found.span.line:
        return type(error)(replace(found, span=span))
    if code.is_structural:
        return type(error)(replace(found, span=span))
    if code.is_prelude:
        return error  # it stands at the call already
    outside = outside_library(error, code.name, span)
    if outside is not None:
        return outside
    callers = [note for note in found.notes if note.startswith(CALLED)]
    note = f"{CALLED} {span}"
    own = span == code.untyped.span or not span.line  # the entry calls what the user asked for
    if own or note in callers or len(callers) == MOST_CALLERS:
        return error
    return type(error)(replace(found, notes=(*found.notes, note)))


def outside_library(error: CompileError, name: str, span: Span) -> CompileError | None:
    """An error inside Python's own library as the user's line sees it; None for any other."""
    found = error.diagnostic
    if not is_library(found.span.file) or is_library(span.file):
        return None
    title = f"{name}(), of Python's own library, cannot be compiled: {found.title}"
    label, notes = "this is not plain enough Python", (*found.notes, f"the reason stands at {found.span}")
    help = "write it out as a Python function"
    return type(error)(replace(found, title=title, span=span, label=label, help=help, notes=notes, source=None))


class Frame:
    """The walk over one untyped function: an environment, an emitter, and whether the code goes on.

    What the ops mean is added by `ops.Inference`.
    """

    def __init__(self, session: Session, code: Code, seen_at: Span | None = None) -> None:
        self.session = session
        self.code = code
        self.seen_at = seen_at  # where every op comes from, whatever its own span
        self.op: Op | None = None  # the op being inferred
        self.guards: dict[object, int] = {}  # the numbers of each `try` whose body is being inferred
        self.skeleton: tuple[Hashable, ...] = ()  # of the types of the parameters
        self.parameters: tuple[Type, ...] = ()
        self.tables: dict[str, Op] = {}  # read at the start of the function
        self.e = Emitter()
        self.definitions = Definitions(session)
        self.definitions.blocks.append(self.e.block)
        self.loops: list[Op] = []  # around the op being inferred, of untyped IR
        self.conditions: list[Value] = []  # of the branches around it
        self.env: dict[Value, AV] = {}
        self.dead = False
        self.loop_types: dict[Op, list[Type]] = {}
        self.growing: dict[Value, object] = {}  # comprehensions under way
        self.noticed: set[Op] = set()  # writes to tables that have a backpropagator
        self.changing_loops: set[Op] = set()  # those that change what they run over
        self.facts: dict[Value, Fact] = {}
        self.classes: dict[Value, ClassOf] = {}  # by the tag of what type(x) gave
        self.self_av: AV | None = None
        self.literals: dict[Value, object] = {}
        self.not_one: set[Value] = set()  # sizes of axes that the array's type says are not 1
        self.argument_values: list[Value] = []  # untyped operands of the call being inferred

    def literal_of(self, av: AV) -> object:
        """The Python constant that a value is, where that is known while compiling: it is written as one, is an item
        of a tuple or slice that is, or an int or bool that is computed from such ones; else MISSING."""
        return av.literal if av.literal is not MISSING or len(av.values) != 1 else self.literal_at(av.value)

    def literal_at(self, value: Value) -> object:
        """`literal_of` a machine value."""
        number = None if value in self.literals else self.definitions.number(value)
        if number is None:
            return self.literals.get(value, MISSING)
        return bool(number) if value.type == BOOL else number

    def number_of(self, av: AV) -> int | None:
        """The int or bool that a value is, where that is known while compiling: written, or computed from such ones."""
        if isinstance(av.literal, int):
            return av.literal
        return self.definitions.number(av.value) if len(av.values) == 1 else None

    # ------------------------------------------------------------------------------------------------ errors

    @property
    def span(self) -> Span:
        return self.e.span

    @property
    def options(self) -> Options:
        return UNCHECKED if self.code.is_structural else self.session.options

    def error(
        self, title: str, label: str = "", help: str = "", *, span: Span | None = None,
        raised: tuple[str, str] | None = None,
    ) -> CompileError:  # fmt: skip
        """A CompileError at the op being inferred; `raised` is what a path raises that alone goes wrong."""
        kind = CompileTypeError if raised is not None and raised[0] == "TypeError" else CompileError
        return kind(Diagnostic(title, span or self.span, label, help, raised=raised))

    def type_error(self, title: str, label: str = "", help: str = "") -> CompileTypeError:
        return CompileTypeError(Diagnostic(title, self.span, label, help))

    # ------------------------------------------------------------------------------------------------ blocks

    def infer_function(self, spec: Specialization) -> tuple[Function, Type]:
        """Typed function and result type, for the parameter types of `spec`."""
        untyped = spec.code.untyped
        self.e.span = self.seen_at or untyped.span
        self.skeleton = skeleton(spec.parameters)
        self.definitions = spec.definitions
        self.definitions.blocks.append(self.e.block)
        parameters = self.parameters = tuple(map(loose, spec.parameters))
        captures = len(_names(untyped.attrs.get("captures")))
        names = [v.name for v in untyped.body.params]
        leading = [] if spec.code.python is None else self.captured_values()
        bound = len(spec.parameters) - (len(names) - captures)  # captured values and defaults of a local function
        names = [*names[:captures], *[""] * (bound - captures), *names[captures:]] if not leading else names[captures:]
        given = [self.fresh(t, name) for t, name in zip(parameters, names[-len(parameters) :], strict=True)]
        params = [value for av in given for value in av.values]
        for position, (type_, av) in enumerate(zip(spec.parameters, given, strict=True)):
            self.definitions.note_parameters(spec.code, position, type_, av.values)
            given[position] = self.stated(av, type_)
        if spec.code.python is None:
            closure = Closure(spec.code.primal or spec.code, parameters[:bound], spec.code.name)
            self.self_av = AV(closure, tuple(v for av in given[:bound] for v in av.values))
            leading, given = given[:captures], given[bound:]
        results, dead = self.run(untyped.body, [*leading, *given])
        if spec.code.primal is not None and self.session.backward is not None:
            self.session.backward.reject_unnoticed(self)
        result = NEVER if dead else results[0].type
        if spec.used and self.session.backward is not None:
            result = widen(result, self.session.families)  # the backpropagator holds that of the inner call
        spec_result = join(spec.result, result)
        final = coerce(self.e, AV(NEVER) if dead else results[0], spec_result)
        body = Block(params, [*self.tables.values(), *self.e.block.ops], final.values)
        attrs: dict[str, object] = {"python_name": spec.code.name}
        if spec.code.is_outlined:
            attrs["outlined"] = True
        if spec.code.is_structural:
            attrs["structural"] = True
        return Function(spec.name, body, untyped.span, attrs), result

    def table(self, name: str) -> Value:
        """The table of that name, received at the start of the function."""
        found = self.tables.get(name)
        if found is None:
            builder = Emitter(Block(), self.e.span)
            found = builder.append(get("hidden"), (), attrs={"key": ("table", name)}, types=[Table(name)])
            self.tables[name] = found
        return found.result

    def captured_values(self) -> list[AV]:
        """The free variables of a top-level function."""
        raise InternalError("a frame without meanings")

    def infer_op(self, op: Op) -> None:
        """Infer one op of untyped IR and bind its results."""
        raise InternalError("a frame without meanings")

    def storable(self, av: AV) -> AV:
        """The value as something that can be read again from where it is stored."""
        return av

    def fresh(self, type_: Type, name: str = "") -> AV:
        """A parameter of the type: new machine values."""
        machine = slots(type_)
        return AV(type_, tuple(Value(m, name) for m in machine))

    def stated(self, av: AV, type_: Type) -> AV:
        """The value with the numbers that a type states as constants."""
        values = list(av.values)
        for _, leaf, slot in fixed_leaves(type_):
            (machine,) = slots(leaf)
            values[slot] = self.e.constant(leaf.value, machine)
        return AV(av.type, tuple(values), av.literal)

    def run(self, block: Block, arguments: Sequence[AV]) -> tuple[list[AV], bool]:
        """Infer the ops of a block into the current emitter.  The flag tells that the end is not reached."""
        self.env.update(zip(block.params, arguments, strict=True))
        for op in block.ops:
            self.e.span = self.seen_at or op.span
            self.infer_op(op)
            if self.dead:
                return [AV(NEVER) for _ in block.results], True
        return [self.env[v] for v in block.results], False

    @contextmanager
    def into(self, block: Block) -> Iterator[Emitter]:
        """Emit into `block` for a while; `dead` is local to it."""
        saved, dead = self.e, self.dead
        self.e, self.dead = Emitter(block, saved.span), False
        self.definitions.blocks.append(block)
        try:
            yield self.e
        finally:
            self.e, self.dead = saved, dead
            self.definitions.blocks.pop()

    def branch(self, body: Callable[[], Sequence[AV]]) -> Branch:
        """Run `body` into a block of its own and keep what it yields."""
        block = Block()
        with self.into(block) as emitter:
            results = list(body())
            dead = self.dead
        return Branch(block, [AV(NEVER) for _ in results] if dead else results, dead, emitter)

    def close(self, branch: Branch, types: Sequence[Type]) -> Block:
        """Coerce what the branch yields to the joined types and make that its results."""
        values: list[Value] = []
        for av, type_ in zip(branch.results, types, strict=True):
            values += coerce(branch.emitter, av, type_).values
        branch.block.results = values
        return branch.block

    def choose(self, condition: Value, then: Callable[[], Sequence[AV]], other: Callable[[], Sequence[AV]]) -> list[AV]:
        """An `if` op over two branches; results are joined.  Dead when both are."""
        branches = [self.branch(then), self.branch(other)]
        types = [join(x.type, y.type) for x, y in zip(*(b.results for b in branches), strict=True)]
        blocks = [self.close(b, types) for b in branches]
        machine = [m for t in types for m in slots(t)]
        op = self.e.append(get("if"), [condition], blocks=blocks, types=machine)
        self.dead = self.dead or all(b.dead for b in branches)
        return self.split(types, op.results)

    def split(self, types: Sequence[Type], values: Sequence[Value]) -> list[AV]:
        """Machine values regrouped by abstract type."""
        found: list[AV] = []
        position = 0
        for type_ in types:
            width = len(slots(type_))
            found.append(AV(type_, tuple(values[position : position + width])))
            position += width
        return found

    def stop(self) -> AV:
        """The code after this point is not reached."""
        self.dead = True
        return AV(NEVER)

    def pass_over(self, error: CompileError) -> AV:
        """As far as is known yet the op has no meaning, so the path ends here; the last pass will tell."""
        self.session.passed_over = True
        self.check(self.e.boolean(False), "TypeError", error.diagnostic.title)
        return self.stop()

    def check(self, ok: Value, exception: str, message: str, *payload: Value, shapes: bool = False) -> None:
        """Raise the exception unless `ok` holds; of a payload beyond what a check carries the message shows `?`.

        shapes: it compares shapes; where it is sure to fail, the program is refused (`analysis.mismatch`).
        """
        for number in range(MOST_PAYLOAD, len(payload)):
            message = message.replace(f"{{{number}}}", "?")
        operands = [ok, *payload[:MOST_PAYLOAD]]
        attrs: dict[str, object] = {"exception": exception, "message": message}
        if shapes:
            attrs["shapes"] = True
        self.e.append(get("check"), operands, attrs=attrs, types=())

    def widened(self, types: Sequence[Type]) -> list[Type]:
        """Types of carried values with recursive closures behind references."""
        return [widen(t, self.session.families) for t in types]

    def guard_type_growth(self, types: Sequence[Type]) -> None:
        if any(map(self.grows, types)):
            raise self.error(
                "a value carried by this loop has a structure that grows with every trip",
                "a tuple, list or dict gets longer or deeper here",
                "append to a list instead: tuples and dicts of fixed keys do not grow in loops",
            )

    def grows(self, type_: Type) -> bool:
        """Is the structure deeper, or of more lengths, than what grows without end?  Lists of it become heaps."""
        grown = self.session.is_deep(type_) or _lengths(type_) > MOST_LENGTHS
        if grown and (sites := self.session.endless([type_])):
            raise Changed(sites)  # lists of any length, in rows of a heap
        return grown


def _lengths(type_: Type) -> int:
    """How many lengths a structure may have here."""
    members = type_.members if isinstance(type_, Union) else (type_,)
    own = max(sum(isinstance(m, kind) for m in members) for kind in (Tuple, List, Dict))
    inside = (_lengths(item) for m in members if isinstance(m, Tuple | List | Dict) for item in m.items)
    return max(own, *inside, 0)


def _tuple_depth(type_: Type) -> int:
    """How deep tuples lie in tuples."""
    if isinstance(type_, Union):
        return max(map(_tuple_depth, type_.members))
    inside = type_.items if isinstance(type_, Tuple | List | Dict) else ()
    return isinstance(type_, Tuple) + max(map(_tuple_depth, inside), default=0)


@dataclass(eq=False, slots=True)
class Branch:
    """A block under construction with what it yields."""

    block: Block
    results: list[AV]
    dead: bool
    emitter: Emitter


@dataclass(frozen=True, slots=True)
class Fact:
    """What a condition says of an untyped value: its possible types when it holds and when it does not."""

    subject: Value
    holds: tuple[Type, ...]
    fails: tuple[Type, ...]
    also: tuple[Fact, ...] = ()  # of other values

    def negated(self) -> Fact:
        return Fact(self.subject, self.fails, self.holds, tuple(fact.negated() for fact in self.also))


# What type(x) was asked about, the types that x may have, and which of them has a class.
ClassOf = tuple[Value, tuple[Type, ...], Mapping[Type, Type]]


def _names(value: object) -> tuple[str, ...]:
    return tuple(value) if isinstance(value, tuple | list) else ()


@contextmanager
def deep_recursion(limit: int = 20_000) -> Iterator[None]:
    """Room for walks that recurse once per call of the user's program."""
    saved = sys.getrecursionlimit()
    sys.setrecursionlimit(max(saved, limit))
    try:
        yield
    finally:
        sys.setrecursionlimit(saved)


BUILTINS: Mapping[str, Any] = vars(builtins)
