// ---- the draft

static double offer_values[MAX_DECK][3];    // of the cards of each offer

// The score of a card, in any unit.
static double score_of(const shown_card_t *c) {
  return c->base_id > 0 && c->base_id <= 160 ? card_scores[c->base_id - 1] / SCORE_UNIT : 0;
}

#if HAS_CHOICE_VALUE
static uint8_t offered_numbers[MAX_DECK][3], taken_numbers[MAX_DECK];

// What the final deck is expected to be worth with each card, as `locmsim.decks.ExpectedPicker`.
static void value_cards(double *values) {
  float expected[3];
  int n = n_offers, i;
  if (!n) draft_fill(&draft_values, draft_networks, DRAFT_NETWORKS);
  for (i = 0; i < 3; i++) {
    int id = seen.cards[i].base_id;
    offered_numbers[n][i] = (uint8_t)(id > 0 && id <= DRAFT_CARDS ? id - 1 : NO_CARD);
  }
  draft_expected(&draft_values, (const uint8_t (*)[3])offered_numbers, taken_numbers, n + 1,
                 DRAFTS, expected);
  for (i = 0; i < 3; i++) values[i] = expected[i];
}

static void note_taken(int best) {
  taken_numbers[n_offers] = offered_numbers[n_offers][best];
}
#else
static int have[7], items;          // in the deck so far: of each cost

static int column_of(const shown_card_t *c) {
  return (c->cost < 1 ? 1 : c->cost > 7 ? 7 : c->cost) - 1;
}

// The score of each card, corrected by what the deck lacks so far, as `locmsim.decks.CurvePicker`.
static void value_cards(double *values) {
  static const int curve[] = {3, 6, 6, 5, 4, 3, 3};
  double due = (n_offers + 1) / 30.0, item_bonus = 0.1 * (8 * due - items);
  int i;
  for (i = 0; i < 3; i++) {
    const shown_card_t *c = &seen.cards[i];
    double bonus = 0.5 * (curve[column_of(c)] * due - have[column_of(c)]);
    if (c->type) bonus += item_bonus;
    values[i] = score_of(c) + bonus;
  }
}

static void note_taken(int best) {
  have[column_of(&seen.cards[best])]++;
  items += seen.cards[best].type != 0;
}
#endif

// Takes the card of the highest value; 0: this is no offer.
static int choose(void) {
  int i, best = 0;
  int seat = seen.player[1].deck_size - seen.player[0].deck_size;   // the second is a turn behind
  if (seen.n_cards != 3 || seat < 0 || seat > 1 || n_offers == MAX_DECK) return 0;
  value_cards(offer_values[n_offers]);
  for (i = 0; i < 3; i++) {
    if (offer_values[n_offers][i] > offer_values[n_offers][best]) best = i;
    offered_ids[n_offers][i] = seen.cards[i].base_id;
  }
  note_taken(best);
  n_offers++;
  belief.seat = seat;
  belief_chose(&belief, seen.cards[best].base_id);
  printf("PICK %d\n", best);
  return 1;
}

// Opponents do not take what we would.
static const int *own_copies(void) { return NULL; }

// How likely each card of an offer is taken: the best 1. 0: by its score.
static int value_taste(int offer, const int *ids, int n, double *likely) {
  const double *values = offer_values[offer];
  double most = values[0];
  int i, j;
  for (i = 1; i < 3; i++) {
    if (values[i] > most) most = values[i];
  }
  for (i = 0; i < n; i++) {
    double x;
    for (j = 0; offered_ids[offer][j] != ids[i]; j++) {}
    x = (values[j] - most) / DRAFT_TASTE;
    likely[i] = exp(x > -50 ? x : -50);
  }
  return HAS_CHOICE_VALUE;
}
