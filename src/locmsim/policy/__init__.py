"""What a learning agent sees of a position, as arrays, and the networks that act on it."""

from locmsim.game.layouts import LAYOUTS, Layout, get_layout
from locmsim.policy.policy import Policy

__all__ = ["LAYOUTS", "Layout", "Policy", "get_layout"]
