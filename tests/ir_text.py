"""Typed IR written as text, in the form that `pullback.ir.show` prints, so that tests of passes are readable.

    f = parse('''
        def f(x: f64, n: i64) -> f64:
            one: f64 = const 1.0
            r: f64 = for n, one:
              body (k: i64, acc: f64):
                next: f64 = mul acc, x
                yield next
            return r
    ''')

`canonical` prints a function with values numbered in order, so that two texts are equal if the functions are.
"""

import re
import textwrap

from pullback.diagnostic import Span
from pullback.ir.check import check_program
from pullback.ir.node import Block, Function, Op, Program, Value
from pullback.ir.show import show_function
from pullback.ir.walk import clone_function
from pullback.prims import get
from pullback.types import ArrayRef, Box, Buffer, DType, Scalar, Table

DTYPES = {dtype.value: dtype for dtype in DType}


def machine_type(text):
    if text.startswith("buffer<"):
        return Buffer(machine_type(text[7:-1]))
    if text.startswith("box "):
        return Box(text[4:])
    if text.startswith("table "):
        return Table(text[6:])
    dtype, bracket, rest = text.partition("[")
    if bracket:
        return ArrayRef(DTYPES[dtype], rest.count(":"), text.endswith("c"))
    return Scalar(DTYPES[dtype])


def attribute(key, text):
    if text.startswith("("):
        return tuple(attribute(key, part) for part in text[1:-1].split(", ") if part)
    if key in ("dtype", "to"):
        return DTYPES[text]
    if key in ("element", "type", "types"):
        return machine_type(text)
    return int(text) if re.fullmatch(r"-?\d+", text) else text == "True" if text in ("True", "False") else text


class Parser:
    def __init__(self, text):
        self.lines = [line for line in textwrap.dedent(text).splitlines() if line.strip()]
        self.position = 0
        self.values = {}

    def indent(self):
        line = self.lines[self.position] if self.position < len(self.lines) else ""
        return len(line) - len(line.lstrip())

    def take(self):
        self.position += 1
        return self.lines[self.position - 1].strip()

    def define(self, text):
        name, _, type_ = text.partition(": ")
        value = self.values[name] = Value(machine_type(type_), name)
        return value

    def params(self, text):
        return [self.define(part) for part in text.split(", ") if part]

    def names(self, text):
        return [self.values[name] for name in text.split(", ") if name]

    def function(self):
        name, params = re.fullmatch(r"def (\w+)\((.*?)\)(?: -> .*)?:", self.take()).groups()
        body = self.block(Block(self.params(params)), "return")
        return Function(name, body)

    def block(self, block, end):
        while not (line := self.take()).startswith(end):
            block.ops.append(self.op(line))
        block.results = self.names(line[len(end) :].strip())
        return block

    def op(self, line):
        number, indent = self.position, len(self.lines[self.position - 1]) - len(self.lines[self.position - 1].lstrip())
        left, right = line.split(" = ", 1) if " = " in line else ("", line)
        has_blocks = right.endswith(":")
        name, _, rest = right.removesuffix(":").partition(" ")
        attrs = {}
        if name == "const":
            attrs, rest = {"value": eval(rest, {"nan": float("nan"), "inf": float("inf")})}, ""
        while match := re.match(r"(\w+)=(\([^)]*\)|\S+) ?", rest):
            attrs[match[1]] = attribute(match[1], match[2])
            rest = rest[match.end() :]
        operands, blocks = self.names(rest), []
        while has_blocks and self.position < len(self.lines) and self.indent() > indent:
            label = re.fullmatch(r"\w+(?: \((.*)\))?:", self.take())
            blocks.append(self.block(Block(self.params(label[1] or "")), "yield"))
        results = self.params(left)
        if name == "const":
            attrs["type"] = results[0].type
        return Op(get(name), operands, results, attrs, blocks, Span("text.py", number))


def parse(text, *others, tables=None):
    """The program of the functions; the first is the entry.  `tables`: per name the types of the columns, as text."""
    functions = [Parser(part).function() for part in (text, *others)]
    layouts = {name: [tuple(map(machine_type, types.split("; ")))] for name, types in (tables or {}).items()}
    program = Program({f.name: f for f in functions}, functions[0].name, layouts)
    check_program(program)
    return program


def strip_names(block):
    for value in block.params:
        value.name = ""
    for op in block.ops:
        for value in op.results:
            value.name = ""
        for inner in op.blocks:
            strip_names(inner)


def canonical(function):
    """Text that does not depend on the names of values."""
    copy = clone_function(function)
    strip_names(copy.body)
    return re.sub(r"  # text\.py.*", "", show_function(copy, source=False))
