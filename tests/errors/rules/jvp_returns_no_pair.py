import pullback as pb


@pb.custom_jvp
def f(x):
    return x * x


@f.defjvp
def f_jvp(primals, tangents):
    return 2.0 * primals[0] * tangents[0]


API = "grad"
ARGS = (2.0,)
