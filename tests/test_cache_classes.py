"""Code for objects of the user's classes is kept across processes, and is not used once a class has changed.

Each edit below changes one thing that code may depend on; a fresh process must compile again and give the new answer.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pullback.codegen.class_prints import Nameless, class_print

PROGRAM = """
import enum, sys
from dataclasses import dataclass, field
from typing import NamedTuple
import pullback as pb

class Base:
    def slope(self):
        return 2.0

@dataclass
class Leaf(Base):
    value: float
    weight: float = 3.0
    tags: list = field(default_factory=lambda: [0.5, 0.25])
    kind = 1.0

    def score(self):
        return self.value * self.slope() + self.weight

class Slim:
    __slots__ = ("a", "b")
    def __init__(self, a, b):
        self.a = a
        self.b = b

class Pair(NamedTuple):
    first: float
    second: float = 4.0

class Mode(enum.Enum):
    UP = 1
    DOWN = 2

def fold(leaf, slim):
    fresh = Leaf(leaf.value)
    pair = Pair(slim.a)
    return leaf.score() + 10.0 * fresh.score() + pair.second * slim.b + sum(fresh.tags) * leaf.kind

def write(slim, mode):
    slim.b = slim.a if mode is Mode.UP else -slim.a
    return slim

def total(leaves):
    return sum(leaf.value for leaf in leaves)

def made(x):
    return Leaf(x, 2.0 * x)
"""

RUN = """
from pullback import pipeline

compiled, real = [], pipeline.compile_entry
pipeline.compile_entry = lambda request, *more: compiled.append(request) or real(request, *more)
leaf, slim = Leaf(1.0), Slim(2.0, 5.0)
answers = (
    pb.jit(fold)(leaf, slim), pb.grad(fold)(leaf, slim).value, pb.jit(write)(slim, Mode.UP).b,
    pb.jit(total)([Leaf(float(i)) for i in range(int(sys.argv[1]))]), vars(pb.jit(made)(1.5)),
    pb.jit(total)(pb.pack([leaf])),
)
plain = (fold(leaf, Slim(2.0, 5.0)), write(slim, Mode.UP).b)
print(len(compiled), answers, (answers[0], answers[2]) == plain)
"""


def run(directory: Path, text: str = PROGRAM, size: int = 20) -> list[str]:
    """The number of compilations, the answers, and whether they are Python's, of the program in a new process."""
    file = directory / "program.py"
    file.write_text(text + RUN)
    environment = {**os.environ, "PULLBACK_CACHE_DIR": str(directory / "cache")}
    done = subprocess.run(
        [sys.executable, str(file), str(size)], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    number, _, rest = done.stdout.strip().partition(" ")
    answers, _, plain = rest.rpartition(" ")
    return [number, answers, plain]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    directory = tmp_path_factory.mktemp("classes")
    first = run(directory)
    assert first[0] == "6" and first[2] == "True"
    return directory, first[1]


def test_nothing_is_compiled_twice(kept):
    directory, answers = kept
    assert run(directory) == ["0", answers, "True"]


def test_a_longer_list_needs_no_other_code(kept):
    directory, _ = kept
    assert run(directory, size=300)[0] == "0"


EDITS = {
    "a method": ("self.value * self.slope()", "self.value + self.slope()"),
    "a method of a base": ("return 2.0", "return 2.5"),
    "a default": ("weight: float = 3.0", "weight: float = 3.5"),
    "a factory": ("[0.5, 0.25]", "[0.5, 0.75]"),
    "a class attribute": ("kind = 1.0", "kind = 1.5"),
    "slots": ('("a", "b")', '("b", "a")'),
    "a default of a named tuple": ("second: float = 4.0", "second: float = 4.5"),
    "a new method in between": ("    kind = 1.0", "    kind = 1.0; slope = lambda self: 7.0"),
    "order of fields": ("    value: float\n    weight: float = 3.0", "    weight: float\n    value: float = 3.0"),
}


@pytest.mark.parametrize("edit", ["a method of a base", "a default", pytest.param("a factory", marks=pytest.mark.slow)])
def test_an_edit_of_a_class_is_seen(kept, edit):
    _check_edit(kept, edit)


@pytest.mark.slow
@pytest.mark.parametrize(
    "edit", [name for name in EDITS if name not in ("a method of a base", "a default", "a factory")]
)
def test_every_edit_of_a_class_is_seen(kept, edit):
    _check_edit(kept, edit)


def _check_edit(kept, edit):
    directory, answers = kept
    old, new = EDITS[edit]
    assert PROGRAM.count(old) == 1
    number, changed, plain = run(directory, PROGRAM.replace(old, new))
    assert plain == "True" and int(number) > 0
    if edit != "slots":
        assert changed != answers


def classes(text):
    names: dict = {"__name__": "somewhere"}
    exec(compile(text, "somewhere.py", "exec"), names)
    return names["P"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("class P: x = 1", "class P: x = 2"),
        ("class P: x = 1", "class P: x = 1.0"),
        ("class P: x = 1", "class P: y = 1"),
        ("class P: x: int", "class P: x: float"),
        ("class P:\n def f(self): return 1", "class P:\n def f(self): return 2"),
        ("class P:\n def f(self, a=1): pass", "class P:\n def f(self, a=2): pass"),
        ("class P:\n def f(self, *, a=1): pass", "class P:\n def f(self, *, a=2): pass"),
        ("class P:\n @property\n def f(self): return 1", "class P:\n @property\n def f(self): return 2"),
        ("class P:\n @staticmethod\n def f(): return 1", "class P:\n @classmethod\n def f(cls): return 1"),
        ("class Q: pass\nclass P(Q): pass", "class R: pass\nclass P(R): pass"),
        ("class Q: x = 1\nclass P(Q): pass", "class Q: x = 2\nclass P(Q): pass"),
        ("class P: __slots__ = ('x', 'y')", "class P: __slots__ = ('y', 'x', 'z')"),
        ("class P: __slots__ = ('x',)", "class P: x = None"),
        ("class P: x = (1, [2])", "class P: x = (1, [3])"),
        ("class P: x = {'a': 1}", "class P: x = {'a': 2}"),
        (
            "def at(n):\n return lambda self: n\nclass P: f = at(1)",
            "def at(n):\n return lambda self: n\nclass P: f = at(2)",
        ),
        ("import enum\nclass P(enum.Enum): A = 1", "import enum\nclass P(enum.Enum): A = 2"),
        (
            "from dataclasses import *\n@dataclass\nclass P: x: float = 1.0",
            "from dataclasses import *\n@dataclass\nclass P: x: float = 2.0",
        ),
        (
            "from dataclasses import *\n@dataclass\nclass P: x: list = field(default_factory=list)",
            "from dataclasses import *\n@dataclass\nclass P: x: list = field(default_factory=dict)",
        ),
        (
            "from dataclasses import *\n@dataclass\nclass P: x: float = field(default=1.0)",
            "from dataclasses import *\n@dataclass\nclass P: x: float = field(default=1.0, init=False)",
        ),
        (
            "from dataclasses import *\n@dataclass\nclass P:\n x: float",
            "from dataclasses import *\n@dataclass(eq=False)\nclass P:\n x: float",
        ),
    ],
)
def test_what_a_print_tells_apart(one, other):
    assert class_print(classes(one)) == class_print(classes(one)) != class_print(classes(other))


def test_what_cannot_be_compared_has_no_print():
    with pytest.raises(Nameless):
        class_print(classes("class P: x = object()"))
    with pytest.raises(Nameless):
        class_print(classes("class Q: x = object()\nclass P(Q): pass"))
