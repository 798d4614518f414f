# wrong r in compiled: a write through another number of the row had been there before
# arguments: (0.7, 3)
# argnums: (0,)
def program(x, n):
    values = [x, 1.0] * n
    values[0] = x * x
    return sum(values) * len(values)
