"""Compiled small networks for searches and deck builders, and their weights files.

They are trained by `locmsim.tuning`.
"""

from locmsim.support.lazy import attached

__all__, __getattr__, __dir__ = attached(__name__, __file__)
