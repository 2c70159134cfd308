"""Policies: networks that choose actions from observations in a layout."""

from locmsim.game.layouts import CHOICE, LAYOUTS, Layout, choice_tensor, get_layout
from locmsim.policy.base import RatingPolicy
from locmsim.policy.chooser import PolicyChooser
from locmsim.policy.contract import BatchPolicy, PolicyCaller, check_policy
from locmsim.policy.external import OnnxPolicy, TorchScriptPolicy, load_policy
from locmsim.policy.policy import Policy

__all__ = [
    "CHOICE",
    "LAYOUTS",
    "BatchPolicy",
    "Layout",
    "OnnxPolicy",
    "Policy",
    "PolicyCaller",
    "PolicyChooser",
    "RatingPolicy",
    "TorchScriptPolicy",
    "check_policy",
    "choice_tensor",
    "get_layout",
    "load_policy",
]
