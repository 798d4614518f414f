"""A method of an object that is not understood."""


class Model:
    def run(self, x):
        return x * x


model = Model()


def f(x):
    return model.run(x)


ARGS = (2.0,)
