"""A class that is a list."""


class Stack(list):
    def push(self, x):
        self.append(x)


def f(x):
    stack = Stack()
    stack.push(x)
    return stack[0]


ARGS = (2.0,)
