"""Statements of random programs about NumPy: matrices and loops over them, axes, `out=` and `where=`, other dtypes.

for i3 in range(2):
    for j4 in range(3):
        g1[i3, j4] = math.sin(g1[i3, (j4 + 1) % 3] * x)
"""

from __future__ import annotations

from language_arrays import COLUMNS, ROWS, ArrayWriter
from language_scope import Scope


class NumpyWriter(ArrayWriter):
    """Writes one statement, or a few that belong together, into a block."""

    def matrices(self, scope: Scope, indent: int) -> None:
        """Elements, rows and columns of a matrix, and matrices made of it."""
        g, a, k = self.matrix(scope, indent), self.bounded(scope, 1), self.integer(scope)
        roll = self.draw.randrange(4)
        if roll == 0:
            text = self.pick(
                f"np.sin({g}) + {a}",
                f"{g} * {g} * 0.5",
                f"{g}.T.copy().T",
                f"{g} + {g}[::-1]",
                f"({g} @ {g}.T) @ {g} * 0.25",
                f"np.where({g} > 0.37, {g}, {a})",
                f"np.flip({g}, axis=1)",
                f"{g} @ np.diag(np.array([{a}, 0.5, 1.0]))",
                f"{g} * {g}[0]",
                f"{g} + {g}[:, :1]",
            )
            self.named(scope, indent, "g", text, "matrix", like="matrix")
        elif roll == 1:
            cut = self.pick(f"[{k} % {ROWS}]", f"[:, {k} % {COLUMNS}]", ".T[0]", ".diagonal().copy()")
            self.named(scope, indent, "w", g + cut, "array")
        elif roll == 2:
            self.touch(scope, indent, g)
        else:
            self.write(
                indent,
                self.pick(
                    f"{g}[{k} % {ROWS}] = {a}",
                    f"{g}[:, {k} % {COLUMNS}] *= {a}",
                    f"{g}.T[1] = {a}",
                    f"{g}[:, ::-1] += {a}",
                    f"{g}[{k} % {ROWS}, 1:] = {g}[0, :-1]",
                    f"{g}[:, 1] += {g}[:, 0] * {a}",
                    f"{g}[1] = np.sin({g}[0])",
                    f"{g}[{g} < {a}] *= 0.5",
                    f"{g}[[0, 1], [1, 2]] = {a}",
                ),
            )

    def matrix_loops(self, scope: Scope, indent: int) -> None:
        """Loops in loops over rows and columns."""
        g, i, j = self.matrix(scope, indent), self.fresh("i"), self.fresh("j")
        if self.chance(0.3):
            return self.row_loop(scope, indent, g)
        inner = scope.inner(loop=True).inner(loop=True)
        inner.kinds |= {i: "int", j: "int"}
        inner.kept |= {i, j}
        rows, columns = self.pick((ROWS, COLUMNS), (f"{g}.shape[0]", f"{g}.shape[1]"), (f"len({g})", f"len({g}[0])"))
        self.write(indent, f"for {i} in range({rows}):")
        row = f"{g}[{i}, "
        if self.chance(0.3):
            name = self.named(inner, indent + 1, "s", f"{g}[{i}]", "array")
            row = f"{name}["
        self.write(indent + 1, f"for {j} in range({self.pick(columns, columns, f'{i} + 1')}):")
        if self.chance(0.3):
            self.write(indent + 2, f"if {self.condition(inner)}:")
            self.write(indent + 3, self.pick("continue", "break"))
        a, here = self.number(inner, 1), f"{row}{j}]"
        there = self.pick(f"{g}[{i} - 1, {j}]", f"{g}[{i}, {j} - 1]", f"{g}[({i} + 1) % {ROWS}, {j}]", f"{row}-1]")
        total = self.carried(scope, indent + 2)
        if self.chance(0.2):
            self.block(inner, indent + 2, 1)
        self.write(
            indent + 2,
            self.pick(
                f"{here} = math.sin({there} * {a})",
                f"{here} += {there} * {a} * 0.5",
                f"{here}, {there} = {there}, {here}",
                f"{total} = math.sin({total} + {here} * {there})",
                f"{here} = {here} * {there} + {a}",
            ),
        )
        return None

    def row_loop(self, scope: Scope, indent: int, g: str) -> None:
        """A walk over rows, which are views, and over the elements of each."""
        row, e = self.fresh("s"), self.fresh("e")
        inner = scope.inner(loop=True)
        inner.kinds[row] = "array"
        inner.kept.add(row)
        self.write(indent, f"for {row} in {self.pick(g, g, f'{g}.T')}:")
        if self.chance(0.5):
            self.touch(inner, indent + 1, row)
        if self.chance(0.5):
            total = self.carried(scope, indent + 1)
            self.write(indent + 1, f"for {e} in {row}:")
            return self.write(indent + 2, f"{total} = {total} * 0.5 + math.sin({e})")
        return self.block(inner, indent + 1, 1)

    def element_while(self, scope: Scope, indent: int) -> None:
        """A loop that ends when an element says so."""
        s, k = self.vector(scope, indent), self.fresh("k")
        place = self.place(scope, s)
        inner = scope.inner(loop=True)
        inner.kinds[k] = "int"
        inner.kept.add(k)
        a = self.bounded(scope, 1)
        self.write(indent, f"{k} = 0")
        self.write(
            indent,
            f"while {self.pick(f'{place} < 1.23', f'abs({place}) > 0.137', f'float(np.sum({s})) < {a}')} "
            f"and {k} < {self.pick(3, 4)}:",
        )
        self.write(indent + 1, f"{k} += 1")
        self.write(
            indent + 1,
            self.pick(
                f"{place} += 0.3 + {k} * 0.1",
                f"{s}[:] = {s} * 0.5 + {a}",
                f"{place} *= 0.7",
                f"{s} = {s} * 0.8"
                if s in scope.own - scope.kept
                else f"{s} *= 0.8"
                if s in scope.own
                else f"{s}[0] = {a}",
            ),
        )
        if self.chance(0.5):
            self.block(inner, indent + 1, 1)
        scope.kinds[k] = "int"
        scope.kept.add(k)

    def index_error(self, scope: Scope, indent: int) -> None:
        """Writes that leave an array, some of them caught half way."""
        s, a = self.vector(scope, indent), self.bounded(scope, 1)
        inner, i = self.trips(scope, indent)
        self.write(indent + 1, "try:")
        if self.chance(0.5):
            self.touch(inner, indent + 2, s)
        index = self.pick(f"{i} + 1", f"{i} * 2", f"{self.integer(inner)}", f"{i} - 3")
        self.write(
            indent + 2,
            self.pick(
                f"{s}[{index}] = {a}",
                f"{s}[{i}] = {s}[{index}] * {a}",
                f"{s}[{index}] += {a}",
                f"{s}[{index}], {s}[0] = {s}[0], {a}",
            ),
        )
        if self.chance(0.5):
            self.block(inner.inner(), indent + 2, 1)
        self.write(
            indent + 1, f"except {self.pick('IndexError', 'IndexError', '(IndexError, KeyError)', 'Exception')}:"
        )
        self.write(
            indent + 2, self.pick(f"{s}[-1] = {a}", f"{s}[:] = np.cos({s})", "break", "continue", f"{s}[0] *= {a}")
        )
        if self.chance(0.2):
            self.write(indent + 1, "else:")
            self.touch(inner, indent + 2, s)

    # --- other dtypes

    def singles(self, scope: Scope, indent: int) -> None:
        """Arrays of float32."""
        a, b = self.bounded(scope, 1), self.number(scope, 1)
        known = scope.of("single")
        if not known or self.chance(0.2):
            text = self.pick(
                "np.zeros(3, dtype=np.float32)",
                f"np.array([{a}, 0.5, {b}], dtype=np.float32)",
                f"np.full(4, {a}, dtype=np.float32)",
                *[f"{w}.astype(np.float32)" for w in scope.of("array")],
            )
            q = self.named(scope, indent, "q", text, "single")
        else:
            q = self.draw.choice(known)
        place = f"{q}[{self.integer(scope)} % len({q})]"
        inner = scope
        if indent < 4 and self.chance(0.4):
            inner, _ = self.trips(scope, indent)
            indent += 1
        changes = [
            f"{place} = {a}",
            f"{place} += {a}",
            f"{q}[:] = np.sin({q}) * {a}",
            f"{q}[1:] = {q}[:-1]",
            f"{q}[:] = {q} * np.float32(0.5) + np.float32({a})",
            f"{q}[{q} > 0.4] *= {a}",
        ]
        changes += [f"{q} *= {a}", f"{q} = np.tanh({q} * {a})"] if q in scope.own - scope.kept else []
        self.write(indent, self.pick(*changes))
        if self.chance(0.3):
            other = self.named(inner, indent, "q", self.pick(q, f"{q}[::-1]", f"np.cos({q})"), "single", like=q)
            self.write(indent, f"{other}[0] = {b}")
        if self.chance(0.3):
            self.named(inner, indent, "w", f"{q}.astype(np.float64)", "array")
        else:
            self.result(inner, indent, f"float(np.sum({q} * {q})) * 0.5")

    def ints(self, scope: Scope, indent: int) -> None:
        """Arrays of int, as numbers and as places."""
        known, k, a = scope.of("ints"), self.integer(scope), self.bounded(scope, 1)
        text = self.pick("np.array([0, 2, 1])", "np.arange(3)", f"np.zeros(3, dtype=int) + {k}", "np.array([1, 1, 0])")
        n = self.draw.choice(known) if known and self.chance(0.8) else self.named(scope, indent, "n", text, "ints")
        roll = self.draw.randrange(4)
        if roll == 0:
            changes = [f"{n}[{k} % 3] = {self.integer(scope)} % 3", f"{n}[1:] = {n}[:-1]", f"{n}[:] = {n}[::-1]"]
            changes += [f"{n} += 1", f"{n} = {n} * 2 % 3"] if n in scope.own - scope.kept else []
            return self.write(indent, self.pick(*changes))
        if roll == 1:
            i, total = self.fresh("i"), self.carried(scope, indent)
            self.write(indent, f"for {i} in {n}:")
            return self.write(indent + 1, f"{total} = math.sin({total} * 0.5 + float({i}))")
        if roll == 2:
            return self.result(
                scope,
                indent,
                self.pick(
                    f"float({n}[{k} % 3]) * {a}",
                    f"float(np.sum({n})) * {a}",
                    f"int({n}.max()) * {a}",
                    f"float(np.mean({n})) * {a}",
                ),
            )
        s = self.vector(scope, indent)
        at = f"{n} % len({s})"
        if self.chance(0.3):
            return self.short.add(self.named(scope, indent, "w", f"{s}[{at}]", "array"))
        return self.write(
            indent,
            self.pick(
                f"{s}[{at}] = {a}",
                f"{s}[{at}] += {a}",
                f"np.add.at({s}, {at}, {a})",
                f"{s}[{at}] = {s}[{at}][::-1] * {a}",
                f"{s}[{at}] *= np.sin({s}[{at}])",
            ),
        )

    # --- functions with options

    def axes(self, scope: Scope, indent: int) -> None:
        """Reductions of one axis, and what they broadcast to."""
        g, a, axis = self.matrix(scope, indent), self.bounded(scope, 1), self.pick(0, 1, -1)
        f = self.pick("sum", "sum", "mean", "max", "min", "prod", "var")
        roll = self.draw.randrange(4)
        if roll == 0:
            text = self.pick(
                f"np.{f}({g}, axis={axis})",
                f"{g}.{f}(axis={axis})",
                f"np.linalg.norm({g}, axis={axis})",
                f"np.concatenate([{g}[0], {g}[1, 1:]])",
                f"np.diff({g}[0])",
                f"{g}.T @ {g}[:, 0]",
            )
            self.short.add(self.named(scope, indent, "w", text, "array"))
        elif roll == 1:
            kept = f"np.{f}({g}, axis={axis}, keepdims=True)"
            text = self.pick(
                f"{g} * {kept} * 0.5",
                f"{g} - {kept}",
                f"np.exp({g}) / np.exp({g}).sum(axis=1, keepdims=True)",
                f"np.cumsum({g}, axis={axis})",
                f"np.sort({g}, axis={axis})",
                f"np.roll({g}, 1, axis={axis})",
                f"np.stack([{g}[1], {g}[0]])",
                f"np.concatenate([{g}[1:], {g}[:1]], axis=0)",
            )
            self.named(scope, indent, "g", text, "matrix", like="matrix")
        elif roll == 2:
            self.write(
                indent,
                self.pick(
                    f"{g} -= {g}.mean(axis={axis}, keepdims=True)",
                    f"{g}[0] = np.sum({g}, axis=0)",
                    f"{g}[:, 0] += {g}.sum(axis=1) * {a}",
                    f"{g}[:] = np.cumsum({g}, axis={axis})",
                    f"{g}[:, 2] = np.max({g}, axis=1)",
                )
                if g in scope.own
                else f"{g}[0] = np.sum({g}, axis=0)",
            )
        else:
            weights = self.pick(f"{g}[0]", f"np.array([{a}, 0.5, 1.0])")
            self.result(
                scope,
                indent,
                self.pick(
                    f"float(np.sum(np.{f}({g}, axis={axis}))) * 0.5",
                    f"float(np.argmax({g}[0])) * {a}",
                    f"float({g}.{f}()) * {a}",
                    f"float(np.sum({g} @ {weights}))",
                    f"float(np.linalg.norm({g}))",
                ),
            )

    def options(self, scope: Scope, indent: int) -> None:
        """Results that go into an array that is there, and elements left out."""
        s = self.matrix(scope, indent) if self.chance(0.25) else self.vector(scope, indent)
        p, a = self.mate(scope, indent, s), self.bounded(scope, 1)
        mask = self.pick(f"{s} > {a}", f"{p} < 0.37", f"{s} != {s}[::-1]", f"np.abs({s}) < 0.91")
        if self.chance(0.4):
            text = self.pick(
                f"np.where({mask}, {s}, {p})",
                f"np.clip({s}, -0.61, {a} + 1.7)",
                f"np.maximum({s}, {p} * 0.77)",
                f"np.where({mask}, {s} * {a}, 0.0)",
                f"np.add({s}, {p})",
                f"np.add({s}, {p}, out={p})",
            )
            self.named(scope, indent, "w", text, scope.kinds[s], like=s)
            return None
        if self.chance(0.25):
            return self.result(
                scope,
                indent,
                self.pick(
                    f"float(np.sum({s}, where={mask}))",
                    f"float(np.min({s}, where={mask}, initial=0.93))",
                    f"float(np.dot({s}.ravel(), {p}.ravel()))",
                ),
            )
        text = self.pick(
            f"np.add({s}, {p}, out={s})",
            f"np.multiply({s}, {a}, out={p})",
            f"np.sin({s}, out={s})",
            f"np.multiply({s}, {p}, out={s}, where={mask})",
            f"np.cos({s}, out={p}, where={mask})",
            f"np.copyto({s}, {p}, where={mask})",
            f"np.copyto({s}, {a}, where={mask})",
            f"np.subtract({s}[1:], {p}[:-1], out={s}[1:])",
            f"np.divide({p}, 1.5 + {s} * {s}, out={s})",
            f"np.cumsum({s}[0:2], axis=0, out={p}[0:2])",
        )
        return self.around(scope, indent, f"float({self.place(scope, s)})", text)

    def array_gradient(self, scope: Scope, indent: int) -> None:
        """The gradient by an array of a function that makes and changes others."""
        s, f, w, t = self.vector(scope, indent), self.fresh("f"), self.fresh("w"), self.fresh("t")
        inner = scope.function({w: "array"})
        start = len(self.lines)
        self.write(indent, f"def {f}({w}):")
        self.write(indent + 1, f"{t} = {w}{self.pick('.copy()', ' * 1.0', '')}")
        copied = not self.lines[-1].endswith(f"= {w}")
        inner.kinds[t] = "array"
        inner.own.add(t)
        inner.kept.discard(t)
        self.shapes[t] = self.shape(w)
        trip, i = self.trips(inner, indent + 1)
        if copied:
            self.write(
                indent + 2,
                self.pick(
                    f"{t}[{i} % len({t})] *= {w}[0]",
                    f"{t}[1:] += np.sin({t}[:-1])",
                    f"{t} *= {w}",
                    f"{t}[0], {t}[1] = {t}[1] * {w}[0], {t}[0]",
                ),
            )
        self.write(indent + 2, self.pick(f"{t} = np.sin({t} * {w})", f"{t} = {t} + {w} * {self.number(trip, 1)}"))
        self.write(indent + 1, f"return weight({t}) * {self.bounded(inner, 1)}")
        # What the function calls may write to the array under a captured name, which is refused (ValueError).
        calls = any(f"{name}(" in line for name in scope.of("fn") for line in self.lines[start:])
        at = f"{s}.copy()" if calls else s
        text = self.pick(
            f"pb.grad({f})({at})", f"pb.value_and_grad({f})({at})[1]", f"pb.jvp(pb.grad({f}), ({at},), ({s} * 0.5,))[1]"
        )
        self.named(scope, indent, "w", f"np.tanh({text})", "array", like=s)

    def masks(self, scope: Scope, indent: int) -> None:
        """An array of truth values that stays while the array that it was made of changes."""
        s = self.matrix(scope, indent) if self.chance(0.25) else self.vector(scope, indent)
        a, mask = self.bounded(scope, 1), self.fresh("mask")
        test = self.pick(f"{s} > {a}", f"np.abs({s}) < 0.91", f"({s} > -0.37) & ({s} < {a})", f"~({s} < 0.29)")
        self.write(indent, f"{mask} = {test}")
        inner, deeper = scope, indent
        if indent < 4 and self.chance(0.5):
            inner, _ = self.trips(scope, indent)
            deeper += 1
        changes = [
            f"{s}[{mask}] = {a}",
            f"{s}[{mask}] *= {a}",
            f"{s}[~{mask}] += {a}",
            f"{s}[{mask}] = {s}[{mask}][::-1]",
            f"{s}[:] = np.where({mask}, {s} * {a}, {s})",
            f"{s} *= {mask}" if s in scope.own else f"{s}[{mask}] = 0.0",
        ]
        self.write(deeper, self.pick(*changes))
        self.touch(inner, deeper, s)
        if self.chance(0.5):
            change = self.pick(
                f"{mask}[:] = ~{mask}",
                f"{mask} = {mask} & ({s} > 0.17)",
                f"{mask}[0] = bool({self.condition(inner)})",
                f"{mask} |= {s} < -0.23",
            )
            self.write(deeper, change)
        self.write(deeper, self.pick(*changes))
        self.result(
            inner,
            deeper,
            self.pick(
                f"float(np.sum({s}[{mask}]))",
                f"float(np.sum({mask})) * {a}",
                f"({a} if np.any({mask}) else 0.5)",
                f"float(np.sum({s} * {mask}))",
            ),
        )
