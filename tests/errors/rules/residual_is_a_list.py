import pullback as pb


@pb.custom_vjp
def power(x, n):
    return x**n


def forward(x, n):
    factors = []
    for _ in range(n):
        factors.append(x)
    return x**n, factors


def backward(factors, c):
    return c * len(factors), None


power.defvjp(forward, backward)


def f(x):
    return power(x, 3)


API = "grad"
ARGS = (3.0,)
