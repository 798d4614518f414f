"""Differentiation of typed IR: IR to IR, both modes, any order.

`expand` is the way in; `derive` makes the derived functions out of `primal` (the forward half), `reverse` (the reverse
half) and `residuals` (what the first keeps for the second); `forward` is forward mode.
"""

from pullback.ad.expand import expand

__all__ = ["expand"]
