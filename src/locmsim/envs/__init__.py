"""Environments for learning and for OpenSpiel."""
