"""Random typed programs that keep numbers, rows and arrays in tables, and a plain model that runs them on jets.

    program = Maker(seed).program()          functions main(x, n, tables), helper, climb (recursive)
    taylor(program, "main", x, n, order)     derivatives 0..order of main by x, by power series on Python objects
    derived(program, "main", "rf")           a program whose entry is the derivative, reverse over forward

Every column of numbers of rows is set where the row is made, so that every number is that of a row.
"""

from __future__ import annotations

import math
import random

from pullback.ir.check import check_program
from pullback.ir.node import Block, Function, Program, Value
from pullback.ir.walk import clone_function
from pullback.prims import Emitter, get
from pullback.types import F64, I64, ArrayRef, Box, DType, Scalar, Table

ARRAY = ArrayRef(DType.F64, 1, True)
LAYOUTS = {"a": (F64, I64, F64, ARRAY), "b": (I64, F64, I64)}
ROWS = {("a", 1): "b", ("b", 0): "a", ("b", 2): "b"}  # the table that a column of numbers refers to
TABLES = (Table("a"), Table("b"))
SIZE = 2  # of every array


# --------------------------------------------------------------------------------------------------------- generator


class Scope:
    """Values that may be used, by kind."""

    def __init__(self, tables, outer=None):
        self.tables = tables
        kinds = ("float", "a", "b", "array")
        self.values = {k: list(outer.values[k]) if outer else [] for k in kinds}

    def inner(self):
        return Scope(self.tables, self)


class Maker:
    """Draws ops at random; `budget` bounds their number."""

    def __init__(self, seed, budget=45):
        self.random = random.Random(seed)
        self.budget = budget

    def program(self):
        helper, climb = self.helper(), self.climb()
        body = Block([Value(F64, "x"), Value(I64, "n"), *(Value(t, t.name) for t in TABLES)])
        x, n, a, b = body.params
        e, scope = Emitter(body), Scope({"a": a, "b": b})
        scope.values["float"] += [x, e("sin", x)]
        self.n = n
        for name in "ab":
            scope.values[name].append(self.new_row(e, scope, name))
        (first,), (second,) = scope.values["a"], scope.values["b"]
        e.op("table_set", a, first, second, column=1)
        self.callees = ["helper", "climb"]
        self.fill(e, scope, 3)
        body.results = [self.total(e, scope)]
        functions = {"main": Function("main", body), "helper": helper, "climb": climb}
        return Program(functions, "main", {name: [types] for name, types in LAYOUTS.items()})

    def helper(self):
        """helper(u, row of a, row of b, tables) -> float, row of a"""
        body = Block([Value(F64, "u"), Value(I64, "p"), Value(I64, "q"), *(Value(t, t.name) for t in TABLES)])
        scope = self.given(body)
        e, self.callees, self.n = Emitter(body), [], None
        saved, self.budget = self.budget, 12
        self.fill(e, scope, 1)
        self.budget = saved
        body.results = [self.total(e, scope), self.pick(scope, "a")]
        return Function("helper", body)

    def climb(self):
        """climb(u, row of a, depth, tables) -> float: ends at depth 0"""
        body = Block([Value(F64, "u"), Value(I64, "p"), Value(I64, "d"), *(Value(t, t.name) for t in TABLES)])
        u, p, d, a, b = body.params
        scope = Scope({"a": a, "b": b})
        scope.values["float"].append(u)
        scope.values["a"].append(p)
        e, self.callees, self.n = Emitter(body), [], None
        then, other = Emitter(Block()), Emitter(Block())
        inner = scope.inner()
        saved, self.budget = self.budget, 8
        self.fill(other, inner, 1)
        self.budget = saved
        arguments = [self.pick(inner, "float"), self.pick(inner, "a"), other("sub", d, other.integer(1)), a, b]
        op = other.append(get("call"), arguments, attrs={"callee": "climb"}, types=[F64])
        inner.values["float"].append(op.result)
        if self.random.random() < 0.5:
            self.budget, saved = 4, self.budget
            self.fill(other, inner, 0)
            self.budget = saved
        other.block.results = [self.total(other, inner)]
        then.block.results = [then("mul", u, then.constant(0.5))]
        stop = e("le", d, e.integer(0))
        body.results = e.append(get("if"), [stop], blocks=[then.block, other.block], types=[F64]).results
        return Function("climb", body)

    def given(self, body):
        u, p, q, a, b = body.params
        scope = Scope({"a": a, "b": b})
        scope.values["float"].append(u)
        scope.values["a"].append(p)
        scope.values["b"].append(q)
        return scope

    def pick(self, scope, kind):
        return self.random.choice(scope.values[kind][-4:])

    def total(self, e, scope):
        found = [self.pick(scope, "float") for _ in range(3)]
        return e("add", e("sin", e("add", found[0], found[1])), found[2])

    def fill(self, e, scope, depth):
        for _ in range(self.random.randint(4, 10)):
            if self.budget <= 0:
                return
            self.budget -= 1
            kinds = ["arithmetic", "read", "read", "write", "write", "row", "array"]
            kinds += ["branch", "loop"] * (depth > 0) + ["call", "call"] * bool(self.callees)
            getattr(self, self.random.choice(kinds))(e, scope, depth)

    def column(self, kind):
        """A table and one of its columns: of floats, of rows, of arrays."""
        def fits(name, i, type_):
            return (kind == "rows") if (name, i) in ROWS else (kind == "array") == isinstance(type_, ArrayRef)

        kinds = [(n, i) for n, types in LAYOUTS.items() for i, t in enumerate(types) if fits(n, i, t)]
        return self.random.choice([c for c in kinds if (kind == "rows") == (c in ROWS)])

    def arithmetic(self, e, scope, depth):
        x, y = self.pick(scope, "float"), self.pick(scope, "float")
        name = self.random.choice(("add", "sub", "mul", "sin", "cos"))
        made = e(name, x) if name in ("sin", "cos") else e("sin", e(name, x, y))
        scope.values["float"].append(made)

    def new_row(self, e, scope, name):
        table = scope.tables[name]
        row = e("table_rows", table, e.integer(1))
        for i, type_ in enumerate(LAYOUTS[name]):
            if isinstance(type_, ArrayRef):
                array = e("array_zeros", e.integer(SIZE), dtype=DType.F64)
                e("array_swap", array, e.integer(0), self.pick(scope, "float"))
                e.op("table_set", table, row, array, column=i)
                scope.values["array"].append(array)
            elif (name, i) in ROWS:
                known = scope.values[ROWS[name, i]]
                other = self.random.choice(known[-4:]) if known else row
                e.op("table_set", table, row, other, column=i)
            elif self.random.random() < 0.8:
                e.op("table_set", table, row, self.pick(scope, "float"), column=i)
        return row

    def row(self, e, scope, depth):
        name = self.random.choice("ab")
        if scope.values["a"] and scope.values["b"]:
            scope.values[name].append(self.new_row(e, scope, name))

    def read(self, e, scope, depth):
        kind = self.random.choice(("float", "float", "rows", "array"))
        name, i = self.column(kind)
        if not scope.values[name]:
            return
        made = e("table_get", scope.tables[name], self.pick(scope, name), column=i, type=LAYOUTS[name][i])
        scope.values[ROWS[name, i] if kind == "rows" else kind].append(made)

    def write(self, e, scope, depth):
        kind = self.random.choice(("float", "float", "float", "rows", "array"))
        name, i = self.column(kind)
        values = scope.values[ROWS[name, i] if kind == "rows" else kind]
        if not scope.values[name] or not values:
            return
        table, row, value = scope.tables[name], self.pick(scope, name), self.random.choice(values[-4:])
        how = self.random.choice(("set", "set", "swap", "inc")) if kind == "float" else "set"
        if how == "swap":
            scope.values["float"].append(e("table_swap", table, row, value, column=i))
        else:
            e.op(f"table_{how}", table, row, value, column=i)

    def array(self, e, scope, depth):
        if not scope.values["array"]:
            return
        array, index = self.pick(scope, "array"), e.integer(self.random.randrange(SIZE))
        how = self.random.choice(("get", "get", "swap", "inc"))
        if how == "get":
            scope.values["float"].append(e("array_get", array, index))
        elif how == "swap":
            scope.values["float"].append(e("array_swap", array, index, self.pick(scope, "float")))
        else:
            e.op("array_inc", array, index, self.pick(scope, "float"))

    def kinds_to_merge(self, scope):
        kinds = ["float", *(k for k in ("a", "b", "array") if scope.values[k] and self.random.random() < 0.5)]
        types = {"float": F64, "array": ARRAY}
        return kinds, [types.get(k, I64) for k in kinds]

    def branch(self, e, scope, depth):
        kinds, types = self.kinds_to_merge(scope)
        condition = e("gt", self.pick(scope, "float"), e.constant(self.random.uniform(-0.6, 0.6)))
        blocks = []
        for _ in range(2):
            inner, arm = scope.inner(), Emitter(Block())
            self.fill(arm, inner, depth - 1)
            arm.block.results = [self.pick(inner, kind) for kind in kinds]
            blocks.append(arm.block)
        op = e.append(get("if"), [condition], blocks=blocks, types=types)
        for kind, value in zip(kinds, op.results, strict=True):
            scope.values[kind].append(value)

    def loop(self, e, scope, depth):
        kinds, types = self.kinds_to_merge(scope)
        count = self.n if self.n is not None and self.random.random() < 0.3 else e.integer(self.random.randint(1, 3))
        inner, body = scope.inner(), Emitter(Block([Value(I64, "k"), *(Value(t) for t in types)]))
        for kind, value in zip(kinds, body.block.params[1:], strict=True):
            inner.values[kind].append(value)
        self.fill(body, inner, depth - 1)
        body.block.results = [self.pick(inner, kind) for kind in kinds]
        inits = [self.pick(scope, kind) for kind in kinds]
        op = e.append(get("for"), [count, *inits], blocks=[body.block], types=types)
        for kind, value in zip(kinds, op.results, strict=True):
            scope.values[kind].append(value)

    def call(self, e, scope, depth):
        tables = [scope.tables[n] for n in "ab"]
        if not scope.values["a"] or not scope.values["b"]:
            return
        if self.random.choice(self.callees) == "helper":
            arguments = [self.pick(scope, "float"), self.pick(scope, "a"), self.pick(scope, "b"), *tables]
            op = e.append(get("call"), arguments, attrs={"callee": "helper"}, types=[F64, I64])
            scope.values["a"].append(op.results[1])
        else:
            depth = e.integer(self.random.randint(0, 3))
            arguments = [self.pick(scope, "float"), self.pick(scope, "a"), depth, *tables]
            op = e.append(get("call"), arguments, attrs={"callee": "climb"}, types=[F64])
        scope.values["float"].append(op.results[0])


# ------------------------------------------------------------------------------------------------------------ derived


def derived(program, base, modes):
    """A program whose entry is the derivative of `base` by its first parameter, the last mode applied first.

    r: value_and_grad, f: jvp, v: vjp and its pullback.
    """
    functions = {name: clone_function(f) for name, f in program.functions.items()}
    name = base
    for number, mode in enumerate(reversed(modes)):
        params = [Value(v.type, v.name) for v in functions[name].body.params]
        e = Emitter(Block(params))
        wrt, types = {"callee": name, "wrt": (0,)}, [F64, F64]
        if mode == "r":
            op = e.append(get("value_and_grad"), params, attrs={**wrt, "outputs": (0,)}, types=types)
        elif mode == "f":
            op = e.append(get("jvp"), [*params, e.constant(1.0)], attrs=wrt, types=types)
        else:
            box = f"pulled{number}"
            half = e.append(get("vjp"), params, attrs={**wrt, "box": box}, types=[F64, Box(box)])
            attrs = {**wrt, "box": box}
            op = e.append(get("pullback"), [half.results[1], e.constant(1.0)], attrs=attrs, types=[F64])
        e.block.results = op.results[-1:]
        name = f"d{number}{mode}"
        functions[name] = Function(name, e.block)
    params = [Value(v.type, v.name) for v in functions[name].body.params]
    e = Emitter(Block([v for v in params if not isinstance(v.type, Table)]))
    given = [e("table", name=v.type.name) if isinstance(v.type, Table) else v for v in params]
    e.block.results = e.append(get("call"), given, attrs={"callee": name}, types=[F64]).results
    functions["entry"] = Function("entry", e.block)
    made = Program(functions, "entry", {k: list(v) for k, v in program.layouts.items()})
    check_program(made)
    return made


# -------------------------------------------------------------------------------------------------------------- model


class Jet:
    """A power series in the input: c[k] is the k-th derivative divided by k!."""

    def __init__(self, c):
        self.c = c

    def __add__(self, other):
        return Jet([x + y for x, y in zip(self.c, other.c, strict=True)])

    def __sub__(self, other):
        return Jet([x - y for x, y in zip(self.c, other.c, strict=True)])

    def __mul__(self, other):
        return Jet([sum(self.c[i] * other.c[k - i] for i in range(k + 1)) for k in range(len(self.c))])

    def waves(self):
        """Its sine and cosine."""
        sine, cosine = [math.sin(self.c[0])], [math.cos(self.c[0])]
        for k in range(1, len(self.c)):
            inner = [(j, j * self.c[j] / k) for j in range(1, k + 1)]
            sine.append(sum(d * cosine[k - j] for j, d in inner))
            cosine.append(-sum(d * sine[k - j] for j, d in inner))
        return Jet(sine), Jet(cosine)


def taylor(program, base, x, n, order):
    """The derivatives 0..order of a function of (x, n, tables)."""
    start = Jet([x, *([1.0] + [0.0] * (order - 1))[:order]])
    (result,) = _Model(program, order).call(base, [start, n, *([] for _ in TABLES)])
    return [c * math.factorial(k) for k, c in enumerate(result.c)]


class _Model:
    """Runs the ops on Python objects: a table is a list of rows, an array a list."""

    def __init__(self, program, order):
        self.program, self.order = program, order

    def number(self, value):
        return Jet([value, *[0.0] * self.order])

    def call(self, name, arguments):
        body = self.program.functions[name].body
        return self.block(body, dict(zip(body.params, arguments, strict=True)))

    def block(self, block, env):
        for op in block.ops:
            results = self.op(op, [env[v] for v in op.operands], env)
            env.update(zip(op.results, results, strict=True))
        return [env[v] for v in block.results]

    def null(self, type_):
        return self.number(0.0) if type_ == F64 else 0 if isinstance(type_, Scalar) else []

    def op(self, op, given, env):
        name = op.name
        if name == "const":
            value = op.attrs["value"]
            return [self.number(value) if op.result.type == F64 else value]
        if name in ("add", "sub", "mul"):
            x, y = given
            return [x + y if name == "add" else x - y if name == "sub" else x * y]
        if name in ("sin", "cos"):
            return [given[0].waves()[name == "cos"]]
        if name in ("gt", "le"):
            x, y = (v.c[0] if isinstance(v, Jet) else v for v in given)
            return [x > y if name == "gt" else x <= y]
        return getattr(self, f"op_{name}")(op, given, env)

    def op_if(self, op, given, env):
        return self.block(op.blocks[not given[0]], env)

    def op_for(self, op, given, env):
        (body,), (count, *carried) = op.blocks, given
        for k in range(count):
            env.update(zip(body.params, [k, *carried], strict=True))
            carried = self.block(body, env)
        return carried

    def op_call(self, op, given, env):
        return self.call(op.attrs["callee"], given)

    def op_table_rows(self, op, given, env):
        table, count = given
        types = LAYOUTS[op.operands[0].type.name]
        table += [[self.null(t) for t in types] for _ in range(count)]
        return [len(table) - count]

    def op_table_get(self, op, given, env):
        return [given[0][given[1]][op.attrs["column"]]]

    def op_table_set(self, op, given, env):
        table, row, value = given
        old, table[row][op.attrs["column"]] = table[row][op.attrs["column"]], value
        return [old][: len(op.results)]

    op_table_swap = op_table_set

    def op_table_inc(self, op, given, env):
        table, row, value = given
        table[row][op.attrs["column"]] = table[row][op.attrs["column"]] + value
        return []

    def op_array_zeros(self, op, given, env):
        return [[self.number(0.0) for _ in range(given[0])]]

    def op_array_get(self, op, given, env):
        return [given[0][given[1]]]

    def op_array_swap(self, op, given, env):
        array, index, value = given
        old, array[index] = array[index], value
        return [old]

    def op_array_inc(self, op, given, env):
        array, index, value = given
        array[index] = array[index] + value
        return []


