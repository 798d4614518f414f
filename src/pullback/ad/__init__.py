"""Differentiation: IR to IR, both modes, any order.

Of typed IR: `expand` is the way in; `derive` makes the derived functions out of `primal` (the forward half), `reverse`
(the reverse half) and `residuals` (what the first keeps for the second); `forward` is forward mode.  Of untyped IR, the
second formulation: `backpropagating` makes functions return backpropagators.
"""

from pullback.ad.closures import backpropagating
from pullback.ad.expand import expand
from pullback.ad.kept import Residual, shown
from pullback.ad.schedule import Budget

__all__ = ["Budget", "Residual", "backpropagating", "expand", "shown"]
