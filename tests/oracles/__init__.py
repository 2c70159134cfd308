"""Slow and clear counterparts, in plain Python, of what the package has compiled."""
