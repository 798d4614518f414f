"""The reference interpreter: runs a typed Program on NumPy scalars and arrays, slowly and plainly.

    run(program, [np.float64(3.0)])  ->  [np.float64(9.0)]        for  def square(x: f64) -> f64: return mul x, x

It is the oracle of the tests, so it is strict where compiled code is fast: an index out of range, memory used after
`free`, a residual read before it was written or a record opened as the wrong variant is an InternalError.  A failed
check raises the exception it names, with the span of the check as `pullback_span`.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from pullback.analysis.raises import site_of
from pullback.diagnostic import InternalError
from pullback.ir.node import Block, Op, Program, Value
from pullback.prims import get, lapack
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.runtime.budget import get_memory_budget
from pullback.runtime.errors import exception_at
from pullback.runtime.texts import Texts, evaluate
from pullback.types import ArrayRef, DType, Machine, Scalar

__all__ = ["run"]

Environment = dict[Value, Any]
Step = Callable[[Environment], None]

# A compiled call takes about four Python frames; frames of pure Python use no C stack.
_RECURSION_LIMIT = 120_000


def run(program: Program, arguments: Sequence[object], texts: Texts | None = None) -> list[object]:
    """The results of the program's entry on machine values (one per slot of its parameters).

    texts: keeps the strings among the results.
    """
    entry = program.functions[program.entry]
    values = [_argument(value, param.type) for value, param in zip(arguments, entry.body.params, strict=True)]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION_LIMIT))
    try:
        with np.errstate(all="ignore"):
            return list(_Machine(program, texts or Texts()).function(program.entry)(values))
    finally:
        sys.setrecursionlimit(limit)


def _argument(value: object, type_: Machine | None) -> object:
    if isinstance(type_, Scalar):
        dtype: Any = NUMPY_DTYPES[type_.dtype]
        return dtype(value)
    if isinstance(type_, ArrayRef):
        array = np.asarray(value)
        if array.dtype != NUMPY_DTYPES[type_.dtype] or array.ndim != type_.rank:
            raise InternalError(f"an argument of type {type_} is needed, not {array.dtype} of rank {array.ndim}")
        return array
    return value


class _Record:
    """A box: its variant and its slots."""

    __slots__ = ("slots", "variant")

    def __init__(self, variant: int, slots: list[Any]) -> None:
        self.variant = variant
        self.slots = slots


_UNSET = object()


class _Store:
    """A residual buffer or accumulator."""

    __slots__ = ("elements", "freed")

    def __init__(self, elements: list[Any]) -> None:
        self.elements = elements
        self.freed = False

    def put(self, index: int, value: Any) -> None:
        if value is None and not self.freed and index < len(self.elements):
            self.elements[index] = None  # an owner was taken out
            return
        if self.freed or index < len(self.elements):
            raise InternalError(f"buffer element {index} is written {'after free' if self.freed else 'again'}")
        self.elements.extend([_UNSET] * (index - len(self.elements)))
        self.elements.append(value)

    def get(self, index: int) -> Any:
        if self.freed:
            raise InternalError(f"buffer element {index} is read after free")
        found = self.elements[index] if 0 <= index < len(self.elements) else _UNSET
        if found is _UNSET:
            raise InternalError(f"buffer element {index} is read and was never written")
        return found

    def increase(self, index: int, value: Any) -> None:
        self.elements[index] = self.get(index) + value


class _Table:
    """Rows by number; a cell that was never written holds a zero, or the null of its type."""

    __slots__ = ("columns", "freed", "nulls")

    def __init__(self, types: Sequence[Machine]) -> None:
        self.columns: list[list[Any]] = [[] for _ in types]
        self.nulls = [_null(type_) for type_ in types]
        self.freed = False

    def rows(self, count: int = 0) -> Any:
        """The length, before `count` rows are added."""
        if self.freed or count < 0:
            raise InternalError(f"{count} rows of a table {'after free' if self.freed else ''}")
        before = len(self.columns[0]) if self.columns else 0
        for column, null in zip(self.columns, self.nulls, strict=True):
            column.extend([null] * count)
        return np.int64(before)

    def cut(self, rows: int) -> None:
        """Only the first rows stay."""
        for column in self.columns:
            for cell in column[rows:]:
                if isinstance(cell, _Owner):
                    _free(cell)
            del column[rows:]

    def copy(self) -> _Table:
        """Another table with the same rows."""
        made = _Table([])
        made.columns, made.nulls = [list(column) for column in self.columns], self.nulls
        return made

    def cells(self, row: Any, column: int) -> list[Any]:
        """The column, if the row is there."""
        if self.freed or not 0 <= row < len(self.columns[column]):
            raise InternalError(f"row {row} of a table of {len(self.columns[column])} rows{' after free' * self.freed}")
        return self.columns[column]

    def swap(self, row: Any, value: Any, column: int) -> Any:
        """Replace a cell; what stood there before."""
        cells = self.cells(row, column)
        old, cells[row] = cells[row], value
        return old


def _null(type_: Machine) -> Any:
    """What an unset cell of a table holds."""
    if isinstance(type_, Scalar):
        return NUMPY_DTYPES[type_.dtype](0)
    if not isinstance(type_, ArrayRef):
        return None
    return np.empty((0,) * type_.rank, NUMPY_DTYPES[type_.dtype]) if type_.rank else _nowhere(type_.dtype)


@cache
def _nowhere(dtype: DType) -> Any:
    """The array without axes that is none; its address tells."""
    return np.zeros((), NUMPY_DTYPES[dtype])


def _position(array: Any, indices: Sequence[Any]) -> tuple[int, ...]:
    position = tuple(map(int, indices))
    for index, size in zip(position, array.shape, strict=True):
        if not 0 <= index < size:
            raise InternalError(f"index {position} is outside an array of shape {array.shape}")
    return position


def _array_inc(array: Any, *rest: Any) -> None:
    position = _position(array, rest[:-1])
    array[position] = array[position] + rest[-1]


def _array_swap(array: Any, *rest: Any) -> Any:
    *indices, value = rest
    position = _position(array, indices)
    old = array[position]
    array[position] = value
    return old


def _view_slice(array: Any, start: Any, count: Any, step: Any, axis: int, unit: bool = False) -> Any:
    first, number, stride = int(start), int(count), int(step)
    size = array.shape[axis]
    if number and not (0 <= first < size and 0 <= first + (number - 1) * stride < size):
        raise InternalError(f"a slice leaves its axis: start {first}, count {number}, step {stride}, size {size}")
    moved = np.moveaxis(array, axis, 0)
    last = first + number * stride
    part = moved[first : last if last >= 0 else None : stride] if number else moved[:0]
    return np.moveaxis(part, 0, axis)


def _view_reshape(array: Any, *sizes: Any, given: str = "") -> Any:
    view = array.reshape(tuple(map(int, sizes)))
    if array.size and not np.may_share_memory(array, view):
        raise InternalError(f"an array of strides {array.strides} has no view of shape {view.shape}")
    return view


def _contiguous(array: Any, other: Any = None) -> bool:
    """Is the array contiguous, or the complex numbers of which it is the real part and `other` the imaginary one."""
    if other is None or not _beside(array, other):
        return bool(array.flags.c_contiguous)
    steps = (*array.strides, array.itemsize)
    pairs = np.lib.stride_tricks.as_strided(array, (*array.shape, 2), steps)
    return bool(pairs.flags.c_contiguous)


def _beside(array: Any, other: Any) -> bool:
    """Does each element of the other array lie right behind its counterpart."""
    return bool(_address(other) - _address(array) == array.itemsize and array.strides == other.strides)


def _view_diagonal(array: Any) -> Any:
    *others, rows, columns = array.strides
    shape = (*array.shape[:-2], min(array.shape[-2:]))
    return np.lib.stride_tricks.as_strided(array, shape, (*others, rows + columns))


def _view_index(array: Any, index: Any, axis: int) -> Any:
    if not 0 <= index < array.shape[axis]:
        raise InternalError(f"index {index} is outside axis {axis} of an array of shape {array.shape}")
    return array[(slice(None),) * axis + (int(index), Ellipsis)]


def _poison(dtype: Any) -> Any:
    """What memory that nobody has set or that was freed reads as."""
    if dtype.kind in "iu":
        return (np.iinfo(dtype).min or np.iinfo(dtype).max) // 3
    return np.nan if dtype.kind == "f" else False


def _array_empty(*sizes: Any, dtype: DType) -> Any:
    array: Any = np.empty(tuple(map(int, sizes)), NUMPY_DTYPES[dtype])
    array.fill(_poison(array.dtype))
    return array


def _matmul_inc(target: Any, a: Any, b: Any) -> None:
    target += a @ b


class _Owner:
    """Who frees an array: after as many `free` as it has owners."""

    __slots__ = ("array", "count")

    def __init__(self, array: Any) -> None:
        self.array = array
        self.count = 1

    def add(self, more: int) -> None:
        if not self.count:
            raise InternalError("memory is freed or kept that is gone")
        self.count += more
        if not self.count:
            _free(self.array)


def _retain(owner: _Owner | None) -> None:
    if owner is not None:
        owner.add(1)


def _free(memory: Any) -> None:
    if isinstance(memory, _Owner):
        memory.add(-1)
    elif memory is None:
        pass
    elif isinstance(memory, _Table):
        for cell in (cell for column in memory.columns for cell in column):
            if isinstance(cell, _Owner):
                _free(cell)
        memory.freed = True
    elif isinstance(memory, _Store):
        if memory.freed:
            raise InternalError("a buffer is freed twice")
        memory.freed = True
        for element in memory.elements:
            if isinstance(element, _Owner):
                _free(element)
    else:
        memory.fill(_poison(memory.dtype))


def _unbox(record: Any, variant: int, **_: Any) -> list[Any]:
    if record.variant != variant:
        raise InternalError(f"a record of variant {record.variant} is opened as variant {variant}")
    return list(record.slots)


def _slot_inc(record: Any, value: Any, slot: int, variant: int = 0) -> None:
    record.slots[slot] = record.slots[slot] + value


def _address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


# Ops with one result, by name: operands positional, attributes by keyword.
_ONE: dict[str, Callable[..., Any]] = {
    "const": lambda value, type: NUMPY_DTYPES[type.dtype](value),
    "array_size": lambda a, axis: np.int64(a.shape[axis]),
    "array_get": lambda a, *indices: a[_position(a, indices)],
    "array_empty": _array_empty,
    "array_zeros": lambda *sizes, dtype: np.zeros(tuple(map(int, sizes)), NUMPY_DTYPES[dtype]),
    "view_index": _view_index,
    "view_expand": lambda a, axis: np.expand_dims(a, axis),
    "view_transpose": lambda a, perm: a.transpose(perm),
    "array_swap": _array_swap,
    "view_slice": _view_slice,
    "view_reshape": _view_reshape,
    "view_diagonal": _view_diagonal,
    "view_relax": lambda a: a,
    "array_contiguous": lambda *parts: np.bool_(_contiguous(*parts)),
    "array_fits": lambda a, *sizes: np.bool_(not a.size or np.may_share_memory(a, a.reshape(tuple(map(int, sizes))))),
    "array_overlap": lambda a, b, ranges=False: np.bool_((np.may_share_memory if ranges else np.shares_memory)(a, b)),
    "array_owner": _Owner,
    "box_null": lambda name: None,
    "array_beside": lambda a, b: np.bool_(_beside(a, b)),
    "array_same": lambda a, b: np.bool_(_address(a) == _address(b)),
    "matmul": lambda a, b: np.ascontiguousarray(a @ b),
    "box": lambda *slots, name, variant: _Record(variant, list(slots)),
    "box_tag": lambda record: np.int64(record.variant),
    "slot_get": lambda record, slot, type, variant=0: record.slots[slot],
    "buffer": lambda capacity, element: _Store([]),
    "buffer_get": lambda buffer, index: buffer.get(int(index)),
    "buffer_zeros": lambda n, element: _Store([NUMPY_DTYPES[element.dtype](0) for _ in range(int(n))]),
    "table_rows": lambda table, count, numbered=False: table.rows(int(count)),
    "table_length": lambda table: table.rows(),
    "memory_budget": lambda: np.int64(get_memory_budget()),
    "record_room": lambda: np.int64(0),
    "table_copy": lambda table: table.copy(),
    "table_get": lambda table, row, column, type: table.cells(row, column)[row],
    "table_swap": lambda table, row, value, column: table.swap(row, value, column),
}

# Ops without a result.
_NONE: dict[str, Callable[..., None]] = {
    "array_inc": _array_inc,
    "matmul_inc": _matmul_inc,
    "slot_inc": _slot_inc,
    "buffer_put": lambda buffer, index, value: buffer.put(int(index), value),
    "buffer_inc": lambda buffer, index, value: buffer.increase(int(index), value),
    "table_cut": lambda table, rows: table.cut(int(rows)),
    "record_cut": lambda room: None,
    "table_set": lambda table, row, value, column: table.swap(row, value, column),
    "table_inc": lambda table, row, value, column: table.swap(row, table.cells(row, column)[row] + value, column),
    "free": _free,
    "let_go": lambda array: None,
    "array_retain": _retain,
}


class _Machine:
    """Turns the functions of a program into chains of Python closures, each function once."""

    def __init__(self, program: Program, texts: Texts) -> None:
        self.program = program
        self.bodies: dict[str, Callable[[Environment], list[Any]]] = {}
        self.texts = texts

    def function(self, name: str) -> Callable[[Sequence[Any]], list[Any]]:
        """A Python function of the machine values of all parameters.  Its body is made at the first call."""
        bodies, block = self.bodies, self.program.functions[name].body
        params = block.params

        def call(arguments: Sequence[Any]) -> list[Any]:
            body = bodies.get(name)
            if body is None:
                body = bodies[name] = self.block(block)
            return body(dict(zip(params, arguments, strict=True)))

        return call

    def block(self, block: Block) -> Callable[[Environment], list[Any]]:
        """Runs the ops in order in the environment and returns what the block yields."""
        steps = [self.step(op) for op in block.ops]
        results = list(block.results)

        def body(environment: Environment) -> list[Any]:
            for step in steps:
                step(environment)
            return [environment[value] for value in results]

        return body

    def step(self, op: Op) -> Step:
        if op.name in _ONE:
            return _one_result(op, _ONE[op.name])
        if op.name in _NONE:
            return _no_result(op, _NONE[op.name])
        structured = getattr(self, f"step_{op.name}", None)
        if structured is not None:
            step: Step = structured(op)
            return step
        implementation = get(op.name).impl
        if implementation is None:
            raise InternalError(f"the interpreter cannot run {op.name}")
        return _scalar(op, implementation)

    def step_call(self, op: Op) -> Step:
        callee = self.function(str(op.attrs["callee"]))
        operands, results = list(op.operands), list(op.results)

        def step(environment: Environment) -> None:
            environment.update(zip(results, callee([environment[v] for v in operands]), strict=True))

        return step

    def step_text_call(self, op: Op) -> Step:
        """A function of strings, which are addresses of what `texts` keeps."""
        operands, results = list(op.operands), list(op.results)
        function, constant = str(op.attrs["function"]), str(op.attrs.get("constant", ""))
        kinds: Any = op.attrs["kinds"]

        def step(environment: Environment) -> None:
            found = evaluate(self.texts, function, kinds, constant, [environment[v] for v in operands])
            for value in results:
                assert isinstance(value.type, Scalar)
                environment[value] = NUMPY_DTYPES[value.type.dtype](found)

        return step

    step_text_effect = step_text_call

    def step_lapack(self, op: Op) -> Step:
        operands, results, attrs = list(op.operands), list(op.results), dict(op.attrs)

        def step(environment: Environment) -> None:
            found = lapack.run([environment[v] for v in operands], attrs)
            environment.update(zip(results, found, strict=True))

        return step

    def step_check(self, op: Op) -> Step:
        ok, *payload = op.operands
        site = site_of(op)

        def step(environment: Environment) -> None:
            if not environment[ok]:
                error = exception_at(site, [environment[v].item() for v in payload])
                error.pullback_span = site.span  # type: ignore[attr-defined]
                raise error

        return step

    def step_table(self, op: Op) -> Step:
        result, types = op.result, self.program.layouts[str(op.attrs["name"])][0]
        return lambda environment: operator.setitem(environment, result, _Table(types))

    def step_unbox(self, op: Op) -> Step:
        operand, results = op.operands[0], list(op.results)
        attrs: dict[str, Any] = dict(op.attrs)

        def step(environment: Environment) -> None:
            environment.update(zip(results, _unbox(environment[operand], **attrs), strict=True))

        return step

    def step_if(self, op: Op) -> Step:
        condition, results = op.operands[0], list(op.results)
        yes, no = map(self.block, op.blocks)

        def step(environment: Environment) -> None:
            branch = yes if environment[condition] else no
            environment.update(zip(results, branch(environment), strict=True))

        return step

    def step_while(self, op: Op) -> Step:
        (cond, body), inits, results = op.blocks, list(op.operands), list(op.results)
        test, advance = self.block(cond), self.block(body)

        def step(environment: Environment) -> None:
            carried = [environment[v] for v in inits]
            while True:
                environment.update(zip(cond.params, carried, strict=True))
                if not test(environment)[0]:
                    break
                environment.update(zip(body.params, carried, strict=True))
                carried = advance(environment)
            environment.update(zip(results, carried, strict=True))

        return step

    def step_for(self, op: Op) -> Step:
        (body,), (count, *inits), results = op.blocks, op.operands, list(op.results)
        advance = self.block(body)
        index, *params = body.params

        def step(environment: Environment) -> None:
            carried = [environment[v] for v in inits]
            for k in range(int(environment[count])):
                environment[index] = np.int64(k)
                environment.update(zip(params, carried, strict=True))
                carried = advance(environment)
            environment.update(zip(results, carried, strict=True))

        return step

    def step_elementwise(self, op: Op) -> Step:
        rank, outputs = int(str(op.attrs["rank"])), op.attrs["outputs"]
        assert isinstance(outputs, tuple)
        (body,), targets = op.blocks, outputs.count("inc") + outputs.count("set")
        sizes, inputs = op.operands[:rank], op.operands[rank : len(op.operands) - targets]
        increased = op.operands[len(op.operands) - targets :]
        element, results = self.block(body), list(op.results)

        def step(environment: Environment) -> None:
            shape = tuple(int(environment[v]) for v in sizes)
            sources = [_aligned(environment[v], shape) for v in inputs]
            sinks = iter([_aligned(environment[v], shape) for v in increased])
            places = [_place(kind, shape, v.type, sinks) for kind, v in zip(outputs, body.results, strict=True)]
            for position in np.ndindex(*shape):
                environment.update((p, s[position]) for p, s in zip(body.params, sources, strict=True))
                for place, kind, value in zip(places, outputs, element(environment), strict=True):
                    place[position] = value if kind in ("new", "set") else place[position] + value
            made = [place for place, kind in zip(places, outputs, strict=True) if kind in ("new", "sum")]
            environment.update(
                (r, place.value if isinstance(place, _Sum) else place) for r, place in zip(results, made, strict=True)
            )

        return step


def _aligned(value: Any, shape: tuple[int, ...]) -> Any:
    """A view of the operand over the whole index space: right-aligned, stride 0 along axes of size 1."""
    if not isinstance(value, np.ndarray):
        return np.broadcast_to(np.asarray(value), shape)
    padded = (1,) * (len(shape) - value.ndim) + value.shape
    if len(padded) != len(shape) or any(size not in (1, room) for size, room in zip(padded, shape, strict=True)):
        raise InternalError(f"an array of shape {value.shape} does not fit an index space of shape {shape}")
    missing = len(shape) - value.ndim
    strides = [0 if size == 1 else stride for size, stride in zip(value.shape, value.strides, strict=True)]
    return np.lib.stride_tricks.as_strided(value, shape, (0,) * missing + tuple(strides))


def _place(kind: str, shape: tuple[int, ...], type_: Machine | None, sinks: Any) -> Any:
    """Where the values of one output go."""
    if kind in ("inc", "set"):
        return next(sinks)
    assert isinstance(type_, Scalar)
    dtype = NUMPY_DTYPES[type_.dtype]
    if kind == "new":
        return np.empty(shape, dtype)
    return _Sum(dtype(0))


class _Sum:
    """Looks like an array all of whose elements are one accumulator."""

    def __init__(self, zero: Any) -> None:
        self.value = zero

    def __getitem__(self, position: object) -> Any:
        return self.value

    def __setitem__(self, position: object, value: Any) -> None:
        self.value = value


def _one_result(op: Op, implementation: Callable[..., Any]) -> Step:
    operands, result, attrs = list(op.operands), op.result, dict(op.attrs)
    if op.name == "const":
        constant = implementation(**attrs)
        return lambda environment: operator.setitem(environment, result, constant)

    def step(environment: Environment) -> None:
        environment[result] = implementation(*[environment[v] for v in operands], **attrs)

    return step


def _no_result(op: Op, implementation: Callable[..., None]) -> Step:
    operands, attrs = list(op.operands), dict(op.attrs)

    def step(environment: Environment) -> None:
        implementation(*[environment[v] for v in operands], **attrs)

    return step


def _scalar(op: Op, implementation: Callable[..., Any]) -> Step:
    """An op of scalars: `impl` of the record, its result brought to the dtype of the op."""
    result, attrs = op.result, dict(op.attrs)
    operands = list(op.operands)
    if op.name == "select":  # of any machine type
        return _one_result(op, implementation)
    assert isinstance(result.type, Scalar)
    dtype: Any = NUMPY_DTYPES[result.type.dtype]

    def step(environment: Environment) -> None:
        environment[result] = dtype(implementation(*[environment[v] for v in operands], **attrs))

    return step
