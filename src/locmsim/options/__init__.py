"""Options: declared once, read from text and command lines, checked. Nothing of any game."""
