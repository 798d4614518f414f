"""Differentiation: IR to IR, both modes, any order.

Of typed IR: `expand` is the way in; `derive` makes the derived functions out of `primal` (the forward half), `reverse`
(the reverse half) and `residuals` (what the first keeps for the second); `forward` is forward mode.  Of untyped IR, the
second formulation: `backpropagating` makes functions return backpropagators.
"""

from pullback.ad.closures import backpropagating
from pullback.ad.expand import expand

__all__ = ["backpropagating", "expand"]
