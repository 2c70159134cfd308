"""Rule sets, cards, card lists and the card generator."""
