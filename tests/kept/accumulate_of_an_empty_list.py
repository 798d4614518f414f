# wrong exception of value in compiled: IndexError, list index out of range
# arguments: (0.7, 0)
# argnums: (0,)
import itertools
import math


def program(x, n):
    values = []
    for k in range(n):
        values.append(x * k)
    total = sum(itertools.accumulate(values), 0.5)
    total += sum(itertools.accumulate(values, lambda a, b: a * b), 0.0)
    values.append(x)
    return total * sum(itertools.accumulate(values)) * math.sin(x)
