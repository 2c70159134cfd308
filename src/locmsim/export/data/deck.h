// ---- the deck -----------------------------------------------------------------------------------
// As `locmsim.decks.deck_builder`: the best cards by score, exchanged while that raises the value
// of the deck.

enum {
  LOCM_MAX_CHOICE_TEXT = 420,  // characters of an answer to an offer
};

// The best cards by score, two of each, at least ten creatures: how many of each offered card.
static void locmi_best_cards(const locm_card_t *cards, const int *ranked, int n, uint8_t *copies) {
  int i, counts = 0, creatures = 0;
  for (i = 0; i < n; i++) {
    const locm_card_t *c = &cards[ranked[i]];
    for (; !c->type && copies[ranked[i]] < 2 && creatures < 10; creatures++, counts++) {
      copies[ranked[i]]++;
    }
  }
  for (i = 0; i < n; i++) {
    for (; copies[ranked[i]] < 2 && counts < LOCM_MAX_DECK; counts++) copies[ranked[i]]++;
  }
}

// The offered cards by falling score; equal ones by cost, then by base id.
static void locmi_rank_cards(const locm_card_t *cards, int *ranked, int n) {
  double scores[LOCM_OFFER_SIZE];
  int i, j;
  for (i = 0; i < n; i++) {
    const locm_card_t *c = &cards[i];
    scores[i] = locmi_score_of(c);
    for (j = i; j > 0; j--) {
      const locm_card_t *d = &cards[ranked[j - 1]];
      double gain = scores[i] - scores[ranked[j - 1]];
      int before = gain > 0 || (gain == 0 && (c->cost < d->cost ||
          (c->cost == d->cost && c->base_id < d->base_id)));
      if (!before) break;
      ranked[j] = ranked[j - 1];
    }
    ranked[j] = i;
  }
}

#if HAS_CHOICE_VALUE
// Exchanges cards of the deck while that raises its value, and of two random decks; the order of
// the answer is then that of the base ids.
static void locmi_improve(const locm_card_t *cards, int *ranked, int n, uint8_t *copies) {
  static float hidden[LOCM_OFFER_SIZE * LOCMI_DECK_NETWORKS * LOCMI_DECK_UNITS];
  static locmi_offer_t offer;
  uint8_t deck[1 + LOCMI_RESTARTS][LOCM_OFFER_SIZE];
  int i, j, best = 0;
  float terms[LOCMI_DECK_TERMS], most = 0;
  for (i = 0; i < n; i++) {
    for (j = i; j > 0 && cards[ranked[j - 1]].base_id > cards[i].base_id; j--) {
      ranked[j] = ranked[j - 1];
    }
    ranked[j] = i;
  }
  locmi_offer_start(&offer, locmi_deck_networks, LOCMI_DECK_NETWORKS, hidden);
  memset(deck, 0, sizeof(deck));
  for (i = 0; i < n; i++) {
    locmi_write_terms(locmi_score_weights, &cards[ranked[i]], terms);
    locmi_offer_add(&offer, locmi_deck_networks, terms);
    deck[0][i] = copies[ranked[i]];
  }
  for (i = 0; i <= LOCMI_RESTARTS && (i == 0 || n == LOCM_OFFER_SIZE); i++) {
    float value;
    for (j = 0; i && j < LOCM_MAX_DECK; j++) {
      deck[i][locmi_restarts[LOCM_MAX_DECK * (i - 1) + j] % n]++;
    }
    locmi_deck_improve(&offer, deck[i]);
    value = locmi_deck_value(&offer, deck[i]);
    if (i && value <= most) continue;
    most = value;
    best = i;
  }
  for (i = 0; i < n; i++) copies[ranked[i]] = deck[best][i];
}
#endif

static int locmi_within(int x, int most) { return x >= -most && x <= most; }

// Whether a row is one of a card that there can be.
static int locmi_is_card(const locm_shown_card_t *c) {
  return c->cost >= 0 && c->cost <= 127 && c->draw >= 0 && c->draw <= 100 &&
      locmi_within(c->attack, LOCM_MAX_CARD_STAT) && locmi_within(c->defense, LOCM_MAX_CARD_STAT) &&
      locmi_within(c->my_health, LOCM_MAX_CARD_STAT) &&
      locmi_within(c->opponent_health, LOCM_MAX_CARD_STAT);
}

static int locmi_write_choice(char *to, const char *word, int number) {
  int n = (int)strlen(word);
  memcpy(to, word, (size_t)n);
  return n + locmi_write_number(&to[n], number);
}

LOCMI_FUNCTION int locm_game_choose(locm_game_t *g, const locm_shown_t *o, char *text) {
  static locm_card_t cards[LOCM_OFFER_SIZE];
  uint8_t copies[LOCM_OFFER_SIZE] = {0};
  int ranked[LOCM_OFFER_SIZE], n = o->n_cards, length = 0, i, j;
  for (i = 0; i < n; i++) {
    if (!locmi_is_card(&o->cards[i])) return 0;
    locmi_card_of_row(&cards[i], &o->cards[i], 0);
    for (j = 0; j < i; j++) {
      if (o->cards[i].base_id == o->cards[j].base_id) return 0;
    }
  }
  if (2 * n < LOCM_MAX_DECK) return 0;
  locmi_rank_cards(cards, ranked, n);
  locmi_best_cards(cards, ranked, n, copies);
#if HAS_CHOICE_VALUE
  locmi_improve(cards, ranked, n, copies);
#endif
  for (i = 0; i < n; i++) {
    for (j = 0; j < copies[ranked[i]]; j++) {
      int id = cards[ranked[i]].base_id;
      length += locmi_write_choice(&text[length], length ? ";CHOOSE" : "CHOOSE", id);
      locm_belief_chose(&g->belief, id);
    }
  }
  for (i = 0; i < n; i++) {
    for (j = 0; j < g->seen.n; j++) {
      if (g->seen.row[j].base_id == cards[i].base_id) g->copies[j] = copies[i];
    }
  }
  g->choices++;
  return length;
}
