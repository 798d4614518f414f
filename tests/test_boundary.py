"""Call objects and entries around functions in LLVM text: arguments, results, guards, errors, stacks, signals."""

import copy
import gc
import inspect
import pickle
import signal
import sys
import threading
import time
import traceback
import weakref

import numpy as np
import pytest

from pullback.codegen import abi, jit, shared, support
from pullback.codegen.build import Options, build_module
from pullback.codegen.target import foreign
from pullback.codegen.wrapper import wrap
from pullback.diagnostic import CompileError, Span
from pullback.runtime import layout
from pullback.runtime.boundary import ABSENT, Boundary, Guard, Hidden, abstract, read
from pullback.runtime.callobject import MISS, CallObject
from pullback.types import (
    NEVER,
    NONE,
    Array,
    Builtin,
    Closure,
    Constant,
    Dict,
    DType,
    List,
    Number,
    Str,
    Tuple,
    Union,
    slots,
)

FLOAT, INT, BOOL = Number(DType.F64), Number(DType.I64), Number(DType.BOOL)
STRONG = Number(DType.F64, weak=False)
VECTOR, MATRIX = Array(DType.F64, 1, True), Array(DType.F64, 2, True)
CORE = '@"pb.f.f"'
HERE = Span(__file__, 60, 0, 0, 0, "outer.<locals>.f")
UNCACHED = Options(cache=False)


def machines(types):
    return [slot for type_ in types for slot in slots(type_)]


def core(takes, gives, body, sites=(), helpers=()):
    """A module with one function; `body` sees parameters as %a0, %a1, ... and ends by `RET values` or `FAIL status`."""
    result = abi.result_type(machines(gives))
    parameters = ", ".join(["ptr %c", *(f"{p} %a{i}" for i, p in enumerate(abi.all_pieces(machines(takes))))])
    lines = []
    for line in body.strip().splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "RET":
            current = "zeroinitializer"
            for i, operand in enumerate(filter(None, map(str.strip, rest.split(",")))):
                name = f"%ret{len(lines)}"
                lines.append(f"  {name} = insertvalue {result} {current}, {operand}, {i + 1}")
                current = name
            lines.append(f"  ret {result} {current}")
        elif word == "FAIL":
            lines.append(f"  %fail{len(lines)} = insertvalue {result} zeroinitializer, i32 {rest}, 0")
            lines.append(f"  ret {result} %fail{len(lines) - 1}")
        else:
            lines.append("  " + line)
    text = f"define internal {result} {CORE}({parameters}) {{\n" + "\n".join(lines) + "\n}\n"
    declared = {f"@{name}": shared.declaration(name) for name in helpers}
    return abi.Module(text, declared, tuple(sites), {name: shared.external(name) for name in helpers})


def entry(takes, gives, body, *, sites=(), helpers=(), recursive=False, options=UNCACHED, **boundary):
    hidden = boundary.get("hidden", ())
    names = tuple(f"p{i}" for i in range(len(takes) - len(hidden)))
    shape = Boundary("f", names, tuple(takes[: len(names)]), result=gives, **boundary)
    return build_module(core(takes, [gives], body, sites, helpers), shape, CORE, recursive, HERE, options)


def refuse(self, arguments, keywords):
    raise TypeError(f"no entry for {arguments}")


def function(*entries, like=lambda *args: None):
    made = CallObject(like, refuse)
    for one in entries:
        made.install(one)
    return made


def identity(types, **more):
    """An entry that gives back its arguments as a tuple (or as `gives`)."""
    pieces = abi.all_pieces(machines(types))
    gives = more.pop("gives", Tuple(tuple(types)))
    return entry(types, gives, "RET " + ", ".join(f"{p} %a{i}" for i, p in enumerate(pieces)), **more)


SQUARE = """
%y = fmul double %a0, %a0
RET double %y
"""

VALUES = [
    2.5, float("nan"), -0.0, -7, 2**63 - 1, -(2**63), True, False, None, "hello",
    np.float64(1.5), np.float32(2.5), np.int64(-3), np.int32(4), np.bool_(True), np.bool_(False),
    (), (1, (2.0, True)), [1.0, [2]], [], {}, {"b": 1.0, "a": (np.float32(3), [None])},
    np.arange(3.0), np.arange(6).reshape(2, 3), np.arange(6, dtype=np.float32).reshape(2, 3).T, np.array(5.0),
    np.zeros((0, 3)), np.array([True, False]), np.arange(4, dtype=np.int32)[::-1],
    np.arange(24.0).reshape(2, 3, 4)[:, ::2, ::-1],
]  # fmt: skip


def alike(a, b):
    return a is b if isinstance(a, np.ndarray) else type(a) is type(b) and repr(a) == repr(b)


# ---------------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("recursive", [False, True])
def test_every_kind_of_value_goes_in_and_comes_out(recursive):
    f = function(identity([abstract(v) for v in VALUES], recursive=recursive))
    found = f(*VALUES)
    assert [v for v, w in zip(VALUES, found, strict=True) if not alike(v, w)] == []
    assert list(found[21]) == ["b", "a"]
    del found
    counts = [sys.getrefcount(v) for v in VALUES]
    before = sys.getallocatedblocks()
    for _ in range(2000):
        f(*VALUES)
    assert abs(sys.getallocatedblocks() - before) < 200
    assert max(abs(sys.getrefcount(v) - c) for v, c in zip(VALUES, counts, strict=True)) < 200


def test_each_type_takes_only_its_own_values():
    for value in VALUES:
        type_ = abstract(value)
        f = function(identity([type_]))
        assert alike(f(value)[0], value)
        for other in VALUES:
            if abstract(other) == type_:
                continue
            strided = isinstance(type_, Array) and Array(type_.dtype, type_.rank, True) == abstract(other)
            if strided and not type_.contiguous:
                assert f(other)[0] is other
            else:
                with pytest.raises(TypeError, match="no entry"):
                    f(other)


def test_subclasses_and_near_misses_are_refused():
    class Sub(float):
        pass

    f = function(identity([FLOAT]))
    for bad in (Sub(1.0), np.float64(1.0), 1, True, None):
        with pytest.raises(TypeError, match="no entry"):
            f(bad)
    ints = function(identity([INT]))
    for bad in (2**63, -(2**63) - 1, True, 1.0):
        with pytest.raises(TypeError, match="no entry"):
            ints(bad)
    assert ints(2**62) == (2**62,)


def test_arrays_of_another_layout_miss():
    f = function(identity([VECTOR]))
    swapped = np.arange(3.0).astype(">f8")
    raw = np.zeros(25, np.uint8)[1:].view(np.float64)
    assert not raw.flags.aligned
    for bad in (np.arange(6.0)[::2], np.zeros(3, np.float32), np.zeros((1, 3)), np.float64(1), [1.0]):
        with pytest.raises(TypeError, match="no entry"):
            f(bad)
    for bad in (swapped[::2], swapped.astype(">f4"), raw.reshape(1, 3)):
        with pytest.raises(TypeError, match="no entry"):
            f(bad)
    for copied in (swapped, raw):  # a native copy is passed
        assert f(copied)[0] is copied
    marked = np.zeros(3, np.dtype(np.float64, metadata={"unit": "m"}))
    assert f(marked)[0] is marked


def test_the_two_long_ints_are_one():
    f = function(identity([Array(DType.I64, 1, True)]))
    other = np.zeros(3, np.longlong)
    assert f(other)[0] is other or f(other)[0].base is other


def test_read_only_arrays_stay_so():
    a = np.arange(6.0)
    a.flags.writeable = False
    code = "%p = getelementptr i8, ptr %a0, i64 8\n%n = sub i64 %a1, 1\nRET ptr %p, i64 %n"
    locked = Array(DType.F64, 1, True, readonly=True)
    view = function(entry([locked], locked, code))(a)
    f = function(entry([VECTOR], VECTOR, code))
    assert view.base is a and not view.flags.writeable and view.tolist() == [1, 2, 3, 4, 5]
    b = np.arange(6.0)
    assert f(b).flags.writeable


FRESH = """
%p = call ptr @pb.alloc(ptr %c, i64 80)
%q = getelementptr i8, ptr %p, i64 16
store double %a0, ptr %q
"""


def test_native_memory_is_handed_over_and_freed():
    f = function(entry([FLOAT], VECTOR, FRESH + "RET ptr %p, i64 10", helpers=["pb.alloc"]))
    gc.collect()
    start = support.blocks_in_use()
    kept = [f(float(i)) for i in range(100)]
    assert support.blocks_in_use() == start + 100
    assert [a[2] for a in kept] == list(map(float, range(100)))
    assert kept[0].ctypes.data % 64 == 0 and kept[0].flags.writeable and kept[0].flags.c_contiguous
    row = kept[5][2:]
    worker = threading.Thread(target=kept.clear)
    worker.start()
    worker.join()
    assert row[0] == 5.0 and support.blocks_in_use() == start + 1
    del row
    assert support.blocks_in_use() == start


def test_results_share_their_memory_as_they_do_inside():
    view = Array(DType.F64, 2)
    body = FRESH + "RET ptr %p, i64 10, ptr %p, i64 5, i64 2, i64 16, i64 8, ptr %q, i64 1, ptr %p, i64 10"
    f = function(entry([FLOAT], Tuple((VECTOR, view, VECTOR, VECTOR)), body, helpers=["pb.alloc"]))
    start = support.blocks_in_use()
    a, b, c, d = f(3.0)
    assert support.blocks_in_use() == start + 1
    assert b[1, 0] == c[0] == 3.0 and b.shape == (5, 2)
    a[2] = 4.0
    assert b[1, 0] == c[0] == d[2] == 4.0
    del a, b, d
    assert c[0] == 4.0 and support.blocks_in_use() == start + 1
    del c
    assert support.blocks_in_use() == start


def test_views_of_arguments_keep_them_alive():
    reverse = Array(DType.F64, 1)
    body = """
%n1 = sub i64 %a1, 1
%o = mul i64 %n1, 8
%p = getelementptr i8, ptr %a0, i64 %o
RET ptr %p, i64 %a1, i64 -8
"""
    f = function(entry([VECTOR], reverse, body))
    a = np.arange(5.0)
    r = f(a)
    assert r.tolist() == [4, 3, 2, 1, 0] and r.base is a
    r[0] = 9
    assert a[4] == 9
    g = function(identity([reverse], gives=reverse))
    assert g(r) is r
    back = function(
        entry([reverse], Array(DType.F64, 1), "%p = getelementptr i8, ptr %a0, i64 -8\nRET ptr %p, i64 1, i64 8")
    )
    assert back(r).tolist() == [3] and back(r).base is a


def test_memory_that_is_neither_is_copied():
    made = core([], [VECTOR], "RET ptr @table, i64 2")
    made = abi.Module(
        "@table = internal constant [2 x double] [double 1.5, double 2.5]\n" + made.definitions, {}, (), {}
    )
    a = function(build_module(made, Boundary("f", (), (), result=VECTOR), CORE, options=UNCACHED))()
    assert a.tolist() == [1.5, 2.5] and a.flags.owndata


def test_empty_results():
    f = function(
        entry([], MATRIX, "%p = call ptr @pb.alloc(ptr %c, i64 0)\nRET ptr %p, i64 0, i64 4", helpers=["pb.alloc"])
    )
    assert f().shape == (0, 4)


def test_unions_come_back_by_their_tag():
    type_ = Union((FLOAT, STRONG, NONE, Tuple((FLOAT, INT)), VECTOR))
    body = """
%z = sitofp i64 %a0 to double
RET i64 %a0, double %z, i64 %a0, ptr %a1, i64 %a2
"""
    f = function(entry([INT, VECTOR], Tuple((type_, Constant(True))), body))
    a = np.arange(2.0)
    assert [type(f(i, a)[0]) for i in range(5)] == [float, np.float64, type(None), tuple, np.ndarray]
    assert f(3, a) == ((3.0, 3), True) and f(4, a)[0] is a
    before = sys.getrefcount(a)
    with pytest.raises(SystemError, match="union"):
        f(5, a)
    assert sys.getrefcount(a) == before


def test_results_that_are_objects():
    cosine = Builtin("math.cos")
    made = entry([], Tuple((cosine, Str("text"), Dict(("k",), (NONE,)))), "RET ", objects=((cosine, np.cos),))
    assert function(made)() == (np.cos, "text", {"k": None})
    with pytest.raises(CompileError, match="cannot leave"):
        entry([], Closure("code", (), "g"), "RET ")


# ------------------------------------------------------------------------------------- functions, guards, hidden


def test_functions_as_arguments():
    def make(y, z=None):
        return (lambda x: x + y) if z is None else (lambda x, k=z: x)

    known = make(2.0)
    type_ = Closure("c", (FLOAT,), "lambda")
    f = function(identity([type_, Builtin("sin")], gives=FLOAT, objects=((type_, known), (Builtin("sin"), np.sin))))
    assert f(known, np.sin) == 2.0 and f(make(5.0), np.sin) == 5.0
    for bad in ((known, np.cos), (make(1), np.sin), (make(1.0, 2.0), np.sin), (lambda x: x, np.sin), (np.sin, np.sin)):
        with pytest.raises(TypeError, match="no entry"):
            f(*bad)


def test_guards_and_hidden_values():
    scope = {"np": np, "word": "ab", "flag": True, "n": 3, "rate": 0.5, "data": np.arange(3.0), "abs": abs}
    start = 7

    def closed(x, y=10.0, *, z=20.0):
        return x + start

    cell = closed.__closure__[0]
    guards = [
        Guard("global", scope, "np", np),
        Guard("global", scope, "word", "ab"),
        Guard("global", scope, "flag", True),
        Guard("global", scope, "n", 3),
        Guard("global", scope, "rate", 0.5),
        Guard("global", scope, "missing", ABSENT),
        Guard("code", closed, None, closed.__code__),
    ]
    hidden = (
        Hidden(VECTOR, "global", scope, "data"),
        Hidden(INT, "cell", cell),
        Hidden(FLOAT, "default", closed, 0),
        Hidden(FLOAT, "keyword", closed, "z"),
        Hidden(Str("q"), "constant", "q"),
    )
    made = identity([FLOAT, *(h.type for h in hidden)], guards=tuple(guards), hidden=hidden)
    f = function(made)
    assert f(1.0)[2:] == (7, 10.0, 20.0, "q") and f(1.0)[1] is scope["data"]
    start = 8
    scope["data"] = np.arange(5.0)
    closed.__defaults__, closed.__kwdefaults__ = (11.0,), {"z": 21.0}
    scope["word"], scope["n"], scope["rate"] = "".join(["a", "b"]), int("3"), float("0.5")
    assert f(1.0)[2:] == (8, 11.0, 21.0, "q") and f(1.0)[1] is scope["data"]
    assert [read(h.kind, h.container, h.key) for h in hidden[1:4]] == [8, 11.0, 21.0]

    def misses():
        with pytest.raises(TypeError, match="no entry"):
            f(1.0)

    for name, other in (
        ("np", sys),
        ("word", "ac"),
        ("word", 3),
        ("flag", False),
        ("n", 4),
        ("n", 3.0),
        ("rate", 0.25),
        ("data", [1.0]),
    ):
        old, scope[name] = scope[name], other
        misses()
        scope[name] = old
        f(1.0)
    del scope["np"]
    misses()
    scope["np"], scope["missing"] = np, 1
    misses()
    del scope["missing"]
    start = 8.5
    misses()
    del start
    misses()
    start = 9
    closed.__defaults__ = None
    misses()
    closed.__defaults__, closed.__kwdefaults__ = (1.0,), None
    misses()
    closed.__kwdefaults__ = {"z": 1.0}
    assert f(1.0)[2] == 9
    old, closed.__code__ = closed.__code__, (lambda start: lambda x: start)(1).__code__
    misses()


# ------------------------------------------------------------------------------------------------- call objects


def test_the_chain_of_entries():
    squares = entry([FLOAT], FLOAT, SQUARE)
    doubles = entry([INT], INT, "%y = add i64 %a0, %a0\nRET i64 %y")
    f = function(squares, doubles)
    assert f(3.0) == 9.0 and f(3) == 6 and f.entries == (doubles, squares)
    g = function(squares)
    assert g(2.0) == 4.0
    with pytest.raises(TypeError, match="no entry"):
        g(2)
    f.remove(squares)
    assert f(3) == 6
    with pytest.raises(TypeError, match="no entry"):
        f(3.0)


def test_a_miss_specialises_once():
    calls = []

    def specialise(self, arguments, keywords):
        calls.append(arguments)
        self.install(entry([FLOAT, FLOAT], FLOAT, "%y = fsub double %a0, %a1\nRET double %y"))
        return self.call_bound(*arguments)

    def f(x, y=2.0):
        """Documented."""

    c = CallObject(f, specialise)
    assert c(1.0) == -1.0 and c(5.0) == 3.0 and c(y=1.0, x=5.0) == 4.0 and c(7.0, 1.0) == 6.0
    assert calls == [(1.0, 2.0)]
    assert (c.__name__, c.__doc__, c.__wrapped__, c.__module__) == ("f", "Documented.", f, __name__)
    assert inspect.signature(c) == inspect.signature(f)
    assert c.call_bound(1, 2) is MISS


def test_binding_is_that_of_python():
    def f(a, b=2.0, /, c=3.0, *, class_=4.0, k):
        """Parameters of each kind."""

    c = CallObject(f, lambda self, arguments, keywords: (arguments, keywords))
    assert c(1, k=5) == ((1, 2.0, 3.0, 4.0, 5), {})
    assert c(1, 9, k=5, c=7, class_=8) == ((1, 9, 7, 8, 5), {})
    for arguments, keywords in (
        ((), {}),
        ((1,), {}),
        ((1, 2, 3, 4), {"k": 1}),
        ((1,), {"k": 1, "z": 2}),
        ((), {"a": 1, "k": 1}),
    ):
        with pytest.raises(TypeError) as ours:
            c(*arguments, **keywords)
        with pytest.raises(TypeError) as theirs:
            f(*arguments, **keywords)
        assert str(ours.value) == str(theirs.value)


def test_a_call_object_of_a_call_object():
    def f(x, y=2.0):
        """Inner."""

    inner = CallObject(f, refuse)
    inner.note = "mine"
    outer = CallObject(inner, lambda self, arguments, keywords: arguments)
    assert outer(y=1.0, x=5.0) == (5.0, 1.0) and outer(1.0) == (1.0, 2.0) and outer.__name__ == "f"
    assert not hasattr(outer, "note") and inspect.signature(outer) == inspect.signature(f)


def test_keyword_only_parameters_are_not_taken_by_position():
    def f(x, *, y):
        """y by keyword only."""

    c = function(entry([FLOAT, FLOAT], FLOAT, "%y = fsub double %a0, %a1\nRET double %y", keyword_only=1), like=f)
    assert c(5.0, y=2.0) == 3.0
    with pytest.raises(TypeError, match="takes 1 positional argument but 2"):
        c(5.0, 2.0)


def test_methods_and_weak_references():
    class Model:
        scale = CallObject(lambda self, x: None, lambda self, arguments, keywords: arguments)

    model = Model()
    assert model.scale(3.0) == (model, 3.0) and isinstance(Model.scale, CallObject)
    f = function(entry([FLOAT], FLOAT, SQUARE))
    f.me = f
    seen = weakref.ref(f)
    del f
    gc.collect()
    assert seen() is None


def named(x):
    return x


def rebuild(function):
    return CallObject(function, refuse, (rebuild, (function,)))


plain, named = named, CallObject(named, refuse)


def test_pickle_and_copy():
    assert (
        pickle.loads(pickle.dumps(named)) is named and copy.copy(named) is named and copy.deepcopy([named])[0] is named
    )
    other = rebuild(len)
    again = pickle.loads(pickle.dumps(other))
    assert again is not other and again.__wrapped__ is len and copy.deepcopy(other) is other
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(CallObject(lambda x: x, refuse))


def test_calls_leak_nothing():
    f = function(entry([FLOAT], FLOAT, SQUARE))
    failing = function(entry([FLOAT], FLOAT, "FAIL 1", sites=[abi.ErrorSite("ValueError", "no", HERE)]))
    for call in (f, failing):
        for count in (100, 20_000):
            gc.collect()
            before = sys.getallocatedblocks()
            for _ in range(count):
                try:
                    call(2.0)
                except ValueError:
                    pass
        assert abs(sys.getallocatedblocks() - before) < 100


def test_threads_call_and_compile_together():
    f = function(entry([FLOAT], VECTOR, FRESH + "RET ptr %p, i64 10", helpers=["pb.alloc"]))
    faults = []

    def work(seed):
        try:
            mine = function(entry([FLOAT], FLOAT, f"%y = fadd double %a0, {seed}.0\nRET double %y"))
            for i in range(3000):
                if mine(float(i)) != i + seed or f(float(i))[2] != i:
                    faults.append((seed, i))
        except Exception as error:
            faults.append(error)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert faults == []


# ------------------------------------------------------------------------------------------------------- errors


CHECK = f"""
%zero = fcmp oeq double %a0, 0.0
br i1 %zero, label %bad, label %good
bad:
store i64 1, ptr %c
%bits = bitcast double %a0 to i64
%place = getelementptr i8, ptr %c, i64 {abi.PAYLOAD}
store i64 %bits, ptr %place
%place2 = getelementptr i8, ptr %c, i64 {abi.PAYLOAD + 8}
store i64 -3, ptr %place2
FAIL 1
good:
RET double %a0
"""


@pytest.mark.parametrize("recursive", [False, True])
def test_failed_checks_raise_where_the_user_wrote_them(recursive):
    span = Span(__file__, 17, 7, 17, 12, "outer.<locals>.f")
    sites = [
        abi.ErrorSite("ValueError", "", HERE),
        abi.ErrorSite("ZeroDivisionError", "of {0} by {1} {9} {user}", span, (DType.F64, DType.I64)),
    ]
    f = function(entry([FLOAT], FLOAT, CHECK, sites=sites, recursive=recursive))
    assert f(2.0) == 2.0
    with pytest.raises(ZeroDivisionError) as info:
        f(0.0)
    assert str(info.value) == "of 0.0 by -3 {9} {user}"
    last = traceback.extract_tb(info.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.name) == (__file__, 17, "f")
    assert (last.colno, last.end_colno) == (7, 12)
    assert len(traceback.extract_tb(info.value.__traceback__)) == 2
    assert info.value.__context__ is None


def test_other_failures():
    memory_error = function(
        entry([], NONE, f"%p = call ptr @pb.alloc(ptr %c, i64 100)\nFAIL {abi.NO_MEMORY}", helpers=["pb.alloc"])
    )
    with pytest.raises(MemoryError):
        memory_error()
    with pytest.raises(AssertionError) as info:
        function(entry([], NEVER, "FAIL 1", sites=[abi.ErrorSite("AssertionError", "", HERE)]))()
    assert info.value.args == ()
    try:
        raise KeyError("first")
    except KeyError as first:
        with pytest.raises(RecursionError, match="maximum recursion depth") as info:
            function(entry([], NONE, f"FAIL {abi.TOO_DEEP}"))()
        assert info.value.__context__ is first


# ---------------------------------------------------------------------------------------- deep recursion, signals


DEPTH = f"""
define internal {{i32, i64}} @deep(ptr %c, i64 %n) noinline {{
  %sp = call ptr @llvm.stacksave.p0()
  %place = getelementptr i8, ptr %c, i64 {abi.STACK_LIMIT}
  %limit = load ptr, ptr %place
  %over = icmp ult ptr %sp, %limit
  br i1 %over, label %bad, label %ok
bad:
  ret {{i32, i64}} {{ i32 {abi.TOO_DEEP}, i64 0 }}
ok:
  %end = icmp eq i64 %n, 0
  br i1 %end, label %done, label %more
done:
  POLL
  ret {{i32, i64}} zeroinitializer
more:
  %m = sub i64 %n, 1
  %r = call {{i32, i64}} @deep(ptr %c, i64 %m)
  %v = extractvalue {{i32, i64}} %r, 1
  %v1 = add i64 %v, 1
  %r1 = insertvalue {{i32, i64}} %r, i64 %v1, 1
  %s = extractvalue {{i32, i64}} %r, 0
  %fine = icmp eq i32 %s, 0
  br i1 %fine, label %up, label %fail
up:
  ret {{i32, i64}} %r1
fail:
  ret {{i32, i64}} %r
}}
"""
POLL = "%polled = call i32 @pb.poll(ptr %c)\n  %gone = icmp ne i32 %polled, 0\n"
POLL += "  br i1 %gone, label %stop, label %go\nstop:\n"
POLL += "  %e = insertvalue {i32, i64} zeroinitializer, i32 %polled, 0\n  ret {i32, i64} %e\ngo:\n"


def deep(poll=False):
    body = "%r = call {i32, i64} @deep(ptr %c, i64 %a0)\nret {i32, i64} %r"
    made = core([INT], [INT], body, helpers=["pb.poll"])
    text = DEPTH.replace("  POLL\n", POLL if poll else "") + made.definitions
    made = abi.Module(text, made.declarations, (), made.externals)
    return function(build_module(made, Boundary("f", ("n",), (INT,), result=INT), CORE, True, HERE, UNCACHED))


def test_recursion_as_deep_as_memory_allows():
    f = deep()
    assert f(10) == 10
    assert f(1_000_000) == 1_000_000
    with pytest.raises(RecursionError, match="maximum recursion depth") as info:
        f(10**12)
    assert traceback.extract_tb(info.value.__traceback__)[-1].lineno == HERE.line
    assert f(1000) == 1000


def test_private_stacks_nest_and_serve_threads():
    f = deep(poll=True)
    seen = []

    def handler(number, frame):
        seen.append(f(50_000))

    old = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001)
        end = time.monotonic() + 5
        while not seen and time.monotonic() < end:
            assert f(100_000) == 100_000
    finally:
        signal.signal(signal.SIGALRM, old)
    assert seen == [50_000]
    found = []
    workers = [threading.Thread(target=lambda: found.append(f(200_000))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [200_000] * 4


SPIN = f"""
br label %loop
loop:
%fuel = getelementptr i8, ptr %c, i64 {abi.FUEL}
%left = load i64, ptr %fuel
%less = sub i64 %left, 1
store i64 %less, ptr %fuel
%out = icmp slt i64 %less, 0
br i1 %out, label %poll, label %loop
poll:
%status = call i32 @pb.poll(ptr %c)
%on = icmp eq i32 %status, 0
br i1 %on, label %loop, label %stop
stop:
FAIL %status
"""


@pytest.mark.parametrize("recursive", [False, True])
def test_control_c_stops_an_endless_loop(recursive):
    f = function(entry([VECTOR], VECTOR, SPIN, helpers=["pb.poll"], recursive=recursive))
    a = np.arange(3.0)
    before = sys.getrefcount(a)
    pressed = []

    def press(number, frame):
        pressed.append(time.monotonic())
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, press)
    try:
        start = time.monotonic()
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            f(a)
    finally:
        signal.signal(signal.SIGALRM, old)
    assert time.monotonic() - pressed[0] < 0.1 and pressed[0] - start < 0.15 and sys.getrefcount(a) == before


def test_other_threads_run_during_a_long_call():
    f = function(entry([], NONE, SPIN, helpers=["pb.poll"]))
    stop = threading.Event()
    ticks = []

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.002)

    worker = threading.Thread(target=tick)

    def press(number, frame):
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, press)
    try:
        worker.start()
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            f()
    finally:
        signal.signal(signal.SIGALRM, old)
        stop.set()
        worker.join()
    assert len(ticks) > 5


def test_arrays_in_containers_survive_what_signals_do_to_them():
    body = (
        SPIN.replace("stop:\nFAIL %status", "stop:\nRET ptr %a0, i64 %a1")
        .replace("i1 %on", "i1 %seen")
        .replace("%on = icmp eq i32 %status, 0", "%flag = load double, ptr %a2\n%seen = fcmp oeq double %flag, 0.0")
    )
    f = function(entry([List((VECTOR,)), VECTOR], VECTOR, body, helpers=["pb.poll"]))
    box, flag = [np.arange(1000.0)], np.zeros(1)
    expected = box[0].copy()

    def empty(number, frame):
        box.clear()
        gc.collect()
        flag[0] = 1

    old = signal.signal(signal.SIGALRM, empty)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        result = f(box, flag)
    finally:
        signal.signal(signal.SIGALRM, old)
    assert box == [] and (result == expected).all()


# ------------------------------------------------------------------------------------------- types of arguments


def test_abstract():
    assert abstract({"w": [1, None], "b": (np.float32(1), "s", True)}) == Dict(
        ("w", "b"), (List((INT, NONE)), Tuple((Number(DType.F32, weak=False), Str("s"), BOOL)))
    )
    assert abstract(np.zeros((2, 3)).T) == Array(DType.F64, 2, False, ones=(False, False))
    assert abstract(np.zeros(3)[::2]) == Array(DType.F64, 1, False, ones=(False,))
    assert abstract(np.sin, resolve=lambda value: Builtin(value.__name__)) == Builtin("sin")


class Foreign:
    def __array__(self):
        return np.zeros(3)


@pytest.mark.parametrize(
    ("value", "hint"),
    [
        (np.zeros(3, np.clongdouble), "x.real and x.imag"),
        (np.zeros(3, object), "np.float64"),
        (np.zeros(3, np.longdouble), "astype(np.float64)"),
        (np.zeros(3, np.dtype([("x", float), ("s", "S3")])), "fields"),
        (np.zeros(3, ">f8"), "newbyteorder"),
        (np.zeros(25, np.uint8)[1:].view(np.float64), "x.copy()"),
        (np.ma.masked_array([1.0]), "filled"),
        (np.zeros((2, 2)).view(np.matrix), "np.asarray(x)"),
        (np.longdouble(1), "np.float64(x)"),
        (np.longlong(1), "np.int64(x)"),
        (Foreign(), "np.asarray(x)"),
        (np.clongdouble(1j), "x.real and x.imag"),
        ({1: 2.0}, "keys must be strings"),
        ({1.0}, "sorted(x)"),
        (range(3), "range"),
        (type("Sub", (int,), {})(3), "int(x)"),
        (object(), "not supported"),
        ([1.0, (2.0, object())], "x[1][1]"),
        (abs, "cannot be passed"),
    ],
)
def test_what_is_refused_says_what_to_write(value, hint):
    with pytest.raises(TypeError) as info:
        abstract(value)
    assert hint in str(info.value)


def test_large_ints_overflow():
    assert abstract(2**63 - 1) == INT
    for value in (2**63, -(2**63) - 1, 10**400):
        with pytest.raises(OverflowError, match="64 bits"):
            abstract(value)


def test_the_layout_is_verified(monkeypatch):
    layout.verify.__wrapped__()
    monkeypatch.setattr(layout, "ARRAY_FLAGS", layout.ARRAY_RANK)
    with pytest.raises(RuntimeError, match="ndarray flags"):
        layout.verify.__wrapped__()


# ----------------------------------------------------------------------------------------------- other systems


SYSTEMS = ["aarch64-unknown-linux-gnu", "arm64-apple-darwin", "x86_64-apple-darwin", "x86_64-pc-windows-msvc"]


@pytest.mark.parametrize("triple", SYSTEMS)
def test_code_for_other_systems(triple):
    target = foreign(triple)
    boundary = Boundary("f", ("x", "a"), (FLOAT, List((VECTOR,))), result=Tuple((FLOAT, VECTOR)))
    made = core([*boundary.params], [boundary.result], "RET double %a0, ptr %a1, i64 %a2")
    for recursive in (False, True):
        wrapped = wrap(boundary, CORE, recursive=recursive, triple=triple)
        text = "\n".join((wrapped.before, *wrapped.declarations.values(), made.definitions, wrapped.after))
        assert len(jit.compile_object(text, target=target)) > 500
    for part in support.PARTS:
        library = support.text(part, triple, 1 << 30)
        if triple.startswith("x86_64") or "blr $1" not in library:
            assert part != "stacks" or triple.startswith("x86_64")
            assert len(jit.compile_object(library, target=target)) > 500
            continue
        # The assembler of another processor is not part of LLVM's build: all but the switch itself is compiled.
        plain = "\n".join(line for line in library.splitlines() if " asm " not in line)
        assert len(jit.compile_object(plain, target=target)) > 500
