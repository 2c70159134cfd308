// ---- a game as one player sees it ---------------------------------------------------------------

enum {
  LOCM_IMPOSSIBLE = 0,  // what is shown in a turn: nothing that these rules show,
  LOCM_OFFER = 1,       // cards to choose from,
  LOCM_TURN = 2,        // a turn of the battle,
  LOCM_OVER = 3,        // the end, where any answer will do
};

typedef struct locm_game_t locm_game_t;

struct locm_game_t {
  locm_table_t table;      // the cards of the position: what functions on states take
  locm_unknown_t unknown;  // what the hidden places may hold, for `locm_state_deal`
  locm_belief_t belief;    // what the game has shown so far
  float value;             // the result that the last search expects, from -1 to 1
  int64_t nodes;           // its number of nodes
  // The rest is internal. The cards that may be in the game, and how likely they are:
  locm_table_t offered;
  locm_pool_t pool;
  locmi_seen_cards_t seen;
  int offers, choices, turns, has_pool;
#if RULES
  int ids[LOCM_MAX_DECK][3];        // base ids of the cards on offer
  double values[LOCM_MAX_DECK][3];  // the values of these cards for a draft
  uint8_t picks[LOCM_MAX_DECK];     // the card taken of each offer, with its cost and type
  int costs[LOCM_MAX_DECK], types[LOCM_MAX_DECK];
#else
  uint8_t copies[LOCM_MAX_CARDS];   // of each known card in the deck
#endif
};

// How opponents choose cards.
static double locmi_score_of(const locm_card_t *c) {
#if RULES
  int id = c->base_id;
  return id > 0 && id <= LOCMI_SCORES ? locmi_card_scores[id - 1] / LOCMI_SCORE_UNIT : 0;
#else
  float terms[LOCMI_DECK_TERMS];
  return locmi_write_terms(locmi_score_weights, c, terms);
#endif
}

LOCMI_FUNCTION void locm_game_start(locm_game_t *g) {
  memset(g, 0, sizeof(*g));
  locm_fill_tables();
  locmi_set_weights();
  locm_belief_reset(&g->belief);
  g->offered.rules = g->table.rules = LOCM_RULES;
}

#if RULES
// Tells what opponents took of each offer: cards of high values, or of high scores.
static void locmi_weigh_offers(locm_game_t *g) {
  int turn, i;
  int is_valued = 0;
#if HAS_CHOICE_VALUE
  is_valued = g->choices == LOCM_MAX_DECK;
#endif
  for (turn = 0; turn < LOCM_MAX_DECK; turn++) {
    uint8_t entries[3];
    double scores[3];
    for (i = 0; i < 3; i++) {
      entries[i] = (uint8_t)locmi_entry_with(&g->offered, g->ids[turn][i]);
      scores[i] = locmi_score_of(&g->offered.cards[entries[i]]);
    }
    locmi_pool_offer(&g->pool, entries, is_valued ? g->values[turn] : scores,
        is_valued ? locmi_prior.draft_temperature : locmi_prior.temperature);
  }
}
#endif

// Makes the pool of the cards known.
static void locmi_make_pool(locm_game_t *g) {
  const uint8_t *copies = NULL;
  double scores[LOCM_MAX_CARDS];
  int i;
  locmi_pool_of_seen(&g->pool, &g->offered, &g->seen);
  for (i = 0; i < g->pool.n; i++) {
    scores[i] = locmi_score_of(&g->offered.cards[g->pool.entry[i]]);
  }
#if !RULES
  if (g->choices) copies = g->copies;  // opponents may find the same deck
#endif
  locmi_pool_set_weights(&g->pool, scores, copies, &locmi_prior);
#if RULES
  if (g->offers == LOCM_MAX_DECK) locmi_weigh_offers(g);
#endif
  g->has_pool = 1;
}

static int locmi_fits(int size, int most) { return size >= 0 && size <= most; }

// Whether a player line is one of a game; the rows are checked where they become cards.
static int locmi_is_sane(const locm_shown_player_t *p) {
  return locmi_fits(p->deck_size, LOCM_MAX_DECK) && locmi_fits(p->max_mana, LOCM_MAX_MANA + 1) &&
      locmi_fits(p->draw, 1000) && locmi_fits(p->health + 100000, 200000) &&
      locmi_fits(p->rune, 30);
}

static int locmi_see_offer(locm_game_t *g, const locm_shown_t *o) {
#if RULES
  int i, seat = o->player[1].deck_size - o->player[0].deck_size;  // the second is a turn behind
  if (o->n_cards != 3 || !locmi_fits(seat, 1) || g->offers == LOCM_MAX_DECK) {
    return LOCM_IMPOSSIBLE;
  }
  for (i = 0; i < 3; i++) g->ids[g->offers][i] = o->cards[i].base_id;
  g->belief.seat = seat;
#else
  (void)o;
#endif
  g->offers++;
  return LOCM_OFFER;
}

LOCMI_FUNCTION int locm_game_see(locm_game_t *g, const locm_shown_t *o, locm_state_t *s) {
  int news = 0, i;
  for (i = 0; i < o->n_cards; i++) news |= locmi_add_seen_card(&g->seen, &o->cards[i]);
  if (o->n_cards && o->cards[0].id == LOCM_OFFERED) return locmi_see_offer(g, o);
  g->turns++;
  if (!locmi_is_sane(&o->player[0]) || !locmi_is_sane(&o->player[1])) return LOCM_IMPOSSIBLE;
  locm_belief_see(&g->belief, o);
  if (o->player[0].health <= 0 || o->player[1].health <= 0) return LOCM_OVER;
  if (!locmi_fits(o->opponent_hand, LOCM_MAX_HAND) || !g->seen.n) return LOCM_IMPOSSIBLE;
  if (o->n_cards + g->seen.n > LOCM_MAX_CARDS) return LOCM_IMPOSSIBLE;
  if (news || !g->has_pool) locmi_make_pool(g);
  g->table.n_cards = 0;
  if (locm_belief_root(&g->belief, o, &g->offered, s, &g->table) >= 0) return LOCM_IMPOSSIBLE;
  locm_belief_unknown(&g->belief, o, &g->pool, g->table.n_instances, &g->unknown);
  return LOCM_TURN;
}
