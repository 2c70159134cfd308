"""Whole games: observations, the choice phase, matches, positions."""
