"""Compiled inference of small networks."""
