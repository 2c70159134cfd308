"""Training and fitting of the weights for evaluating positions and choosing cards.

`Tuner` finds better weights by self-play, `Optimization` better numbers of any bot: see
docs/tuning.md. Nothing here is imported by a bot.
"""

from locmsim.support.lazy import attached

__all__, __getattr__, __dir__ = attached(__name__, __file__)
