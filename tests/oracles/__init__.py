"""Slow and clear counterparts, in plain Python, of compiled code in the package."""
