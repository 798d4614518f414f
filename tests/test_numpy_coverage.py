"""How much of what JAX and Autograd both offer compiled code knows; each function that it does not has a reason."""

from __future__ import annotations

import pkgutil

import numpy_coverage as coverage
import surface
from pullback.infer import public_names
from pullback.infer.registry import builtin_name

LEAST = 0.95
# These are asked about dtypes: see test_dtypes.
OF_DTYPES = ["numpy.can_cast", "numpy.isdtype", "numpy.issubdtype", "numpy.promote_types", "numpy.result_type"]
NAMES = [f"{module}.{name}" for module, names in coverage.OFFERED.items() for name in names]


def object_of(name: str) -> object:
    """What Python knows under a name."""
    return pkgutil.resolve_name(name)


def is_known(name: str) -> bool:
    """Under this name, or under another one of the same function (np.acos is np.arccos)."""
    return name in public_names() or builtin_name(object_of(name)) is not None


def test_what_is_not_known_has_a_reason() -> None:
    unknown = {name for name in NAMES if not is_known(name)}
    assert unknown == set(coverage.ABSENT), "these differ"
    share = 1.0 - len(unknown) / len(NAMES)
    print(f"{len(NAMES) - len(unknown)} of {len(NAMES)} functions are known: {share:.1%}")
    assert share >= LEAST


def named() -> set[str]:
    """The functions that rows name."""
    return {name for row in surface.load() for name in row.names.split()}


def test_what_is_known_has_a_row() -> None:
    """Under this name or another one of the same function."""
    objects = {id(object_of(name)) for name in named() if name.startswith(("numpy.", "scipy."))}
    bare = [name for name in NAMES if is_known(name) and id(object_of(name)) not in objects]
    assert sorted(bare) == sorted(OF_DTYPES), "these differ"


def test_rows_name_functions_that_are_known() -> None:
    """A row for a name that means nothing would put it on the page."""
    strange = sorted(name for name in named() if name.startswith(("numpy.", "scipy.")) and not is_known(name))
    assert not strange
