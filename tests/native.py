"""Runs hand-built typed Programs as native code, without the call object: a shim of the C kind and ctypes.

    native = Native(program)          native(2.0, array)   ->   results as Python and NumPy values
"""

import ctypes
import struct

import numpy as np

from pullback.codegen import abi, emit, jit, memory, shared
from pullback.ir.node import Block, Function, Program, Value
from pullback.prims import Emitter, get
from pullback.prims.array import elementwise_types
from pullback.prims.scalar import NUMPY_DTYPES
from pullback.runtime.errors import exception_at
from pullback.types import ArrayRef, DType, Scalar

RELEASE = "\ndefine void @release(ptr %context) {\n  call void @pb.free_all(ptr %context)\n  ret void\n}\n"


def shim(program, name, symbol):
    """Text of `i32 @symbol(ptr context, ptr arguments, ptr results)`: pieces in and out of cells of 8 bytes."""
    body = program.functions[name].body
    types, results = (abi.all_pieces(v.type for v in values) for values in (body.params, body.results))
    result = abi.result_type(v.type for v in body.results)
    lines = [f"define i32 @{symbol}(ptr %context, ptr %arguments, ptr %results) {{"]
    for i, type_ in enumerate(types):
        lines.append(f"  %p{i} = getelementptr i8, ptr %arguments, i64 {8 * i}")
        memory_type = "i8" if type_ == "i1" else type_
        lines.append(f"  %{'y' if type_ == 'i1' else 'x'}{i} = load {memory_type}, ptr %p{i}")
        if type_ == "i1":
            lines.append(f"  %x{i} = icmp ne i8 %y{i}, 0")
    given = "".join(f", {t} %x{i}" for i, t in enumerate(types))
    lines.append(f"  %r = call {result} {abi.function_symbol(name)}(ptr %context{given})")
    lines.append("  call void @pb.hold(ptr %context)")  # a long call gives the GIL away
    for i, type_ in enumerate(results):
        lines += [f"  %v{i} = extractvalue {result} %r, {i + 1}"]
        lines += [f"  %q{i} = getelementptr i8, ptr %results, i64 {8 * i}"]
        if type_ == "i1":
            lines += [f"  %w{i} = zext i1 %v{i} to i64", f"  store i64 %w{i}, ptr %q{i}"]
        else:
            lines.append(f"  store {type_} %v{i}, ptr %q{i}")
    return "\n".join((*lines, f"  %status = extractvalue {result} %r, 0", "  ret i32 %status", "}", ""))


class Native:
    """A compiled Program.  `status`, `context`: what the last call left."""

    def __init__(self, program, options=None, level=2, name=None):
        self.program = program
        self.entry = name or program.entry
        self.module = emit.emit_program(program, options)
        self.symbols = {f: f"shim.{i}" for i, f in enumerate(program.functions)}
        shims = "".join(shim(program, f, symbol) for f, symbol in self.symbols.items())
        freeing = memory.runtime(["pb.free_all"])
        declared = {**self.module.declarations, **freeing.declarations, "@pb.hold": shared.declaration("pb.hold")}
        parts = ["\n".join(declared.values()), self.module.definitions, freeing.functions, shims, RELEASE]
        self.text = "\n".join(parts)
        code = jit.compile_object(self.text, jit.Options(level=level, large=10**9))
        imports = {**self.module.externals, **freeing.externals, "pb.hold": shared.external("pb.hold")}
        self.library = jit.link(code, imports, [*self.symbols.values(), "release"])

    def raw(self, cells, results, name=None, stack_limit=0, fuel=memory.REFILL):
        """Call with cells; the cells of the results.  `release` must follow."""
        self.context = (ctypes.c_int64 * (abi.CONTEXT_SIZE // 8))()
        self.context[abi.STACK_LIMIT // 8] = stack_limit
        self.context[abi.FUEL // 8] = fuel
        given, taken = (ctypes.c_int64 * max(1, len(cells)))(*cells), (ctypes.c_int64 * max(1, results))()
        kind = ctypes.PYFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)  # keeps the GIL, passes on exceptions
        function = kind(self.library.addresses[self.symbols[name or self.entry]])
        self.status = function(*map(ctypes.addressof, (self.context, given, taken)))
        return list(taken)

    def release(self):
        kind = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
        kind(self.library.addresses["release"])(ctypes.addressof(self.context))

    def __call__(self, *arguments, name=None, **options):
        """The list of results; a failed check raises."""
        body = self.program.functions[name or self.entry].body
        cells = [c for v, a in zip(body.params, arguments, strict=True) for c in _cells(v.type, a)]
        count = len(abi.all_pieces(v.type for v in body.results))
        try:
            taken = self.raw(cells, count, name, **options)
            if self.status == abi.FAILED:
                raise self._error()
            if self.status != abi.FINE:
                raise RuntimeError(f"status {self.status}")
            return _results([v.type for v in body.results], taken)
        finally:
            self.release()

    def _error(self):
        site = self.module.sites[self.context[0]]
        payload = []
        for dtype, cell in zip(site.payload, self.context[abi.PAYLOAD // 8 :], strict=False):
            payload.append(NUMPY_DTYPES[dtype](_double(cell) if dtype.is_float else cell))
        error = exception_at(site, [value.item() for value in payload])
        error.pullback_span = site.span
        return error


def _cells(type_, value):
    if isinstance(type_, ArrayRef):
        assert value.dtype == NUMPY_DTYPES[type_.dtype] and value.ndim == type_.rank
        assert value.flags.c_contiguous or not type_.contiguous
        return [value.ctypes.data, *value.shape, *(() if type_.contiguous else value.strides)]
    raw = NUMPY_DTYPES[type_.dtype](value).tobytes()
    return [int.from_bytes(raw.ljust(8, b"\0"), "little", signed=True)]


def _double(cell):
    return struct.unpack("<d", struct.pack("<q", cell))[0]


def _scalar(type_, cell):
    return np.frombuffer(struct.pack("<q", cell), NUMPY_DTYPES[type_.dtype])[0]


def _results(types, cells):
    found, rest = [], list(cells)
    for type_ in types:
        pieces = [rest.pop(0) for _ in abi.pieces(type_)]
        if isinstance(type_, Scalar):
            found.append(_scalar(type_, pieces[0]))
        elif isinstance(type_, ArrayRef):
            found.append(_array(type_, pieces))
        else:
            found.append(pieces[0])
    return found


def _array(type_, pieces):
    data, sizes, strides = pieces[0], pieces[1 : 1 + type_.rank], pieces[1 + type_.rank :]
    dtype = np.dtype(NUMPY_DTYPES[type_.dtype])
    if not strides:
        strides = [dtype.itemsize * int(np.prod(sizes[i + 1 :])) for i in range(type_.rank)]
    if 0 in sizes:
        return np.empty(sizes, dtype)
    low = sum(min(0, (n - 1) * s) for n, s in zip(sizes, strides, strict=True))
    high = sum(max(0, (n - 1) * s) for n, s in zip(sizes, strides, strict=True)) + dtype.itemsize
    raw = ctypes.string_at(data + low, high - low)
    return np.ndarray(tuple(sizes), dtype, bytearray(raw), -low, tuple(strides))


def function(types, build, name="f"):
    """A Function whose body `build(emit, *params)` makes; it returns the results."""
    block = Block([Value(t) for t in types])
    results = build(Emitter(block), *block.params)
    block.results = list(results) if isinstance(results, tuple | list) else [results]
    return Function(name, block)


def program(types, build, **others):
    """A Program of one function f."""
    return Program({"f": function(types, build)}, "f", **others)


def inner(types, build):
    """A block, for structured ops."""
    return function(types, build).body


def elementwise(e, sizes, inputs, outputs, build, targets=()):
    """Results of an elementwise op; `build(emit, *scalars)` gives the outputs."""
    block = inner([Scalar(v.type.dtype) for v in inputs], build)
    attrs = {"rank": len(sizes), "outputs": tuple(outputs), "targets": len(targets)}
    types = elementwise_types(len(sizes), outputs, [v.type for v in block.results])
    op = e.append(get("elementwise"), [*sizes, *inputs, *targets], attrs=attrs, blocks=[block], types=types)
    return op.results


def sizes_of(e, array):
    return [e("array_size", array, axis=i) for i in range(array.type.rank)]


def loop(e, n, carried, build):
    """Results of a for: `build(emit, k, *carried)` gives the next carried values."""
    types = [v.type for v in carried]
    body = inner([Scalar(DType.I64), *types], build)
    return e.append(get("for"), [n, *carried], blocks=[body], types=types).results


def repeat_while(e, carried, condition, build):
    """Results of a while."""
    types = [v.type for v in carried]
    blocks = [inner(types, condition), inner(types, build)]
    return e.append(get("while"), carried, blocks=blocks, types=types).results


def either(e, condition, yes, no):
    """Results of an if; the arms are `build(emit)`."""
    blocks = [inner([], yes), inner([], no)]
    types = [v.type for v in blocks[0].results]
    return e.append(get("if"), [condition], blocks=blocks, types=types).results
