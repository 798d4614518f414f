"""Callees that write what they are given, closures over scratch buffers, recursion on halves, arrays in containers."""

import math

import numpy as np

from mutations import mutation

A = np.array([0.5, -1.5, 2.0, 3.25])
B = np.array([2.0, 0.25, -1.0, 0.75])
M = np.array([[1.0, 2.0, -1.0], [0.5, -0.25, 4.0]])
W = np.array([[0.5, -0.25], [1.0, 0.75]])
C = np.array([0.1, -0.2])

SCRATCH = np.zeros(4)
COUNTER = np.zeros(2, np.int64)
TABLE = np.array([1.0, 2.0, 3.0, 4.0])
STORE = {"w": np.array([0.5, 2.0]), "n": np.array([1, 2])}


def square_into(out, a):
    for i in range(len(a)):
        out[i] = a[i] * a[i]


def scale(a, x):
    a *= x


def add_first(a, b):
    a[0] += b[0] * b[0]
    return a[0]


def returned(a):
    a[0] = a[0] * 2.0
    return a


def tail(a):
    return a[1:]


def fresh_or_same(a, p):
    return a if p else a * 1.0


def norm(a):
    return np.sum(a * a)


def swap(a, i, j):
    a[i], a[j] = a[j], a[i]


def double_all(a, n):
    if n == 0:
        return
    a *= 2.0
    a[0] += a[1]
    double_all(a, n - 1)


def prefix_by_halves(a):
    n = len(a)
    if n < 2:
        return
    left = a[: n // 2]
    right = a[n // 2 :]
    prefix_by_halves(left)
    prefix_by_halves(right)
    right += left[-1]


def sort_by_halves(a, spare):
    n = len(a)
    if n < 2:
        return
    m = n // 2
    sort_by_halves(a[:m], spare[:m])
    sort_by_halves(a[m:], spare[m:])
    spare[:] = a
    i = 0
    j = m
    for k in range(n):
        if j >= n or (i < m and spare[i] <= spare[j]):
            a[k] = spare[i]
            i += 1
        else:
            a[k] = spare[j]
            j += 1


def sum_to_front(a, n):
    if n > 1:
        sum_to_front(a[1:], n - 1)
        a[0] += a[1] * a[1]
    return a[0]


def quick(a, low, high):
    if low >= high:
        return
    pivot = a[high]
    i = low
    for j in range(low, high):
        if a[j] < pivot:
            swap(a, i, j)
            i += 1
    swap(a, i, high)
    quick(a, low, i - 1)
    quick(a, i + 1, high)


@mutation(args=[(A,)], orders=3)
def callee_writes_its_argument(a):
    scale(a, 3.0)
    scale(a[1:], a[0])
    return np.sum(a * a)


@mutation(args=[(A,)], orders=3)
def callee_fills_a_buffer(a):
    out = np.zeros(len(a))
    square_into(out, a)
    square_into(a, out)
    return np.sum(a * out)


@mutation(args=[(A,)])
def callee_writes_onto_its_source(a):
    square_into(a, a)
    square_into(a[1:], a[:-1])
    square_into(a[::-1], a)
    return np.sum(a)


@mutation(args=[(A, B)], argnums=(0, 1), orders=3)
def callee_writes_and_returns(a, b):
    y = add_first(a, b) * add_first(b, a)
    return y * add_first(a, a) + b[0]


@mutation(args=[(A,)], orders=3)
def returned_argument_is_the_argument(a):
    b = returned(a)
    b[1] = b[0] * a[2]
    c = returned(returned(b))
    a[2] = c[0]
    return np.sum(a * b * c)


@mutation(args=[(A,)])
def view_returned_by_a_callee(a):
    t = tail(tail(a))
    t[0] = a[0] * t[1]
    tail(a)[0] = t[0] * 2.0
    return np.sum(a * a)


@mutation(args=[(A, 1), (A, 0)])
def callee_returns_alias_or_copy(a, p):
    b = fresh_or_same(a, p)
    b[0] = a[1] * a[2]
    b *= a
    return np.sum(a * a) + np.sum(b)


@mutation(args=[(A,)], orders=3)
def norm_then_written(a):
    y = norm(a)
    a[0] = y
    z = norm(a)
    a *= z
    return norm(a) * 1e-3 + y


@mutation(args=[(A, B)], argnums=(0, 1), orders=3)
def scratch_from_a_closure(a, b):
    scratch = np.zeros(4)

    def product(x, y):
        for i in range(len(x)):
            scratch[i] = x[i] * y[i]
        return np.sum(scratch * scratch)

    return product(a, b) * product(b, b) + product(a, a)


@mutation(args=[(A,)])
def closure_accumulates(a):
    total = np.zeros(1)

    def add(x):
        total[0] += x * x

    for v in a:
        add(v)
        if v > 1.0:
            add(total[0])
    return total[0] * a[0]


@mutation(args=[(A, 3)])
def closure_over_an_argument(a, n):
    def step(i):
        a[i] = a[i] * a[i - 1]
        return a[i]

    total = 0.0
    for i in range(n):
        total += step(i) * step(i)
    return total


@mutation(args=[(A,)])
def two_closures_share(a):
    box = np.array([1.0, 0.0])

    def push(x):
        box[0] *= x
        box[1] += box[0]

    def pull():
        return box[0] * box[1]

    push(a[0])
    y = pull()
    push(a[1])
    push(y)
    return pull() + y


@mutation(args=[(A, 1), (A, 0)])
def function_chosen_at_run_time(a, p):
    def first(x):
        x[0] = x[1] * x[2]

    def last(x):
        x[-1] *= x[0]

    f = first if p else last
    f(a)
    f(a[1:])
    return np.sum(a * a)


@mutation(args=[(A,)])
def function_passed_down(a):
    def apply_to_each(f, x):
        for i in range(len(x)):
            x[i] = f(x[i]) + x[i - 1]

    apply_to_each(lambda v: v * v, a)
    apply_to_each(np.sin, a)
    return np.sum(a * a)


@mutation(args=[(A,)])
def global_scratch(a):
    for i in range(4):
        SCRATCH[i] = a[i] * a[i]
    y = np.sum(SCRATCH)
    SCRATCH[:] = a
    SCRATCH[1:] *= SCRATCH[:-1]
    return y * np.sum(SCRATCH)


@mutation(args=[(A,)])
def global_state_read_then_written(a):
    total = 0.0
    for i in range(4):
        total += TABLE[i] * a[i] * a[i]
        TABLE[i] = a[i] + TABLE[i] * 0.5
    COUNTER[0] += 1
    return total * TABLE[1] + COUNTER[0]


@mutation(args=[(C,)])
def global_record(c):
    STORE["w"][0] = c[0] * STORE["w"][1]
    STORE["w"] *= c
    STORE["n"][0] += 3
    return np.sum(STORE["w"]) * STORE["n"][0] * c[1]


def make_counter():
    seen = np.zeros(3)

    def keep(a):
        seen[0] = a[0] * a[1]
        seen[1] = seen[0] + a[2]
        a[3] = seen[1] * seen[0]
        return np.sum(seen * seen) + a[3]

    return keep


captured_scratch = mutation(args=[(A,)], orders=3)(make_counter())


@mutation(args=[(A, 3), (A, 0)])
def recursion_in_place(a, n):
    double_all(a, n)
    return np.sum(a * a)


@mutation(args=[(A,), (np.array([1.0, 2.0, 3.0]),), (np.array([2.0]),)], orders=3)
def recursion_on_halves(a):
    prefix_by_halves(a)
    return np.sum(a * a * a)


@mutation(args=[(np.array([3.0, -1.0, 2.0, 0.5, 2.5]),), (np.array([1.0]),)])
def merge_sort(a):
    sort_by_halves(a, np.zeros(len(a)))
    total = 0.0
    for i in range(len(a)):
        total += a[i] * a[i] * (i + 1)
    return total


@mutation(args=[(A, 4), (A, 1)])
def recursion_returns_what_it_wrote(a, n):
    return sum_to_front(a, n) * a[1] + np.sum(a)


@mutation(args=[(np.array([3.0, -1.0, 2.0, 0.5, 2.5]),)])
def quick_sort(a):
    quick(a, 0, len(a) - 1)
    return a[0] * a[1] + a[2] ** 3 + a[3] * a[4]


@mutation(args=[(np.array([3, 1, 2]), A)], argnums=(1,))
def integers_sorted_by_callee(n, a):
    quick(n, 0, 2)
    scale(a[: n[0]], 2.0)
    square_into(n, n)
    return a[0] * a[0] * n[2]


@mutation(args=[({"W": W, "b": C}, np.array([1.0, 2.0]))], argnums=(0, 1))
def parameters_updated(params, x):
    y = params["W"] @ x + params["b"]
    params["W"] -= 0.1 * np.outer(y, x)
    params["b"][0] = y[1] * params["W"][0, 0]
    return np.sum((params["W"] @ x + params["b"]) ** 2)


@mutation(args=[({"W": W, "b": C},)])
def record_of_arrays_passed_down(params):
    def update(p, rate):
        p["W"][0] *= rate
        p["b"] += p["W"][0] * p["W"][1]

    update(params, 0.5)
    update(params, 2.0)
    return np.sum(params["W"] * params["b"])


@mutation(args=[((A, B),)])
def tuple_of_arrays(t):
    a, b = t
    a[0] = b[1] * b[2]
    t[1][:2] *= a[0]
    scale(t[0], 2.0)
    return np.sum(t[0] * b)


@mutation(args=[([W, C], np.array([1.0, -1.0]))], argnums=(0, 1))
def list_of_arrays(layers, x):
    layers[0][1] = layers[0][0] * x
    layers[1] += layers[0] @ x
    x[:] = layers[1] * layers[1]
    return np.sum(x * layers[0])


@mutation(args=[([(W, C), (W * 2.0, C * 3.0)], np.array([1.0, 2.0]))], argnums=(0, 1))
def layers_updated_in_a_loop(layers, x):
    total = 0.0
    for w, b in layers:
        h = np.tanh(w @ x + b)
        b += 0.5 * h
        w[0] -= h * x
        total += np.sum(w * w) + np.sum(h * b)
        x = h
    return total


@mutation(args=[(A,)], orders=1)
def dict_of_results(a):
    a[0] = a[1] * a[1]
    kept = a.copy()
    a *= 2.0
    return {"before": kept, "after": a, "first": a[0], "view": a[1:]}


@mutation(args=[(A, B)], argnums=(0, 1), orders=1)
def pair_of_the_same_array(a, b):
    a[:] = b * a
    return a, a, [b, a[::-1]]


@mutation(args=[(A, 0.5)], argnums=(0, 1))
def default_and_keyword_arguments(a, x):
    def shift(v, by=2.0, *, times=1):
        for _ in range(times):
            v += by * v[0]
        return v

    shift(a)
    shift(v=a[1:], times=2, by=x)
    return np.sum(a * a)


@mutation(args=[(A,)])
def mutual_recursion(a):
    def even(v, n):
        if n > 0:
            v[0] *= v[1]
            odd(v, n - 1)

    def odd(v, n):
        if n > 0:
            v[1] += v[0]
            even(v, n - 1)

    even(a, 4)
    return np.sum(a * a)


@mutation(args=[(A, 3), (A, 0)])
def callee_in_a_while_loop(a, n):
    i = 0
    while norm(a) < 1e4 and i < n:
        scale(a, 1.0 + a[0] * a[0])
        a[0] = math.tanh(a[0])
        i += 1
    return norm(a)


@mutation(args=[(A, 0.5)], argnums=(0, 1))
def scalar_from_memory_in_a_closure(a, x):
    state = np.array([x, 1.0])

    def advance():
        state[0], state[1] = state[1] * x, state[0] + state[1]
        return state[0]

    total = 0.0
    for v in a:
        total += advance() * v * v
    return total * state[1]


@mutation(args=[(M,)])
def rows_passed_to_a_callee(m):
    for i in range(len(m)):
        add_first(m[i], m[i - 1])
        scale(m[:, i], m[i, 2])
    return np.sum(m * m)


def newton_step(a):
    """One step towards the root of a[1]; the size of the step."""
    old = a[0]
    a[0] = 0.5 * (old + a[1] / old)
    return abs(a[0] - old)


@mutation(args=[(np.array([1.0, 3.0]), 4), (np.array([1.0, 3.0]), 0)], argnums=(0,), orders=3)
def condition_of_a_loop_writes(a, n):
    k = 0
    while newton_step(a) > 0.01 and k < n:
        k += 1
    return a[0] * a[1]


@mutation(args=[(A, B, 3), (A, B, 0)], argnums=(0, 1), orders=3)
def condition_of_a_loop_writes_through_views(a, b, n):
    def moved(p, q):
        p[1:] += 0.1 * q[:-1] * p[:-1]
        p[0] = q[1] * p[-1]
        return p[0]

    k, total = 0, 0.0
    while k < n and moved(a[::-1], b) < 50.0:
        b[1] = b[1] * a[2] * 0.3
        total += a[3]
        a, b = b, a
        k += 1
    return total + np.sum(a * b)


@mutation(args=[(A, 3)], argnums=(0,))
def conditions_in_conditions_write(a, n):
    def inner(p):
        k = 0
        while add_first(p[1:], p) < 4.0:
            p[2] *= p[1] * 0.5
            k += 1
        return k

    total = 0.0
    while total < n and inner(a) >= 0:
        total += 1.0
        a[1] = a[0] * 0.25
    return total * a[1] + np.sum(a)
