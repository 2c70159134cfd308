"""Features and scores of cards, deck builders, draft pickers, the value of decks."""
