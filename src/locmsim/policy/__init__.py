"""Policies: networks that choose actions from observations in a layout."""

from locmsim.support.lazy import attached

__all__, __getattr__, __dir__ = attached(__name__, __file__)
