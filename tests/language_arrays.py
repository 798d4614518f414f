"""Statements of random programs about arrays that have several names: aliases and views that live across loops.

    t1 = w0
    for i2 in range(3):                 one array, two names, of which the loop carries one
        w0[i2 % len(w0)] += 0.5
        t1 = np.tanh(t1 * w0)

Names that are known to be of one shape are mates; those whose order in memory is known are solid and may be reshaped.
"""

from __future__ import annotations

from language_nested import NestedWriter
from language_scope import Scope

ROWS, COLUMNS = 2, 3  # of every matrix


class ArrayWriter(NestedWriter):
    """Writes one statement, or a few that belong together, into a block."""

    # --- names

    def vector(self, scope: Scope, indent: int) -> str:
        """An array, made where there is none; views have no fewer than two elements."""
        a, b = self.number(scope, 1), self.number(scope, 1)
        made = self.pick(
            f"np.array([{a}, 0.5, {b}])", f"np.zeros(4) + {a}", f"np.full(3, {a})", f"np.arange(3.0) * {a}"
        )
        if not scope.of("array") or self.chance(0.15):
            return self.named(scope, indent, "w", made, "array")
        return self.draw.choice(scope.of("array"))

    def named(self, scope: Scope, indent: int, prefix: str, text: str, kind: str, like: str = "") -> str:
        """A new name for what the text makes, which is of the shape of ``like``."""
        name = self.fresh(prefix)
        self.write(indent, f"{name} = {text}")
        self.bind(scope, name, kind)
        if like:
            self.shapes[name] = self.shape(like)
        return name

    def shape(self, name: str) -> str:
        return self.shapes.get(name, name)

    def second_name(self, scope: Scope, indent: int, name: str) -> str:
        """Another name for the array, which may be bound again here."""
        return self.named(scope, indent, "t", name, scope.kinds[name], like=name)

    def mate(self, scope: Scope, indent: int, name: str) -> str:
        """An array of the same shape, perhaps the same one."""
        kind = scope.kinds[name]
        known = [other for other in scope.of(kind) if self.shape(other) == self.shape(name) and other != name]
        if known and self.chance(0.6):
            return self.draw.choice(known)
        text = self.pick(f"{name}.copy()", f"np.zeros_like({name})", f"np.cos({name}) * {self.number(scope, 1)}", name)
        return self.named(scope, indent, "w", text, kind, like=name)

    def matrix(self, scope: Scope, indent: int) -> str:
        """An array of two rows."""
        a, b = self.number(scope, 1), self.number(scope, 1)
        if scope.of("matrix") and self.chance(0.8):
            return self.draw.choice(scope.of("matrix"))
        text = self.pick(
            f"np.zeros(({ROWS}, {COLUMNS})) + {a}",
            f"np.array([[{a}, {b}, 0.5], [1.0, {b}, -0.7]])",
            f"np.arange(6.0).reshape({ROWS}, {COLUMNS}) * {a}",
            f"np.outer(np.array([1.0, {a}]), np.array([{b}, 0.5, -1.0]))",
        )
        name = self.named(scope, indent, "g", text, "matrix", like="matrix")
        self.solid.add(name)
        return name

    def trips(self, scope: Scope, indent: int) -> tuple[Scope, str]:
        """The head of a loop, the scope in it and its counter."""
        inner, i = scope.inner(loop=True), self.fresh("i")
        inner.kinds[i] = "int"
        inner.kept.add(i)
        if self.chance(0.25):
            self.write(indent, f"{i} = 0")
            self.write(indent, f"while {i} < {self.pick(2, 3)}:")
            self.write(indent + 1, f"{i} += 1")
        else:
            self.write(indent, f"for {i} in range({self.pick(2, 3, 4, f'{self.integer(scope)} % 4')}):")
        return inner, i

    def place(self, scope: Scope, name: str, index: str = "") -> str:
        """One element."""
        if scope.kinds[name] == "matrix":
            return f"{name}[{index or self.integer(scope)} % {ROWS}, {self.integer(scope)} % {COLUMNS}]"
        return f"{name}[{index or self.integer(scope)} % len({name})]"

    def touch(self, scope: Scope, indent: int, name: str) -> None:
        """A write into the array, of which no name changes."""
        a, place = self.bounded(scope, 1), self.place(scope, name)
        places = [f"{place} {self.pick('=', '=', '+=', '*=')} {a}"] * 3
        whole = [
            f"{name}[:] = np.sin({name}) * {a}",
            f"{name}[...] = {name} * {a}",
            f"{name}[1:] *= {a}",
            f"{name}[{name} > 0.41] = {a}",
            f"{name}[:-1] += {a}",
        ]
        self.write(indent, self.pick(*places, *whole))

    def rebind(self, scope: Scope, indent: int, name: str, other: str) -> None:
        """The name for another array, made of both or the other one itself."""
        a = self.bounded(scope, 1)
        text = self.pick(
            f"{name} * {other} * 0.5",
            f"np.tanh({name} * {other})",
            f"np.sin({name} + {other})",
            other,
            f"{name} * {a}",
            f"{other} + {a}",
            f"np.where({name} > 0.33, {name}, {other})",
            name,
        )
        if self.chance(0.2):
            self.write(indent, f"if {self.condition(scope)}:")
            indent += 1
        self.write(indent, f"{name} = {text}")

    # --- several names

    def array_alias(self, scope: Scope, indent: int) -> None:
        """A second name, one of both carried by a loop, while elements are written through either."""
        name = self.matrix(scope, indent) if self.chance(0.2) else self.vector(scope, indent)
        other = self.second_name(scope, indent, name)
        inner, _ = self.trips(scope, indent)
        steps = [lambda: self.touch(inner, indent + 1, name), lambda: self.rebind(inner, indent + 1, other, name)]
        if self.chance(0.4):
            steps.append(lambda: self.touch(inner, indent + 1, other))
        if self.chance(0.3):
            steps.append(lambda: self.block(inner, indent + 1, 1))
        self.draw.shuffle(steps)
        for step in steps:
            step()
        if self.chance(0.4):
            self.touch(scope, indent, self.pick(name, other))

    def array_swap(self, scope: Scope, indent: int) -> None:
        """Two or three arrays that change their names from trip to trip."""
        first = self.matrix(scope, indent) if self.chance(0.2) else self.vector(scope, indent)
        names = [self.second_name(scope, indent, first)]
        for _ in range(self.pick(1, 1, 2)):
            names.append(self.second_name(scope, indent, self.mate(scope, indent, first)))
        inner, _ = self.trips(scope, indent)
        one, two, *_ = names
        a, turn = self.bounded(inner, 1), f"{', '.join(names)} = {', '.join(names[1:] + names[:1])}"
        text = self.pick(
            f"{two}[:] = np.sin({one} * {a})",
            f"{self.place(inner, two)} = {self.place(inner, one)} * {a}",
            f"{one} += {two} * {a}",
            f"{one} = {one} * {a}",
            f"np.copyto({two}, {one} * {a})",
        )
        lines = [text, turn if self.chance(0.7) else f"if {self.condition(inner)}:\n{turn}"]
        if self.chance(0.3):
            self.block(inner, indent + 1, 1)
        for line in lines if self.chance(0.7) else lines[::-1]:
            head, _, body = line.partition("\n")
            self.write(indent + 1, head)
            if body:
                self.write(indent + 2, body)
        self.touch(scope, indent, self.draw.choice([first, *names]))

    def in_place(self, scope: Scope, indent: int) -> None:
        """Augmented assignment of whole arrays that have other names."""
        name = self.matrix(scope, indent) if self.chance(0.25) else self.vector(scope, indent)
        mate = self.mate(scope, indent, name)
        if name not in scope.own or self.chance(0.5):
            name = self.second_name(scope, indent, name)
        a = self.bounded(scope, 1)
        text = self.pick(
            f"{name} += {mate} * {a}",
            f"{name} *= {a}",
            f"{name} -= {mate}",
            f"{name} *= {mate}",
            f"{name} /= 1.5 + {mate} * {mate}",
            f"{name} += {name}[::-1]",
            f"np.copyto({name}, {mate})",
            f"{name}[:] = {mate}",
            f"{name}[...] = np.cos({mate}) * {a}",
            f"{name}[:] = {name}[::-1]",
            f"{name}.fill({a})",
            f"{name} **= 2",
        )
        if self.chance(0.5):
            return self.write(indent, text)
        place = f"float({self.place(scope, self.pick(name, mate))})"
        return self.around(scope, indent, place, text)

    def overlap(self, scope: Scope, indent: int) -> None:
        """A slice assigned from one that shares its elements."""
        a, b = self.bounded(scope, 1), self.number(scope, 1)
        if self.chance(0.4):
            g = self.matrix(scope, indent)
            return self.write(
                indent,
                self.pick(
                    f"{g}[1:] = {g}[:-1] * {a}",
                    f"{g}[:, 1:] += {g}[:, :-1]",
                    f"{g}[:] = {g}[::-1]",
                    f"{g}[0], {g}[1] = {g}[1], {g}[0]",
                    f"{g}[[0, 1]] = {g}[[1, 0]]",
                    f"{g}[:, :2] = {g}[:, 1:] * {a}",
                    f"{g}[:, 0], {g}[:, 2] = {g}[:, 2] * {a}, {g}[:, 0] + {b}",
                    f"{g}.T[1:] = {g}.T[:-1]",
                ),
            )
        s = self.vector(scope, indent)
        text = self.pick(
            f"{s}[1:] = {s}[:-1] * {a}",
            f"{s}[:-1] += {s}[1:]",
            f"{s}[:] = {s}[::-1] + {b}",
            f"{s}[1:] -= {s}[:-1] * {a}",
            f"{s}[0], {s}[1] = {s}[1], {s}[0]",
            f"{s}[:1], {s}[-1:] = {s}[-1:] * {a}, {s}[:1] + {b}",
            f"{s}[::-1] = {s}",
            f"{s}[:-1] = {s}[1:]",
        )
        return self.around(scope, indent, f"float({self.place(scope, s)})", text)

    def view_of(self, scope: Scope, indent: int) -> tuple[str, str]:
        """An array and a view of it."""
        if self.chance(0.4):
            base = self.matrix(scope, indent)
            cut = self.pick(
                f"[{self.integer(scope)} % {ROWS}]", ".T[1]", "[:, 0]", "[:, ::2]", ".T", "[::-1]", "[0, 1:]"
            )
            plain = {".T": "turned", "[:, ::2]": "turned", "[::-1]": "matrix"}
            if base in self.solid and self.chance(0.4):
                cut, plain = self.pick(".reshape(-1)", ".ravel()", ".reshape(3, 2)"), {".reshape(3, 2)": "turned"}
            kind = plain.get(cut, "array")
            view = self.named(scope, indent, "s", base + cut, kind, like="matrix" if kind == "matrix" else "")
            return base, view
        base = self.vector(scope, indent)
        long = base not in self.short
        cut = self.pick("[::-1]", *(["[1:]", "[:-1]", "[::2]", "[-2:]"] if long else ["[:]"]))
        view = self.named(scope, indent, "s", base + cut, "array", like=base if cut in ("[::-1]", "[:]") else "")
        if cut not in ("[::-1]", "[:]") or not long:
            self.short.add(view)
        return base, view

    def live_view(self, scope: Scope, indent: int) -> None:
        """A view made before a loop or a branch, in which the elements are written under both names."""
        base, view = self.view_of(scope, indent)
        if self.chance(0.3):
            self.write(indent, f"if {self.condition(scope)}:")
            inner = scope.inner()
        else:
            inner, _ = self.trips(scope, indent)
        touch = self.touch_turned if scope.kinds[view] == "turned" else self.touch
        steps = [lambda: self.touch(inner, indent + 1, base), lambda: touch(inner, indent + 1, view)]
        if self.chance(0.4):
            steps.append(lambda: self.block(inner, indent + 1, 1))
        if self.chance(0.4):
            self.write(indent + 1, f"{self.carried(scope, indent + 1)} += weight({view}) * {self.number(inner, 1)}")
        self.draw.shuffle(steps)
        for step in steps:
            step()
        if self.chance(0.3):
            self.result(scope, indent, f"weight({view}) * 0.5")

    def carried(self, scope: Scope, indent: int) -> str:
        """A number that may be bound here and was before."""
        known = scope.assignable("num")
        if known:
            return self.draw.choice(known)
        name = self.fresh("v")
        self.write(indent, f"{name} = 0.5")
        return name

    def touch_turned(self, scope: Scope, indent: int, name: str) -> None:
        a = self.bounded(scope, 1)
        self.write(
            indent,
            self.pick(
                f"{name}[1] = {a}",
                f"{name}[:, 1] *= {a}",
                f"{name}[0, 0] += {a}",
                f"{name}[-1][0] = {a}",
                f"{name}[:] = np.sin({name})",
            ),
        )

    # --- arrays in other things

    def array_fields(self, scope: Scope, indent: int) -> None:
        """Arrays in a tuple, a list, a dict or an object, written there and under their own names."""
        name = self.vector(scope, indent)
        mate, a, b = self.mate(scope, indent, name), self.bounded(scope, 1), self.number(scope, 1)
        form = self.pick("Rows({0}, {1})", "Rows({0}, {1})", "({0}, {1})", "[{0}, {1}]", '{{"p": {0}, "q": {1}}}')
        known = scope.of("rows")
        held = self.draw.choice(known) if known and self.chance(0.4) else ""
        if not held:
            kind = "rows" if form.startswith("Rows") else "held"
            held = self.named(scope, indent, "h", form.format(name, mate), kind)
        rows = scope.kinds[held] == "rows"
        one, two = (
            (f"{held}.left", f"{held}.right")
            if rows
            else ((f'{held}["p"]', f'{held}["q"]') if "p" in form else (f"{held}[0]", f"{held}[1]"))
        )
        inner = scope
        if indent < 4 and self.chance(0.5):
            inner, _ = self.trips(scope, indent)
            indent += 1
        changes = [f"{one}[0] = {a}", f"{two}[-1] += {a}", f"{one}[:] = np.sin({one}) * {a}", f"{two}[1:] *= {a}"]
        if not form.startswith("("):
            changes += [f"{one} *= {a}", f"{one} = {two}", f"{one}, {two} = {two}, {one}", f"{one} = np.cos({one})"]
        if rows:
            changes += [f"{held}.push({a})", f"{held}.turn()", f"{held}.push({b})[0] = {a}"]
        for _ in range(self.pick(1, 2)):
            self.write(indent, self.pick(*changes))
        self.touch(inner, indent, self.pick(name, mate))
        if self.chance(0.3):
            return self.write(indent, f"{self.carried(inner, indent)} += weight({one}) * {b}")
        if self.chance(0.4):
            self.short.add(self.named(inner, indent, "o", self.pick(one, two), "array"))
        return None

    def array_helper(self, scope: Scope, indent: int) -> None:
        """Functions that return the array they were given, a part of it, or one of two."""
        name = self.vector(scope, indent)
        mate, a = self.mate(scope, indent, name), self.bounded(scope, 1)
        call = self.pick(
            f"marked({name}, {a})",
            f"larger({name}, {mate})",
            f"marked(larger({mate}, {name}), {a})",
            f"pushed({name}, {a}, {self.integer(scope)} % 4)",
            f"larger({name}[::-1], {mate})",
            f"tail({name})",
        )
        other = self.named(scope, indent, "o", call, "array", like="" if "tail" in call else name)
        self.short |= {other} if "tail" in call or name in self.short else set()
        inner = scope
        if indent < 4 and self.chance(0.4):
            inner, _ = self.trips(scope, indent)
            indent += 1
        self.touch(inner, indent, self.pick(name, mate))
        if indent > 1 and "tail" not in call and self.chance(0.4):
            self.write(indent, f"{other} = marked({self.pick(name, mate, other)}, {a})")
        self.touch(inner, indent, other)

    def array_cells(self, scope: Scope, indent: int) -> None:
        """A function inside that binds a captured array again, or writes to it."""
        name = self.vector(scope, indent)
        cell, f, z = self.second_name(scope, indent, name), self.fresh("f"), self.fresh("z")
        inner = scope.function({z: "num"})
        self.write(indent, f"def {f}({z}):")
        if self.chance(0.6):
            self.write(indent + 1, f"nonlocal {cell}")
            self.write(
                indent + 1,
                self.pick(
                    f"{cell} = np.sin({cell} * {z})",
                    f"{cell} = {name} * {z}",
                    f"{cell} *= {z}",
                    f"{cell} = {name}",
                    f"{cell}[0] = {z}",
                ),
            )
        else:
            self.touch(inner, indent + 1, cell)
        self.write(indent + 1, f"return float({self.place(inner, cell)}) * {z}")
        self.bind(scope, f, "fn")
        trip, _ = self.trips(scope, indent)
        self.touch(trip, indent + 1, self.pick(name, cell))
        self.write(indent + 1, f"{self.carried(scope, indent + 1)} = math.sin({f}({self.number(trip, 1)}))")
        if self.chance(0.3):
            self.write(indent + 1, f"{cell} = {name}")

    def array_history(self, scope: Scope, indent: int) -> None:
        """A list of what an array was after each trip: copies, views, or the array itself every time."""
        name = self.vector(scope, indent)
        past = self.named(scope, indent, "ws", self.pick("[]", f"[{name}]", f"[{name}.copy()]"), "arrays")
        inner, _ = self.trips(scope, indent)
        if self.chance(0.3):
            self.block(inner, indent + 1, 1)
        a = self.bounded(inner, 1)
        entry = self.pick(name, f"{name}.copy()", f"{name}[1:]", f"{name} * {a}", f"{past}[-1] + {name}[0]")
        if "[-1]" in entry:
            entry = f"{past}[-1] * {a} if {past} else {name}"
        steps = [
            f"{past}.append({entry})",
            self.pick(f"{name}[0] *= {a}", f"{name}[-1] = {a}", f"{name}[:] = np.sin({name})"),
        ]
        for line in self.draw.sample(steps, 2):
            self.write(indent + 1, line)
        if self.chance(0.4):
            self.guarded(
                indent,
                f"len({past}) > 1",
                self.pick(
                    f"{past}[0][0] = {a}",
                    f"{past}[0], {past}[-1] = {past}[-1], {past}[0]",
                    f"{past}[-1] *= {past}[0][0]",
                    f"{past}.pop()[0] = {a}",
                    f"{past}[0] = {past}[1]",
                ),
            )
        self.result(scope, indent, f"sum((weight(e) * (k + 1) for k, e in enumerate({past})), 0.0) * 0.25")

    def array_generator(self, scope: Scope, indent: int) -> None:
        """Arrays, or parts of one, that a generator hands out while the loop writes to them."""
        name, e = self.vector(scope, indent), self.fresh("e")
        inner = scope.inner(loop=True)
        inner.kinds[e] = "array"
        inner.kept.add(e)
        self.short.add(e)
        source = self.pick(f"parts({name})", f"states({name}, {self.integer(scope)} % 4)", f"states({name}[::-1], 2)")
        self.write(indent, f"for {e} in {source}:")
        a = self.bounded(inner, 1)
        self.write(
            indent + 1,
            self.pick(
                f"{e}[0] = {e}[1] * {a}",
                f"{e}[:] = np.cos({e}) * {a}",
                f"{name}[0] += {a}",
                f"{name}[-1] *= {e}[0]",
                f"{e} *= {a}",
            ),
        )
        if self.chance(0.3):
            self.block(inner, indent + 1, 1)
        self.write(indent + 1, f"{self.carried(scope, indent + 1)} += weight({e}) * 0.25")
        if self.chance(0.2):
            self.write(indent + 1, f"if {self.condition(inner)}:")
            self.write(indent + 2, "break")
