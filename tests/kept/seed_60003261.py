# refusal of rr in compiled: a map over a list of which nothing is known
# arguments: (1.5806332246272008,)
# argnums: (0,)
import math


def program(x):
    l1 = []
    l1.sort()

    def f8(z9):
        return math.sin(x) * z9

    v14 = sum(map(f8, l1), 0.0) + sum(map(lambda a, b: a * b, l1, l1), 0.0) + max(map(f8, l1), default=x) * x
    return math.sin(x) * v14 + sum(sorted(map(f8, l1))) + sum(l1) * 0.5
