# wrong exception of value in compiled: AssertionError
# arguments: (0.7, 3)
# argnums: (0,)
def program(x, n):
    grid = [[x, 1.0], [x * x]]
    grid[n % 2].append(x)
    tables = ({"a": x}, {"b": x * x})
    tables[n % 2].update(c=x)
    return sum(grid[0]) * sum(grid[1]) + len(tables[1]) * x
