"""Which values carry derivative: those that depend on a differentiated input and reach a wanted output.

    def f(x, n, a):              inputs {x}, outputs {r}
        s = mul x, x             active
        t = array_get a, n       not varied: a is not an input
        u = sin s                varied, not useful: it does not reach r
        r = mul s, t             active

One graph for the whole function: an edge says that the target's derivative may depend on the source's.  References are
nodes of alias classes as far as identity matters: a view is its base, records of one name are one node (and so is what
their layouts lead to: `links`).  Arrays merged by control flow, kept in records or in buffers flow as values do, unless
they are overwritten and known by several names.  Each column of a table is a node.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from pullback.analysis.alias import NO_WRITES, Aliases, Writes
from pullback.analysis.cells import column_of, table_key
from pullback.analysis.effects import VIEWS, elementwise_inputs, elementwise_targets
from pullback.ir.node import Block, Function, Op, Value
from pullback.ir.walk import defined
from pullback.prims.base import NOT_DIFFERENTIABLE, Prim
from pullback.types import Box, Buffer, Machine, Scalar, Table

__all__ = ["Activity"]

Node = Hashable
Place = tuple[Value, int]  # a table and a column


class Activity:
    """`active(value)`: does the value need a cotangent (reverse) or a tangent (forward).

    `written[callee]` tells the parameters whose memory a callee writes; `differentiable(type)` which types can carry a
    derivative at all.  `given`: values that count as active whatever happens here; `columns`: layouts of tables,
    `followed`: tables that have a twin already.  Among inputs and outputs are tables (all their cells) and cells.
    """

    def __init__(
        self, function: Function, inputs: Iterable[Value | Place], outputs: Iterable[Value | Place],
        aliases: Aliases, written: Mapping[str, Writes], differentiable: Callable[[Machine | None], bool],
        links: Iterable[tuple[str, str]] = (), given: Sequence[Value | Place] = (), *,
        columns: Mapping[str, Sequence[Sequence[Machine]]] | None = None, followed: Iterable[Value] = (),
    ) -> None:  # fmt: skip
        self._columns, self._followed = columns or {}, set(followed)
        self._parent: dict[Node, Node] = {}
        self._forward: dict[Node, set[Node]] = {}
        self._aliases, self._written = aliases, written
        self._differentiable = differentiable
        self._edges: list[tuple[Node, Node]] = []
        # Values that a derivation adds later share record types with those of the function, but have no derivative.
        self._known = defined(function.body, nested=True)
        for name, inner in links:
            self._union(Value(Box(name)), Value(Box(inner)))
        self._block(function.body)
        backward: dict[Node, set[Node]] = {}
        for source, target in self._edges:
            source, target = self._find(source), self._find(target)
            self._forward.setdefault(source, set()).add(target)
            backward.setdefault(target, set()).add(source)
        self._varied = self._reach([*inputs, *given], self._forward)
        self._useful = self._reach([*outputs, *given], backward)

    def active(self, value: Value) -> bool:
        """Depends on an input and reaches an output."""
        if value not in self._known or not self._differentiable(value.type):
            return False
        if isinstance(value.type, Table):
            return value in self._followed or any(map(self._active, self._cells(value)))
        return self._active(self._node(value))

    def varied(self, value: Value) -> bool:
        """Depends on an input, whether or not it reaches an output."""
        return self._differentiable(value.type) and any(self._find(node) in self._varied for node in self._nodes(value))

    def varied_columns(self, table: Value) -> list[int]:
        """The columns of a table that hold what depends on an input."""
        assert isinstance(table.type, Table)
        columns = range(len(self._columns[table.type.name][0]))
        return [k for k in columns if any(self._find(node) in self._varied for node in self._nodes((table, k)))]

    def active_cell(self, table: Value, column: int) -> bool:
        """Does the column carry derivative."""
        known = table in self._known and self._differentiable(self._type(table, column))
        return known and self._active(self._cell(table, column))

    def _active(self, node: Node) -> bool:
        node = self._find(node)
        return node in self._varied and node in self._useful

    def _reach(self, start: Iterable[Value | Place], edges: Mapping[Node, set[Node]]) -> set[Node]:
        seen: set[Node] = set()
        pending: list[Node] = [self._find(node) for item in start for node in self._nodes(item)]
        while pending:
            node = pending.pop()
            if node not in seen:
                seen.add(node)
                pending.extend(edges.get(node, ()))
        return seen

    def _node(self, value: Value) -> Node:
        if self._aliases.followed(value):
            return ("class", self._aliases.find(value))
        return ("box", value.type.name) if isinstance(value.type, Box) else value

    def _nodes(self, item: Value | Place) -> list[Node]:
        """The nodes of a value, of all cells of a table, or of one of its columns."""
        if isinstance(item, tuple):
            return [self._cell(*item)] if self._differentiable(self._type(*item)) else []
        if isinstance(item.type, Table):
            return self._cells(item)
        return [self._node(item)] if self._differentiable(item.type) else []

    def _type(self, table: Value, column: int) -> Machine:
        assert isinstance(table.type, Table)
        return self._columns[table.type.name][0][column]

    def _cells(self, table: Value) -> list[Node]:
        assert isinstance(table.type, Table)
        types = self._columns[table.type.name][0]
        return [self._cell(table, column) for column, type_ in enumerate(types) if self._differentiable(type_)]

    def _cell(self, table: Value, column: int) -> Node:
        """The node of a column: of references, that of what it holds where that has one."""
        type_ = self._type(table, column)
        if isinstance(type_, Box):
            return ("box", type_.name)
        if not isinstance(type_, Scalar) and self._aliases.followed(table):
            return ("class", self._aliases.find(table))
        return ("cell", table_key(table, self._aliases.cells.kept), column)

    def _find(self, node: Node) -> Node:
        parent = self._parent
        found = node
        while (above := parent.get(found)) is not None:
            found = above
        while node != found:
            parent[node], node = found, parent[node]
        return found

    def _union(self, one: Value, other: Value) -> None:
        first, second = self._find(self._node(one)), self._find(self._node(other))
        if first != second:
            self._parent[first] = second

    def _edge(self, source: Value, target: Value) -> None:
        if self._differentiable(source.type) and self._differentiable(target.type):
            self._edges.append((self._node(source), self._node(target)))

    def _flow(self, source: Value, target: Value) -> None:
        """The value itself moves: references that keep their identity join, others flow."""
        if isinstance(target.type, Box | Buffer) or self._aliases.identity(target):
            self._union(source, target)
        else:
            self._edge(source, target)

    def _block(self, block: Block) -> None:
        for op in block.ops:
            self._op(op)
            for inner in op.blocks:
                self._block(inner)

    def _op(self, op: Op) -> None:
        name = op.name
        rule = getattr(self, f"_op_{name}", None)
        if rule is not None:
            rule(op)
        elif name in VIEWS:
            self._union(op.operands[0], op.result)
        elif isinstance(op.prim, Prim) and op.prim.derivative not in (NOT_DIFFERENTIABLE, "structural"):
            for operand in op.operands:
                self._flow(operand, op.result)

    def _op_if(self, op: Op) -> None:
        for block in op.blocks:
            for value, result in zip(block.results, op.results, strict=True):
                self._flow(value, result)

    def _loop(self, inits: list[Value], params: list[Value], body: Block, results: list[Value]) -> None:
        for init, param, value, result in zip(inits, params, body.results, results, strict=True):
            for source in (init, value):
                self._flow(source, param)
                self._flow(source, result)

    def _op_for(self, op: Op) -> None:
        self._loop(op.operands[1:], op.blocks[0].params[1:], op.blocks[0], op.results)

    def _op_while(self, op: Op) -> None:
        self._loop(op.operands, op.blocks[1].params, op.blocks[1], op.results)

    def _op_elementwise(self, op: Op) -> None:
        (block,) = op.blocks
        for operand, param in zip(elementwise_inputs(op), block.params, strict=True):
            self._edge(operand, param)
        results, targets = iter(op.results), iter(elementwise_targets(op))
        outputs = op.attrs["outputs"]
        assert isinstance(outputs, tuple)
        for kind, value in zip(outputs, block.results, strict=True):
            self._edge(value, next(targets) if kind in ("inc", "set") else next(results))

    def _op_array_get(self, op: Op) -> None:
        self._edge(op.operands[0], op.result)

    def _op_array_inc(self, op: Op) -> None:
        self._edge(op.operands[-1], op.operands[0])

    def _op_array_swap(self, op: Op) -> None:
        self._edge(op.operands[-1], op.operands[0])
        self._edge(op.operands[0], op.result)

    def _op_matmul(self, op: Op) -> None:
        for operand in op.operands:
            self._edge(operand, op.result)

    def _op_matmul_inc(self, op: Op) -> None:
        for operand in op.operands[1:]:
            self._edge(operand, op.operands[0])

    def _op_box(self, op: Op) -> None:
        for operand in op.operands:
            self._flow_into(operand, op.result)

    def _op_unbox(self, op: Op) -> None:
        """What is fetched is the memory itself: what is added to it is added to what the record refers to."""
        for result in op.results:
            if isinstance(result.type, Scalar):
                self._edge(op.operands[0], result)
            elif self._differentiable(result.type):
                self._union(op.operands[0], result)

    _op_slot_get = _op_unbox
    _op_buffer_get = _op_unbox

    def _op_slot_inc(self, op: Op) -> None:
        self._edge(op.operands[1], op.operands[0])

    def _op_buffer_put(self, op: Op) -> None:
        self._flow_into(op.operands[2], op.operands[0])

    def _op_buffer_inc(self, op: Op) -> None:
        self._edge(op.operands[2], op.operands[0])

    def _flow_into(self, value: Value, container: Value) -> None:
        if isinstance(value.type, Box | Buffer) or self._aliases.identity(value):
            if self._differentiable(value.type):
                self._union(value, container)
        else:
            self._edge(value, container)

    def _op_table_get(self, op: Op) -> None:
        if self._differentiable(op.result.type):
            self._edges.append((self._cell(op.operands[0], column_of(op)), self._node(op.result)))

    def _op_table_set(self, op: Op) -> None:
        if self._differentiable(op.operands[2].type):
            self._edges.append((self._node(op.operands[2]), self._cell(op.operands[0], column_of(op))))

    _op_table_inc = _op_table_set

    def _op_table_swap(self, op: Op) -> None:
        self._op_table_get(op)
        self._op_table_set(op)

    def _op_table_copy(self, op: Op) -> None:
        pairs = zip(self._cells(op.operands[0]), self._cells(op.result), strict=True)
        self._edges += [(source, target) for source, target in pairs if source != target]

    def _op_call(self, op: Op) -> None:
        found = self._written.get(str(op.attrs["callee"]), NO_WRITES)
        changed = [*op.results, *(op.operands[i] for i in sorted(found.written))]
        changed += [v for v in op.operands if isinstance(v.type, Box | Buffer)]
        targets = [node for value in changed for node in self._nodes(value)]
        targets += [node for i, column in sorted(found.cells.stored) for node in self._nodes((op.operands[i], column))]
        for source in (node for value in op.operands for node in self._nodes(value)):
            self._edges += [(source, target) for target in targets if target != source]
