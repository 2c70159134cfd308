// ---- the deck
// As `locmsim.decks.deck_builder`: the best cards by score, exchanged while that raises the value of
// the deck. The terms of a card are those of `locmsim.decks.CARD_TERMS`, in that order.

static int deck_copies[MAX_CARDS];      // of each known card in the own deck

static void note_term(float *terms, double *score, int term, int value) {
  if (!value) return;
  terms[term] = (float)value;
  *score += score_weights[term] * value;
}

// What a card has of each term; returns its score.
static double terms_of(const shown_card_t *c, float *terms) {
  static const int by_attack[] = {0, 51, 52, 0, 0, 53};
  double score = 0;
  int sign = c->type < 2 ? 1 : -1, attack = sign * c->attack, defense = sign * c->defense, k;
  memset(terms, 0, CARD_TERMS * sizeof(float));
  if (attack > 12) attack = 12;
  if (defense > 12) defense = 12;
  note_term(terms, &score, c->cost < 7 ? c->cost : 7, 1);
  note_term(terms, &score, 8 + c->type, 1);
  note_term(terms, &score, 17 + 2 * c->type, attack);
  note_term(terms, &score, 18 + 2 * c->type, defense);
  note_term(terms, &score, 14, c->draw);
  note_term(terms, &score, 15, c->my_health);
  note_term(terms, &score, 16, -c->opponent_health);
  if (c->area) {
    note_term(terms, &score, 11 + c->area, 1);
    note_term(terms, &score, 25 + 2 * c->type, attack);
    note_term(terms, &score, 26 + 2 * c->type, defense);
    note_term(terms, &score, 55, c->draw);
    note_term(terms, &score, 57, c->my_health);
    note_term(terms, &score, 56, -c->opponent_health);
  }
  for (k = 0; k < 6; k++) {
    if (!(c->keywords >> k & 1)) continue;
    note_term(terms, &score, 33 + 6 * (c->type < 2 ? c->type : 2) + k, 1);
    if (c->type) continue;
    if (by_attack[k]) note_term(terms, &score, by_attack[k], c->attack);
    if (k == 3) note_term(terms, &score, 54, c->defense);
  }
  return score;
}

static double score_of(const shown_card_t *c) {
  float terms[CARD_TERMS];
  return terms_of(c, terms);
}

// The best cards by score, two of each, at least ten creatures: how many of each offered card.
static void best_cards(const int *ranked, int n, uint8_t *copies) {
  int i, taken = 0, creatures = 0;
  for (i = 0; i < n; i++) {
    const shown_card_t *c = &seen.cards[ranked[i]];
    for (; !c->type && copies[ranked[i]] < 2 && creatures < 10; creatures++, taken++) {
      copies[ranked[i]]++;
    }
  }
  for (i = 0; i < n; i++) {
    for (; copies[ranked[i]] < 2 && taken < MAX_DECK; taken++) copies[ranked[i]]++;
  }
}

// The offered cards by falling score; equal ones by cost, then by base id.
static void rank_cards(int *ranked, int n) {
  double scores[MAX_SHOWN];
  int i, j;
  for (i = 0; i < n; i++) {
    const shown_card_t *c = &seen.cards[i];
    scores[i] = score_of(c);
    for (j = i; j > 0; j--) {
      const shown_card_t *d = &seen.cards[ranked[j - 1]];
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
// Exchanges cards of the deck while that raises its value, and of two random decks.
static void improve(int n, uint8_t *copies) {
  static float hidden[MAX_SHOWN * DECK_NETWORKS * DECK_UNITS];
  static offer_t offer;
  uint8_t deck[1 + RESTARTS][MAX_SHOWN];
  int sorted[MAX_SHOWN], i, j, best = 0;
  float terms[CARD_TERMS], most = 0;
  for (i = 0; i < n; i++) {
    for (j = i; j > 0 && seen.cards[sorted[j - 1]].base_id > seen.cards[i].base_id; j--) {
      sorted[j] = sorted[j - 1];
    }
    sorted[j] = i;
  }
  offer_start(&offer, deck_networks, DECK_NETWORKS, hidden);
  memset(deck, 0, sizeof(deck));
  for (i = 0; i < n; i++) {
    terms_of(&seen.cards[sorted[i]], terms);
    offer_add(&offer, deck_networks, terms);
    deck[0][i] = copies[sorted[i]];
  }
  for (i = 0; i <= RESTARTS && (i == 0 || n == MAX_SHOWN); i++) {
    float value;
    for (j = 0; i && j < MAX_DECK; j++) deck[i][restarts[MAX_DECK * (i - 1) + j] % n]++;
    deck_improve(&offer, deck[i]);
    value = deck_value(&offer, deck[i]);
    if (i && value <= most) continue;
    most = value;
    best = i;
  }
  for (i = 0; i < n; i++) copies[sorted[i]] = deck[best][i];
  // The order of the answer is that of the base ids.
  for (i = 0, j = 0; i < n; i++) {
    int k;
    for (k = 0; k < deck[best][i]; k++) {
      printf("%sCHOOSE %d", j++ ? ";" : "", seen.cards[sorted[i]].base_id);
      belief_chose(&belief, seen.cards[sorted[i]].base_id);
    }
  }
}
#endif

static int within(int x, int most) { return x >= -most && x <= most; }

// Whether a row is one of a card that there can be.
static int is_card(const shown_card_t *c) {
  return c->cost >= 0 && c->cost <= 127 && c->draw >= 0 && c->draw <= 100 &&
         within(c->attack, MAX_CARD_STAT) && within(c->defense, MAX_CARD_STAT) &&
         within(c->my_health, MAX_CARD_STAT) && within(c->opponent_health, MAX_CARD_STAT);
}

// Chooses 30 of the offered cards; 0: this is no offer.
static int choose(void) {
  uint8_t copies[MAX_SHOWN] = {0};
  int ranked[MAX_SHOWN], n = seen.n_cards, i, j;
  for (i = 0; i < n; i++) {
    if (!is_card(&seen.cards[i])) return 0;
    for (j = 0; j < i; j++) {
      if (seen.cards[i].base_id == seen.cards[j].base_id) return 0;
    }
  }
  if (2 * n < MAX_DECK) return 0;
  rank_cards(ranked, n);
  best_cards(ranked, n, copies);
#if HAS_CHOICE_VALUE
  improve(n, copies);
#else
  for (i = 0, j = 0; i < n; i++) {
    int k;
    for (k = 0; k < copies[ranked[i]]; k++) {
      printf("%sCHOOSE %d", j++ ? ";" : "", seen.cards[ranked[i]].base_id);
      belief_chose(&belief, seen.cards[ranked[i]].base_id);
    }
  }
#endif
  printf("\n");
  n_offers++;
  for (i = 0; i < n; i++) {
    for (j = 0; j < n_known; j++) {
      if (known[j].base_id == seen.cards[i].base_id) deck_copies[j] = copies[i];
    }
  }
  return 1;
}

// Opponents may find the same deck.
static const int *own_copies(void) { return deck_copies; }

// There are no offers of three.
static int value_taste(int offer, const int *ids, int n, double *likely) {
  (void)offer, (void)ids, (void)n, (void)likely;
  return 0;
}
