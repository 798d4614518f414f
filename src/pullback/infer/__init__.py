"""Inference: from untyped IR and argument types to a typed Program.  `infer_entry` is the way in."""

from pullback.infer.engine import Options, Session
from pullback.infer.entry import Entry, Request, infer_entry

__all__ = ["Entry", "Options", "Request", "Session", "infer_entry"]
