"""The syntax tree of a function, with proof that it is the tree of the code that runs.

    found = find(function)        found.node: FunctionDef or Lambda, with the file's own lines and columns

The file's text is parsed whole, so positions are true.  The top-level statement around the function is compiled again
and the code objects in it are compared with `function.__code__`; only an equal one is accepted, which also tells
lambdas on one line apart.  Line tables and file names do not count.
"""

from __future__ import annotations
import __future__

import ast
import dis
import linecache
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import CodeType, FunctionType

from pullback.diagnostic import CompileError, Diagnostic, Span
from pullback.front.trees import FunctionNode

__all__ = ["Found", "FunctionNode", "find", "find_text"]

_FUTURE = 0
for _feature in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _feature).compiler_flag
_KIND = 0x04 | 0x08 | 0x20 | 0x80 | 0x200  # *args, **kwargs, generator, coroutine, asynchronous generator
_FIRST = 1 << 29  # above any real line number


@dataclass(frozen=True, slots=True)
class Found:
    """A function's tree, its file, and the code objects of it and of the functions nested in it."""

    node: FunctionNode
    file: str
    lines: Sequence[str]
    codes: Mapping[ast.AST, CodeType] = field(default_factory=dict)
    owner: str = ""  # the class around

    def mangled(self, name: str) -> str:
        """A name as a class body means it: `__x` in class C is `_C__x`."""
        owner = self.owner.lstrip("_")
        private = name.startswith("__") and not name.endswith("__")
        return f"_{owner}{name}" if owner and private else name


def find(function: FunctionType) -> Found:
    """The tree of `function`; CompileError when there is no source or it is not what runs."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        raise _no_source(code)
    found = _search(code, lines)
    if found is None:
        linecache.checkcache(code.co_filename)
        lines = linecache.getlines(code.co_filename, function.__globals__)
        found = _search(code, lines)
    if found is None:
        raise _changed(code, lines)
    return found


def find_text(source: str, name: str, file: str) -> Found:
    """The function `name` at the top of the text `source`."""
    lines = source.splitlines(keepends=True)
    if not linecache.getlines(file):
        linecache.cache[file] = (len(source), None, lines, file)
    tree = _parse(source)
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            around = [*_imports(tree.body), statement]
            codes = _node_codes(around, file, 0, _compile(around, file, 0))
            return Found(statement, file, lines, {node: code for code, node in codes})
    raise CompileError(Diagnostic(f"there is no function {name} in {file}", Span(file, 1)))


@lru_cache(maxsize=256)
def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():  # Python has given its warnings about this text
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _search(code: CodeType, lines: Sequence[str]) -> Found | None:
    """The tree whose code equals `code`, if there is one at its line."""
    try:
        tree = _parse("".join(lines))
    except (SyntaxError, ValueError):
        return None
    line = code.co_firstlineno
    around = [s for s in tree.body if _first_line(s) <= line <= (s.end_lineno or s.lineno)]
    around = [*_imports(tree.body), *around]
    flags = code.co_flags & _FUTURE
    try:
        module = _compile(around, code.co_filename, flags)
    except SyntaxError:
        return None
    running = [c for c in _below(module) if (c.co_name, c.co_firstlineno) == (code.co_name, line) and _same(c, code)]
    if not running:
        return None
    node = _only_candidate(around, code)
    if node is not None:
        return Found(node, code.co_filename, lines, {node: code}, _class_around(around, node))
    nodes = _node_codes(around, code.co_filename, flags, module)
    node = next((n for plain, n in nodes if plain is running[0]), None)
    if node is None:
        return None
    real = {id(plain): of_code for plain, of_code in _pairs(running[0], code)}
    codes: dict[ast.AST, CodeType] = {n: real[id(plain)] for plain, n in nodes if id(plain) in real}
    return Found(node, code.co_filename, lines, codes, _class_around(around, node))


def _class_around(statements: Sequence[ast.stmt], node: ast.AST) -> str:
    """The name of the innermost class in which the node stands; walks find outer nodes before inner ones."""
    classes = [c for s in statements for c in ast.walk(s) if isinstance(c, ast.ClassDef)]
    return next((c.name for c in reversed(classes) if any(inner is node for inner in ast.walk(c))), "")


def _only_candidate(statements: Sequence[ast.stmt], code: CodeType) -> FunctionNode | None:
    """The node at the place of `code`, if there is but one and no function is nested in it."""
    functions = [n for s in statements for n in ast.walk(s) if isinstance(n, FunctionNode)]
    here = [n for n in functions if _first_line(n) == code.co_firstlineno and _code_name(n) == code.co_name]
    if len(here) != 1 or any(n is not here[0] and isinstance(n, FunctionNode) for n in ast.walk(here[0])):
        return None
    return here[0]


def _first_line(node: ast.AST) -> int:
    """The line where the node starts, decorators included, as `co_firstlineno` counts."""
    decorators = getattr(node, "decorator_list", [])
    line: int = decorators[0].lineno if decorators else getattr(node, "lineno", 0)
    return line


def _compile(statements: Sequence[ast.stmt], file: str, flags: int) -> CodeType:
    module = ast.Module(body=list(statements), type_ignores=[])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code: CodeType = compile(module, file, "exec", flags=flags, dont_inherit=True)
    return code


def _imports(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The imports of the module itself: Python calls attributes of imported names in another way than methods."""
    for s in body:
        if isinstance(s, ast.Import | ast.ImportFrom):
            if not (isinstance(s, ast.ImportFrom) and s.module == "__future__"):
                yield s
        elif not isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for name in ("body", "orelse", "finalbody", "handlers"):
                for inner in getattr(s, name, ()):
                    yield from _imports(inner.body if isinstance(inner, ast.ExceptHandler) else [inner])


def _node_codes(
    statements: Sequence[ast.stmt], file: str, flags: int, module: CodeType
) -> list[tuple[CodeType, FunctionNode]]:
    """Each code object below `module` with its node.

    The same trees are compiled once more with every function at a line number of its own; the two results have the same
    shape, and the made-up number of a code object names its node.
    """
    nodes = [n for s in statements for n in ast.walk(s) if isinstance(n, FunctionNode)]
    saved = [(n, n.lineno, n.end_lineno) for f in nodes for n in (f, *getattr(f, "decorator_list", [])[:1])]
    try:
        for number, node in enumerate(nodes):
            for marked in (node, *getattr(node, "decorator_list", [])[:1]):
                marked.lineno = _FIRST + 2 * number
                marked.end_lineno = _FIRST + 2 * number + 1
        numbered = _compile(statements, file, flags)
    finally:
        for marked, line, end_line in saved:
            marked.lineno, marked.end_lineno = line, end_line
    found = []
    for plain, marked in _pairs(module, numbered):
        if marked.co_firstlineno >= _FIRST:
            node = nodes[(marked.co_firstlineno - _FIRST) // 2]
            if marked.co_name == _code_name(node):  # and not code made for its annotations or type parameters
                found.append((plain, node))
    return found


def _code_name(node: FunctionNode) -> str:
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _below(code: CodeType) -> Iterator[CodeType]:
    """The code objects nested in `code`, and itself."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _below(constant)


def _pairs(left: CodeType, right: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Corresponding code objects of two compilations of the same text."""
    yield left, right
    inner = [[c for c in code.co_consts if isinstance(c, CodeType)] for code in (left, right)]
    if len(inner[0]) != len(inner[1]):  # equal functions on one line may share a constant
        inner = [[i.argval for i in dis.get_instructions(c) if isinstance(i.argval, CodeType)] for c in (left, right)]
    for a, b in zip(*inner, strict=True):
        yield from _pairs(a, b)


def _same(left: CodeType, right: CodeType) -> bool:
    """Equal in all that decides what runs."""
    return _key(left) == _key(right)


def _key(value: object) -> object:
    """A key that is equal only for constants that mean the same: 0.0 is neither 0 nor -0.0."""
    match value:
        case CodeType():
            return (
                value.co_name, value.co_code, tuple(map(_key, value.co_consts)), value.co_names, value.co_varnames,
                value.co_freevars, value.co_cellvars, value.co_argcount, value.co_posonlyargcount,
                value.co_kwonlyargcount, value.co_flags & _KIND,
            )  # fmt: skip
        case tuple():
            return ("tuple", tuple(map(_key, value)))
        case frozenset():
            return ("frozenset", frozenset(map(_key, value)))
        case slice():
            return ("slice", _key(value.start), _key(value.stop), _key(value.step))
        case _:
            return (type(value), repr(value))


def _no_source(code: CodeType) -> CompileError:
    return CompileError(
        Diagnostic(
            f"the source of {code.co_name} cannot be found",
            Span(code.co_filename, code.co_firstlineno, function=code.co_name),
            f"Python has no text for {code.co_filename}",
            "write the function in a .py file or a notebook cell; functions made by exec, or typed at `python -c` or "
            "at an old interactive prompt, keep no source",
            source="",
        )
    )  # fmt: skip


def _changed(code: CodeType, lines: Sequence[str]) -> CompileError:
    span = Span(code.co_filename, code.co_firstlineno, function=code.co_name)
    text = lines[code.co_firstlineno - 1] if 0 < code.co_firstlineno <= len(lines) else ""
    if any(name.startswith("@py") for name in (*code.co_names, *code.co_varnames)):
        return CompileError(
            Diagnostic(
                f"the code of {code.co_name} is not that of its source: pytest has rewritten its asserts", span,
                "pytest changes `assert` in test files before they run",
                "move the function to a module that is not a test file, or write PYTEST_DONT_REWRITE in the docstring "
                "of this one",
                source=text,
            )
        )  # fmt: skip
    return CompileError(
        Diagnostic(
            f"the source of {code.co_name} changed after import", span,
            "the text here is not the code that runs",
            "import or run the file again, so that what is compiled is what Python runs",
            source=text,
        )
    )  # fmt: skip
