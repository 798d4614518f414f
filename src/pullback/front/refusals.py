"""What the front end does not take: one row a construct, with the reason and what to write instead."""

from __future__ import annotations

__all__ = ["EXPRESSIONS", "STATEMENTS"]

# kind of node -> (title, label at the caret, help)
Row = tuple[str, str, str]

STATEMENTS: dict[str, Row] = {
    "Delete": (
        "`del` is not supported", "names and elements cannot be removed in compiled code",
        "leave the name as it is: what is no longer read costs nothing",
    ),
    "With": (
        "`with` is not supported", "context managers cannot run in compiled code",
        "open the context in the Python code that calls the compiled function",
    ),
    "Try": (
        "`try` is not supported yet", "exceptions can be raised here but not caught",
        "test with `if` before the operation that raises, or catch the exception where the compiled function is called",
    ),
    "ClassDef": (
        "classes cannot be defined in compiled code", "defined inside the function",
        "move the class to the top of the module, or use a tuple or a dict",
    ),
    "Match": (
        "`match` is not supported yet", "pattern matching cannot be compiled",
        "write the cases as `if` / `elif` / `else`",
    ),
    "AsyncFunctionDef": (
        "`async def` cannot be compiled", "a coroutine",
        "write a plain `def`: compiled code runs to its end without waiting",
    ),
    "AsyncFor": ("`async for` cannot be compiled", "asynchronous iteration", "write a plain `for`"),
    "AsyncWith": (
        "`async with` cannot be compiled", "an asynchronous context",
        "open the context in the Python code that calls the compiled function",
    ),
    "TypeAlias": (
        "`type` statements are not supported in compiled code", "defines a type",
        "move it to the top of the module",
    ),
}  # fmt: skip
STATEMENTS["TryStar"] = STATEMENTS["Try"]

EXPRESSIONS: dict[str, Row] = {
    "ListComp": (
        "list comprehensions are not supported yet", "would build a list of unknown length",
        "write a `for` loop that accumulates the result, or a tuple of the elements",
    ),
    "SetComp": (
        "set comprehensions are not supported", "sets cannot be compiled", "write a `for` loop that accumulates",
    ),
    "DictComp": (
        "dict comprehensions are not supported yet", "a dict needs literal string keys",
        'write the dict out: {"a": ..., "b": ...}',
    ),
    "GeneratorExp": (
        "generator expressions are not supported yet", "would be evaluated lazily",
        "write a `for` loop: `total = 0.0`, then `for x in xs: total += ...`",
    ),
    "Yield": (
        "generators cannot be compiled", "`yield` makes this function a generator",
        "return a tuple or an array, or pass a function that is called with each value",
    ),
    "Await": ("`await` cannot be compiled", "waits for a coroutine", "write a plain function"),
    "Set": ("sets are not supported", "a set display", "use a tuple: `x in (1, 2, 3)` works"),
    "Starred": (
        "starred expressions are not supported", "the number of values is not known while compiling",
        "name the elements one by one: `a, b, c = t`",
    ),
    "JoinedStr": (
        "f-strings with values are not supported yet", "its text is not known while compiling",
        "use a plain string",
    ),
    "TemplateStr": (
        "template strings are not supported", "its text is not known while compiling", "use a plain string",
    ),
}  # fmt: skip
EXPRESSIONS["YieldFrom"] = EXPRESSIONS["Yield"]
