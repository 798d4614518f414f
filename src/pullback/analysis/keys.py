"""What is said where a derivative by the key of a cache would repeat what the cached function does besides."""

from __future__ import annotations

from pullback.diagnostic import CompileError, Diagnostic, Span

__all__ = ["refused"]


def refused(span: Span) -> CompileError:
    """The error at the call of the cached function."""
    return CompileError(
        Diagnostic(
            "a cached function that does more than to return a value is differentiated by its arguments", span,
            "equal arguments may have other derivatives, and to run it for each would repeat what it does",
            "let it capture what is differentiated by, or leave the cache out",
        )
    )  # fmt: skip
