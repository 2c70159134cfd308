// ---- the draft ----------------------------------------------------------------------------------

enum {
  LOCM_MAX_CHOICE_TEXT = 420,  // characters of an answer to an offer
};

#if HAS_CHOICE_VALUE
// What the final deck is expected to be worth with each card, as `locmsim.decks.ExpectedPicker`.
static void locmi_value_cards(locm_game_t *g, const locm_shown_t *o, double *values) {
  static locmi_draft_value_t value;
  uint8_t offers[LOCM_MAX_DECK][3], chosen[LOCM_MAX_DECK] = {0};
  float expected[3];
  int n = g->offers, i, j;
  (void)o;
  if (n == 1) locmi_draft_fill(&value, locmi_draft_networks, LOCMI_DRAFT_NETWORKS);
  for (i = 0; i < n; i++) {
    for (j = 0; j < 3; j++) {
      int id = g->ids[i][j];
      offers[i][j] = (uint8_t)(id > 0 && id <= LOCMI_DRAFT_CARDS ? id - 1 : LOCMI_NO_CARD);
    }
    if (i < n - 1) chosen[i] = offers[i][g->picks[i]];
  }
  locmi_draft_expected(&value, (const uint8_t (*)[3])offers, chosen, n, LOCMI_DRAFTS, expected);
  for (i = 0; i < 3; i++) values[i] = expected[i];
}
#else
static int locmi_column_of(int cost) { return (cost < 1 ? 1 : cost > 7 ? 7 : cost) - 1; }

// The score of each card, corrected by what the deck lacks so far, as `locmsim.decks.CurvePicker`.
static void locmi_value_cards(locm_game_t *g, const locm_shown_t *o, double *values) {
  static const int curve[] = {3, 6, 6, 5, 4, 3, 3};
  int have[7] = {0}, items = 0, i;
  double due = g->offers / 30.0, item_bonus;
  locm_card_t card;
  for (i = 0; i < g->offers - 1; i++) {
    have[locmi_column_of(g->costs[i])]++;
    items += g->types[i] != 0;
  }
  item_bonus = 0.1 * (8 * due - items);
  for (i = 0; i < 3; i++) {
    const locm_shown_card_t *c = &o->cards[i];
    int column = locmi_column_of(c->cost);
    double bonus = 0.5 * (curve[column] * due - have[column]);
    locmi_card_of_row(&card, c, 0);
    if (c->type) bonus += item_bonus;
    values[i] = locmi_score_of(&card) + bonus;
  }
}
#endif

LOCMI_FUNCTION int locm_game_choose(locm_game_t *g, const locm_shown_t *o, char *text) {
  double *values = g->values[g->offers - 1];
  int i, best = 0;
  locmi_value_cards(g, o, values);
  for (i = 0; i < 3; i++) {
    if (values[i] > values[best]) best = i;
  }
  locm_belief_chose(&g->belief, o->cards[best].base_id);
  g->picks[g->offers - 1] = (uint8_t)best;
  g->costs[g->offers - 1] = o->cards[best].cost;
  g->types[g->offers - 1] = o->cards[best].type;
  g->choices++;
  memcpy(text, "PICK ", 5);
  text[5] = (char)('0' + best);
  return 6;
}
