import pullback as pb


@pb.custom_jvp
def smooth(x):
    return x * x


def f(x):
    return smooth(x) + x


API = "grad"
ARGS = (2.0,)
