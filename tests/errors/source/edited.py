"""The source on disk is not what is running."""

import importlib.util
import tempfile
from pathlib import Path
import pullback as pb


def edited():
    """A function whose file was changed after it was imported."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.py"
        path.write_text("def f(x):\n    return x * 2.0\n")
        spec = importlib.util.spec_from_file_location("edited_model", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        path.write_text("def f(x):\n    return x * 3.0\n")
        return pb.jit(module.f)(2.0)


def call():
    return edited()
