"""Only objects and lists are packed."""

import pullback as pb


def call():
    return pb.pack(2.0)
