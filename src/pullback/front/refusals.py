"""What the front end does not take: one row a construct, with the reason and what to write instead."""

from __future__ import annotations

__all__ = ["EXPRESSIONS", "STATEMENTS"]

# kind of node -> (title, label at the caret, help)
Row = tuple[str, str, str]

STATEMENTS: dict[str, Row] = {
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
STATEMENTS["TryStar"] = (
    "`except*` is not supported", "exception groups cannot be compiled", "write `except` for one class after the other",
)  # fmt: skip

EXPRESSIONS: dict[str, Row] = {
    "Yield": (
        "`yield` cannot stand inside an expression", "its value is what send() gives, and nothing is sent here",
        "give `yield` a line of its own",
    ),
    "Await": ("`await` cannot be compiled", "waits for a coroutine", "write a plain function"),
    "Starred": (
        "`*` cannot stand here", "it spreads the items of a call, a tuple, a list or a set", "leave out the `*`",
    ),
    "TemplateStr": (
        "template strings are not supported", "its text is not known while compiling", "use an f-string",
    ),
}  # fmt: skip
EXPRESSIONS["YieldFrom"] = EXPRESSIONS["Yield"]
