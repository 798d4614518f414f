"""The values, not the gradients, in Numba: the same plain Python as ours, compiled by `njit`."""

from collections.abc import Callable
from types import FunctionType

import numba
import numpy as np

import loops_inputs
import programs
import workloads
import zyg_inputs

__all__ = ["sides"]


def sides(workload: str) -> dict[str, Callable[[], object]]:
    """The call of a workload."""
    made = _WORKLOADS.get(workload)
    if made is None:
        return {}
    program, arguments = made
    compiled = _compiled(program)
    return {"value": lambda: compiled(*arguments)}


def _compiled(program: Callable) -> Callable:
    """The function with all those of ours that it calls."""
    known = dict(program.__globals__)
    for name in program.__code__.co_names:
        helper = known.get(name)
        if isinstance(helper, FunctionType) and helper.__module__ in ("programs", "workloads"):
            known[name] = _compiled(helper)
    return numba.njit(FunctionType(program.__code__, known, program.__name__, program.__defaults__))


_PLACE = loops_inputs
_WORKLOADS: dict[str, tuple[Callable, tuple]] = {
    "sincos": (workloads.sincos_values, (zyg_inputs.X0, 1e-3, 10_000)),
    "pow": (workloads.power_values, (zyg_inputs.POW_X, 1e-9, 100, zyg_inputs.POW_N)),
    "dd": (workloads.grow_past_values, (zyg_inputs.DD_X, 1e-9, 100, zyg_inputs.DD_LIM)),
    "lorenz": (workloads.lorenz, (_PLACE.LOR, _PLACE.LOR_N, _PLACE.LOR_H)),
    "garch": (workloads.garch, (_PLACE.GTH, _PLACE.GR)),
    "heat": (programs.heat, (_PLACE.HU, _PLACE.HG, _PLACE.HT, _PLACE.HA)),
    "heatloops": (programs.heat_loops, (_PLACE.HU, _PLACE.HG, _PLACE.HT, _PLACE.HA)),
    "gs32x10": (programs.gauss_seidel, (_PLACE.GU["gs32x10"], _PLACE.GG["gs32x10"], 10, _PLACE.GW)),
    "gs128x100": (programs.gauss_seidel, (_PLACE.GU["gs128x100"], _PLACE.GG["gs128x100"], 100, _PLACE.GW)),
    "nbody": (programs.n_body, (_PLACE.NP, _PLACE.NV, _PLACE.NM, _PLACE.NW, _PLACE.NT, _PLACE.NH, _PLACE.NE2)),
    "chol50": (programs.cholesky, (_PLACE.CH[50],)),
    "chol200": (programs.cholesky, (_PLACE.CH[200],)),
    "sdtw": (programs.soft_dtw, (_PLACE.DX, _PLACE.DY)),
    "lse100": (programs.log_sum_exp, (zyg_inputs.LSE[100],)),
    "lse10000": (programs.log_sum_exp, (zyg_inputs.LSE[10_000],)),
    "logreg": (programs.logistic, (zyg_inputs.LW, zyg_inputs.Lb, np.ascontiguousarray(zyg_inputs.Lx))),
}
