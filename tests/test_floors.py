"""Imports run strictly downward by floors; packages of one floor never import each other."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[1] / "src" / "pullback"

FLOORS = (
    {"diagnostic"},
    {"types"},
    {"ir"},
    {"prims"},
    {"analysis", "runtime"},
    {"front", "infer", "interp", "ad", "passes", "codegen"},
    {"pipeline"},
    {"compiled"},
    {"api"},
    {"checking", "delimited", "demo", "doctor", "testing", "nn", "interop"},
    {"cli"},
)
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}

# Who alone may import what. The command line reads values, not programs, with the one name it may take from `ast`.
RESERVED = {"llvmlite": {"codegen"}, "ast": {"front"}}
ALLOWED = {("cli", "ast.literal_eval")}


def modules():
    """Every module of the package as (dotted name, path); the package's own `__init__` gathers the API."""
    for path in sorted(SOURCE.rglob("*.py")):
        parts = ("pullback", *path.relative_to(SOURCE).with_suffix("").parts)
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports(name, text, is_package):
    """Dotted names that a module imports, relative ones made absolute, wherever in the module they stand."""
    package = name.split(".") if is_package else name.split(".")[:-1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) + 1 - node.level] if node.level else []
            base = [*base, *(node.module.split(".") if node.module else [])]
            yield from (".".join([*base, alias.name]) for alias in node.names)


def room_of(dotted):
    """The room of a name inside the package: `pullback.ir.node.Op` is in `ir`, `pullback.grad` comes from `api`."""
    room = (dotted.split(".") + ["api"])[1]
    inside = room in FLOOR_OF or (SOURCE / room).is_dir() or (SOURCE / f"{room}.py").exists()
    return room if inside else "api"


def violations(name, text, is_package=False):
    """What a module imports that its floor forbids, as sentences."""
    room = name.split(".")[1]
    if room not in FLOOR_OF:
        return [f"{name}: the room {room!r} has no floor; give it one in this test"]
    found = []
    for dotted in imports(name, text, is_package):
        top = dotted.split(".")[0]
        if top == "pullback":
            target = room_of(dotted)
            if target != room and not FLOOR_OF.get(target, len(FLOORS)) < FLOOR_OF[room]:
                found.append(f"{name} imports {dotted}: {target} is not below {room}")
        elif room not in RESERVED.get(top, {room}) and (room, dotted) not in ALLOWED:
            found.append(f"{name} imports {dotted}: only {', '.join(RESERVED[top])} may")
    return found


MODULES = [(name, path) for name, path in modules() if name != "pullback"]


@pytest.mark.parametrize(("name", "path"), MODULES, ids=[name for name, _ in MODULES])
def test_a_module_imports_only_from_below(name, path):
    assert violations(name, path.read_text(), path.name == "__init__.py") == []


def test_the_interpreter_is_out_of_reach_of_the_api():
    edges = {}
    for name, path in modules():
        text = path.read_text()
        used = {dotted for dotted in imports(name, text, path.name == "__init__.py") if dotted.startswith("pullback")}
        edges.setdefault(name.split(".")[1] if name != "pullback" else "", set()).update(map(room_of, used))
    reached, waiting = set(), ["api"]
    while waiting:
        room = waiting.pop()
        if room not in reached:
            reached.add(room)
            waiting.extend(edges.get(room, ()))
    assert "interp" not in reached


def test_the_prelude_is_what_a_user_could_write():
    for name, path in MODULES:
        if name.startswith("pullback.prims.prelude"):
            tops = {dotted.split(".")[0] for dotted in imports(name, path.read_text(), path.name == "__init__.py")}
            library = {"__future__", "collections", "itertools", "math", "statistics", "types", "typing"}
            assert tops <= library | {"numpy", "pullback"}, name


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pullback.ir.node", "from ..prims import base"),
        ("pullback.ir.node", "from pullback.ad.reverse import adjoint"),
        ("pullback.ad.reverse", "from ..passes.inline import run"),
        ("pullback.ad.reverse", "def late():\n    from .. import codegen"),
        ("pullback.passes.fold", "import llvmlite.binding"),
        ("pullback.passes.fold", "import ast"),
        ("pullback.cli", "from ast import parse"),
        ("pullback.ir.node", "import pullback"),
        ("pullback.attic.old", ""),
    ],
)
def test_the_check_can_fail(name, text):
    assert len(violations(name, text)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pullback.ir.build", "from .node import Op\nfrom ..types import F64\nfrom pullback.diagnostic import Span"),
        ("pullback.cli", "from ast import literal_eval\nimport pullback as pb\nfrom .demo.report import run"),
        ("pullback.codegen.jit", "import llvmlite.binding as llvm"),
        ("pullback.front.parse", "import ast"),
    ],
)
def test_the_check_lets_through(name, text):
    assert violations(name, text) == []
