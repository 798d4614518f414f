"""Arguments and results that nest tuples, lists and dicts with string keys around arrays and scalars."""

import numpy as np

from programs import program

W = np.array([[0.5, -0.25], [1.0, 0.75]])
B = np.array([0.1, -0.2])


@program(args=[({"a": 2.0, "b": 3.0},)])
def record(p):
    return p["a"] * p["b"] * p["b"]


@program(args=[({"w": W, "b": B}, np.array([1.0, 2.0]))], argnums=(0, 1))
def layer(p, x):
    return np.sum(np.tanh(p["w"] @ x + p["b"]))


@program(args=[({"a": 2.0, "inner": {"b": 3.0, "t": (1.0, 2.0)}},)])
def nested_record(p):
    return p["a"] * p["inner"]["b"] + p["inner"]["t"][0] * p["a"] * p["inner"]["t"][1]


@program(args=[([1.0, 2.0, 3.0],)])
def list_argument(values):
    return values[0] * values[1] + values[-1] ** 2


@program(args=[([1.0, 2.0, 3.0], 2), ([4.0], 0)])
def list_runtime_index(values, i):
    return values[i] * values[0]


@program(args=[([1.0, 2.0, 3.0],), ([0.5],)])
def iterate_list(values):
    total = 0.0
    for v in values:
        total = total * 2.0 + v * v
    return total


@program(args=[([(W, B), (W * 2.0, B)], np.array([1.0, 2.0]))], argnums=(0, 1))
def list_of_layers(layers, x):
    for w, b in layers:
        x = np.tanh(w @ x + b)
    return np.sum(x * x)


@program(args=[({"x": 2.0, "n": 3, "flag": True},)])
def integers_inside(p):
    return p["x"] ** p["n"] if p["flag"] else p["x"]


@program(args=[({"used": 2.0, "unused": B, "also": 1.5},)])
def unused_field(p):
    return p["used"] * p["used"] * p["also"]


@program(args=[((2.0, 3, B),)])
def mixed_leaves(t):
    return t[0] * t[1] + np.sum(t[2]) * t[0]


@program(args=[(2.0, B)], argnums=(0, 1), orders=1)
def dict_result(x, b):
    return {"square": x * x, "scaled": b * x, "count": 3}


@program(args=[(2.0, B)], argnums=(0, 1), orders=1)
def list_result(x, b):
    return [x * x, (x, b)]


@program(args=[({"w": W.astype(np.float32), "s": np.float32(0.5)},)])
def single_precision_record(p):
    return np.sum(p["w"] * p["w"]) * p["s"]
