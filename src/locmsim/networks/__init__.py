"""Compiled small networks for searches and deck builders, and their weights files.

They are trained by `locmsim.tuning`.
"""

from locmsim.networks._network import BLOCKS, LARGE_SHAPES, SHAPES, Network, inputs
from locmsim.networks.weights import Weights, WeightsFile, default_weights

__all__ = [
    "BLOCKS",
    "LARGE_SHAPES",
    "SHAPES",
    "Network",
    "Weights",
    "WeightsFile",
    "default_weights",
    "inputs",
]
