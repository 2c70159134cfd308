// ---- the deck
// As `locmsim.decks.deck_builder`: the best cards by score, exchanged while that raises the value
// of the deck.

static card_t cards[MAX_SHOWN];         // the offer
static uint8_t deck_copies[MAX_CARDS];  // of each known card in the player's deck

static double score_of(const card_t *c) {
  float terms[DECK_TERMS];
  return card_terms(score_weights, c, terms);
}

// The best cards by score, two of each, at least ten creatures: how many of each offered card.
static void best_cards(const int *ranked, int n, uint8_t *copies) {
  int i, counts = 0, creatures = 0;
  for (i = 0; i < n; i++) {
    const card_t *c = &cards[ranked[i]];
    for (; !c->type && copies[ranked[i]] < 2 && creatures < 10; creatures++, counts++) {
      copies[ranked[i]]++;
    }
  }
  for (i = 0; i < n; i++) {
    for (; copies[ranked[i]] < 2 && counts < MAX_DECK; counts++) copies[ranked[i]]++;
  }
}

// The offered cards by falling score; equal ones by cost, then by base id.
static void rank_cards(int *ranked, int n) {
  double scores[MAX_SHOWN];
  int i, j;
  for (i = 0; i < n; i++) {
    const card_t *c = &cards[i];
    scores[i] = score_of(c);
    for (j = i; j > 0; j--) {
      const card_t *d = &cards[ranked[j - 1]];
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
  float terms[DECK_TERMS], most = 0;
  for (i = 0; i < n; i++) {
    for (j = i; j > 0 && cards[sorted[j - 1]].base_id > cards[i].base_id; j--) {
      sorted[j] = sorted[j - 1];
    }
    sorted[j] = i;
  }
  offer_start(&offer, deck_networks, DECK_NETWORKS, hidden);
  memset(deck, 0, sizeof(deck));
  for (i = 0; i < n; i++) {
    card_terms(score_weights, &cards[sorted[i]], terms);
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
      printf("%sCHOOSE %d", j++ ? ";" : "", cards[sorted[i]].base_id);
      belief_chose(&belief, cards[sorted[i]].base_id);
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

// Chooses 30 of the offered cards; 0 if they are not an offer.
static int choose(void) {
  uint8_t copies[MAX_SHOWN] = {0};
  int ranked[MAX_SHOWN], n = seen.n_cards, i, j;
  for (i = 0; i < n; i++) {
    if (!is_card(&seen.cards[i])) return 0;
    card_of_row(&cards[i], &seen.cards[i], 0);
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
      printf("%sCHOOSE %d", j++ ? ";" : "", cards[ranked[i]].base_id);
      belief_chose(&belief, cards[ranked[i]].base_id);
    }
  }
#endif
  printf("\n");
  n_offers++;
  for (i = 0; i < n; i++) {
    for (j = 0; j < known.n; j++) {
      if (known.row[j].base_id == cards[i].base_id) deck_copies[j] = copies[i];
    }
  }
  return 1;
}

// Opponents may find the same deck.
static const uint8_t *own_copies(void) { return deck_copies; }
