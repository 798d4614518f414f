"""Errors as data: spans, diagnostics, and how they are shown.

A stage that rejects a program raises `CompileError(Diagnostic(...))`; the text with the caret is made here, late:

    CompileError: unknown attribute 'foo' of module numpy
      --> model.py:12:9 in loss
       |
    12 |     y = np.foo(x)
       |         ^^^^^^ numpy.foo is not known to pullback
      help: write ...

A defect of pullback itself is an `InternalError`; it carries the IR and asks for a report.
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass, field

__all__ = ["UNKNOWN", "CompileError", "CompileTypeError", "CompileValueError", "Diagnostic", "InternalError", "Span"]


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the user's source: lines count from 1, columns from 0; `end_column` is exclusive."""

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    function: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"


UNKNOWN = Span("<unknown>", 0)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """What is wrong (`title`), where (`span`), why (`label` at the caret, and `notes`), what to write (`help`)."""

    title: str
    span: Span = UNKNOWN
    label: str = ""
    help: str = ""
    notes: tuple[str, ...] = field(default=())
    source: str | None = None  # the text of the line where `linecache` may not find it
    raised: tuple[str, str] | None = None  # exception and message of Python, where only some paths go wrong

    def render(self) -> str:
        """The whole message with the user's line and a caret."""
        lines = [self.title]
        span = self.span
        if span.line:
            where = f" in {span.function}" if span.function else ""
            lines.append(f"  --> {span.file}:{span.line}:{span.column + 1}{where}")
            lines += self._excerpt()
        elif self.label:
            lines.append(f"  {self.label}")
        lines += [f"  note: {note}" for note in self.notes]
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)

    def _excerpt(self) -> list[str]:
        span = self.span
        text = (self.source if self.source is not None else linecache.getline(span.file, span.line)).rstrip("\n")
        if not text:
            return [f"   | {self.label}"] if self.label else []
        # AST columns count UTF-8 bytes; the caret is placed under characters.
        raw = text.encode()
        start = len(raw[: span.column].decode(errors="replace"))
        multi = span.end_line > span.line
        end = len(text) if multi else len(raw[: span.end_column].decode(errors="replace"))
        caret = " " * start + "^" * max(1, end - start)
        number = str(span.line)
        pad = " " * len(number)
        label = f" {self.label}" if self.label else ""
        return [f"  {pad} |", f"  {number} | {text}", f"  {pad} | {caret}{label}"]


class CompileError(Exception):
    """The program cannot be compiled; nothing has run.  `diagnostic` holds the parts of the message."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.render())
        self.diagnostic = diagnostic

    def __reduce__(self) -> tuple[object, ...]:
        return (CompileError, (self.diagnostic,))


class CompileTypeError(CompileError, TypeError):
    """A CompileError that is a TypeError too: an argument of a type that the request has no meaning for."""

    def __reduce__(self) -> tuple[object, ...]:
        return (CompileTypeError, (self.diagnostic,))


class CompileValueError(CompileError, ValueError):
    """A CompileError that is a ValueError too: shapes that do not fit wherever the line is reached."""

    def __reduce__(self) -> tuple[object, ...]:
        return (CompileValueError, (self.diagnostic,))


class InternalError(Exception):
    """A defect of pullback, not of the user's program.  Please report it together with `ir`."""

    def __init__(self, message: str, ir: str = "") -> None:
        tail = f"\n--- intermediate representation ---\n{ir}" if ir else ""
        super().__init__(f"{message}\nThis is a defect of pullback: please report it with the text below.{tail}")
        self.message = message
        self.ir = ir

    def __reduce__(self) -> tuple[object, ...]:
        return (InternalError, (self.message, self.ir))
