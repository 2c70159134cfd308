"""Fits weights, networks and deck values by self-play."""
