"""Objects of Python as rows of tables, and rows as objects: what an entry does before and after the compiled function.

    class Tree: value, left, right        f(tree)

    pb.import      every object that is reached, once: check its fields, put them into its row       (the map: objects
    the function   works on the tables alone                                                          -> rows)
    pb.export      rows that differ from the snapshot: the fields are set; new objects are made and filled

Both walk without recursion: objects that were met and not yet looked at wait in the vectors of the graph (see
`support_graphs`, which has what does not depend on the program).  An object that does not fit what inference knew makes
the entry miss; until then nothing has been changed.  Only fields that the code reads or writes are imported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pullback.codegen import abi
from pullback.codegen import support_graphs as at
from pullback.codegen.graph_fetch import fetch_objects
from pullback.codegen.graph_kinds import CONTENT, INNER, KINDS
from pullback.codegen.native import Text
from pullback.codegen.repack import Arrays, Packer
from pullback.codegen.unpack import Unpacker
from pullback.diagnostic import InternalError, Span
from pullback.ir.node import Program
from pullback.runtime.boundary import RECORDS, Boundary, HeapShape
from pullback.runtime.fixed import fixed_leaves
from pullback.types import Ref, Tuple, Type, Union, slots

__all__ = ["Graph", "Use", "uses"]

_WRITES = {"table_set": 2, "table_swap": 2, "table_inc": 2}


@dataclass(slots=True)
class Use:
    """What a program does with a table.  `columns`: the machine types of a row."""

    columns: tuple[object, ...] = ()
    touched: set[int] = field(default_factory=set)
    written: set[int] = field(default_factory=set)
    grows: bool = False


def uses(program: Program) -> dict[str, Use]:
    """What the program does with each table, by name."""
    found = {name: Use(variants[0]) for name, variants in program.layouts.items() if len(variants) == 1}
    for function in program.functions.values():
        for op in function.body.walk():
            if op.name.startswith("table_") and op.operands:
                use = found[op.operands[0].type.name]  # type: ignore[union-attr]
                use.grows |= op.name == "table_rows"
                if op.name in ("table_get", *_WRITES):
                    use.touched.add(op.attrs["column"])  # type: ignore[arg-type]
                if op.name in _WRITES:
                    use.written.add(op.attrs["column"])  # type: ignore[arg-type]
    return found


_PARTS_OF_KEYS = ("tuple", "items", "frozenset", *RECORDS)


@dataclass(slots=True)
class Graph:
    """Writes the functions of one entry into `text`.  In them the graph is %graph."""

    text: Text
    boundary: Boundary
    uses: Mapping[str, Use]
    span: Span
    given: set[int] = field(init=False)  # the heaps of objects that Python may pass
    hashed: set[int] = field(init=False)  # the heaps of what is a key, or a part of one, and hashed by its content

    def __post_init__(self) -> None:
        boundary = self.boundary
        self.hashed = self._hashed()
        self.given = boundary.heaps_below([*boundary.params, *(hidden.type for hidden in boundary.hidden)])

    # ---------------------------------------------------------------------------------------------------- facts

    def _hashed(self) -> set[int]:
        found = set[int]()
        waiting = [shape.type_of("key") for shape in self.boundary.heaps if "key" in dict(shape.fields)]
        while waiting:
            match waiting.pop():
                case Ref() as type_:
                    number = self.boundary.heap_of(type_)
                    shape = self.boundary.heaps[number]
                    if number not in found and (shape.kind in _PARTS_OF_KEYS or self._has_own_hash(number)):
                        found.add(number)
                        waiting += [inner for _, inner in shape.fields]
                case Tuple(items) | Union(items):
                    waiting += items
        return found

    def _has_own_hash(self, number: int) -> bool:
        """Do objects of a heap ask what they hold for their hash?  Those that hold others of their kind may nest
        deeply: these get their content later, and cannot be keys."""
        shape = self.boundary.heaps[number]
        own: object = None if shape.python is None else shape.python.__hash__
        if shape.kind != "object" or own in (None, object.__hash__):
            return False
        return number not in self.boundary.heaps_below(type_ for _, type_ in shape.fields)

    @property
    def count(self) -> int:
        return len(self.boundary.heaps)

    def _use(self, shape: HeapShape) -> Use:
        return self.uses.get(shape.table) or Use(shape.columns)

    def _row(self, shape: HeapShape) -> abi.Record:
        """The layout of a row."""
        return abi.record(self._use(shape).columns or shape.columns)  # type: ignore[arg-type]

    def _columns(self, shape: HeapShape, name: str) -> range:
        first = shape.column(name)
        return range(first, first + len(slots(shape.type_of(name))))

    def is_touched(self, shape: HeapShape, name: str) -> bool:
        """Does the code depend on a field: it reads or writes it, or knows it, or what is behind it, as a constant."""
        columns = self._columns(shape, name)
        if not columns or not self._use(shape).touched.isdisjoint(columns):
            return True
        behind = self.boundary.heaps_below([shape.type_of(name)])
        return any(self._knows(self.boundary.heaps[number]) for number in behind)

    def _knows(self, shape: HeapShape) -> bool:
        """Does the code know a field of objects of a heap as a constant: a function, a class, a string, a number."""
        return any(not slots(type_) or any(fixed_leaves(type_)) for _, type_ in shape.fields)

    def is_written(self, shape: HeapShape, name: str) -> bool:
        return not self._use(shape).written.isdisjoint(self._columns(shape, name))

    def grows(self, shape: HeapShape) -> bool:
        """May the code make objects of a heap."""
        return self._use(shape).grows

    def changes_of(self, number: int) -> bool:
        """May the code change what Python sees of the objects of a heap."""
        shape = self.boundary.heaps[number]
        if shape.kind in INNER or shape.kind == "tuple" or shape.kind in RECORDS:
            return False
        inner = shape.kind in CONTENT and bool(self._use(self.content(shape)[1]).written)
        return inner or bool(self._use(shape).written)

    def content(self, shape: HeapShape) -> tuple[int, HeapShape]:
        """The heap of the rows that hold what is in a list or dict, and its number."""
        number = self.boundary.heap_of(shape.type_of(CONTENT[shape.kind]))  # type: ignore[arg-type]
        return number, self.boundary.heaps[number]

    def record(self, number: int) -> str:
        return self.text.at("%graph", at.HEAPS + at.HEAP_SIZE * number)

    def row_size(self, number: int) -> int:
        """Bytes of a row."""
        return self._row(self.boundary.heaps[number]).size

    def changes(self) -> bool:
        """May the code change what Python sees of the objects it is given."""
        return any(map(self.changes_of, self.given))

    def table(self, number: int) -> str:
        """The header of a heap's table."""
        return self.record(number)

    def arrays(self) -> Arrays:
        """What makes arrays of results."""
        text = self.text
        context, handed = text.load("ptr", "%graph", at.CONTEXT), text.load("ptr", "%graph", at.HANDED)
        return Arrays(context, handed, text.load("ptr", "%graph", at.KEPT), text.load("i64", "%graph", at.KEPT_COUNT))

    def array_bound(self) -> str:
        """How many arrays the rows of all heaps hold, at most."""
        text, total = self.text, "0"
        for number, shape in enumerate(self.boundary.heaps):
            count = sum("[" in str(column) for column in shape.columns)
            if count:
                rows = text.load("i64", self.record(number), at.LENGTH)
                total = text.set(f"add i64 {total}, {text.set(f'mul i64 {rows}, {count}')}")
        return total

    # ------------------------------------------------------------------------------------------------ functions

    def functions(self) -> str:
        """The text of everything that the entry calls."""
        kinds = [shape.kind for shape in self.boundary.heaps]
        parts = [self._import_driver(), self._export_driver(), self._fill_driver()]
        for number, kind in enumerate(kinds):
            if kind in INNER:
                continue
            parts += [self._import(number), self._export(number), self._reference(number)]
        return "".join(parts)

    def loop(self, start: str, end: str) -> tuple[str, str, str]:
        """Begin `for i in range(start, end)`: i, and the labels of what follows a trip and of the end."""
        text = self.text
        place = text.slot("i64")
        text.store("i64", start, place)
        head, body, step, out = (text.label() for _ in range(4))
        text.jump(head)
        text.begin(head)
        i = text.load("i64", place)
        text.branch(text.set(f"icmp slt i64 {i}, {end}"), body, out)
        text.begin(step)
        text.store("i64", text.set(f"add i64 {text.load('i64', place)}, 1"), place)
        text.jump(head)
        text.begin(body)
        return i, step, out

    def _ends(self) -> None:
        """The ends of a function that may not succeed."""
        text = self.text
        text.do("ret i1 true")
        text.begin("miss")
        text.do("ret i1 false")

    def room(self, number: int, rows: str) -> None:
        """Make room for rows of a table up to a length, which becomes its length."""
        text, record = self.text, self.record(number)
        full, after = text.label(), text.label()
        capacity = text.load("i64", record, at.CAPACITY)
        text.branch(text.set(f"icmp ule i64 {rows}, {capacity}"), after, full)
        text.begin(full)
        context = text.load("ptr", "%graph", at.CONTEXT)
        size = self._row(self.boundary.heaps[number]).size
        status = text.call("i32", "pb.table_grow", f"ptr {context}", f"ptr {record}", f"i64 {rows}", f"i64 {size}")
        text.branch(text.set(f"icmp eq i32 {status}, {abi.FINE}"), after, "miss")
        text.begin(after)
        text.store("i64", rows, record, at.LENGTH)

    def offset(self, shape: HeapShape, name: str) -> int:
        """Where a field begins in a row."""
        return self._row(shape).offsets[shape.column(name)][0]

    def place(self, number: int, row: str) -> str:
        """The address of a row."""
        text = self.text
        data = text.load("ptr", self.record(number))
        return text.set(f"getelementptr [{self._row(self.boundary.heaps[number]).size} x i8], ptr {data}, i64 {row}")

    # --------------------------------------------------------------------------------------------------- import

    def _import_driver(self) -> str:
        """Look at the objects that were met, the last one first, until there are none left: what lies together in
        memory is mostly met together, and gets rows that lie together."""

        def one(number: int, row: str) -> str:
            self.room(number, self.text.load("i64", self.record(number), at.COUNT))
            return f"call i1 @pb.import.{number}(ptr %graph, i64 {row}, ptr {self.object_of(number, row)})"

        self._each_waiting(one)
        self._take_snapshots()
        self._ends()
        return self.text.function("internal i1 @pb.import(ptr %graph) nounwind")

    def object_of(self, number: int, row: str) -> str:
        """The object behind a row."""
        objects = self.text.load("ptr", self.record(number), at.OBJECTS)
        return self.text.load("ptr", self.text.set(f"getelementptr ptr, ptr {objects}, i64 {row}"))

    def _each_waiting(self, call: Callable[[int, str], str]) -> None:
        """For every object that waits: a call of its heap and row, whose result is an i1; false jumps to `miss`."""
        text = self.text
        head, some, wrong, done = (text.label() for _ in range(4))
        text.jump(head)
        text.begin(head)
        code = text.call("i64", "pb.graph_pop", "ptr %graph")
        text.branch(text.set(f"icmp slt i64 {code}, 0"), done, some)
        text.begin(some)
        row, kind = text.set(f"ashr i64 {code}, 16"), text.set(f"and i64 {code}, 65535")
        numbers = [n for n, shape in enumerate(self.boundary.heaps) if shape.kind not in INNER]
        labels = {n: text.label() for n in numbers}
        cases = " ".join(f"i64 {n}, label %{label}" for n, label in labels.items())
        text.do(f"switch i64 {kind}, label %{wrong} [ {cases} ]")
        for n, label in labels.items():
            text.begin(label)
            text.branch(text.set(call(n, row)), head, "miss")
        text.begin(wrong)
        text.do("unreachable")
        text.begin(done)

    def _take_snapshots(self) -> None:
        text = self.text
        wanted = {n for n in range(self.count) if self.changes_of(n)}
        wanted |= {self.content(self.boundary.heaps[n])[0] for n in wanted if self.boundary.heaps[n].kind in CONTENT}
        for number in range(self.count):
            record = self.record(number)
            rows = text.load("i64", record, at.LENGTH)
            text.store("i64", rows, record, at.GIVEN)
            if number not in wanted:
                continue
            some, after = text.label(), text.label()
            text.branch(text.set(f"icmp eq i64 {rows}, 0"), after, some)
            text.begin(some)
            size = text.set(f"mul i64 {rows}, {self._row(self.boundary.heaps[number]).size}")
            context = text.load("ptr", "%graph", at.CONTEXT)
            copy = text.call("ptr", "pb.alloc", f"ptr {context}", f"i64 {size}")
            text.require(text.set(f"icmp ne ptr {copy}, null"), "miss")
            operands = (f"ptr {copy}", f"ptr {text.load('ptr', record)}", f"i64 {size}", "i1 false")
            text.call("void", "llvm.memcpy.p0.p0.i64", *operands)
            text.store("ptr", copy, record, at.SNAPSHOT)
            text.jump(after)
            text.begin(after)

    def _import(self, number: int) -> str:
        text, shape = self.text, self.boundary.heaps[number]
        if number in self.given:
            enter = KINDS[shape.kind].enter
            if enter is None:
                raise InternalError(f"{self.boundary.name}: objects of kind {shape.kind} cannot be imported")
            enter(self, number, shape)
            text.do("ret i1 true")
        else:
            text.jump("miss")
        text.begin("miss")
        text.do("ret i1 false")
        return text.function(f"internal i1 @pb.import.{number}(ptr %graph, i64 %row, ptr %object) nounwind")

    def unpack(self, type_: Type, value: str, miss: str = "miss") -> list[str]:
        """The pieces of an object in a field; `miss`: where to go if it does not fit."""
        return Unpacker(self.text, self.boundary, miss, graph="%graph", once=True).value(type_, value, True)

    def store(self, number: int, name: str, row: str, pieces: list[str]) -> None:
        """Put the pieces of a field into its row."""
        shape = self.boundary.heaps[number]
        text, record = self.text, self._row(shape)
        place = self.place(number, row)
        offsets = [offset for column in self._columns(shape, name) for offset in record.offsets[column]]
        types = abi.all_pieces(slots(shape.type_of(name)))
        for type_, piece, offset in zip(types, pieces, offsets, strict=True):
            if type_ == "i1":
                type_, piece = "i8", text.set(f"zext i1 {piece} to i8")
            text.store(type_, piece, place, offset)

    # --------------------------------------------------------------------------------------------------- export

    def _export_driver(self) -> str:
        """What has changed goes back into the objects it came from."""
        text = self.text
        for number in filter(self.changes_of, range(self.count)):
            record = self.record(number)
            row, step, out = self.loop("0", text.load("i64", record, at.GIVEN))
            fetch_objects(self, number, row)
            value = self.object_of(number, row)
            fits = text.set(f"call i1 @pb.export.{number}(ptr %graph, i64 {row}, ptr {value}, i1 true)")
            text.branch(fits, step, "miss")
            text.begin(out)
        text.do(f"ret i1 {text.set('call i1 @pb.fill(ptr %graph)')}")
        text.begin("miss")
        text.do("ret i1 false")
        return text.function("internal i1 @pb.export(ptr %graph) nounwind")

    def _fill_driver(self) -> str:
        """New objects get their content, which may need further new ones."""
        self._each_waiting(
            lambda n, row: f"call i1 @pb.export.{n}(ptr %graph, i64 {row}, ptr {self.object_of(n, row)}, i1 false)"
        )
        self._ends()
        return self.text.function("internal i1 @pb.fill(ptr %graph) nounwind")

    def _export(self, number: int) -> str:
        """Write a row into its object: all of it, or what differs from the snapshot."""
        shape = self.boundary.heaps[number]
        KINDS[shape.kind].leave(self, number, shape)
        self._ends()
        head = f"internal i1 @pb.export.{number}(ptr %graph, i64 %row, ptr %object, i1 %known) nounwind"
        return self.text.function(head)

    def pack(self, number: int, name: str, row: str) -> str:
        """A new reference to the object of a field."""
        text, shape = self.text, self.boundary.heaps[number]
        place = text.slot("ptr")
        text.store("ptr", "null", place)
        packer = Packer(text, self.boundary, self.arrays(), self.span, "miss", graph="%graph", inside=True)
        packer.put(shape.type_of(name), self.load(number, name, row), place)
        return text.load("ptr", place)

    def load(self, number: int, name: str, row: str) -> list[list[str]]:
        """The pieces of a field, by slot."""
        shape = self.boundary.heaps[number]
        text, record = self.text, self._row(shape)
        address = self.place(number, row)
        found = []
        for column, machine in zip(self._columns(shape, name), slots(shape.type_of(name)), strict=True):
            pieces = []
            for type_, offset in zip(abi.pieces(machine), record.offsets[column], strict=True):
                if type_ == "i1":
                    byte = text.load("i8", address, offset)
                    pieces.append(text.set(f"icmp ne i8 {byte}, 0"))
                else:
                    pieces.append(text.load(type_, address, offset))
            found.append(pieces)
        return found

    def is_given(self, number: int, row: str) -> str:
        """An i1: is there a snapshot of the row."""
        given = self.text.load("i64", self.record(number), at.GIVEN)
        return self.text.set(f"icmp ult i64 {row}, {given}")

    def same(self, number: int, name: str, row: str) -> str:
        """An i1: is the field of a row that was given what it was."""
        shape = self.boundary.heaps[number]
        text, record = self.text, self._row(shape)
        new = self.place(number, row)
        before = text.load("ptr", self.record(number), at.SNAPSHOT)
        old = text.set(f"getelementptr [{record.size} x i8], ptr {before}, i64 {row}")
        same = "true"
        for column, machine in zip(self._columns(shape, name), slots(shape.type_of(name)), strict=True):
            for type_, offset in zip(abi.pieces(machine), record.offsets[column], strict=True):
                bits = {"i1": "i8", "double": "i64", "float": "i32", "half": "i16"}.get(type_, type_)
                pair = [text.load(bits, base, offset) for base in (new, old)]
                same = text.set(f"and i1 {same}, {text.set(f'icmp eq {bits} {pair[0]}, {pair[1]}')}")
        return same

    # ----------------------------------------------------------------------------------------------- references

    def _reference(self, number: int) -> str:
        """A new reference to the object behind a row, which is made if there is none; null on failure."""
        text = self.text
        place = text.call("ptr", "pb.graph_place", "ptr %graph", f"i64 {number}", "i64 %row")
        text.require(text.set(f"icmp ne ptr {place}, null"), "full")
        there, new = text.label(), text.label()
        known = text.load("ptr", place)
        text.branch(text.set(f"icmp eq ptr {known}, null"), new, there)
        text.begin(there)
        text.call("void", "Py_IncRef", f"ptr {known}")
        text.do(f"ret ptr {known}")
        text.begin(new)
        shape = self.boundary.heaps[number]
        made = KINDS[shape.kind].made(self, number, shape)
        text.require(text.set(f"icmp ne ptr {made}, null"), "failed")
        text.store("ptr", made, place)
        if number in self.hashed:  # a key must have its content before it is put anywhere
            call = f"call i1 @pb.export.{number}(ptr %graph, i64 %row, ptr {made}, i1 false)"
            text.require(text.set(call), "failed")
        else:
            status = text.call("i32", "pb.graph_push", "ptr %graph", f"i64 {number}", "i64 %row")
            text.require(text.set(f"icmp eq i32 {status}, {abi.FINE}"), "full")
        text.call("void", "Py_IncRef", f"ptr {made}")
        text.do(f"ret ptr {made}")
        text.begin("full")
        text.call("ptr", "PyErr_NoMemory")
        text.jump("failed")
        text.begin("miss")
        text.jump("failed")
        text.begin("failed")
        text.do("ret ptr null")
        return text.function(f"internal ptr @pb.reference.{number}(ptr %graph, i64 %row) nounwind")
