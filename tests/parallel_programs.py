"""Programs with loops over prange, and programs that are refused.

PROGRAMS[name] = (function, arguments, cut): `function.serial` is the same program over range; `cut` is how many loops
over blocks its gradient has at least, None where it has no gradient.
"""

import inspect
import linecache
import math

import numpy as np

import pullback as pb

PROGRAMS, REFUSED = {}, {}
_rng = np.random.default_rng(7)


def _serial(function):
    """The program with `range` in place of `pb.prange`."""
    source = inspect.getsource(function)
    source = source[source.index("def ") :].replace("pb.prange", "range")
    file = f"<serial {function.__name__}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    scope = dict(function.__globals__)
    exec(compile(source, file, "exec"), scope)
    return scope[function.__name__]


def program(name, *arguments, cut=None):
    def add(function):
        function.serial = _serial(function)
        PROGRAMS[name] = (function, arguments, cut)
        return function

    return add


def refused(name, *arguments, match):
    def add(function):
        REFUSED[name] = (function, arguments, match)
        return function

    return add


@program("maps of elements", _rng.random(300), np.zeros(300), cut=2)
def maps_of_elements(a, out):
    for i in pb.prange(len(a)):
        out[i] = a[i] * np.sin(a[i])
    return np.sum(out * out)


@program("reductions", _rng.normal(size=257), cut=None)
def reductions(a):
    total, product, count = 0.0, 1.0, 0
    low, high = np.float64(math.inf), np.float64(-math.inf)
    some, every, never, always, largest, least = False, True, False, True, -math.inf, np.float64(math.inf)
    for i in pb.prange(len(a)):
        total += a[i] * 0.5
        total -= math.cos(i)
        product *= 1.0 + 0.001 * a[i]
        if a[i] > 0.0:
            count += 1
        low = min(low, a[i])
        high = max(high, a[i])
        some = some | bool(a[i] > 3.0)
        every = every & bool(a[i] > -2.0)
        never = never or bool(a[i] > 99.0)
        always = bool(a[i] < 99.0) and always
        largest = float(a[i]) if float(a[i]) > largest else largest
        if a[i] < least:
            least = a[i]
    return total, product, count, low, high, some, every, never, always, largest, least


@program("sums", _rng.normal(size=257), 0.5, cut=2)
def sums(a, x):
    total = 0.0
    for i in pb.prange(len(a)):
        if a[i] > 0.0:
            total += a[i] * x
        for k in range(3):
            total += np.sin(a[i] * k)
    return total * x


@program("between bounds", _rng.random(300), np.zeros(300), 7, 290, cut=None)
def between_bounds(a, out, low, high):
    for i in pb.prange(low, high):
        out[i - 1] = a[i] * 2.0
        out[i - 1] += a[i + 1]
    return np.sum(out)


@program("histogram", _rng.random(500), _rng.integers(0, 10, 500), np.zeros(10), cut=2)
def histogram(a, bins, h):
    for i in pb.prange(len(a)):
        h[bins[i]] += a[i] * a[i]
        h[0] -= 0.5 * a[i]
    return np.sum(h * h)


@program("gathers", _rng.random(50), _rng.integers(0, 50, 400), np.zeros(400), cut=2)
def gathers(a, places, out):
    for i in pb.prange(len(places)):
        out[i] = a[places[i]] ** 2 * a[i % 50]
    return np.sum(np.sin(out))


@program("strided", _rng.random(301), np.zeros(301), cut=2)
def strided(a, out):
    for i in pb.prange(0, 300, 2):
        out[i] = a[i] * a[i + 1]
        out[i + 1] = a[i] - a[i + 1]
    return np.sum(out**3)


@program("backwards", _rng.random(301), np.zeros(301), cut=2)
def backwards(a, out):
    for i in pb.prange(300, -1, -1):
        out[i] = a[300 - i] * a[i]
    return np.sum(out * out)


@program("rows", _rng.random((90, 40)), _rng.random((40, 40)), np.zeros((90, 40)), cut=2)
def rows(a, w, out):
    for i in pb.prange(a.shape[0]):
        h = np.tanh(w @ a[i])
        h = h * a[i] + np.exp(-h)
        out[i] = h
        out[i, 0] += 1.0
    return np.sum(out * out)


@program("shared row", _rng.random((90, 40)), np.zeros(40), cut=2)
def shared_row(a, total):
    for i in pb.prange(a.shape[0]):
        total += np.sin(a[i])
    return np.sum(total * total)


@program("stencil", _rng.random((70, 30)), np.zeros((70, 30)), cut=3)
def stencil(u, out):
    n, m = u.shape
    for i in pb.prange(1, n - 1):
        for j in range(1, m - 1):
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            out[i, j] = u[i, j] + 0.1 * (around - 4.0 * u[i, j]) * u[i, j]
    return np.sum(out * out)


@program("heat", _rng.random((70, 30)), 4, cut=3)
def heat(u, steps):
    n, m = u.shape
    for _ in range(steps):
        new = u.copy()
        for i in pb.prange(1, n - 1):
            for j in range(1, m - 1):
                new[i, j] = u[i, j] + 0.1 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])
        u = new
    return np.sum(u * u)


@program("two arrays in turn", _rng.random(200), np.zeros(200), cut=1)
def two_arrays_in_turn(a, b):
    for _ in range(5):
        for i in pb.prange(1, len(a) - 1):
            b[i] = 0.25 * a[i - 1] + 0.5 * a[i] + 0.25 * a[i + 1]
        a, b = b, a
    return np.sum(a * a)


@program("bodies", _rng.random((60, 3)), _rng.random(60), cut=2)
def bodies(x, m):
    n = len(m)
    a = np.zeros((n, 3))
    for i in pb.prange(n):
        ax = ay = az = 0.0
        for j in range(n):
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            r2 = dx * dx + dy * dy + dz * dz + 0.01
            w = m[j] / (r2 * np.sqrt(r2))
            ax += w * dx
            ay += w * dy
            az += w * dz
        a[i, 0], a[i, 1], a[i, 2] = ax, ay, az
    return np.sum(a * a)


@program("trips of unknown length", _rng.random(200), np.zeros(200), cut=1)
def trips_of_unknown_length(a, out):
    for i in pb.prange(len(a)):
        x = a[i] + 1.0
        while x < 50.0:
            x = x * x + 0.5
        out[i] = math.log(x)
    return np.sum(out * a)


@program("maps", _rng.random((300, 300)), _rng.random(300), cut=1)
def maps(a, b):
    c = np.sin(a) * b + 1.0
    return np.sum(c * a)


@program("reductions of maps", _rng.random((600, 300)))
def reductions_of_maps(a):
    return np.sum(a, axis=0), np.max(a), np.exp(a - 1.0), np.mean(a * a)


@program("shifted maps", _rng.random((300, 200)), 3, cut=3)
def shifted_maps(u, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
        u = new
    return np.sum(u * u)


# ------------------------------------------------------------------------------------------------------- refused


@refused("carried value", np.ones(9), match="depend on each other through `x`")
def carried_value(a):
    x = 1.0
    for i in pb.prange(len(a)):
        x = x * 0.5 + a[i]
    return x


@refused("sum used inside", np.ones(9), np.ones(9), match="depend on each other through `s`")
def sum_used_inside(a, out):
    s = 0.0
    for i in pb.prange(len(a)):
        s += a[i]
        out[i] = s
    return s


@refused("last value", np.ones(9), match="depend on each other through `last`")
def last_value(a):
    last = 0.0
    for i in pb.prange(len(a)):
        last = a[i] * 2.0
    return last


@refused("neighbour", np.ones(9), match="same elements of `a`")
def neighbour(a):
    for i in pb.prange(1, len(a)):
        a[i] = a[i - 1] + 1.0
    return 0.0


@refused("one place", np.ones(9), np.ones(3), match="same elements of `out`")
def one_place(a, out):
    for i in pb.prange(len(a)):
        out[0] = a[i]
    return 0.0


@refused("places from an array", np.ones(9), np.arange(9), np.ones(9), match="same elements of `out`")
def places_from_an_array(a, places, out):
    for i in pb.prange(len(a)):
        out[places[i]] = a[i]
    return 0.0


@refused("half the index", np.ones(9), np.ones(9), match="same elements of `out`")
def half_the_index(a, out):
    for i in pb.prange(len(a)):
        out[i // 2] = a[i]
    return 0.0


@refused("added and read", np.ones(9), np.ones(9), match="same elements of `h`")
def added_and_read(a, h):
    s = 0.0
    for i in pb.prange(len(a)):
        h[i // 2] += a[i]
        s += h[0]
    return s


@refused("rows that overlap", np.ones((9, 3)), match="same elements of `out`")
def rows_that_overlap(out):
    for i in pb.prange(len(out) - 1):
        out[i : i + 2] = 1.0 * i
    return 0.0


@refused("break", np.ones(9), match="cannot be left before its last trip")
def leaves_by_break(a):
    s = 0.0
    for i in pb.prange(len(a)):
        if a[i] > 5.0:
            break
        s += a[i]
    return s


@refused("return", np.ones(9), match="cannot be left before its last trip")
def leaves_by_return(a):
    for i in pb.prange(len(a)):
        if a[i] > 5.0:
            return 1.0
    return 0.0


@refused("closure over the loop variable", np.ones(9), match="a variable of a prange loop")
def closure_over_the_loop_variable(a):
    s = 0.0
    for i in pb.prange(len(a)):
        f = lambda x: x * a[i]  # noqa: E731
        s += pb.grad(f)(2.0)
    return s


@refused("two kinds of number", np.ones(9), match="begins as Python's and meets NumPy's")
def two_kinds_of_number(a):
    m = -math.inf
    for i in pb.prange(len(a)):
        m = max(m, a[i])
    return m


@refused("print", np.ones(9), match="text cannot be made or printed")
def prints(a):
    for i in pb.prange(len(a)):
        print(a[i])
    return 0.0


@refused("append", np.ones(9), match="cannot change lists|depend on each other")
def appends(a):
    found = [0.0]
    for i in pb.prange(len(a)):
        found.append(a[i])
    return found[1]
