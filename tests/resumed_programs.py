"""Programs with generators that yield inside `try`, `with` and expressions, and that are sent, thrown and closed."""

from __future__ import annotations

import contextlib
from typing import Any

CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {}


def case(function: Any) -> Any:
    """Note a program; it is run with 0.7 or 1.3, between which one of them changes its path."""
    CASES[f"{function.__name__}_0.7"] = function, (0.7,)
    CASES[f"{function.__name__}_1.3"] = function, (1.3,)
    return function


class Stop(Exception):
    pass


class Lock:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append(1.0)
        return 2.0

    def __exit__(self, kind, error, trace):
        self.log.append(3.0 if kind is None else 5.0)
        return False


@contextlib.contextmanager
def scaled(log, x):
    log.append(x)
    try:
        yield 2.0 * x
    except ValueError:
        log.append(7.0)
    finally:
        log.append(9.0)


@case
def in_finally(x):
    log = []

    def steps():
        try:
            yield x
            yield x * 2.0
        finally:
            log.append(x)

    it = steps()
    total = next(it) + next(it)
    for value in it:
        total += value
    return total * len(log) + log[0]


@case
def sent_thrown_and_closed(x):
    log = []

    def steps():
        n = 0.0
        while True:
            try:
                y = yield x * n
                n += y
            except ValueError as e:
                n = n + 100.0 * e.args[0]
            except (KeyError, Stop):
                n = -x
                yield n
            else:
                n += 0.5
            finally:
                log.append(n)

    it = steps()
    total = next(it)
    total += it.send(2.0)
    total += it.throw(ValueError(x))
    total += it.throw(Stop)
    total += next(it)
    total += it.send(1.0)
    it.close()
    return total + sum(log)


@case
def values_of_yield_from(x):
    def inner():
        a = yield x
        b = yield a * 2.0
        return a + b

    def outer():
        r = yield from inner()
        yield r * x
        nothing = yield from [1.0, x]
        return r if nothing is None else 0.0

    it = outer()
    total = next(it)
    total = total * it.send(3.0)
    total = total + it.send(x)
    total = total + next(it) + next(it)
    try:
        next(it)
    except StopIteration as e:
        total = total + e.value
    return total


@case
def thrown_through_yield_from(x):
    def inner():
        while True:
            try:
                yield x
            except ValueError as e:
                yield e.args[0] * x

    def outer():
        try:
            yield from inner()
        except Stop:
            yield 10.0 * x

    it = outer()
    return next(it) + it.throw(ValueError(3.0)) + next(it) * it.throw(Stop())


@case
def inside_with(x):
    log = []

    def steps():
        with Lock(log) as k:
            yield x * k
            with Lock(log):
                yield x
            yield 3.0 * x

    total = 0.0
    for value in steps():
        total += value * len(log)
    it = steps()
    total += next(it) + next(it)
    it.close()
    return total + sum(log)


@case
def inside_a_manager_of_a_generator(x):
    log = []
    with scaled(log, x) as y:
        total = y * x
        if x > 1.0:
            raise ValueError("is taken")
        total = total + 1.0

    def steps():
        with scaled(log, x) as q:
            z = yield q
            yield z * q

    it = steps()
    total += next(it) * it.send(x)
    it.close()
    return total + sum(log)


@case
def in_expressions(x):
    def steps():
        y = 0.0
        for i in range(3):
            y = y + (yield x * y) * 2.0
            z = (yield y) if i > 0 else 1.0
            while (yield z) > 1.0:
                z = z * x
        return y + 0.1

    it = steps()
    total = next(it)
    for k in (1.0, 2.0, 0.5, 3.0, 2.0, 2.0, 0.0, 1.5):
        total += it.send(k * x)
    return total


@case
def in_the_order_of_evaluation(x):
    log = []

    def note(v):
        log.append(v)
        return v

    def steps():
        pair = (note(1.0), (yield 1.0), note(2.0), (yield 2.0), note(3.0))
        log[0] += yield pair[1]
        chain = note(0.1) < (yield 5.0) < note(4.0)
        yield (note(7.0) if chain and (yield 6.0) else note(8.0))
        yield 9.0

    it = steps()
    total = next(it)
    for k in range(5):
        total = total * 1.1 + it.send(x + k)
    it.close()
    return total + sum(v * (i + 1) for i, v in enumerate(log))


@case
def sent_too_early(x):
    def steps():
        yield x

    try:
        steps().send(x)
    except TypeError as e:
        return x * 2.0 if str(e) == "can't send non-None value to a just-started generator" else 0.0
    return x


@case
def jumps_through_finally(x):
    log = []

    def steps():
        for i in range(5):
            try:
                if i == 1:
                    continue
                yield x * i
                if i == 3:
                    return
            finally:
                log.append(float(i))

    it = steps()
    first = next(it)
    return first + sum(it) + sum(log)


@case
def left_by_break(x):
    log = []

    def steps():
        try:
            while True:
                try:
                    yield x
                except BaseException:
                    log.append(0.5 * x)
                    raise
        finally:
            log.append(2.0 * x)

    total = 0.0
    for value in steps():
        total += value
        if total > 5.0:
            break
    return total * log[0] + sum(log)


@case
def left_to_the_end_of_the_function(x):
    log = []

    def first_two():
        def steps():
            try:
                yield x
                yield 2.0 * x
                yield 3.0 * x
            finally:
                log.append(x)

        it = steps()
        return next(it) + next(it)

    total = first_two()
    return total * len(log) + log[0]


@case
def ignores_its_end(x):
    def steps():
        try:
            yield x
        except GeneratorExit:
            yield 2.0

    it = steps()
    next(it)
    try:
        it.close()
    except RuntimeError as e:
        return x * 3.0 if str(e) == "generator ignored GeneratorExit" else 0.0
    return x


@case
def gives_a_total_when_stopped(x):
    def steps():
        total = 0.0
        try:
            while True:
                total += yield total
        except Stop:
            total *= 2.0
        return total

    it = steps()
    next(it)
    for value in (x, 2.0 * x, x * x):
        it.send(value)
    try:
        it.throw(Stop())
    except StopIteration as stop:
        return stop.value * 1.0
    return 0.0


@case
def an_event_loop_of_tasks(x):
    done = []

    def task(name, work):
        try:
            while work > 0.5:
                got = yield work
                work = work * got
            done.append(name * work)
        except Stop as e:
            done.append(-name)
            raise ValueError("stopped") from e
        finally:
            done.append(0.25 * x)

    tasks = [task(1.0, x), task(2.0, 3.0 * x), task(3.0, 9.0 * x)]
    for t in tasks:
        next(t)
    trips = 0
    while tasks:
        trips += 1
        waiting = []
        for t in tasks:
            try:
                if trips == 3:
                    t.throw(Stop())
                else:
                    t.send(0.6)
                waiting.append(t)
            except StopIteration:
                done.append(100.0 * x)
            except ValueError:
                done.append(7.0)
        tasks = waiting
    return sum(v * (i + 1) for i, v in enumerate(done))


@case
def an_exception_that_is_kept(x):
    kept = []
    for k in range(3):
        try:
            if k == 1:
                raise Stop(x * k)
            if x * k > 1.0:
                raise ValueError("large", x * k)
        except Exception as e:
            kept.append(e)
    total = 0.0
    for e in kept:
        total += e.args[0] if isinstance(e, Stop) else e.args[1] * x
    return total
