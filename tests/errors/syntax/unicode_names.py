"""The caret stands under characters, not bytes."""


def größe(λ):
    s = "日本語"; return λ.länge  # fmt: skip


f = größe


ARGS = (2.0,)
