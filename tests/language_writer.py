"""Statements of random programs, one method for each feature; blocks nest in one another.

Writer(seed).program(["closure", "list"])       the text of a module with `def program(x, y, n, u):`
"""

from __future__ import annotations

from collections.abc import Callable

from language_data import HEAD
from language_numpy import NumpyWriter
from language_scope import Scope

BLOCKS = {"branch", "for", "while", "exception", "match", "string", "none", "closure", "nonlocal", "recursion"} | {
    "set", "with", "callee exception", "factory", "walrus", "array alias", "array swap", "live view", "array cells",
    "matrix loops", "element while", "index error", "array gradient", "int array",
    "array history", "array generator",
}  # fmt: skip


class Writer(NumpyWriter):
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.wanted: list[str] = []
        self.budget = 0

    def program(self, wanted: list[str], parameters: dict[str, str], size: int) -> str:
        """A module; every wanted feature is written at least once."""
        self.wanted = list(wanted)
        self.draw.shuffle(self.wanted)
        if "recursion" in wanted:
            self.recursion()
        if "generator" in wanted:
            self.generator()
        self.write(0, f"def program({', '.join(parameters)}):")
        scope = Scope(dict(parameters), own=set(parameters))
        self.write(1, f"v0 = {self.bounded(scope, 1)}")
        scope.kinds["v0"] = "num"
        scope.own.add("v0")
        self.prepare(scope)
        self.budget = size
        while self.budget > 0 or self.wanted:
            self.block(scope, 1, 1)
        self.write(1, f"return {self.everything(scope)}")
        return HEAD + "\n".join(self.lines) + "\n"

    def prepare(self, scope: Scope) -> None:
        """Data at the top of the program, so that what blocks do to it is seen in the result."""
        a, b = self.number(scope, 1), self.bounded(scope, 1)
        options = {
            "list": ("l", "list", self.pick("[]", f"[{a}, {b}]")), "dict": ("d", "dict", f"{{0: {a}, 3: {b}}}"),
            "dataclass": ("b", "box", f"Box({a}, {b})"), "tuple": ("t", "tuple", f"({a}, {b})"),
            "array mutation": ("w", "array", f"np.array([{a}, {b}, 0.5])"),
        }  # fmt: skip
        for feature, (prefix, kind, text) in options.items():
            if feature in self.wanted and self.chance(0.8):
                name = self.fresh(prefix)
                self.write(1, f"{name} = {text}")
                self.bind(scope, name, kind)

    def everything(self, scope: Scope) -> str:
        """A number that depends on all that can be seen."""
        parts = [f"math.sin({name})" for name in scope.of("num")]
        parts += [f"{name}[0] * {name}[-1]" for name in scope.of("tuple")]
        parts += [f"sum({name}) * 0.5" for name in scope.of("list")]
        parts += [f"sum({name}.values())" for name in scope.of("dict", "table")]
        parts += [f"{name}.a * {name}.b + sum({name}.items)" for name in scope.of("box")]
        parts += [self.pick(f"float(np.sum({name} * {name}))", f"weight({name})") for name in scope.of("array")]
        parts += [f"weight({name})" for name in scope.of("matrix", "single")]
        parts += [f"float(np.sum({name})) * 0.1" for name in scope.of("ints")]
        parts += [f"weight({name}.left) * 0.5 + weight({name}.right)" for name in scope.of("rows")]
        parts += [f"folded({name}, 0.5)" for name in scope.of("node")]
        parts += [f"sum(sum(e) for e in {name})" for name in scope.of("grid")]
        parts += [f"sum(sum(e) for e in {name}.values())" for name in scope.of("groups")]
        parts += [f"sum(e.a * e.b for e in {name})" for name in scope.of("boxes")]
        parts += [f"sum(float(np.sum(e)) for e in {name})" for name in scope.of("arrays")]
        parts += [f"len({name})" for name in scope.of("set")]
        return " + ".join(parts)

    # --- statements

    def block(self, scope: Scope, indent: int, size: int) -> None:
        """Statements, with a wanted feature among them while there are any."""
        start = len(self.lines)
        for _ in range(size):
            self.budget -= 1
            self.statement(scope, indent)
        if len(self.lines) == start:
            self.write(indent, "pass")

    def statement(self, scope: Scope, indent: int) -> None:
        table = self.table()
        possible = [name for name in table if self.fits(name, scope, indent)]
        wanted = [name for name in self.wanted if name in possible]
        if not wanted and self.wanted and not scope.loops and set(self.wanted) <= {"break", "continue"}:
            return self.make("for", scope, indent)
        if wanted and self.chance(0.7):
            return self.make(self.draw.choice(wanted), scope, indent)
        roll = self.draw.random()
        if roll < 0.3 or self.budget < 0:
            return self.assignment(scope, indent)
        if roll < 0.45:
            return self.augmented(scope, indent)
        return self.make(self.draw.choice(possible), scope, indent)

    def make(self, feature: str, scope: Scope, indent: int) -> None:
        self.used.add(feature)
        if feature in self.wanted:
            self.wanted.remove(feature)
        self.table()[feature](scope, indent)

    def table(self) -> dict[str, Callable[[Scope, int], None]]:
        return {
            "branch": self.branch, "for": self.for_loop, "while": self.while_loop, "break": self.leave("break"),
            "continue": self.leave("continue"), "early return": self.early_return, "closure": self.closure,
            "nonlocal": self.writer_of_cells, "recursion": self.recursive_call, "tuple": self.tuples,
            "list": self.lists, "dict": self.dicts, "dataclass": self.objects, "alias": self.alias,
            "array mutation": self.arrays, "view": self.views, "exception": self.exception,
            "second order": self.second_order, "generator": self.consume, "comprehension": self.comprehension,
            "none": self.none, "linked list": self.linked, "match": self.match, "nested lists": self.nested_lists,
            "objects in lists": self.objects_in_lists, "functions in data": self.functions_in_data,
            "higher order": self.higher_order, "inheritance": self.inheritance, "set": self.sets, "star": self.stars,
            "with": self.contexts, "arrays in data": self.arrays_in_data, "callee exception": self.callee_exception,
            "factory": self.factory, "walrus": self.walrus, "string": self.string, "array alias": self.array_alias,
            "array swap": self.array_swap, "in place": self.in_place, "overlap": self.overlap,
            "live view": self.live_view, "array fields": self.array_fields, "array helper": self.array_helper,
            "array cells": self.array_cells, "matrix": self.matrices, "matrix loops": self.matrix_loops,
            "element while": self.element_while, "index error": self.index_error, "float32": self.singles,
            "int array": self.ints, "axis": self.axes, "ufunc options": self.options,
            "array gradient": self.array_gradient, "array history": self.array_history,
            "array generator": self.array_generator, "mask": self.masks,
        }  # fmt: skip

    def fits(self, feature: str, scope: Scope, indent: int) -> bool:
        if feature in ("break", "continue"):
            return scope.loops > 0
        if feature in ("recursion", "generator"):
            return bool(self.recursions if feature == "recursion" else self.generators)
        if feature == "nonlocal":
            return bool(scope.assignable("num"))
        return feature not in BLOCKS or indent < 4

    def branch(self, scope: Scope, indent: int) -> None:
        self.write(indent, f"if {self.condition(scope)}:")
        self.block(scope.inner(), indent + 1, self.pick(1, 1, 2))
        if self.chance(0.3):
            self.write(indent, f"elif {self.condition(scope)}:")
            self.block(scope.inner(), indent + 1, 1)
        if self.chance(0.5):
            self.write(indent, "else:")
            self.block(scope.inner(), indent + 1, 1)

    def for_loop(self, scope: Scope, indent: int) -> None:
        inner = scope.inner(loop=True)
        i, e = self.fresh("i"), self.fresh("e")
        heads = [(f"{i} in range({self.integer(scope)} % {self.pick(3, 4)})", {i: "int"})] * 2
        heads += [(f"{i} in range({self.pick(2, 3)})", {i: "int"})]
        heads += [(f"{e} in {name}", {e: "num"}) for name in scope.of("tuple", "list")]
        heads += [(f"{i}, {e} in enumerate({name})", {i: "int", e: "num"}) for name in scope.of("list")]
        heads += [(f"{i}, {e} in list({name}.items())", {i: "int", e: "num"}) for name in scope.of("dict")]
        heads += [(f"{e} in reversed({name})", {e: "num"}) for name in scope.of("list")]
        heads += [(f"{i}, {e} in zip(range(3), {name})", {i: "int", e: "num"}) for name in scope.of("array")]
        head, bound = self.draw.choice(heads)
        inner.kinds |= bound
        inner.kept |= set(bound)
        self.write(indent, f"for {head}:")
        self.block(inner, indent + 1, self.pick(1, 2, 2))
        if self.chance(0.12):
            self.write(indent, "else:")
            self.block(scope.inner(), indent + 1, 1)

    def while_loop(self, scope: Scope, indent: int) -> None:
        k = self.fresh("k")
        self.write(indent, f"{k} = 0")
        inner = scope.inner(loop=True)
        inner.kinds[k] = "int"
        inner.kept.add(k)
        test = self.pick(f" and {self.condition(inner)}", "")
        self.write(indent, f"while {k} < {self.pick(2, 3, 4)}{test}:")
        self.write(indent + 1, f"{k} += 1")
        self.block(inner, indent + 1, self.pick(1, 2))
        scope.kinds[k] = "int"
        scope.kept.add(k)

    def leave(self, word: str) -> Callable[[Scope, int], None]:
        def write(scope: Scope, indent: int) -> None:
            self.write(indent, f"if {self.condition(scope)}:")
            if self.chance(0.4):
                self.assignment(scope.inner(), indent + 1)
            self.write(indent + 1, word)

        return write

    def early_return(self, scope: Scope, indent: int) -> None:
        self.write(indent, f"if {self.number(scope, 1)} > {self.pick('0.9', '1.3')}:")
        leave = f"return {self.bounded(scope)}"
        self.write(indent + 1, leave if self.chance(0.8) else f'raise {self.pick("ValueError", "RuntimeError")}("far")')

    # --- functions

    def closure(self, scope: Scope, indent: int) -> None:
        name, z = self.fresh("f"), self.fresh("z")
        inner = scope.function({z: "num"})
        if self.chance(0.4):
            default = self.pick("", f", s={self.number(scope, 1)}")
            inner.kinds |= {"s": "num"} if default else {}
            self.write(indent, f"{name} = lambda {z}{default}: {self.number(inner)}")
        else:
            self.write(indent, f"def {name}({z}):")
            inner.kept.discard(z)
            inner.own.add(z)
            self.block(inner, indent + 1, self.pick(1, 1, 2))
            self.write(indent + 1, f"return {self.bounded(inner)}")
        self.bind(scope, name, "fn")
        captured = scope.assignable("num")
        if captured and self.chance(0.5):  # the function sees what is assigned after it
            self.write(indent, f"{self.draw.choice(captured)} = {self.bounded(scope)}")
        self.result(scope, indent, f"{name}({self.number(scope, 1)})")

    def writer_of_cells(self, scope: Scope, indent: int) -> None:
        name, z, cell = self.fresh("f"), self.fresh("z"), self.draw.choice(scope.assignable("num"))
        inner = scope.function({z: "num"})
        self.write(indent, f"def {name}({z}):")
        self.write(indent + 1, f"nonlocal {cell}")
        self.write(indent + 1, f"{cell} = {self.bounded(inner)}")
        inner.own |= {cell, z}
        inner.kept -= {cell, z}
        if self.chance(0.5):
            self.block(inner, indent + 1, 1)
        self.write(indent + 1, f"return {cell} * {z}")
        self.bind(scope, name, "fn")
        self.result(scope, indent, f"{name}({self.number(scope, 1)}) + {cell}")

    def recursion(self) -> None:
        name = self.fresh("rec")
        self.write(0, f"def {name}(x, n):")
        scope = Scope({"x": "num", "n": "int"}, kept={"n"}, own={"x"})
        self.write(1, "if n <= 0:")
        self.write(2, f"return {self.bounded(scope)}")
        self.block(scope, 1, self.pick(0, 1))
        step = f"{name}({self.bounded(scope, 1)}, n - 1)"
        if self.chance(0.3):
            step += f" * {name}({self.number(scope, 1)}, n - 2)"
        self.write(1, f"return math.sin({step} + {self.number(scope, 1)})")
        self.write(0, "")
        self.write(0, "")
        self.recursions.append(name)
        self.used.add("recursion")

    def recursive_call(self, scope: Scope, indent: int) -> None:
        if self.chance(0.5):
            name = self.draw.choice(self.recursions)
            return self.result(scope, indent, f"{name}({self.number(scope, 1)}, {self.integer(scope)} % 4)")
        name, k = self.fresh("f"), self.fresh("k")
        inner = scope.function({k: "int"})
        self.write(indent, f"def {name}({k}):")
        self.write(indent + 1, f"if {k} <= 0:")
        self.write(indent + 2, f"return {self.bounded(inner)}")
        self.write(indent + 1, f"return math.tanh({name}({k} - 1) * {self.number(inner, 1)} + 0.5)")
        return self.result(scope, indent, f"{name}({self.integer(scope)} % 4)")

    def generator(self) -> None:
        name = self.fresh("gen")
        self.write(0, f"def {name}(x, n):")
        scope = Scope({"x": "num"}, own={"x"})
        self.write(1, f"yield {self.number(scope)}")
        self.write(1, "for i in range(n):")
        scope.kinds["i"] = "int"
        if self.chance(0.4):
            self.write(2, f"if {self.condition(scope)}:")
            self.write(3, self.pick("continue", "return", "break"))
        self.write(2, f"x = {self.bounded(scope)}")
        self.write(2, f"yield {self.number(scope, 1)}")
        self.write(0, "")
        self.write(0, "")
        self.generators.append(name)

    def consume(self, scope: Scope, indent: int) -> None:
        source = f"{self.draw.choice(self.generators)}({self.number(scope, 1)}, {self.integer(scope)} % 4)"
        if self.chance(0.4) or indent >= 4:
            return self.result(scope, indent, self.pick(f"sum({source})", f"sum(e * e for e in {source})"))
        e = self.fresh("e")
        inner = scope.inner(loop=True)
        inner.kinds[e] = "num"
        inner.kept.add(e)
        self.write(indent, f"for {e} in {source}:")
        return self.block(inner, indent + 1, self.pick(1, 2))

    def second_order(self, scope: Scope, indent: int) -> None:
        at, z = f"float({self.number(scope, 1)})", self.fresh("z")  # the number may be an int: the sum of nothing
        inner = scope.function({z: "num"})
        local = f"lambda {z}: {self.bounded(inner)} * {z}"
        options = [f"pb.grad({local})({at})"] * 2 + [f"pb.value_and_grad({local})({at})[1]"]
        options += [f"pb.grad(lambda {z}: {name}({z}) * {z})({at})" for name in scope.of("fn")] * 2
        options += [f"pb.grad({name})({at}, {self.integer(scope)} % 3)" for name in self.recursions]
        options += [f"pb.jvp({local}, ({at},), (float({self.number(scope, 1)}),))[1]"]
        self.result(scope, indent, f"math.tanh({self.draw.choice(options)})")

    # --- control by data

    def match(self, scope: Scope, indent: int) -> None:
        boxes, tuples = scope.of("box"), scope.of("tuple")
        inner = [scope.inner() for _ in range(3)]
        if boxes and self.chance(0.4):
            p = self.fresh("m")
            inner[0].kinds[p] = "num"
            inner[0].kept.add(p)
            heads = [self.draw.choice(boxes), f"Box(a={p}) if {p} > 0.2", "Box()", "_"]
        elif tuples and self.chance(0.5):
            p = self.fresh("m")
            inner[0].kinds[p] = "num"
            inner[0].kept.add(p)
            heads = [self.draw.choice(tuples), f"({p}, _)", f"({self.fresh('m')}, *_)", "_"]
        else:
            heads = [f"{self.integer(scope)} % 4", "0", "1 | 2", "_"]
        self.write(indent, f"match {heads[0]}:")
        for pattern, own in zip(heads[1:], inner, strict=True):
            self.write(indent + 1, f"case {pattern}:")
            self.block(own, indent + 2, 1)

    def string(self, scope: Scope, indent: int) -> None:
        name = self.fresh("name")
        self.write(indent, f'{name} = "p" if {self.condition(scope)} else "q"')
        scope.kinds[name] = "string"
        tables = scope.of("table")
        if tables and self.chance(0.5):
            return self.result(scope, indent, f"{self.draw.choice(tables)}[{name}] * 0.5")
        self.write(indent, f'if {name} == "p":')
        return self.block(scope.inner(), indent + 1, 1)

    def exception(self, scope: Scope, indent: int) -> None:
        known = scope.assignable("num")
        place = self.draw.choice(known) if known else "_"
        kinds = {
            "ValueError": f'raise ValueError("bad", {self.number(scope, 1)})',
            "Stop": f"raise Stop({self.number(scope, 1)})",
            "ZeroDivisionError": f"{place} = {self.number(scope, 1)} / ({self.integer(scope)} % 2)",
            "IndexError": f"{place} = [0.5, 1.5][{self.integer(scope)}]",
            "KeyError": f"{place} = {{1: 0.5}}[{self.integer(scope)}]",
        }
        kind = self.pick(*kinds)
        self.write(indent, "try:")
        self.block(scope.inner(), indent + 1, self.pick(1, 1, 2))
        if kinds[kind].startswith("raise"):
            self.write(indent + 1, f"if {self.condition(scope)}:")
            self.write(indent + 2, kinds[kind])
        else:
            self.write(indent + 1, kinds[kind])
        self.handlers(kind, scope, indent)

    def handlers(self, kind: str, scope: Scope, indent: int) -> None:
        caught = self.pick(kind, kind, f"({kind}, RuntimeError)", "Exception")
        payload = {"Stop": "error.amount", "ValueError": "error.args[1]"}.get(kind) if caught == kind else None
        inner = scope.inner()
        self.write(indent, f"except {caught}{' as error' if payload else ''}:")
        if payload:
            known = scope.assignable("num")
            self.write(indent + 1, f"{self.draw.choice(known) if known else '_'} = math.sin({payload})")
        self.block(inner, indent + 1, 1)
        if self.chance(0.3):
            self.write(indent, "else:")
            self.block(scope.inner(), indent + 1, 1)
        if self.chance(0.3):
            self.write(indent, "finally:")
            safe = scope.inner()
            self.assignment(safe, indent + 1)
