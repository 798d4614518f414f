"""The elementary functions of generated code: accuracy against mpmath, special values, vectorisation, other targets.

Every function is compiled as a loop over arrays, once with and once without LLVM's vectoriser.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import re
from functools import cache

import llvmlite.binding as llvm
import mpmath as mp
import numpy as np
import pytest

from pullback.codegen.elementary import ARITY, NAMES, definitions, runtime_symbols, symbol
from pullback.codegen.elementary_libraries import POINTERS
from pullback.codegen.elementary_single import SINGLE

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

TYPES = {"f64": "double", "f32": "float"}
NUMPY = {"f64": np.float64, "f32": np.float32}
PREDICATES = {"isnan", "isinf", "isfinite"}
INSTANCES = [(name, dtype) for name in sorted(NAMES) for dtype in TYPES]


def argument_types(name: str, dtype: str) -> list[str]:
    kinds = [TYPES[dtype]] * ARITY[name]
    return ["i64", *kinds[1:]] if name == "polygamma" else kinds


def loop_text(name: str, dtype: str) -> str:
    """out[i] = f(in0[i], ...) for i < n."""
    own = TYPES[dtype]
    kinds = argument_types(name, dtype)
    loads = "".join(
        f"  %p{k} = getelementptr {kind}, ptr %in{k}, i64 %i\n  %x{k} = load {kind}, ptr %p{k}\n"
        for k, kind in enumerate(kinds)
    )
    arguments = ", ".join(f"{kind} %x{k}" for k, kind in enumerate(kinds))
    if name in PREDICATES:
        call = f"  %b = call i1 {symbol(name, dtype)}({arguments})\n  %y = uitofp i1 %b to {own}\n"
    else:
        call = f"  %y = call {own} {symbol(name, dtype)}({arguments})\n"
    parameters = ", ".join(f"ptr noalias %in{k}" for k in range(len(kinds)))
    return f"""define void @loop.{name}.{dtype}({parameters}, ptr noalias %out, i64 %n) {{
entry:
  br label %body
body:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
{loads}{call}  %q = getelementptr {own}, ptr %out, i64 %i
  store {own} %y, ptr %q
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %body, label %done
done:
  ret void
}}
"""


def module_text(instances: list[tuple[str, str]]) -> tuple[str, dict[str, int]]:
    library = definitions(instances)
    loops = "".join(loop_text(*instance) for instance in instances)
    return loops + library.functions + "\n".join(sorted(library.declarations)) + "\n", library.externals


def optimized(text: str, machine: llvm.TargetMachine, level: int, vectorize: bool) -> llvm.ModuleRef:
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = vectorize
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def host_machine(baseline: bool = False) -> llvm.TargetMachine:
    """The host's processor with all it has, or the least of its kind (on x86 without fma and rounding instructions)."""
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    if baseline:
        cpu, features = "", ""
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=2, reloc="pic", codemodel="small"
    )


@cache
def compiled(vectorize: bool, baseline: bool = False):
    """All functions in one library, as a callable of name, dtype and argument arrays."""
    text, externals = module_text(INSTANCES)
    machine = host_machine(baseline)
    code = machine.emit_object(optimized(text, machine, 2 if vectorize else 1, vectorize))
    jit = llvm.create_lljit_compiler(machine, use_jit_link=True)
    names = [f"loop.{name}.{dtype}" for name, dtype in INSTANCES]
    library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
    for name, address in {**externals, **runtime_symbols()}.items():
        library.import_symbol(name, address)
    for name in names:
        library.export_symbol(name)
    tracker = library.link(jit, f"elementary{int(vectorize)}{int(baseline)}")

    def call(name: str, dtype: str, *arguments: np.ndarray) -> np.ndarray:
        assert tracker and jit
        pointer = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (ARITY[name] + 1), ctypes.c_int64)
        kinds = [np.int64 if kind == "i64" else NUMPY[dtype] for kind in argument_types(name, dtype)]
        arrays = [np.ascontiguousarray(a, kind) for a, kind in zip(arguments, kinds, strict=True)]
        out = np.empty(arrays[0].shape, NUMPY[dtype])
        pointer(tracker[f"loop.{name}.{dtype}"])(*(a.ctypes.data for a in [*arrays, out]), out.size)
        return out

    return call


def precisely(bits: int, function):
    def reference(*arguments):
        with mp.workprec(bits):
            return function(*arguments)

    return reference


def circular(function):
    """2**1024 mod pi needs as many digits again."""
    return lambda x: precisely(1400 if abs(x) > 1e15 else 260, function)(x)


REFERENCES = {
    "exp": precisely(120, mp.exp),
    "exp2": precisely(120, lambda x: mp.mpf(2) ** x),
    "expm1": precisely(260, mp.expm1),
    "log": precisely(260, mp.log),
    "log2": precisely(260, lambda x: mp.log(x, 2)),
    "log10": precisely(260, mp.log10),
    "log1p": precisely(260, mp.log1p),
    "sin": circular(mp.sin),
    "cos": circular(mp.cos),
    "tan": circular(mp.tan),
    "sinh": precisely(260, mp.sinh),
    "cosh": precisely(120, mp.cosh),
    "tanh": precisely(260, mp.tanh),
    "asin": precisely(200, mp.asin),
    "acos": precisely(200, mp.acos),
    "atan": precisely(200, mp.atan),
    "asinh": precisely(300, mp.asinh),
    "acosh": precisely(300, mp.acosh),
    "atanh": precisely(300, mp.atanh),
    "atan2": precisely(200, mp.atan2),
    "pow": precisely(200, mp.power),
    "hypot": precisely(300, mp.hypot),
    "cbrt": precisely(120, lambda x: mp.sign(x) * mp.cbrt(abs(x))),
    "sqrt": precisely(120, mp.sqrt),
    "erf": precisely(260, mp.erf),
    "erfc": precisely(300, mp.erfc),
    "gamma": precisely(120, mp.gamma),
    "lgamma": precisely(260, lambda x: mp.loggamma(x).real),
    "sigmoid": precisely(260, lambda x: 1 / (1 + mp.exp(-x))),
    "digamma": precisely(120, mp.digamma),
    "polygamma": precisely(160, lambda n, x: mp.polygamma(int(n), x)),
}
LIMIT = 2.5


class Samples:
    """Random arguments of one dtype in the shapes that matter."""

    def __init__(self, dtype: str, count: int, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.count = count
        self.dtype = NUMPY[dtype]
        self.least, self.most = (-1074, 1023.9) if dtype == "f64" else (-149, 127.9)
        self.exponent_range = 745.0 if dtype == "f64" else 104.0

    def uniform(self, low: float, high: float) -> np.ndarray:
        return self.random.uniform(low, high, self.count)

    def sizes(self, low: float, high: float) -> np.ndarray:
        """Magnitudes of every order between two powers of two."""
        return np.exp2(self.uniform(low, high))

    def signed(self, values: np.ndarray) -> np.ndarray:
        return values * self.random.choice([-1.0, 1.0], self.count)

    def everything(self) -> np.ndarray:
        return self.signed(self.sizes(self.least, self.most))

    def mixed(self, *parts: np.ndarray) -> np.ndarray:
        limit = np.finfo(self.dtype)
        chosen = self.random.permutation(np.concatenate(parts))[: self.count]
        return chosen.clip(limit.min, limit.max).astype(self.dtype)

    def arguments(self, name: str) -> list[np.ndarray]:
        s, wide = self, self.exponent_range
        near_one = 1 + s.signed(s.sizes(-53, -1))
        match name:
            case "exp" | "expm1" | "sinh" | "cosh" | "tanh" | "sigmoid" | "exp2":
                return [s.mixed(s.uniform(-wide, wide), s.signed(s.sizes(-60, 5)), s.uniform(-2, 2), s.everything())]
            case "log" | "log2" | "log10" | "sqrt":
                return [s.mixed(abs(s.everything()), near_one, s.uniform(0.3, 3))]
            case "log1p":
                return [s.mixed(abs(s.everything()), near_one - 1, s.signed(s.sizes(-60, -0.1)), s.uniform(-1, 1))]
            case "sin" | "cos" | "tan":
                multiples = np.floor(s.uniform(-1e5, 1e5)) * (np.pi / 2)
                return [s.mixed(s.everything(), s.uniform(-10, 10), s.signed(s.sizes(-60, 60)), multiples)]
            case "asin" | "acos" | "atanh":
                return [s.mixed(s.uniform(-1, 1), s.signed(s.sizes(s.least, 0)), s.signed(1 - s.sizes(-53, -1)))]
            case "acosh":
                return [s.mixed(1 + s.sizes(-52, 2), s.sizes(0, s.most))]
            case "gamma":
                return [s.mixed(s.uniform(0.01, 170), s.signed(s.sizes(-60, 2)), s.uniform(-30, 5))]
            case "lgamma" | "digamma":
                return [s.mixed(s.uniform(0.01, 170), s.sizes(-60, 60))]
            case "erfc":
                return [s.mixed(s.uniform(-6, 26), s.signed(s.sizes(-60, 2)))]
            case "polygamma":
                return [s.random.integers(1, 12, s.count), s.mixed(s.uniform(0.01, 60), s.uniform(-9, 0))]
            case "pow":
                base = s.mixed(abs(s.everything()), near_one, s.uniform(0, 10))
                logarithm = np.log(np.where(base > 0, base, 1), dtype=np.float64)
                exponent = s.uniform(-wide, wide) / np.where(logarithm == 0, 1, logarithm)
                return [base, s.mixed_in_place(exponent)]
            case "hypot" | "atan2":
                first = s.mixed(s.everything(), s.uniform(-10, 10))
                near = first.astype(float) * s.uniform(0.05, 20)
                return [first, s.mixed_in_place(np.where(s.uniform(0, 1) < 0.5, near, s.everything()))]
            case _:
                return [s.mixed(s.uniform(-6, 6), s.everything(), s.signed(s.sizes(-20, 20)))]

    def mixed_in_place(self, values: np.ndarray) -> np.ndarray:
        limit = np.finfo(self.dtype)
        return values.clip(limit.min, limit.max).astype(self.dtype)


def error_in_ulps(got: float, true: mp.mpf, dtype: str) -> float:
    digits, least = (53, -1074) if dtype == "f64" else (24, -149)
    largest = mp.mpf(float(np.finfo(NUMPY[dtype]).max))
    if abs(true) > largest and math.isinf(got):
        return 0.0
    if not math.isfinite(got):
        return math.inf
    ulp = mp.ldexp(1, max(mp.frexp(true)[1] - digits, least))
    return float(abs(mp.mpf(got) - true) / ulp)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_accuracy(name: str, dtype: str) -> None:
    count = (600 if dtype == "f64" else 200) if name != "polygamma" else 60
    arguments = Samples(dtype, count, seed=len(name)).arguments(name)
    got = compiled(False)(name, dtype, *arguments)
    worst, where = 0.0, None
    for value, *point in zip(got, *arguments, strict=True):
        true = REFERENCES[name](*(mp.mpf(float(p)) for p in point))
        error = error_in_ulps(float(value), true, dtype)
        if error > worst:
            worst, where = error, point
    limit = LIMIT if dtype == "f64" or name in SINGLE else 1.0
    assert worst <= limit, (where, worst)


IN_DOUBLE = {
    "exp": np.exp, "expm1": np.expm1, "tanh": np.tanh, "log": np.log, "log1p": np.log1p,
    "sigmoid": lambda x: np.where(x < 0, np.exp(-abs(x)), 1) / (1 + np.exp(-abs(x))), "sin": np.sin, "cos": np.cos,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(SINGLE))
def test_float32_over_the_whole_range(name: str) -> None:
    """Every 4001st float32, infinities, nans and subnormals among them, against double."""
    x = np.arange(0, 2**32, 4001, dtype=np.uint32).view(np.float32)
    x = np.concatenate([x, np.float32([0.0, -0.0, INF, -INF, NAN, 1.0, -1.0])])
    got = compiled(True)(name, "f32", x)
    with np.errstate(all="ignore"):
        wanted = IN_DOUBLE[name](x.astype(np.float64))
        rounded = wanted.astype(np.float32)
        exact = (got == rounded) & (np.signbit(got) == np.signbit(rounded)) | np.isnan(got) & np.isnan(rounded)
        error = abs(got - wanted) / np.spacing(abs(rounded))
        fine = exact | np.isfinite(rounded) & (rounded != 0) & (error <= LIMIT)
    assert fine.all(), (x[~fine][:5], got[~fine][:5], rounded[~fine][:5])


INF, NAN = math.inf, math.nan
SPECIAL = [
    # name, arguments, value: C99 Annex F where NumPy says the same, NumPy's for sign
    *(("exp", x, y) for x, y in [(-0.0, 1), (INF, INF), (-INF, 0.0), (1e308, INF), (-1e308, 0.0)]),
    *(("exp2", x, y) for x, y in [(0.0, 1), (10, 1024), (-149, 2.0**-149), (INF, INF), (-INF, 0.0), (1024, INF)]),
    *(("expm1", x, y) for x, y in [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1), (-1e300, -1)]),
    *((f, x, y) for f in ("log", "log2", "log10") for x, y in [(1, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF)]),
    *((f, x, NAN) for f in ("log", "log2", "log10", "sqrt") for x in (-1, -INF, -1e-30)),
    *(("log2", 2.0**k, k) for k in (-149, -100, 1, 7, 127)),
    *(("log10", 10.0**k, k) for k in range(1, 11)),
    *(("log1p", x, y) for x, y in [(0.0, 0.0), (-0.0, -0.0), (-1, -INF), (-2, NAN), (INF, INF), (-INF, NAN)]),
    *((f, x, y) for f in ("sin", "tan") for x, y in [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN)]),
    *(("cos", x, y) for x, y in [(0.0, 1), (-0.0, 1), (INF, NAN), (-INF, NAN)]),
    *((f, x, x) for f in ("sinh", "asinh", "cbrt") for x in (0.0, -0.0, INF, -INF)),
    *(("cosh", x, y) for x, y in [(0.0, 1), (INF, INF), (-INF, INF), (1e5, INF)]),
    *((f, x, y) for f in ("tanh", "erf") for x, y in [(0.0, 0.0), (-0.0, -0.0), (INF, 1), (-INF, -1), (30, 1)]),
    *((f, x, NAN) for f in ("asin", "acos") for x in (1.1, -1.1, INF)),
    *(("asin", x, x) for x in (0.0, -0.0)),
    ("acos", 1, 0.0),
    *(("atan", x, y) for x, y in [(0.0, 0.0), (-0.0, -0.0), (INF, math.pi / 2), (-INF, -math.pi / 2)]),
    *(("acosh", x, y) for x, y in [(1, 0.0), (0.5, NAN), (-2, NAN), (INF, INF), (-INF, NAN)]),
    *(("atanh", x, y) for x, y in [(0.0, 0.0), (-0.0, -0.0), (1, INF), (-1, -INF), (1.5, NAN)]),
    *(("sigmoid", x, y) for x, y in [(0.0, 0.5), (-0.0, 0.5), (INF, 1), (-INF, 0.0), (200, 1)]),
    *(("erfc", x, y) for x, y in [(0.0, 1), (INF, 0.0), (-INF, 2)]),
    *(("gamma", x, y) for x, y in [(0.0, INF), (-0.0, -INF), (-2, NAN), (5, 24), (INF, INF), (-INF, NAN)]),
    *(("lgamma", x, y) for x, y in [(0.0, INF), (-3, INF), (1, 0.0), (2, 0.0), (-INF, INF)]),
    *((f, x, y) for f in ("rint",) for x, y in [(0.5, 0.0), (1.5, 2), (2.5, 2), (-0.5, -0.0), (-INF, -INF)]),
    *(("sign", x, y) for x, y in [(0.0, 0.0), (-0.0, 0.0), (-3, -1), (INF, 1), (NAN, NAN)]),
    *(("isnan", x, y) for x, y in [(NAN, 1), (INF, 0.0), (0.0, 0.0)]),
    *(("isinf", x, y) for x, y in [(NAN, 0.0), (INF, 1), (-INF, 1), (1, 0.0)]),
    *(("isfinite", x, y) for x, y in [(NAN, 0.0), (-INF, 0.0), (1, 1)]),
    *((f, NAN, NAN) for f in sorted(NAMES) if ARITY[f] == 1 and f not in PREDICATES),
    ("polygamma", 0, 1.0, -float(mp.euler)),
    ("polygamma", 1, 1.0, math.pi**2 / 6),
    ("polygamma", 2, 0.0, -INF),
    ("polygamma", -1, 1.0, NAN),
    *(("polygamma", n, x, y) for n, x, y in [(1, -3, INF), (2, -3, -INF), (1, INF, 0.0), (4, NAN, NAN)]),
    ("polygamma", 3, 1e-300, INF),
    *(("hurwitz", s, q, y) for s, q, y in [(INF, 0.5, INF), (INF, 1, 1), (2, INF, 0.0), (1e30, -1.5, INF)]),
    ("hurwitz", 2, NAN, NAN),
    *(("hurwitz", s, q, y) for s, q, y in [(1, 2, INF), (0.5, 2, NAN), (2, -2, INF), (2.5, -1.5, NAN)]),
    ("hurwitz", 1e30, 1e30, 0.0),
    *(("gamma", n + 1, math.factorial(n)) for n in range(23)),
    *(("gamma", x, y) for x, y in [(172, INF), (-200.5, -0.0), (1e300, INF), (-1e300, NAN), (5e-324, INF)]),
    *(("digamma", x, NAN) for x in (-1, -70, -INF)),
    *(("lgamma", x, INF) for x in (-70, -1e300)),
    *(("erfcx", x, y) for x, y in [(0.0, 1), (INF, 0.0), (-INF, INF), (-30, INF)]),
    *(("ndtr", x, y) for x, y in [(0.0, 0.5), (INF, 1), (-INF, 0.0), (-1e200, 0.0)]),
    *(("log_ndtr", x, y) for x, y in [(0.0, -math.log(2)), (INF, -0.0), (-INF, -INF), (-1e20, -5e39)]),
    *(("beta", a, b, y) for a, b, y in [(1, 1, 1), (3, 1, 1 / 3)]),
    *(("betaln", a, b, y) for a, b, y in [(1, 1, 0.0), (0.0, 1, INF)]),
    *((f, x, y) for f in ("i0", "i0e") for x, y in [(0.0, 1), (-0.0, 1)]),
    *((f, x, x) for f in ("i1", "i1e") for x in (0.0, -0.0)),
    *(("i0e", x, 0.0) for x in (INF, -INF)),
    *((f, x, y) for f in ("i0", "i1") for x, y in [(800, INF), (INF, NAN)]),
]


def same(got: float, wanted: float) -> bool:
    if math.isnan(wanted):
        return math.isnan(got)
    return got == wanted and math.copysign(1, got) == math.copysign(1, wanted)


@pytest.mark.parametrize("dtype", TYPES)
def test_special_values(dtype: str) -> None:
    wrong = []
    with np.errstate(over="ignore"):
        for name, *arguments, wanted in SPECIAL:
            got = float(compiled(False)(name, dtype, *(np.array([a]) for a in arguments))[0])
            if not same(got, float(NUMPY[dtype](wanted))):
                wrong.append((name, arguments, wanted, got))
    assert not wrong


def remainder(x: float, y: float) -> float:
    return math.nan if math.isinf(x) or y == 0 or math.isnan(x + y) else math.remainder(x, y)


BINARY = {
    "pow": np.power,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "fmod": np.fmod,
    "copysign": np.copysign,
    "nextafter": np.nextafter,
    "remainder": np.vectorize(remainder, otypes=[float]),
}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", sorted(BINARY))
def test_pairs_of_edge_values_are_as_in_numpy(name: str, dtype: str) -> None:
    limit = np.finfo(NUMPY[dtype])
    some = [0, limit.smallest_subnormal, limit.tiny, 0.3, 0.5, 1 - limit.epsneg, 1, 1 + limit.eps, 1.5, 2, 3, 7.5, 1e5]
    some += [2.0**52 + 1, 2.0**53, 2.0**53 + 2, limit.max / 2, limit.max, math.inf]
    values = np.array([*some, *(-v for v in some), math.nan], NUMPY[dtype])
    x, y = (a.ravel() for a in np.meshgrid(values, values))
    got = compiled(False)(name, dtype, x, y)
    with np.errstate(all="ignore"):
        wanted = np.asarray(BINARY[name](x, y), NUMPY[dtype])
        exact = (got == wanted) & (np.signbit(got) == np.signbit(wanted)) | np.isnan(got) & np.isnan(wanted)
        close = np.isfinite(got) & (wanted != 0) & (abs(got / wanted - 1) < 4 * limit.eps)
    near = close if name in ("pow", "atan2", "hypot") else np.zeros_like(exact)
    bad = ~(exact | near)
    assert not bad.any(), (x[bad][:5], y[bad][:5], got[bad][:5], wanted[bad][:5])


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "rint", "fabs", "sqrt", "sign"])
@pytest.mark.parametrize("dtype", TYPES)
def test_exact_functions_are_as_in_numpy(name: str, dtype: str) -> None:
    x = Samples(dtype, 2000, seed=1).arguments("atan")[0]
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(compiled(False)(name, dtype, x), getattr(np, name)(x))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("other", [(True, False), (False, True)], ids=["vector", "baseline"])
def test_vector_code_and_lesser_processors_give_the_bits_of_scalar_code(dtype: str, other: tuple[bool, bool]) -> None:
    for name in sorted(NAMES - {"polygamma"} - set(POINTERS)):
        samples = Samples(dtype, 503, seed=5)
        x = samples.arguments("sin")[0]
        arguments = [x, samples.arguments("atan")[0]][: ARITY[name]]
        results = (compiled(*way)(name, dtype, *arguments) for way in ((False, False), other))
        np.testing.assert_array_equal(*results, err_msg=name)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "name",
    ["exp", "log", "sin", "cos", "tan", "tanh", "sigmoid", "sinh", "expm1", "log1p", "atan", "asin", "erf", "pow"],
)
def test_loops_over_common_functions_are_vectorised(name: str, dtype: str) -> None:
    text, _ = module_text([(name, dtype)])
    target = llvm.Target.from_default_triple()
    x86 = target.triple.startswith("x86_64")
    machine = target.create_target_machine(cpu="haswell", opt=2) if x86 else host_machine()
    module = optimized(text, machine, 2, True)
    loop = str(module.get_function(f"loop.{name}.{dtype}"))
    own = "float" if dtype == "f32" and name in SINGLE else "double"
    assert re.search(rf"f(add|mul) <\d+ x {own}>", loop)
    assert own == "double" or " double" not in loop


def test_large_angles_are_reduced_with_all_the_digits_they_need() -> None:
    """The double nearest to a multiple of pi/2 (the first, found by W. Kahan) loses 60 bits to cancellation."""
    hard = np.array([6381956970095103.0 * 2.0**797, 2.0**1023, 1e22, 1.6e16, 2.0**40, 2.0**40 - 1, 2.0**41 + 1])
    for name in ("sin", "cos", "tan"):
        got = compiled(False)(name, "f64", hard)
        for value, x in zip(got, hard, strict=True):
            assert error_in_ulps(float(value), REFERENCES[name](mp.mpf(float(x))), "f64") <= LIMIT


@pytest.mark.parametrize("triple", ["aarch64-unknown-linux-gnu", "arm64-apple-macosx12.0.0", "x86_64-pc-windows-msvc"])
def test_objects_for_other_platforms(triple: str) -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    text, _ = module_text(INSTANCES)
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=1, reloc="pic", codemodel="small")
    assert len(machine.emit_object(optimized(f'target triple = "{triple}"\n{text}', machine, 1, False))) > 10_000


def test_text_holds_only_its_own_names_and_each_once() -> None:
    library = definitions(INSTANCES)
    defined = re.findall(r"^define [^@]*@([\w.]+)\(", library.functions, re.MULTILINE)
    assert len(defined) == len(set(defined))
    declared = [re.search(r"@([\w.]+)\(", line)[1] for line in library.declarations]
    assert len(declared) == len(set(declared))
    tables = re.findall(r"^@([\w.]+) = internal", library.functions, re.MULTILINE)
    used = set(re.findall(r"@([\w.]+)", library.functions))
    assert used <= {*defined, *declared, *tables}
    assert all(name.startswith(("pb.", "llvm.")) for name in itertools.chain(defined, declared, tables))
    assert set(library.externals) <= set(declared)


def test_definitions_do_not_depend_on_the_order_of_requests() -> None:
    assert definitions([("sin", "f64"), ("exp", "f32")]) == definitions([("exp", "f32"), ("sin", "f64")])


def test_unknown_functions_are_refused() -> None:
    with pytest.raises(KeyError, match="besselj"):
        definitions([("besselj", "f64")])
