"""A differentiating compiler for plain Python: native values and exact derivatives of ordinary functions."""

from pullback.api import (
    checkpoint,
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
from pullback.runtime.budget import get_memory_budget, set_memory_budget
from pullback.runtime.checkpointed import checkpointed
from pullback.runtime.custom import custom_jvp, custom_vjp
from pullback.runtime.packing import pack
from pullback.runtime.threads import get_num_threads, prange, set_num_threads

__version__ = "0.1.0"
__all__ = [
    "CompileError", "InternalError", "check_grads", "checkpoint", "checkpointed", "custom_jvp", "custom_vjp",
    "explain", "get_memory_budget", "get_num_threads", "grad", "hessian", "hvp", "jacfwd", "jacobian", "jacrev",
    "jit", "jvp", "linearize", "pack", "prange", "set_memory_budget", "set_num_threads", "stats", "stop_gradient",
    "value_and_grad", "vjp",
]  # fmt: skip
