"""The command `locmsim`."""
