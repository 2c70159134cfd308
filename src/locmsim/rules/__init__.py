"""What a game is made of: rule sets, cards, card lists, the card generator."""
