"""Statements of random programs about what holds what: nested containers, functions in data, classes, contexts."""

from __future__ import annotations

from language_data import DataWriter
from language_scope import Scope

KINDS = {"grid": "g", "boxes": "p", "groups": "d", "fns": "fs", "arrays": "ws", "set": "seen"}


class NestedWriter(DataWriter):
    """Writes one statement, or a few that belong together, into a block."""

    def known(self, scope: Scope, kind: str, indent: int, text: str) -> str:
        """A name of that kind, made by the text where there is none or by chance."""
        names = scope.of(kind)
        if names and self.chance(0.75):
            return self.draw.choice(names)
        name = self.fresh(KINDS[kind])
        self.write(indent, f"{name} = {text}")
        self.bind(scope, name, kind)
        return name

    def guarded(self, indent: int, test: str, text: str) -> None:
        self.write(indent, f"if {test}:")
        self.write(indent + 1, text)

    def nested_lists(self, scope: Scope, indent: int) -> None:
        a, b, k = self.bounded(scope, 1), self.number(scope, 1), self.integer(scope)
        if self.chance(0.4):
            name = self.known(scope, "groups", indent, f"{{0: [{b}]}}")
            self.guarded(indent, f"len({name}.get({k} % 3, [])) < 5", f"{name}.setdefault({k} % 3, []).append({a})")
            return self.result(scope, indent, f"sum(sum(row, 0.0) * {b} for row in {name}.values())")
        name = self.known(scope, "grid", indent, self.pick(f"[[{a}, {b}], [{b}]]", f"[[{b}] * 2 for _ in range(2)]"))
        row = f"{name}[{k} % len({name})]"
        roll = self.draw.randrange(4)
        if roll == 0:
            return self.guarded(indent, f"len({row}) < 5", f"{row}.append({a})")
        if roll == 1:
            alias = self.fresh("l")
            self.write(indent, f"{alias} = {row}")
            return self.bind(scope, alias, "list")
        if roll == 2:
            return self.write(indent, f"{row}[-1] {self.pick('=', '*=', '+=')} {a}" if self.chance(0.5) else
                              f"{row}[0], {name}[0][-1] = {name}[-1][0], {a}")  # fmt: skip
        return self.result(scope, indent, f"sum(sum(row) * row[0] for row in {name})")

    def objects_in_lists(self, scope: Scope, indent: int) -> None:
        a, k = self.bounded(scope, 1), self.integer(scope)
        name = self.known(scope, "boxes", indent, f"[Box({a}), Box(0.5, {self.number(scope, 1)})]")
        roll = self.draw.randrange(5)
        if roll == 0:
            self.write(indent, f"{name}[{k} % len({name})].a = {a}")
        elif roll == 1:
            box, e = self.fresh("b"), self.fresh("b")
            place = self.pick(f"{name}[{k} % len({name})]", f"max({name}, key=lambda {e}: {e}.a)", f"{name}[-1]")
            self.write(indent, f"{box} = {place}")
            self.bind(scope, box, "box")
            if self.chance(0.5):
                self.around(scope, indent, f"{box}.a", f"{name}[{self.pick(0, -1)}].a = {a}")
        elif roll == 2:
            e = self.fresh("b")
            self.write(indent, f"for {e} in {name}:")
            self.write(indent + 1, f"{e}.b = math.sin({e}.a + {e}.b) * {a}")
        elif roll == 3:
            item = self.draw.choice([*scope.of("box"), f"Box({a})"])
            self.guarded(indent, f"len({name}) < 5", f"{name}.append({item})")
        else:
            self.result(scope, indent, f"sum(e.a * e.b for e in {name})")

    def functions_in_data(self, scope: Scope, indent: int) -> None:
        z = self.fresh("z")
        inner = scope.function({z: "num"})
        made = [f"lambda {z}: {self.bounded(inner, 1)}", *scope.of("fn"), "math.sin"]
        one, two = self.draw.choice(made), self.draw.choice(made)
        if self.chance(0.3):
            table = self.fresh("ft")
            self.write(indent, f'{table} = {{"p": {one}, "q": {two}}}')
            key = self.draw.choice([*scope.of("string"), '"p"', '"q"'])
            return self.result(scope, indent, f"{table}[{key}]({self.number(scope, 1)})")
        name = self.known(scope, "fns", indent, f"[{one}, {two}]")
        if self.chance(0.4):
            self.guarded(indent, f"len({name}) < 4", f"{name}.append({one})")
        if self.chance(0.5):
            total, f = self.target(scope), self.fresh("f")
            self.write(indent, f"{total} = {self.number(scope, 1)}")
            self.write(indent, f"for {f} in {name}:")
            self.write(indent + 1, f"{total} = math.tanh({f}({total}))")
            return self.bind(scope, total, "num")
        return self.result(scope, indent, f"{name}[{self.integer(scope)} % len({name})]({self.number(scope, 1)})")

    def higher_order(self, scope: Scope, indent: int) -> None:
        lists = scope.of("list")
        source = self.draw.choice(lists) if lists else f"[{self.number(scope, 1)}, {self.number(scope, 1)}, 0.5]"
        e, q = self.fresh("e"), self.fresh("q")
        inner = scope.function({e: "num"})
        f = self.draw.choice([*scope.of("fn"), f"lambda {e}: {self.bounded(inner, 1)}"])
        start, a = self.number(scope, 1), self.number(scope, 1)
        text = self.pick(
            f"functools.reduce(lambda {e}, {q}: math.sin({e} * {q} + {a}), {source}, {start})",
            f"sum(map({f}, {source}), 0.0)", f"max({source}, key={f}, default=0.5)",
            f"sum(filter(lambda {e}: {e} > {a}, {source}), 0.0)",
            f"sum(e * f for e, f in zip({source}, ({start}, {a})))",
            f"({start} if any({e} > 0.7 for {e} in {source}) else {a})", f"min({start}, {a} + 0.1)",
            f"sum(itertools.accumulate({source}), 0.0)", f"functools.partial(weigh, {start})({a}, scale=0.5)",
        )  # fmt: skip
        if self.chance(0.25):
            name = self.fresh("l")
            self.write(indent, f"{name} = {self.pick(f'sorted({source}, key={f})', f'list(map({f}, {source}))')}")
            return self.bind(scope, name, "list")
        return self.result(scope, indent, text)

    def inheritance(self, scope: Scope, indent: int) -> None:
        name, a, b = self.fresh("shape"), self.bounded(scope, 1), self.number(scope, 1)
        one, two = self.pick(("Wide", "Tall"), ("Shape", "Tall"), ("Wide", "Shape"))
        self.write(indent, f"{name} = {one}({a}) if {self.condition(scope)} else {two}({b})")
        if self.chance(0.4):
            self.write(indent, f"{name}.size += {b}")
        if self.chance(0.3):
            self.write(indent, f"if isinstance({name}, {two}):")
            self.write(indent + 1, f"{name}.size = {name}.area({a})")
        self.result(scope, indent, self.pick(f"{name}.area({b})", f"{name}.double + {name}.area(0.5)"))

    def sets(self, scope: Scope, indent: int) -> None:
        name, k = self.known(scope, "set", indent, self.pick("set()", "{0, 2}")), self.integer(scope)
        self.write(indent, f"if {k} % 4 {self.pick('in', 'not in')} {name}:")
        if self.chance(0.5):
            self.write(indent + 1, f"{name}.{self.pick('add', 'discard')}({self.integer(scope)} % 4)")
        self.block(scope.inner(), indent + 1, 1)
        self.write(indent, f"{name}.add({k} % 4)")
        self.result(scope, indent, f"len({name}) * {self.number(scope, 1)}")

    def stars(self, scope: Scope, indent: int) -> None:
        a, b = self.number(scope, 1), self.number(scope, 1)
        several = [f"*{name}" for name in scope.of("tuple")] + [f"*({a}, {b})"]
        named = [f"**{name}" for name in scope.of("table")] + [f"scale={b}", f"p={a}, q={b}"]
        self.result(scope, indent, f"weigh({a}, {self.draw.choice(several)}, {self.draw.choice(named)})")

    def contexts(self, scope: Scope, indent: int) -> None:
        box = self.some(scope, "box", indent, f"Box({self.bounded(scope, 1)})")
        q = self.fresh("q")
        inner = scope.inner()
        inner.kinds[q] = "num"
        inner.kept.add(q)
        self.write(indent, f"with Held({box}, {self.number(scope, 1)}) as {q}:")
        self.block(inner, indent + 1, self.pick(1, 2))
        if scope.loops and self.chance(0.3):
            self.write(indent + 1, self.pick("break", "continue"))

    def arrays_in_data(self, scope: Scope, indent: int) -> None:
        a, k = self.bounded(scope, 1), self.integer(scope)
        given = self.draw.choice([*scope.of("array"), f"np.array([{a}, 0.5, 1.0])"])
        name = self.known(scope, "arrays", indent, f"[{given}, np.zeros(3) + {self.number(scope, 1)}]")
        roll = self.draw.randrange(4)
        if roll == 0:
            self.write(indent, f"{name}[{k} % len({name})][{k} % 3] = {a}")
        elif roll == 1:
            w = self.fresh("w")
            self.write(indent, f"{w} = {name}[{k} % len({name})]")
            self.bind(scope, w, "array")
        elif roll == 2:
            self.guarded(indent, f"len({name}) < 4", f"{name}.append({name}[-1] * {a})")
        else:
            self.result(scope, indent, f"sum(float(np.sum(e * e)) for e in {name})")

    def callee_exception(self, scope: Scope, indent: int) -> None:
        a, known = self.number(scope, 1), scope.assignable("num")
        place = self.draw.choice(known) if known else "_"
        self.write(indent, "try:")
        self.write(indent + 1, f"{place} = risky({a}, {self.integer(scope)} % 4)")
        self.block(scope.inner(), indent + 1, 1)
        if self.chance(0.7):
            self.write(indent, "except Stop as error:")
            self.write(indent + 1, f"{place} = math.sin({self.pick('error.amount', 'error.amount * error.amount')})")
        else:
            self.write(indent, "except (Stop, ValueError) as error:")
            self.write(indent + 1, f"{place} = 0.5 * len(error.args)")
        if self.chance(0.3):
            self.write(indent, "finally:")
            self.assignment(scope.inner(), indent + 1)

    def factory(self, scope: Scope, indent: int) -> None:
        """A function that makes functions which share a variable."""
        make, step, a, z = self.fresh("make"), self.fresh("f"), self.fresh("a"), self.fresh("z")
        inner = scope.function({a: "num", z: "num"})
        self.write(indent, f"def {make}({a}):")
        self.write(indent + 1, f"def {step}({z}):")
        if self.chance(0.7):
            self.write(indent + 2, f"nonlocal {a}")
            self.write(indent + 2, f"{a} = {self.bounded(inner, 1)}")
        self.write(indent + 2, f"return {self.bounded(inner, 1)}")
        if self.chance(0.4):
            self.write(indent + 1, f"return {step}, lambda: {a}")
            one, two = self.fresh("f"), self.fresh("get")
            self.write(indent, f"{one}, {two} = {make}({self.number(scope, 1)})")
            self.bind(scope, one, "fn")
            return self.result(scope, indent, f"{one}({self.number(scope, 1)}) * {two}()")
        self.write(indent + 1, f"return {step}")
        one = self.fresh("f")
        self.write(indent, f"{one} = {make}({self.number(scope, 1)})")
        self.bind(scope, one, "fn")
        return self.result(scope, indent, f"{one}({self.number(scope, 1)}) + {one}(0.5)")

    def walrus(self, scope: Scope, indent: int) -> None:
        name = self.target(scope)
        self.write(indent, f"if ({name} := {self.bounded(scope)}) > {self.pick('0.2', '-0.3')}:")
        self.bind(scope, name, "num")
        self.block(scope.inner(), indent + 1, 1)
