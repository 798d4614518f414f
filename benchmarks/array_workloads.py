"""The workloads on arrays: the programs of `programs.py` beside the C that does the same by hand.

Buffers of the C side are made once, outside what is timed; ours makes its results anew in every call.
"""

import sys
from functools import partial

import numpy as np

import programs
import pullback as pb
from build import SOURCES, load, one_thread_blas
from forms import (
    BOTH,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    POINTER,
    Form,
    Rules,
    Workload,
    address,
    jitted,
    made_like,
    symbol,
    value_and_gradient,
)

sys.path.insert(0, str(SOURCES))
import chain_inputs
import loops_inputs
import zyg_inputs


def heat_forms(rules: Rules, name: str, program: object) -> list[Form]:
    """128 x 128 points, 100 steps, by the start and alpha, and by the start alone (C computes both)."""
    library = load("loops.c", rules.build)
    u, target, steps, alpha = loops_inputs.HU, loops_inputs.HG, loops_inputs.HT, loops_inputs.HA
    value_by_hand = symbol(library, "heat_f", POINTER, POINTER, INT, INT, DOUBLE)
    slope_by_hand = symbol(library, "heat_g", POINTER, POINTER, INT, INT, DOUBLE, POINTER, POINTER)
    given = (address(u), address(target), len(u), steps, alpha)
    (slope, alpha_slope), into = made_like(u, np.empty(1))
    arguments = (u, target, steps, alpha)
    by_hand = (lambda: value_by_hand(*given), lambda: (slope_by_hand(*given, *into), slope, alpha_slope))
    forms = value_and_gradient(name, program, arguments, (0, 3), by_hand, rules)
    by_u = pb.value_and_grad(jitted(program, rules), 0)
    without_alpha = (lambda: by_u(*arguments), lambda: (slope_by_hand(*given, *into), slope))
    return [*forms, Form(name, "by u", *without_alpha, rules.build, rules.fastmath)]


def gauss_seidel_forms(rules: Rules, key: str) -> list[Form]:
    """Sweeps in place, by the start and omega."""
    library = load("loops.c", rules.build)
    size, sweeps = loops_inputs.GS[key]
    u, target, omega = loops_inputs.GU[key], loops_inputs.GG[key], loops_inputs.GW
    value_by_hand = symbol(library, "gs_f", POINTER, POINTER, INT, INT, DOUBLE)
    slope_by_hand = symbol(library, "gs_g", POINTER, POINTER, INT, INT, DOUBLE, POINTER, POINTER)
    given = (address(u), address(target), size, sweeps, omega)
    made, into = made_like(u, np.empty(1))
    by_hand = (lambda: value_by_hand(*given), lambda: (slope_by_hand(*given, *into), *made))
    return value_and_gradient(key, programs.gauss_seidel, (u, target, sweeps, omega), (0, 3), by_hand, rules)


def n_body_forms(rules: Rules) -> list[Form]:
    """64 bodies, 100 steps, by positions, velocities and masses."""
    library = load("loops.c", rules.build)
    inputs = loops_inputs
    arrays = (inputs.NP, inputs.NV, inputs.NM, inputs.NW)
    numbers = (inputs.NT, inputs.NH, inputs.NE2)
    types = (POINTER, POINTER, POINTER, POINTER, INT, INT, DOUBLE, DOUBLE)
    value_by_hand = symbol(library, "nbody_f", *types)
    slope_by_hand = symbol(library, "nbody_g", *types, POINTER, POINTER, POINTER)
    given = (*map(address, arrays), inputs.NB, *numbers)
    made, into = made_like(*arrays[:3])
    by_hand = (lambda: value_by_hand(*given), lambda: (slope_by_hand(*given, *into), *made))
    return value_and_gradient("nbody", programs.n_body, (*arrays, *numbers), (0, 1, 2), by_hand, rules)


def hidden_markov_forms(rules: Rules) -> list[Form]:
    """1,000 observations of 8 symbols, 16 states, by all three tables."""
    library = load("loops.c", rules.build)
    tables = (loops_inputs.PI, loops_inputs.A, loops_inputs.B)
    observed = np.ascontiguousarray(loops_inputs.OB, dtype=np.int64)
    types = (POINTER, POINTER, POINTER, POINTER, INT, INT)
    value_by_hand = symbol(library, "hmm_f", *types)
    slope_by_hand = symbol(library, "hmm_g", *types, POINTER, POINTER, POINTER)
    given = (*map(address, tables), address(observed), loops_inputs.T, loops_inputs.M)
    made, into = made_like(*tables)
    by_hand = (lambda: value_by_hand(*given), lambda: (slope_by_hand(*given, *into), *made))
    return value_and_gradient("hmm", programs.hidden_markov, (*tables, observed), (0, 1, 2), by_hand, rules)


def cholesky_forms(rules: Rules, size: int) -> list[Form]:
    """Element by element, by the matrix (its lower half is read)."""
    library = load("loops.c", rules.build)
    matrix = loops_inputs.CH[size]
    value_by_hand = symbol(library, "chol_f", POINTER, INT, POINTER)
    slope_by_hand = symbol(library, "chol_g", POINTER, INT, POINTER, POINTER, POINTER)
    made, into = made_like(matrix, matrix, matrix)
    given = (address(matrix), size)
    by_hand = (lambda: value_by_hand(*given, into[0]), lambda: (slope_by_hand(*given, *into), made[2]))
    return value_and_gradient(f"chol{size}", programs.cholesky, (matrix,), 0, by_hand, rules)


def soft_dtw_forms(rules: Rules) -> list[Form]:
    """Two series of 200, by both."""
    library = load("loops.c", rules.build)
    x, y, size = loops_inputs.DX, loops_inputs.DY, loops_inputs.DN
    value_by_hand = symbol(library, "sdtw_f", POINTER, POINTER, INT, POINTER)
    slope_by_hand = symbol(library, "sdtw_g", POINTER, POINTER, INT, POINTER, POINTER, POINTER, POINTER)
    table = np.empty((size + 1, size + 1))
    made, into = made_like(table, table, x, y)
    given = (address(x), address(y), size)
    by_hand = (lambda: value_by_hand(*given, into[0]), lambda: (slope_by_hand(*given, *into), *made[2:]))
    return value_and_gradient("sdtw", programs.soft_dtw, (x, y), (0, 1), by_hand, rules)


def log_sum_exp_forms(rules: Rules, size: int) -> list[Form]:
    """One vector, one pass for the value and two for the gradient."""
    library = load("zyg.c", rules.build)
    x = zyg_inputs.LSE[size]
    value_by_hand = symbol(library, "lse_f", POINTER, LONG)
    slope_by_hand = symbol(library, "lse_g", POINTER, LONG, POINTER)
    (slope,), into = made_like(x)
    given = (address(x), size)
    by_hand = (lambda: value_by_hand(*given), lambda: (slope_by_hand(*given, *into), slope))
    return value_and_gradient(f"lse{size}", programs.log_sum_exp, (x,), 0, by_hand, rules)


def logistic_forms(rules: Rules) -> list[Form]:
    """A layer of 784 by 10, by weights and bias."""
    library = load("zyg.c", rules.build)
    arrays = (zyg_inputs.LW, zyg_inputs.Lb, zyg_inputs.Lx)
    value_by_hand = symbol(library, "logreg_f", POINTER, POINTER, POINTER)
    slope_by_hand = symbol(library, "logreg_g", POINTER, POINTER, POINTER, POINTER, POINTER)
    made, into = made_like(*arrays[:2])
    given = tuple(map(address, arrays))
    by_hand = (lambda: value_by_hand(*given), lambda: (slope_by_hand(*given, *into), *made))
    return value_and_gradient("logreg", programs.logistic, arrays, (0, 1), by_hand, rules)


def network_forms(rules: Rules, batch: int) -> list[Form]:
    """784-32-10 in float32, by its four parameters; C takes its products from SciPy's OpenBLAS where it can."""
    build = one_thread_blas(rules.build)
    library = load("zyg.c", build)
    weights = (zyg_inputs.W1, zyg_inputs.b1, zyg_inputs.W2, zyg_inputs.b2)
    x, labels = zyg_inputs.MX[batch], np.ascontiguousarray(zyg_inputs.MY[batch], dtype=np.int64)
    run = symbol(library, "mlp_g", INT, *(POINTER,) * 10, INT, result=FLOAT)
    made, into = made_like(*weights)
    given = (batch, address(x), address(labels), *map(address, weights), *into)
    by_hand = (lambda: run(*given, 0), lambda: (run(*given, 1), *made))
    arguments = (*weights, x, labels)
    built = Rules(build, rules.fastmath)
    return value_and_gradient(f"mlp{batch}", programs.network, arguments, (0, 1, 2, 3), by_hand, built, 1e-4)


def chain_forms(rules: Rules) -> list[Form]:
    """sum(tanh(a * x + b) * c) over 1,000,000 doubles, by all four vectors."""
    library = load("chain.c", rules.build)
    arrays = (chain_inputs.CA, chain_inputs.CX, chain_inputs.CB, chain_inputs.CC)
    value_by_hand = symbol(library, "chain_f", POINTER, POINTER, POINTER, POINTER, LONG)
    slope_by_hand = symbol(library, "chain_g", POINTER, POINTER, POINTER, POINTER, LONG, *(POINTER,) * 4)
    made, into = made_like(*arrays)
    given = (*map(address, arrays), chain_inputs.CN)
    by_hand = (lambda: value_by_hand(*given), lambda: (slope_by_hand(*given, *into), *made))
    return value_and_gradient("chain", programs.chain, arrays, (0, 1, 2, 3), by_hand, rules)


ARRAY_WORKLOADS: dict[str, Workload] = {
    "heat": Workload(partial(heat_forms, name="heat", program=programs.heat)),
    "heatloops": Workload(partial(heat_forms, name="heatloops", program=programs.heat_loops)),
    "gs32x10": Workload(partial(gauss_seidel_forms, key="gs32x10")),
    "gs128x100": Workload(partial(gauss_seidel_forms, key="gs128x100")),
    "nbody": Workload(n_body_forms),
    "hmm": Workload(hidden_markov_forms),
    "chol50": Workload(partial(cholesky_forms, size=50)),
    "chol200": Workload(partial(cholesky_forms, size=200)),
    "sdtw": Workload(soft_dtw_forms),
    "lse100": Workload(partial(log_sum_exp_forms, size=100), BOTH),
    "lse10000": Workload(partial(log_sum_exp_forms, size=10_000), BOTH),
    "logreg": Workload(logistic_forms, BOTH),
    "mlp1": Workload(partial(network_forms, batch=1), BOTH),
    "mlp128": Workload(partial(network_forms, batch=128), BOTH),
    "chain": Workload(chain_forms, BOTH),
}
