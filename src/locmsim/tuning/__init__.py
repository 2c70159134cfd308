"""Training and fitting of the weights for evaluating positions and choosing cards.

`Tuner` finds better weights by self-play, `Optimization` better numbers of any bot: see
docs/tuning.md. Nothing here is imported by a bot.
"""

from locmsim.tuning.fitting import fit_logistic
from locmsim.tuning.optimization import Optimization, OptimizationSettings
from locmsim.tuning.self_play import play_match
from locmsim.tuning.settings import (
    PARTS,
    PROOF_SEEDS,
    RECORDED_SEEDS,
    TUNING_SEEDS,
    TuningSettings,
)
from locmsim.tuning.tuner import Tuner

__all__ = [
    "PARTS",
    "PROOF_SEEDS",
    "RECORDED_SEEDS",
    "TUNING_SEEDS",
    "Optimization",
    "OptimizationSettings",
    "Tuner",
    "TuningSettings",
    "fit_logistic",
    "play_match",
]
