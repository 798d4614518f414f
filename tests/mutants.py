"""Seeded faults in the compiler: each changes one place of one module; random programs must notice.

    python tests/mutants.py "a sum of cotangents keeps the last"        runs random programs until one complains

A fault is text in place of other text, applied as the module is imported; nothing on disk changes.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, slots=True)
class Mutant:
    """`before` stands once in the module; the fault puts `after` there."""

    name: str
    module: str
    before: str
    after: str


MUTANTS = [
    Mutant(
        "a sum of cotangents keeps the last", "ad.reverse",
        'part = self.wild.note(self.e("add", known, part), known in self.wild or part in self.wild)', "pass",
    ),
    Mutant(
        "the reverse of a branch takes the other branch", "ad.reverse",
        'get("if"), op.operands, blocks=[f.block for f in frames], types=types',
        'get("if"), op.operands, blocks=[f.block for f in frames[::-1]], types=types',
    ),
    Mutant(
        "what a loop carries out has no cotangent in its body", "ad.reverse",
        "                self.add(body.results[i], incoming[i])\n", "                pass\n",
    ),
    Mutant(
        "what a loop carries in gets no cotangent", "ad.reverse", "            self.add(inits[i], part)\n",
        "            pass\n",
    ),
    Mutant(
        "cotangents of a loop's invariants are those of one trip", "ad.reverse",
        'block.results.append(frame.e("add", total, part))', "block.results.append(part)",
    ),
    Mutant(
        "an element read in every trip gets no cotangent", "ad.reverse",
        "            self._add_deferred(trips(), element, total)\n", "            pass\n",
    ),
    Mutant(
        "arguments of a call get no cotangent", "ad.reverse",
        "self.add(argument, self.wild.note(part, True))", "pass",
    ),
    Mutant(
        "a call's result has cotangent zero", "ad.reverse",
        "operands.append(self.zero_or(self.cotangent(result), result))",
        "operands.append(scalar_zero(self.e, result.type))",
    ),
    Mutant(
        "merged accumulators are dropped", "ad.reverse",
        "            add_into(self.e, self.shadow(value), accumulator)\n",
        "            pass\n",
    ),
    Mutant(
        "a second read of an element overwrites the first's cotangent", "ad.memory",
        'reverse.e.op("array_inc", reverse.shadow(op.operands[0]), *op.operands[1:], c)',
        'reverse.e.op("array_swap", reverse.shadow(op.operands[0]), *op.operands[1:], c)',
    ),
    Mutant(
        "an overwritten element keeps its cotangent", "ad.memory",
        '_read(reverse, "array_swap", reverse.shadow(array), *indices, before)',
        '_read(reverse, "array_get", reverse.shadow(array), *indices)',
    ),
    Mutant(
        "an overwritten cell keeps its cotangent", "ad.memory",
        'reverse.add(value, _read(reverse, "table_swap", shadow, row, zero, **attrs))',
        'reverse.add(value, _read(reverse, "table_get", shadow, row, **attrs, type=_type(value)))',
    ),
    Mutant(
        "a read of a cell passes nothing on", "ad.memory",
        'reverse.e.op("table_inc", reverse.shadow(table), row, c, **reverse.primal.cell_attrs(op))', "pass",
    ),
    Mutant(
        "what a new row holds gets no cotangent", "ad.memory",
        'reverse.add(value, _read(reverse, "table_get", shadow, row, **attrs, type=_type(value)))', "pass",
    ),
    Mutant(
        "residuals are taken from the first trip", "ad.residuals",
        '("buffer_get", buffer, reverse)',
        '("buffer_get", buffer, self.head(self.reverse.reverse_of[home]).integer(0))',
    ),
    Mutant(
        "residuals are popped one trip too far", "ad.residuals",
        'self.indices[pair.forward] = e("sub", last, block.params[0])',
        'self.indices[pair.forward] = e("sub", pair.reverse.operands[0], block.params[0])',
    ),
    Mutant(
        "a counter is one step ahead in reverse", "ad.residuals",
        'e("mul", self._index(pair), step)', 'e("mul", e("add", self._index(pair), e.integer(1)), step)',
    ),
    Mutant(
        "overwritten elements are read again in reverse", "ad.residuals",
        "return self.primal.aliases.settled(read.operands[0], read) or self.primal.dependence.final(read)",
        "return True",
    ),
    Mutant(
        "overwritten cells are read again in reverse", "ad.residuals",
        "return op if known and self.primal.aliases.settled_cell(op) else None", "return op if known else None",
    ),
    Mutant(
        "a stored element has no tangent", "ad.forward",
        "old = e(op.name, target, *op.operands[1:-1], self.needed(e, op.operands[-1]))",
        'old = e("array_get", target, *op.operands[1:-1])',
    ),
    Mutant(
        "a cell that is read has no tangent", "ad.forward",
        'self.set(op.result, e("table_get", twin, row, **attrs), self.wild.memory)', "pass",
    ),
    Mutant(
        "a loop starts with the tangents of the wrong place", "ad.forward",
        "inits = [self.needed(e, op.operands[offset + i]) for i in places]",
        "inits = [self.needed(e, op.operands[offset + i]) for i in places]\n"
        "        inits = inits[::-1] if len({v.type for v in inits}) == 1 else inits",
    ),
    Mutant(
        "the partials of a product are exchanged", "prims.scalar",
        "def _mul(e: Emitter, op: Op) -> Sequence[Partial | float | None]:\n    x, y = op.operands\n",
        "def _mul(e: Emitter, op: Op) -> Sequence[Partial | float | None]:\n    y, x = op.operands\n",
    ),
    Mutant(
        "the denominator's partial has the wrong sign", "prims.scalar",
        'Partial(e("neg", e("div", op.result, y)), strong=True)', 'Partial(e("div", op.result, y), strong=True)',
    ),
    Mutant(
        "the slope of tanh is taken at the argument", "prims.elementary",
        '_unary("tanh", np.tanh, lambda e, x, y: _one_minus_square(e, y))',
        '_unary("tanh", np.tanh, lambda e, x, y: _one_minus_square(e, x))',
    ),
    Mutant(
        "the exponent of a power's slope is not lowered", "prims.scalar",
        'e("powi", x, n=n - 1)', 'e("powi", x, n=n)',
    ),
    Mutant(
        "a select gives its cotangent to both", "prims.scalar",
        'return (None, e("select", condition, cotangent, zero), e("select", condition, zero, cotangent))',
        "return (None, cotangent, cotangent)",
    ),
    Mutant(
        "repeated reads of changing cells are merged", "passes.cse",
        "return not self.memory.rewritten(op)", "return True",
    ),
    Mutant(
        "repeated reads of changing arrays are merged", "passes.cse",
        "return op.prim.name in _READS and self.memory.stable(op.operands[0])", "return op.prim.name in _READS",
    ),
    Mutant(
        "a scope's common subexpressions outlive it", "passes.cse",
        "        for key in added:\n            del self.table[key]\n", "",
    ),
    Mutant(
        "a write does not end what is known of a cell", "passes.forward_cells",
        "                self.forget({cell}, known)\n", "                pass\n",
    ),
    Mutant(
        "a callee's writes do not end what is known", "passes.forward_cells",
        "            self.forget(self.written(op), known)\n", "            pass\n",
    ),
    Mutant(
        "what a branch writes is forgotten in it alone", "passes.forward_cells",
        "                self.block(inner, dict(known))\n            self.forget(written, known)\n",
        "                self.block(inner, dict(known))\n",
    ),
    Mutant(
        "an unrolled loop has one trip less", "passes.unroll", "for k in range(trips):", "for k in range(trips - 1):",
    ),
    Mutant(
        "reads of changing cells move out of loops", "passes.licm",
        "return front and not self.memory.rewritten(op)", "return front",
    ),
    Mutant(
        "arrays that a loop carries are copied though other names write to them", "passes.shelves",
        "            if not self.is_settled(puts):\n                return\n", "",
    ),
    Mutant(
        "an assignment to a captured variable is lost", "infer.cells",
        "    write(cx, _heap(subject), subject.value, _VALUE, value)\n", "",
    ),
    Mutant(
        "append does not count", "infer.lists",
        'set_length(cx, av, cx.e("add", count, cx.e.integer(1)))', "set_length(cx, av, count)",
    ),
    Mutant(
        "append overwrites the last item", "infer.lists",
        "    put(cx, start, count, item)\n", '    put(cx, start, cx.e("sub", count, cx.e.integer(1)), item)\n',
    ),
    Mutant(
        "a list grows without its items' new place", "infer.lists",
        '        write(cx, heap, row, "items", items)\n        write(cx, heap, row, "capacity", room)\n',
        '        write(cx, heap, row, "capacity", room)\n',
    ),
    Mutant(
        "an elementwise operation overwrites cotangents", "ad.elementwise",
        'outputs = ["inc"] * len(arrays)', 'outputs = ["set"] * len(arrays)',
    ),
]  # fmt: skip


def file_of(mutant: Mutant) -> Path:
    package = importlib.util.find_spec("pullback")
    assert package is not None and package.origin is not None
    return Path(package.origin).parent / (mutant.module.replace(".", "/") + ".py")


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, mutant: Mutant, name: str, path: str) -> None:
        super().__init__(name, path)
        self.mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        text = Path(self.path).read_text().replace(self.mutant.before, self.mutant.after)
        return compile(text, self.path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if name != f"pullback.{self.mutant.module}":
            return None
        file = str(file_of(self.mutant))
        return importlib.util.spec_from_loader(name, _Loader(self.mutant, name, file), origin=file)


def run(name: str, start: int, count: int) -> int:
    """In this process: the first seed from `start` whose program complains, or -1."""
    sys.meta_path.insert(0, _Finder(next(mutant for mutant in MUTANTS if mutant.name == name)))
    from random_language import examined

    for seed in range(start, start + count):
        told = examined(seed, False)
        if told is not None:
            print(f"{seed} {told}")
            return seed
    return -1


def caught(mutant: Mutant, count: int, seconds: int) -> str | None:
    """The complaint of the first program that the fault breaks and the sound compiler does not, if there is one."""
    from random_language import examined

    start = 0
    while start < count:
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, str(HERE / "mutants.py"), mutant.name, "--start", str(start)]
            command += ["--count", str(count - start)]
            environment = os.environ | {"PULLBACK_CACHE_DIR": cache}
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment)
            except subprocess.TimeoutExpired:
                return None
        if done.returncode == 0:
            return None
        if done.returncode < 0:
            return f"crash by signal {-done.returncode}"
        if not done.stdout:
            raise RuntimeError(done.stderr)
        seed, _, told = done.stdout.partition(" ")
        if examined(int(seed), False) is None:
            return f"seed {seed}: {told}"
        start = int(seed) + 1
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--count", type=int, default=2000)
    options = parser.parse_args()
    return int(run(options.name, options.start, options.count) >= 0)


if __name__ == "__main__":
    sys.exit(main())
