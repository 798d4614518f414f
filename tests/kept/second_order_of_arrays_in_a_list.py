# wrong exception of rr in compiled: ('IndexError', 'list index out of range', 0, 'alias.py:382')
# arguments: (0.3, 0.7)
# argnums: (0, 1)
import numpy as np


def program(x, y):
    ws = [np.array([y, 0.5, 1.0]), np.zeros(3) + x]
    if len(ws) < 4:
        ws.append(ws[-1] * y)
    return sum(float(np.sum(e)) for e in ws)
