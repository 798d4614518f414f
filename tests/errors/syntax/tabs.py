"""The caret keeps tabs."""


def f(x):  # fmt: off
	if x > 0.0:
		return x.foo
	return x


ARGS = (2.0,)
