"""Makes a failing program small: statements are left out one by one while the same kind of failure stays.

minimised(source, "wrong value in compiled: ...", ask)      ask(text) is the complaint about a text, or None
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

Ask = Callable[[str], "str | None"]


def kind(told: str | None) -> str:
    """What stays the same: the sort of failure, and for exceptions the first words of the message."""
    if told is None:
        return ""
    head, _, rest = told.partition(":")
    rest = re.sub(r"(:|, )\d+\b", "", rest)  # lines move as others go
    return f"{head}:{rest[:60]}" if head.startswith(("refusal", "internal", "wrong exception")) else head


def bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            body = getattr(node, name, None)
            if isinstance(body, list):
                yield body


def candidates(tree: ast.Module) -> Iterator[ast.Module]:
    """The tree with one statement left out, or a block put in the place of its statement; later statements first."""
    count = sum(len(body) for body in bodies(tree))
    for position in reversed(range(count)):
        for hoist in (False, True):
            copy = ast.parse(ast.unparse(tree))
            if change(copy, position, hoist):
                yield copy


def change(tree: ast.Module, position: int, hoist: bool) -> bool:
    for body in bodies(tree):
        if position >= len(body):
            position -= len(body)
            continue
        node = body[position]
        if hoist:
            inner = getattr(node, "body", None)
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) or not isinstance(inner, list):
                return False
            body[position : position + 1] = inner
            return True
        if isinstance(node, ast.Return) or getattr(node, "name", None) == "program" or isinstance(node, ast.Pass):
            return False
        body[position : position + 1] = [] if len(body) > 1 else [ast.Pass()]
        return True
    return False


def minimised(source: str, told: str, ask: Ask, attempts: int = 150) -> tuple[str, str]:
    """A smaller text with the same kind of failure, and the complaint about it."""
    best, wanted = source, kind(told)
    smaller = True
    while smaller and attempts > 0:
        smaller = False
        for tree in candidates(ast.parse(best)):
            text = ast.unparse(tree) + "\n"
            attempts -= 1
            found = ask(text)
            if kind(found) == wanted and len(text) < len(best):
                best, told, smaller = text, found or told, True
                break
            if attempts <= 0:
                break
    return best, told
