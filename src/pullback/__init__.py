"""A differentiating compiler for plain Python: native values and exact derivatives of ordinary functions."""

from pullback.api import (
    explain,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacobian,
    jacrev,
    jit,
    jvp,
    linearize,
    stats,
    stop_gradient,
    value_and_grad,
    vjp,
)
from pullback.checking import check_grads
from pullback.diagnostic import CompileError, InternalError
from pullback.runtime.packing import pack

__version__ = "0.1.0"
__all__ = [
    "CompileError", "InternalError", "check_grads", "explain", "grad", "hessian", "hvp", "jacfwd", "jacobian", "jacrev",
    "jit", "jvp", "linearize", "pack", "stats", "stop_gradient", "value_and_grad", "vjp",
]  # fmt: skip
