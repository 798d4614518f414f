"""A typed Program as one LLVM module, in text.

    def f(x: f64) -> f64:          define internal {i32, double} @"pb.f.f"(ptr noalias %context, double %a0) nounwind {
        y: f64 = mul x, x     ->   entry:
        return y                     %t0 = fmul double %a0, %a0
                                     ...
                                     ret {i32, double} %t2
                                   }

The text depends on the program and the options alone: it is the same for all systems and processors.
"""

from __future__ import annotations

import re

from pullback.codegen import (
    abi,
    arrays,
    control,
    elementary,
    halves,
    kernel_functions,
    kernels,
    lapack,
    matrix,
    records,
    scalars,
    shared,
    tables,
    texts,
)
from pullback.codegen.writer import FunctionWriter, ModuleWriter, Options, Rule, machine
from pullback.diagnostic import InternalError
from pullback.ir.node import Function, Program
from pullback.ir.show import show_function
from pullback.types import ArrayRef

__all__ = ["Options", "emit_program"]

_RULES: dict[str, Rule] = {
    **scalars.RULES, **control.RULES, **records.RULES, **arrays.RULES, **kernels.RULES, **matrix.RULES, **tables.RULES,
    **texts.RULES, **lapack.RULES,
}  # fmt: skip
# Recursion without an end is a RecursionError, as in CPython; made into a loop it would not stop.
_NO_LOOP = ' "disable-tail-calls"="true"'
# What LLVM calls of its own accord, for copies and fills.
_BY_LLVM = ("memcpy", "memmove", "memset")
_DECLARED = re.compile(r"(@[\w.]+)\(")


def emit_program(program: Program, options: Options | None = None) -> abi.Module:
    """The module of all functions of the program, with what they call."""
    module = ModuleWriter(program, options or Options(), calls_kernels=kernel_functions.many(program))
    texts = [_function(module, function) for function in program.functions.values()]
    library = elementary.definitions(sorted(module.elementary))
    for line in sorted(library.declarations):
        found = _DECLARED.search(line)
        assert found is not None, line
        module.declare(found.group(1), line)
    for name in module.helpers:
        module.declare(f"@{name}", shared.declaration(name))
    externals = {**elementary.runtime_symbols(), **library.externals}
    for name in (*_BY_LLVM, *module.helpers):
        externals[name] = shared.external(name)
    own = halves.TEXT if any(map(halves.needed, texts)) else ""
    definitions = "\n".join((*texts, *module.blocks, library.functions, own, module.metadata(), ""))
    return abi.Module(definitions, module.declarations, tuple(module.sites), externals)


def _function(module: ModuleWriter, function: Function) -> str:
    w = FunctionWriter(module, _RULES, scalars.scalar)
    try:
        return _body(w, function)
    except InternalError as error:
        if not error.ir:
            raise InternalError(f"{function.name}: {error.message}", show_function(function, source=False)) from None
        raise


def _body(w: FunctionWriter, function: Function) -> str:
    block = function.body
    parameters = _parameters(w, function)
    if function.name in w.costs.recursive:
        _guard(w)
        w.burn(str(w.costs.block(block)))
    w.local, w.kept = records.local_buffers(block), tables.kept_tables(block)
    w.run(block)
    result = abi.result_type(w.machines(block.results))
    wide = w.wide or any(op.prim.name == "elementwise" for op in block.walk())
    attributes = 'nounwind "prefer-vector-width"="512"' if wide else "nounwind"
    if function.name in w.costs.recursive:
        attributes += _NO_LOOP
    header = f"define internal {result} {abi.function_symbol(function.name)}({parameters}) {attributes}"
    return w.close(header, result, w.flat(block.results))


def _parameters(w: FunctionWriter, function: Function) -> str:
    params = function.body.params
    types = w.types(params)
    names = [f"%a{i}" for i in range(len(types))]
    w.bind(params, names)
    for value in params:
        if isinstance(machine(value), ArrayRef):
            w.roots[w.only(value)] = w.only(value)
    given = (f"{t} {n}" for t, n in zip(types, names, strict=True))
    return ", ".join((f"ptr noalias dereferenceable({abi.CONTEXT_SIZE}) %context", *given))


def _guard(w: FunctionWriter) -> None:
    """Functions that call themselves stop before the stack ends."""
    here = w.set("call ptr @llvm.stacksave.p0()")
    w.module.declare("@llvm.stacksave.p0", "declare ptr @llvm.stacksave.p0()")
    limit = w.set(f"load ptr, ptr {w.offset('%context', abi.STACK_LIMIT)}")
    w.fail_if(w.set(f"icmp ult ptr {here}, {limit}"), abi.TOO_DEEP)
