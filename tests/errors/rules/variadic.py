import pullback as pb


@pb.custom_jvp
def total(*xs):
    return sum(xs)


@total.defjvp
def total_jvp(primals, tangents):
    return sum(primals), sum(tangents)


def f(x):
    return total(x, 2.0)


API = "grad"
ARGS = (3.0,)
