"""Files, databases, identities, seeds, plug-ins and figures. Nothing of any game."""
