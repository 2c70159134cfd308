// ---- the draft

static double offer_values[MAX_DECK][3];    // of the cards of each offer
static int offered_ids[MAX_DECK][3];        // their base ids

// The score of a card, in any unit.
static double score_of(const card_t *c) {
  return c->base_id > 0 && c->base_id <= 160 ? card_scores[c->base_id - 1] / SCORE_UNIT : 0;
}

#if HAS_CHOICE_VALUE
static uint8_t offered_numbers[MAX_DECK][3], chosen_numbers[MAX_DECK];

// What the final deck is expected to be worth with each card, as `locmsim.decks.ExpectedPicker`.
static void value_cards(double *values) {
  float expected[3];
  int n = n_offers, i;
  if (!n) draft_fill(&draft_values, draft_networks, DRAFT_NETWORKS);
  for (i = 0; i < 3; i++) {
    int id = seen.cards[i].base_id;
    offered_numbers[n][i] = (uint8_t)(id > 0 && id <= DRAFT_CARDS ? id - 1 : NO_CARD);
  }
  draft_expected(&draft_values, (const uint8_t (*)[3])offered_numbers, chosen_numbers, n + 1,
                 DRAFTS, expected);
  for (i = 0; i < 3; i++) values[i] = expected[i];
}

static void note_chosen(int best) {
  chosen_numbers[n_offers] = offered_numbers[n_offers][best];
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
    card_t card;
    card_of_row(&card, c, 0);
    if (c->type) bonus += item_bonus;
    values[i] = score_of(&card) + bonus;
  }
}

static void note_chosen(int best) {
  have[column_of(&seen.cards[best])]++;
  items += seen.cards[best].type != 0;
}
#endif

// Takes the card of the highest value; 0 if they are not an offer.
static int choose(void) {
  int i, best = 0;
  int seat = seen.player[1].deck_size - seen.player[0].deck_size;   // the second is a turn behind
  if (seen.n_cards != 3 || seat < 0 || seat > 1 || n_offers == MAX_DECK) return 0;
  value_cards(offer_values[n_offers]);
  for (i = 0; i < 3; i++) {
    if (offer_values[n_offers][i] > offer_values[n_offers][best]) best = i;
    offered_ids[n_offers][i] = seen.cards[i].base_id;
  }
  note_chosen(best);
  n_offers++;
  belief.seat = seat;
  belief_chose(&belief, seen.cards[best].base_id);
  printf("PICK %d\n", best);
  return 1;
}

// Opponents do not take what we would.
static const uint8_t *own_copies(void) { return NULL; }

// Tells what opponents took of each offer: cards of high values, or of high scores.
static void weigh_offers(void) {
  int turn, i;
  for (turn = 0; turn < MAX_DECK; turn++) {
    uint8_t entries[3];
    double scores[3];
    for (i = 0; i < 3; i++) {
      entries[i] = (uint8_t)card_with(&offered, offered_ids[turn][i]);
      scores[i] = score_of(&offered.cards[entries[i]]);
    }
    pool_offer(&pool, entries, HAS_CHOICE_VALUE ? offer_values[turn] : scores,
               HAS_CHOICE_VALUE ? prior.draft_temperature : prior.temperature);
  }
}
