"""Random typed programs for the tests of passes: small, terminating, with checks, loops, branches, memory and calls."""

import random

from pullback.diagnostic import Span
from pullback.ir.node import Block, Function, Program, Value
from pullback.prims import Emitter, get
from pullback.prims.array import elementwise_types
from pullback.types import BOOL, F64, I64, ArrayRef, DType

ARRAY = ArrayRef(DType.F64, 1)
FLOATS = (
    "add", "sub", "mul", "zmul", "div", "neg", "abs", "maximum", "minimum", "sin", "exp", "sqrt", "python_max", "sign",
)  # fmt: skip
INTS = ("add", "sub", "mul", "neg", "floordiv", "mod", "maximum", "minimum", "and_", "or_", "xor_", "wrap_index")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
INT_TESTS = (*COMPARISONS, "ult", "add_overflows", "sub_overflows", "mul_overflows")
UNARY = {"neg", "abs", "sin", "exp", "sqrt", "sign", "not_"}
FLOAT_CONSTANTS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, float("inf"))
INT_CONSTANTS = (0, 1, -1, 2, 3, 7, 2**63 - 1, -(2**63))


class Maker:
    """Draws ops at random; `budget` bounds their number."""

    def __init__(self, seed, budget=60):
        self.random = random.Random(seed)
        self.budget = budget
        self.line = 0
        self.functions = {}

    def program(self):
        params = [Value(F64, "x"), Value(F64, "y"), Value(I64, "n"), Value(I64, "m"), Value(BOOL, "p")]
        params.append(Value(ARRAY, "a"))
        body = Block(params)
        scope = {F64: params[:2], I64: params[2:4], BOOL: params[4:5], ARRAY: params[5:], "sinks": []}
        helper = self.helper()
        self.functions = {"helper": helper}
        self.fill(body, scope, 3)
        body.results = [self.pick(scope, t) for t in (F64, F64, I64, BOOL)]
        return Program({"main": Function("main", body), "helper": helper}, "main")

    def helper(self):
        params = [Value(F64, "u"), Value(I64, "i")]
        body = Block(params)
        scope = {F64: params[:1], I64: params[1:], BOOL: [], ARRAY: [], "sinks": []}
        saved, self.budget = self.budget, 8
        self.fill(body, scope, 1)
        self.budget = saved
        body.results = [self.pick(scope, F64), self.pick(scope, I64)]
        return Function("helper", body)

    def fill(self, block, scope, depth):
        """Random ops at the end of the block; `scope` lists visible values by type."""
        emit = Emitter(block)
        for _ in range(self.random.randint(2, 9)):
            if self.budget <= 0:
                break
            self.budget -= 1
            self.line += 1
            emit.span = Span("random.py", self.line)
            self.step(emit, scope, depth)

    def step(self, emit, scope, depth):
        kinds = ["float"] * 5 + ["int"] * 4 + ["bool"] * 3 + ["constant"] * 3
        kinds += ["select", "cast", "check", "read", "powi", "memory", "elementwise"]
        if depth > 0:
            kinds += ["if", "if", "for", "for", "while"] + (["call"] if "helper" in self.functions else [])
        getattr(self, f"make_{self.random.choice(kinds)}")(emit, scope, depth)

    def pick(self, scope, type_, emit=None):
        if emit is not None and (not scope[type_] or self.random.random() < 0.2):
            return self.constant(emit, type_)
        return self.random.choice(scope[type_][-8:])

    def constant(self, emit, type_):
        choices = FLOAT_CONSTANTS if type_ == F64 else INT_CONSTANTS if type_ == I64 else (True, False)
        return emit.constant(self.random.choice(choices), type_)

    def add(self, scope, value):
        scope[value.type].append(value)

    def make_float(self, emit, scope, depth):
        name = self.random.choice(FLOATS)
        count = 1 if name in UNARY else 2
        value = emit(name, *[self.pick(scope, F64, emit) for _ in range(count)])
        if name == "zmul":  # the sign of its zero is not stated
            value = emit("add", value, emit.constant(0.0))
        self.add(scope, value)

    def make_int(self, emit, scope, depth):
        name = self.random.choice(INTS)
        count = 1 if name in UNARY else 2
        self.add(scope, emit(name, *[self.pick(scope, I64, emit) for _ in range(count)]))

    def make_bool(self, emit, scope, depth):
        kind = self.random.choice(["float", "int", "logic", "not"])
        if kind == "float":
            name, operands = self.random.choice(COMPARISONS), [self.pick(scope, F64, emit) for _ in range(2)]
        elif kind == "int":
            name, operands = self.random.choice(INT_TESTS), [self.pick(scope, I64, emit) for _ in range(2)]
            if name == "ult":  # promised for sizes only
                operands[1] = emit("maximum", operands[1], emit.integer(0))
        elif kind == "logic":
            name = self.random.choice(["and_", "or_", "xor_"])
            operands = [self.pick(scope, BOOL, emit) for _ in range(2)]
        else:
            name, operands = "not_", [self.pick(scope, BOOL, emit)]
        self.add(scope, emit(name, *operands))

    def make_constant(self, emit, scope, depth):
        self.add(scope, self.constant(emit, self.random.choice([F64, I64, BOOL])))

    def make_select(self, emit, scope, depth):
        type_ = self.random.choice([F64, I64, BOOL])
        operands = self.pick(scope, BOOL, emit), self.pick(scope, type_, emit), self.pick(scope, type_, emit)
        self.add(scope, emit("select", *operands))

    def make_cast(self, emit, scope, depth):
        source = self.random.choice([I64, BOOL])
        self.add(scope, emit("cast", self.pick(scope, source, emit), to=DType.F64))

    def make_powi(self, emit, scope, depth):
        self.add(scope, emit("powi", self.pick(scope, F64, emit), n=self.random.randint(-1, 4)))

    def make_check(self, emit, scope, depth):
        condition = self.pick(scope, BOOL, emit)
        if self.random.random() < 0.7:  # mostly true, so that programs get somewhere
            condition = emit("or_", condition, emit("ge", self.pick(scope, I64, emit), emit.integer(-3)))
        emit.op("check", condition, self.pick(scope, I64, emit), exception="ValueError", message=f"{self.line}: {{0}}")

    def make_read(self, emit, scope, depth):
        if not scope[ARRAY]:
            return
        array, index = self.random.choice(scope[ARRAY]), self.pick(scope, I64, emit)
        size = emit("array_size", array, axis=0)
        wrapped = emit("wrap_index", index, size)
        if self.random.random() < 0.5:  # an index that is mostly right
            wrapped = emit("mod", index, emit("maximum", size, emit.integer(1)))
        emit.op("check", emit("ult", wrapped, size), index, exception="IndexError", message=f"{self.line}: index {{0}}")
        self.add(scope, emit("array_get", array, wrapped))

    def make_memory(self, emit, scope, depth):
        """A buffer that is written and read, or an accumulator that is increased and perhaps read."""
        one = emit.integer(1)
        if self.random.random() < 0.5:
            buffer = emit("buffer", one, element=F64)
            emit.op("buffer_put", buffer, emit.integer(0), self.pick(scope, F64, emit))
            self.add(scope, emit("buffer_get", buffer, emit.integer(0)))
            return
        sink = emit("array_zeros", one, dtype=DType.F64)
        scope["sinks"].append(sink)
        for _ in range(self.random.randint(1, 2)):
            target = self.random.choice(scope["sinks"])
            emit.op("array_inc", target, emit.integer(0), self.pick(scope, F64, emit))
            if self.random.random() < 0.4:
                self.add(scope, emit("array_get", target, emit.integer(0)))

    def make_elementwise(self, emit, scope, depth):
        if not scope[ARRAY]:
            return
        array, scalar = self.random.choice(scope[ARRAY]), self.pick(scope, F64, emit)
        size = emit("array_size", array, axis=0)
        target = emit("array_zeros", size, dtype=DType.F64)
        body = Block([Value(F64), Value(F64)])
        inner = Emitter(body, emit.span)
        values = list(body.params)
        for _ in range(3):
            values.append(inner(self.random.choice(["add", "mul", "sub"]), *self.random.choices(values, k=2)))
        body.results = self.random.choices(values, k=3)
        outputs = ("new", "sum", "inc")
        op = emit.append(
            get("elementwise"), [size, array, scalar, target], attrs={"rank": 1, "outputs": outputs, "targets": 1},
            blocks=[body], types=elementwise_types(1, outputs, [v.type for v in body.results]),
        )  # fmt: skip
        self.add(scope, op.results[1])
        if self.random.random() < 0.5:
            scope[ARRAY].append(op.results[0])
        if self.random.random() < 0.3:
            scope[ARRAY].append(target)

    def inner_block(self, scope, depth, params=()):
        block = Block(params)
        inner = {key: list(values) for key, values in scope.items()}
        for param in params:
            inner[param.type].append(param)
        self.fill(block, inner, depth - 1)
        return block, inner, Emitter(block)

    def make_if(self, emit, scope, depth):
        types = self.random.choices([F64, I64, BOOL], k=self.random.randint(0, 3))
        blocks = []
        for _ in range(2):
            block, inner, last = self.inner_block(scope, depth)
            if self.random.random() < 0.1:
                last.op("check", last.boolean(False), exception="TypeError", message=f"{self.line}")
            block.results = [self.pick(inner, t, last) for t in types]
            blocks.append(block)
        op = emit.append(get("if"), [self.pick(scope, BOOL, emit)], blocks=blocks, types=types)
        for value in op.results:
            self.add(scope, value)

    def make_for(self, emit, scope, depth):
        types = self.random.choices([F64, I64, BOOL], k=self.random.randint(0, 3))
        inits = [self.pick(scope, t, emit) for t in types]
        count = emit.integer(self.random.choice([0, 1, 2, 5]))
        if self.random.random() < 0.6:
            count = emit("minimum", self.pick(scope, I64, emit), emit.integer(4))
        params = [Value(I64, "k"), *(Value(t) for t in types)]
        block, inner, last = self.inner_block(scope, depth, params)
        block.results = [self.carry(inner, t, p, last) for t, p in zip(types, params[1:], strict=True)]
        op = emit.append(get("for"), [count, *inits], blocks=[block], types=types)
        for value in op.results:
            self.add(scope, value)

    def carry(self, inner, type_, param, emit):
        chance = self.random.random()
        if chance < 0.2:
            return param
        if type_ == I64 and chance < 0.5:
            return emit("add", param, emit.integer(self.random.choice([1, 2, -1])))
        return self.pick(inner, type_, emit)

    def make_while(self, emit, scope, depth):
        types = [I64, *self.random.choices([F64, I64], k=self.random.randint(0, 2))]
        inits = [emit.integer(0), *[self.pick(scope, t, emit) for t in types[1:]]]
        cond = Block([Value(t) for t in types])
        test = Emitter(cond, emit.span)
        if self.random.random() < 0.5:  # a bound from outside the loop
            go = test("lt", cond.params[0], emit("minimum", self.pick(scope, I64, emit), emit.integer(4)))
        else:
            go = test("lt", cond.params[0], test("minimum", self.pick(scope, I64, test), test.integer(4)))
        cond.results = [test("and_", go, self.pick(scope, BOOL, test)) if self.random.random() < 0.4 else go]
        params = [Value(t) for t in types]
        block, inner, last = self.inner_block(scope, depth, params)
        step = last("add", params[0], last.integer(1))
        block.results = [step, *[self.carry(inner, t, p, last) for t, p in zip(types[1:], params[1:], strict=True)]]
        op = emit.append(get("while"), inits, blocks=[cond, block], types=types)
        for value in op.results:
            self.add(scope, value)

    def make_call(self, emit, scope, depth):
        operands = self.pick(scope, F64, emit), self.pick(scope, I64, emit)
        op = emit.append(get("call"), operands, attrs={"callee": "helper"}, types=[F64, I64])
        for value in op.results:
            self.add(scope, value)


def random_program(seed, budget=60):
    """A well-formed program of the parameters (x: f64, y: f64, n: i64, m: i64, p: bool, a: f64[:])."""
    return Maker(seed, budget).program()
