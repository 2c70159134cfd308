"""Policies: networks that choose actions from observations in a layout."""

from locmsim.game.layouts import LAYOUTS, Layout, get_layout
from locmsim.policy.base import RatingPolicy
from locmsim.policy.external import OnnxPolicy, TorchScriptPolicy, load_policy
from locmsim.policy.policy import Policy

__all__ = [
    "LAYOUTS",
    "Layout",
    "OnnxPolicy",
    "Policy",
    "RatingPolicy",
    "TorchScriptPolicy",
    "get_layout",
    "load_policy",
]
