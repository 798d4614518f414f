import pullback as pb


class Spring:
    def __init__(self, k):
        self.k = k


@pb.custom_jvp
def force(spring, x):
    return spring.k * x


@force.defjvp
def force_jvp(primals, tangents):
    spring, x = primals
    return spring.k * x, spring.k * tangents[1]


def f(x):
    return force(Spring(3.0), x)


API = "grad"
ARGS = (2.0,)
