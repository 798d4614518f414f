"""Native images of packed objects (`runtime.packing`): what importing one left in the tables, kept for later calls.

    block:  root row | pointers P | kept K | heaps | per heap: rows, objects | P pointers | per heap: its rows

The pointers are the objects behind the rows of each heap, then the arrays that rows refer to; the block holds a
reference to each.  It belongs to a capsule in the packed object's dictionary, under a key of the code it is for.
"""

from __future__ import annotations

from pullback.codegen import attributes
from pullback.codegen import support_graphs as at
from pullback.codegen.graphs import Graph
from pullback.runtime.packing import Key, Packed

__all__ = ["Images"]

_ROOT, _POINTERS, _KEPT, _COUNT, _HEAPS = 0, 8, 16, 24, 32


class Images:
    """Writes the functions of an entry that takes a packed object."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.text = graph.text
        self.key = Key()

    @property
    def _first(self) -> int:
        """Where the pointers begin."""
        return _HEAPS + 16 * self.graph.count

    # ---------------------------------------------------------------------------------------------- in the entry

    def enter(self, number: int, value: str, enter: object) -> str:
        """The row of a packed object: from its image, or imported now.  `enter` does that: of the object, its row."""
        text = self.text
        images = text.load("ptr", value, attributes.known_offset(Packed, "images"))
        row = text.slot("i64")
        known, new, after = (text.label() for _ in range(3))
        capsule = text.call("ptr", "PyDict_GetItem", f"ptr {images}", f"ptr {text.symbol(self.key)}")
        text.branch(text.set(f"icmp eq ptr {capsule}, null"), new, known)
        text.begin(known)
        block = text.call("ptr", "PyCapsule_GetPointer", f"ptr {capsule}", "ptr null")
        loaded = text.set(f"call i1 @pb.image_load(ptr %graph, ptr {block})")
        text.require(loaded, "miss")
        text.store("i64", text.load("i64", block, _ROOT), row)
        text.jump(after)
        text.begin(new)
        object_ = text.load("ptr", value, attributes.known_offset(Packed, "object"))
        text.store("i64", enter(object_), row)  # type: ignore[operator]
        text.require(text.set("call i1 @pb.import(ptr %graph)"), "miss")
        made = text.set(f"call ptr @pb.image_save(ptr %graph, i64 {text.load('i64', row)})")
        text.require(text.set(f"icmp ne ptr {made}, null"), "miss")
        text.call("i32", "PyDict_SetItem", f"ptr {images}", f"ptr {text.symbol(self.key)}", f"ptr {made}")
        text.call("void", "Py_DecRef", f"ptr {made}")
        text.jump(after)
        text.begin(after)
        return text.load("i64", row)

    def forget(self, value: str) -> None:
        """The object has been written: its images are not what it is any more."""
        images = self.text.load("ptr", value, attributes.known_offset(Packed, "images"))
        self.text.call("void", "PyDict_Clear", f"ptr {images}")

    # ------------------------------------------------------------------------------------------------- functions

    def functions(self) -> str:
        return self._save() + self._load()

    def _sizes(self) -> list[int]:
        return [self.graph.row_size(number) for number in range(self.graph.count)]

    def _padded(self, rows: str, size: int) -> str:
        text = self.text
        more = text.set(f"add i64 {text.set(f'mul i64 {rows}, {size}')}, 7")
        return text.set(f"and i64 {more}, -8")

    def _save(self) -> str:
        text, graph = self.text, self.graph
        records = [graph.table(number) for number in range(graph.count)]
        kept = text.load("i64", "%graph", at.KEPT_COUNT)
        pointers, counts, lengths = kept, [], []
        for record in records:
            counts.append(text.load("i64", record, at.COUNT))
            lengths.append(text.load("i64", record, at.LENGTH))
            pointers = text.set(f"add i64 {pointers}, {counts[-1]}")
        bytes_ = text.set(f"add i64 {text.set(f'mul i64 {pointers}, 8')}, {self._first}")
        for length, size in zip(lengths, self._sizes(), strict=True):
            bytes_ = text.set(f"add i64 {bytes_}, {self._padded(length, size)}")
        block = text.call("ptr", "PyMem_RawMalloc", f"i64 {bytes_}")
        text.require(text.set(f"icmp ne ptr {block}, null"), "miss")
        given = (("%root", _ROOT), (pointers, _POINTERS), (kept, _KEPT), (str(graph.count), _COUNT))
        for value, place in given:
            text.store("i64", value, block, place)
        cursor = text.at(block, self._first)
        for number, record in enumerate(records):
            text.store("i64", lengths[number], block, _HEAPS + 16 * number)
            text.store("i64", counts[number], block, _HEAPS + 16 * number + 8)
            cursor = self._keep(cursor, text.load("ptr", record, at.OBJECTS), counts[number])
        cursor = self._keep(cursor, text.load("ptr", "%graph", at.KEPT), kept)
        for number, record in enumerate(records):
            cursor = self._copy(cursor, text.load("ptr", record), lengths[number], self._sizes()[number])
        capsule = text.call("ptr", "PyCapsule_New", f"ptr {block}", "ptr null", "ptr @pb.image_dropped")
        text.declarations["@pb.image_dropped"] = "declare void @pb.image_dropped(ptr)"
        text.do(f"ret ptr {capsule}")
        text.begin("miss")
        text.do("ret ptr null")
        return text.function("internal ptr @pb.image_save(ptr %graph, i64 %root) nounwind")

    def _copy(self, target: str, source: str, rows: str, size: int) -> str:
        text = self.text
        bytes_ = text.set(f"mul i64 {rows}, {size}")
        text.call("void", "llvm.memcpy.p0.p0.i64", f"ptr {target}", f"ptr {source}", f"i64 {bytes_}", "i1 false")
        return text.set(f"getelementptr i8, ptr {target}, i64 {self._padded(rows, size)}")

    def _keep(self, target: str, source: str, count: str) -> str:
        """Copy pointers and take a reference to each; the place after them."""
        text = self.text
        i, step, out = self.graph.loop("0", count)
        value = text.load("ptr", text.set(f"getelementptr ptr, ptr {source}, i64 {i}"))
        text.store("ptr", value, text.set(f"getelementptr ptr, ptr {target}, i64 {i}"))
        text.call("void", "Py_IncRef", f"ptr {value}")
        text.jump(step)
        text.begin(out)
        return text.set(f"getelementptr ptr, ptr {target}, i64 {count}")

    def _load(self) -> str:
        text, graph = self.text, self.graph
        context = text.load("ptr", "%graph", at.CONTEXT)
        cursor = text.at("%block", self._first)
        lengths = []
        for number in range(graph.count):
            record = graph.table(number)
            lengths.append(text.load("i64", "%block", _HEAPS + 16 * number))
            count = text.load("i64", "%block", _HEAPS + 16 * number + 8)
            cursor = self._restore(context, cursor, count, record, at.OBJECTS)
            text.store("i64", count, record, at.COUNT)
        kept = text.load("i64", "%block", _KEPT)
        cursor = self._restore(context, cursor, kept, "%graph", at.KEPT)
        text.store("i64", kept, "%graph", at.KEPT_COUNT)
        for number, size in enumerate(self._sizes()):
            cursor = self._rows(context, cursor, number, lengths[number], size)
        text.do("ret i1 true")
        text.begin("miss")
        text.do("ret i1 false")
        return text.function("internal i1 @pb.image_load(ptr %graph, ptr %block) nounwind")

    def _room(self, context: str, bytes_: str) -> str:
        text = self.text
        data = text.call("ptr", "pb.alloc", f"ptr {context}", f"i64 {bytes_}")
        text.require(text.set(f"icmp ne ptr {data}, null"), "miss")
        return data

    def _restore(self, context: str, source: str, count: str, record: str, place: int) -> str:
        """Pointers of the block into a vector of the graph; the place after them."""
        text = self.text
        data = self._room(context, text.set(f"mul i64 {text.set(f'add i64 {count}, 1')}, 8"))
        text.store("ptr", data, record, place)
        text.store("i64", count, record, place + 8)
        return self._keep_from(data, source, count)

    def _keep_from(self, target: str, source: str, count: str) -> str:
        self._keep(target, source, count)
        return self.text.set(f"getelementptr ptr, ptr {source}, i64 {count}")

    def _rows(self, context: str, source: str, number: int, length: str, size: int) -> str:
        text, record = self.text, self.graph.table(number)
        some, after = text.label(), text.label()
        text.branch(text.set(f"icmp eq i64 {length}, 0"), after, some)
        text.begin(some)
        data = self._room(context, text.set(f"mul i64 {length}, {size}"))
        self._copy(data, source, length, size)
        text.store("ptr", data, record)
        text.store("i64", length, record, at.CAPACITY)
        text.store("i64", length, record, at.LENGTH)
        text.jump(after)
        text.begin(after)
        return text.set(f"getelementptr i8, ptr {source}, i64 {self._padded(length, size)}")
