"""Processes and threads: who starts them, watches them and ends them. Nothing of any game."""
