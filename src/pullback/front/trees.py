"""Syntax trees: the nodes that the front end adds, and walks over the nodes of one scope.

    Ask       an op of untyped IR as an expression
    Bound     assignments inside an expression, which is then true
    Known     a condition whose value is at hand
    Refused   an expression that cannot be compiled, and why

A comprehension and a generator expression are scopes, as functions are; of each only the first iterable is evaluated
by the scope around it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TypeVar

__all__ = [
    "ITERABLE", "RESULT", "Ask", "Bound", "Comprehension", "FunctionNode", "Known", "Maker", "Refused", "Unchecked",
    "ask", "assign", "expressions_of", "function_of", "has_yield", "load", "own_nodes", "place", "stores_in",
]  # fmt: skip

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp
Maker = FunctionNode | ast.GeneratorExp  # what makes a function where it stands
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_LEFT_OUT = frozenset(("ctx", "op", "ops", "annotation", "id", "attr", "kind"))
ITERABLE = ".0"  # what a comprehension steps through, as CPython calls it
RESULT = "the result"  # what a comprehension fills; no name of Python has a space


class Known(ast.expr):
    """A condition whose value is at hand: made by the front end, never by the parser."""

    _fields = ()


class Ask(ast.expr):
    """An op of untyped IR: its name, static attributes and whether it has a result."""

    _fields = ("operands",)
    operands: list[ast.expr]
    prim: str
    attrs: dict[str, object]


class Bound(ast.expr):
    """Assignments, in order; the expression is true."""

    _fields = ("bindings",)
    bindings: list[ast.NamedExpr]


class Unchecked(ast.expr):
    """The value of a name, whether it is set or not."""

    _fields = ("name",)
    name: ast.Name


class Refused(ast.expr):
    """What desugaring found that cannot be compiled: title, label and help of the message."""

    _fields = ()
    row: tuple[str, str, str]


_Node = TypeVar("_Node", bound=ast.AST)


def place(node: _Node, at: ast.AST) -> _Node:
    """The node and all below it that have no place yet, at the place of another."""
    for new in ast.walk(node):
        if "lineno" in new._attributes and getattr(new, "lineno", None) is None:
            ast.copy_location(new, at)
    return node


def ask(prim: str, *operands: ast.expr, **attrs: object) -> Ask:
    """The op as an expression."""
    node = Ask()
    node.operands, node.prim, node.attrs = list(operands), prim, attrs
    return node


def load(name: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(id=name, ctx=ast.Load())


def assign(target: str | ast.expr, value: ast.expr) -> ast.Assign:
    """An assignment to a name or a target."""
    target = ast.Name(id=target, ctx=ast.Store()) if isinstance(target, str) else target
    return ast.Assign(targets=[target], value=value)


# ------------------------------------------------------------------------------------------------------ walks


def own_nodes(roots: Sequence[ast.AST]) -> list[ast.AST]:
    """The nodes of one scope in source order; of a nested scope its node and what is evaluated outside its body.

    Operators and contexts are left out, and annotations of variables, which functions do not evaluate.
    """
    found: list[ast.AST] = []
    waiting = list(reversed(roots))
    while waiting:
        node = waiting.pop()
        found.append(node)
        if isinstance(node, _SCOPES):
            waiting += reversed(expressions_of(node))
        elif isinstance(node, _COMPREHENSIONS):
            waiting.append(node.generators[0].iter)
        else:
            waiting += reversed(_children(node))
    return found


def _children(node: ast.AST) -> list[ast.AST]:
    children: list[ast.AST] = []
    for name in node._fields:
        if name in _LEFT_OUT:
            continue
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            children.append(value)
        elif isinstance(value, list):
            children += [item for item in value if isinstance(item, ast.AST)]
    return children


def expressions_of(node: FunctionNode) -> list[ast.AST]:
    """What making the function evaluates: decorators and defaults, in order."""
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return [*decorators, *node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]


def stores_in(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Names bound by the nodes of one scope (see `own_nodes`), with the node that binds each."""
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name, node
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                for alias in aliases:
                    yield alias.asname or alias.name.partition(".")[0], node
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                for target in _assigned_around(node):
                    yield target.id, target


def _assigned_around(node: Comprehension | ast.GeneratorExp) -> Iterator[ast.Name]:
    """The targets of `:=` in a comprehension: they belong to the function around it."""
    first, *rest = node.generators
    value = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    for inner in own_nodes([*first.ifs, *rest, *value]):
        if isinstance(inner, ast.NamedExpr):
            yield inner.target
        elif isinstance(inner, _COMPREHENSIONS):
            yield from _assigned_around(inner)


def has_yield(body: Sequence[ast.AST]) -> bool:
    """Whether a `yield` of this scope lies in the body."""
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(body))


# ---------------------------------------------------------------------------------------------- comprehensions


def function_of(node: Comprehension | ast.GeneratorExp, globals_: Collection[str] = ()) -> ast.FunctionDef:
    """A comprehension as the function that it is, of its first iterable; globals_: names declared so around it.

        [e for x in xs if c]     ->     the result = []; for x in .0: if c: the result.append(e)
        (e for x in xs if c)     ->     for x in .0: if c: yield e
    """
    innermost: ast.expr
    start: list[ast.stmt] = []
    match node:
        case ast.GeneratorExp():
            name, innermost = "<genexpr>", ast.Yield(value=node.elt)
        case ast.ListComp():
            name, innermost = "<listcomp>", ask("py.append", load(RESULT), node.elt)
            start = [assign(RESULT, ask("py.list", growing=True))]
        case ast.SetComp():
            name, innermost = "<setcomp>", ask("py.add", load(RESULT), node.elt)
            start = [assign(RESULT, ask("py.set", growing=True))]
        case ast.DictComp():
            name, innermost = "<dictcomp>", ask("py.setitem", load(RESULT), node.key, node.value)
            start = [assign(RESULT, ask("py.dict_of", growing=True))]
    body: list[ast.stmt] = [ast.Expr(value=innermost)]
    for number, clause in reversed(list(enumerate(node.generators))):
        for condition in reversed(clause.ifs):
            body = [ast.If(test=condition, body=body, orelse=[])]
        source = clause.iter if number else load(ITERABLE)
        kind = ast.AsyncFor if clause.is_async else ast.For
        body = [kind(target=clause.target, iter=source, body=body, orelse=[])]
    assigned = sorted({target.id for target in _assigned_around(node)})
    outer = [name for name in assigned if name not in globals_]
    if len(outer) < len(assigned):
        start.append(ast.Global(names=[name for name in assigned if name in globals_]))
    if outer and isinstance(node, ast.GeneratorExp):
        start.append(ast.Nonlocal(names=outer))
    arguments: dict[str, Any] = {"posonlyargs": [], "kwonlyargs": [], "kw_defaults": [], "defaults": []}
    parameters = ast.arguments(args=[ast.arg(arg=ITERABLE)], **arguments)
    function = ast.FunctionDef(name=name, args=parameters, body=[*start, *body], decorator_list=[])
    return place(function, node)
