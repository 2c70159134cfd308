// ---- the draft
// As `locmsim.decks.CurvePicker`.

// The score of a card, in any unit.
static double score_of(const shown_card_t *c) {
  return c->base_id > 0 && c->base_id <= 160 ? card_scores[c->base_id - 1] / SCORE_UNIT : 0;
}

static int column_of(const shown_card_t *c) {
  return (c->cost < 1 ? 1 : c->cost > 7 ? 7 : c->cost) - 1;
}

// Takes the card of the highest score, corrected by what the deck lacks so far; 0: this is no offer.
static int choose(void) {
  static const int curve[] = {3, 6, 6, 5, 4, 3, 3};
  static int have[7], items, picked;
  double due = (picked + 1) / 30.0, item_bonus = 0.1 * (8 * due - items), worth, most = 0;
  int i, best = 0;
  int seat = seen.player[1].deck_size - seen.player[0].deck_size;   // the second is a turn behind
  if (seen.n_cards != 3 || seat < 0 || seat > 1) return 0;
  for (i = 0; i < 3; i++) {
    const shown_card_t *c = &seen.cards[i];
    double bonus = 0.5 * (curve[column_of(c)] * due - have[column_of(c)]);
    if (c->type) bonus += item_bonus;
    worth = score_of(c) + bonus;
    if (i == 0 || worth > most) {
      most = worth;
      best = i;
    }
    if (n_offers < MAX_DECK) offered_ids[n_offers][i] = c->base_id;
  }
  n_offers++;
  picked++;
  have[column_of(&seen.cards[best])]++;
  items += seen.cards[best].type != 0;
  belief.seat = seat;
  belief_chose(&belief, seen.cards[best].base_id);
  printf("PICK %d\n", best);
  return 1;
}

// Opponents do not take what we would.
static const int *own_copies(void) { return NULL; }
