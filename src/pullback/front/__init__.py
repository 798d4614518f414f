"""The front end: Python source to structured SSA of `py.*` ops (see prims.python)."""

from pullback.front.parse import parse, parse_text

__all__ = ["parse", "parse_text"]
