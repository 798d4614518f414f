"""Random programs of syntax over small whole numbers: every construct of the language in every other.

    python tests/random_syntax.py --count 200 --seed 7        compares CPython with the evaluator of untyped IR
    python tests/random_syntax.py --compiled --count 50       and with compiled code

A program is a function f(a, b, c) of three ints that gives a tuple of ints, or raises.
"""

import argparse
import linecache
import random
import textwrap

HEAD = """
class Box:
    __match_args__ = ("left", "right")

    def __init__(self, left, right):
        self.left = left
        self.right = right


class Manager:
    def __init__(self, box, swallow):
        self.box = box
        self.swallow = swallow

    def __enter__(self):
        self.box.left += 1
        return self.box.right

    def __exit__(self, kind, value, trace):
        self.box.right += 2
        return self.swallow


def spread(first, *rest, last=1, **more):
    return first + 2 * sum(rest) + 3 * last + 5 * len(more)


def steps(n, k):
    for i in range(n):
        if i == 4:
            return 50
        yield i * k
        k += 1
    return k


"""


class Writer:
    """One program; `features` leaves out what is not wanted."""

    ALL = (
        "closures", "comprehensions", "generators", "stars", "match", "try", "with", "delete", "objects", "lists",
        "walrus",
    )  # fmt: skip

    def __init__(self, seed, features=ALL):
        self.random = random.Random(seed)
        self.features = features
        self.count = 0
        self.functions = []
        self.inside = 0  # nested functions around
        self.used = set()

    def has(self, feature, chance=1.0):
        if feature in self.features and self.random.random() < chance:
            self.used.add(feature)
            return True
        return False

    def name(self):
        return self.random.choice("abcd")

    def fresh(self, what):
        self.count += 1
        return f"{what}{self.count}"

    # ------------------------------------------------------------------------------------------- expressions

    def expression(self, depth=2):
        inner = lambda: self.expression(depth - 1)
        pick = self.random.randrange(20 if depth else 4)
        match pick:
            case 0:
                return str(self.random.randrange(-3, 6))
            case 4 | 5:
                return f"({inner()} {self.random.choice('+-')} {inner()})"
            case 6:
                return f"({inner()} * {inner()} % 11)"
            case 7:
                return f"({inner()} {self.random.choice(['and', 'or'])} {inner()})"
            case 8:
                return f"({inner()} if {self.test(depth - 1)} else {inner()})"
            case 9 if self.has("walrus", 0.4) and not self.inside:
                return f"({self.name()} := {inner()})"
            case 10 if self.has("comprehensions", 0.6):
                return self.comprehension(depth)
            case 11 if self.has("generators", 0.6):
                return self.generator(depth)
            case 12 if self.has("closures", 0.6):
                return f"(lambda p, q={inner()}: p - {self.random.choice(['q', self.name()])})({inner()})"
            case 13 if self.has("stars", 0.6):
                return self.call(depth)
            case 14 if self.has("lists", 0.8):
                return f"xs[{inner()} % len(xs)]"
            case 15 if self.has("objects", 0.8):
                return self.random.choice(["box.left", "box.right"])
            case 16 if self.functions:
                return f"{self.random.choice(self.functions)}({inner()})"
            case 17:
                return f"int({self.test(depth - 1)})"
        return self.name()

    def test(self, depth=1):
        first, second = self.expression(depth), self.expression(max(depth - 1, 0))
        kind = self.random.randrange(5)
        if kind == 0:
            return f"{first} < {second} <= {self.expression(0)}"
        if kind == 1:
            return f"not {first}"
        return f"{first} {self.random.choice(['<', '>', '==', '!='])} {second}"

    def comprehension(self, depth):
        i, j = self.fresh("i"), self.fresh("j")
        source = self.random.choice([f"range({self.random.randrange(5)})", "(1, 2, 3)", "[a, b]"])
        text = f"{i} * {self.expression(0)} - {self.name()}"
        if self.has("walrus", 0.2) and not self.inside:
            text = f"({self.name()} := {text})"
        clauses = f"for {i} in {source}"
        if self.random.random() < 0.4:
            clauses += f" if {i} != {self.expression(0)}"
        if self.random.random() < 0.3:
            clauses += f" for {j} in range({i} % 3)"
        kind = self.random.randrange(4)
        if kind == 0 and "walrus" not in text:
            return f"len({{{text} {clauses}}})"
        if kind == 1 and ":=" not in text:
            return f"sum({{{i}: {text} {clauses}}}.values())"
        if kind == 2 and self.has("closures"):
            return f"sum([h(1) for h in [lambda p: p + {i} {clauses}]])"
        return f"sum([{text} {clauses}])"

    def generator(self, depth):
        i = self.fresh("i")
        kind = self.random.randrange(4)
        if kind == 0:
            return f"sum(steps({self.random.randrange(6)}, {self.expression(0)}))"
        if kind == 1:
            return f"int(any({i} > {self.expression(0)} for {i} in range({self.random.randrange(5)})))"
        condition = f" if {i} % 2" if kind == 2 else ""
        return f"sum({i} * {self.name()} for {i} in range({self.random.randrange(5)}){condition})"

    def call(self, depth):
        inner = lambda: self.expression(depth - 1)
        arguments = [inner()]
        if self.random.random() < 0.6:
            arguments.append(f"*({inner()}, {inner()})")
        if self.random.random() < 0.4:
            arguments.append(inner())
        if self.random.random() < 0.4:
            arguments.append(f"last={inner()}")
        elif self.random.random() < 0.4:
            arguments.append(f"**{{'last': {inner()}, 'x': 1}}")
        if self.random.random() < 0.3:
            arguments.append(f"y={inner()}")
        return f"spread({', '.join(arguments)})"

    # -------------------------------------------------------------------------------------------- statements

    def block(self, depth, in_loop):
        known = list(self.functions)
        lines = [line for _ in range(self.random.randrange(1, 4)) for line in self.statement(depth, in_loop)]
        self.functions = known
        return textwrap.indent("\n".join(lines), "    ").split("\n")

    def statement(self, depth, in_loop):
        pick = self.random.randrange(24 if depth else 12)
        expression = self.expression
        match pick:
            case 2:
                return [f"{self.name()} += {expression()}"]
            case 3:
                return [f"{self.name()}, {self.name()} = {expression(1)}, {expression(1)}"]
            case 4 if in_loop:
                return [self.random.choice(["break", "continue"])]
            case 5 if self.random.random() < 0.3 and not self.inside:
                return [f"return a, b, {expression()}"]
            case 6 if self.has("stars"):
                target = f"{self.name()}, *rest"
                values = [expression(1) for _ in range(3)]
                return [f"{target} = {', '.join(values)}", f"{self.name()} = rest[1]"]
            case 7 if self.has("delete", 0.4):
                name = self.name()
                return [f"del {name}"] if self.random.random() < 0.3 else [f"del {name}", f"{name} = {expression(0)}"]
            case 8 if self.has("objects"):
                target = self.random.choice(["box.left", "box.right"])
                return [f"{target} {self.random.choice(['=', '+=', '-='])} {expression()}"]
            case 9 if self.has("lists"):
                item = f"xs[{expression(1)} % len(xs)]"
                return self.random.choice(
                    [[f"xs.append({expression()})"], [f"{item} = {expression()}"], [f"{item} += {expression()}"]]
                )
            case 10 if self.random.random() < 0.2:
                return [f"raise ValueError('v{self.fresh('')}')"]
            case 11:
                return [f"{self.name()} = {self.name()} = {expression()}"]
            case 12 | 13:
                return self.branches(depth, in_loop)
            case 14 | 15:
                return self.loop(depth, in_loop)
            case 16 | 17 if self.has("closures"):
                return self.function(depth)
            case 18 | 19 if self.has("match"):
                return self.match(depth, in_loop)
            case 20 if self.has("try"):
                return self.attempt(depth, in_loop)
            case 21 if self.has("with"):
                return self.managed(depth, in_loop)
            case 22 if self.has("generators"):
                lines = [f"for {self.name()} in steps({self.random.randrange(6)}, {expression(1)}):"]
                return [*lines, *self.block(depth - 1, True)]
        return [f"{self.name()} = {expression()}"]

    def branches(self, depth, in_loop):
        lines = [f"if {self.test()}:", *self.block(depth - 1, in_loop)]
        if self.random.random() < 0.3:
            lines += [f"elif {self.test()}:", *self.block(depth - 1, in_loop)]
        if self.random.random() < 0.5:
            lines += ["else:", *self.block(depth - 1, in_loop)]
        return lines

    def loop(self, depth, in_loop):
        if self.random.random() < 0.6:
            sources = [f"range({self.random.randrange(4)})", f"(1, {self.expression(1)}, 2)", "[b, c]"]
            source = self.random.choice(sources)
            lines = [f"for {self.name()} in {source}:", *self.block(depth - 1, True)]
        else:
            assigning = f"({self.name()} := {self.expression(1)}) > 0" if not self.inside else "a"
            test = self.random.choice([self.test(), assigning])
            lines = [f"while fuel < 12 and {test}:", "    fuel += 1", *self.block(depth - 1, True)]
        if self.random.random() < 0.3:
            lines += ["else:", *self.block(depth - 1, in_loop)]
        return lines

    def function(self, depth):
        name = self.fresh("h")
        declared = sorted(set(self.random.choices("abcd", k=self.random.randrange(3))))
        lines = [f"nonlocal {', '.join(declared)}"] if declared and not self.inside else []
        self.inside += 1
        changes = declared if lines else []
        if changes:
            operator = self.random.choice(["=", "+="])
            lines.append(f"{self.random.choice(changes)} {operator} {self.expression(1)} % 13")
        lines.append(f"return p + {self.expression(1)}")
        self.inside -= 1
        found = [f"def {name}(p):", *(f"    {line}" for line in lines)]
        self.functions.append(name)
        if self.random.random() < 0.5:
            found.append(f"{self.name()} = {name}({self.expression(1)})")
        return found

    def match(self, depth, in_loop):
        name, value = self.name, lambda: self.expression(1)
        subject, patterns = self.random.choice(
            [
                (self.expression(), ["0", "1 | 2", f"{name()} if {self.test(0)}", "_"]),
                (f"({value()}, {value()})", ["(0, 0)", f"({name()}, 1)", f"(_, {name()})", "_"]),
                (f"({name()}, ({value()}, 2))", [f"(1, (*_, {name()}))", f"(_, ({name()}, _)) if a", "_"]),
                ("box", ["Box(0, 1)", f"Box({name()}, right=0)", f"Box(left={name()}) if a > b", "_"]),
                (f"{{'k': {value()}, 'l': 2}}", ["{'k': 0}", f"{{'k': {name()}, 'm': _}}", f"{{'l': {name()}}}"]),
            ]
        )  # fmt: skip
        if subject == "box" and "objects" not in self.features:
            subject = "1"
        kept = [p for p in patterns if p == "_" or self.random.random() < 0.7] or ["_"]
        if kept == ["_"] and self.random.random() < 0.5:
            kept = [patterns[0]]
        lines = [f"match {subject}:"]
        for pattern in kept:
            lines += [f"    case {pattern}:", *(f"    {line}" for line in self.block(depth - 1, in_loop))]
        return lines

    def attempt(self, depth, in_loop):
        lines = ["try:", *self.block(depth - 1, in_loop)]
        kind = self.random.randrange(3)
        if kind < 2:
            caught = self.random.choice(["ValueError", "UnboundLocalError", "(NameError, ValueError)", "Exception"])
            lines += [f"except {caught}:", *self.block(depth - 1, in_loop)]
            if self.random.random() < 0.3:
                lines += ["else:", *self.block(depth - 1, in_loop)]
        if kind:
            lines += ["finally:", *self.block(depth - 1, False)]
        return lines

    def managed(self, depth, in_loop):
        box = "box" if "objects" in self.features else f"Box({self.expression(1)}, 1)"
        swallow = self.random.choice(["True", "False"])
        return [f"with Manager({box}, {swallow}) as {self.name()}:", *self.block(depth - 1, in_loop)]

    def program(self):
        body = [*self.block(3, False), *self.block(3, False)]
        start = ["    d = a - b", "    fuel = 0", "    xs = [a, b, c]", "    box = Box(a, c)"]
        end = ["    return a, b, c, d, fuel, sum(xs), box.left, box.right"]
        return "\n".join(["def f(a, b, c):", *start, *body, *end]) + "\n"


def define(source, file):
    """The function f of a program, with its text where Python looks for it."""
    text = HEAD + source
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = {"__name__": file}
    exec(compile(text, file, "exec"), namespace)
    return namespace["f"]


ARGUMENTS = ((1, 2, 0), (0, -1, 5), (3, 0, -2))


def outcome(call, arguments):
    """The numbers, or the class of the exception."""
    try:
        return tuple(map(int, call(*arguments)))
    except Exception as error:
        return type(error).__name__


def differences(seed, compiled=False, features=Writer.ALL):
    """What goes wrong with the program of a seed: pairs of what is expected and found; empty when all is well."""
    source = Writer(seed, features).program()
    function = define(source, f"<syntax {seed}>")
    if compiled:
        import pullback

        run = pullback.jit(function)
    else:
        from untyped import compiled as evaluated

        run = evaluated(function)
    pairs = [(outcome(function, arguments), outcome(run, arguments)) for arguments in ARGUMENTS]
    wide = "OverflowError"  # compiled ints have 64 bits
    return [pair for pair in pairs if pair[0] != pair[1] and pair[1] != wide], source


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--without", nargs="*", default=())
    options = parser.parse_args()
    failures = 0
    features = tuple(f for f in Writer.ALL if f not in options.without)
    for seed in range(options.seed, options.seed + options.count):
        wrong, source = differences(seed, options.compiled, features)
        if wrong:
            failures += 1
            print(f"seed {seed}: {wrong[0]}")
            if options.show:
                print(source)
    print(f"{failures} of {options.count} differ")


if __name__ == "__main__":
    main()
