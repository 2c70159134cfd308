// ---- what opponents may have

static int known_card(int base_id) {
  int i = 0;
  while (i < n_known && known[i].base_id != base_id) i++;
  return i;
}

// Remembers the cards that are seen first now.
static void learn(void) {
  int i;
  for (i = 0; i < seen.n_cards; i++) {
    int k = known_card(seen.cards[i].base_id);
    if (k == n_known && n_known < MAX_CARDS - 30) known[n_known++] = seen.cards[i];
  }
}

// How likely cards are taken: the best of them 1. `copies` are those in the deck that we would take.
static void attractions(const int *cards, const int *copies, int n, double *likely) {
  double best = 0, most = 0;
  int i;
  for (i = 0; i < n; i++) {
    likely[i] = score_of(&known[cards[i]]);
    if (i == 0 || likely[i] > best) best = likely[i];
  }
  for (i = 0; i < n; i++) {
    double x = (likely[i] - best) / TASTE;
    likely[i] = exp(x > -50 ? x : -50) + (copies ? OWN_DECK * copies[i] : 0);
    if (likely[i] > most) most = likely[i];
  }
  for (i = 0; i < n; i++) likely[i] /= most;
}

// Makes the pool of the cards known, whose table is sorted by base id.
static void make_pool(void) {
  int all[MAX_CARDS], i, j, k;
  for (i = 0; i < n_known; i++) {
    int entry = 0;
    card_t *c;
    for (j = 0; j < n_known; j++) entry += known[j].base_id < known[i].base_id;
    c = &offered.cards[entry];
    card_of_row(c, &known[i], entry);
    c->id = 255;
    pool.entry[i] = (uint8_t)entry;
    all[i] = i;
  }
  pool.n = offered.n_cards = n_known;
  pool.t = &offered;
  attractions(all, own_copies(), n_known, pool.weight);
  pool.n_triplets = 0;
  if (n_offers != MAX_DECK) return;
  for (i = 0; i < MAX_DECK; i++) {
    int different[3], ids[3], n = 0;
    for (j = 0; j < 3; j++) {
      int c = known_card(offered_ids[i][j]);
      for (k = 0; k < n && different[k] != c; k++) {}
      if (k == n) different[n++] = c;
    }
    for (j = 0; j < n; j++) {
      pool.triplet[i][j] = pool.entry[different[j]];
      ids[j] = known[different[j]].base_id;
    }
    if (!value_taste(i, ids, n, pool.triplet_weight[i])) {
      attractions(different, NULL, n, pool.triplet_weight[i]);
    }
    pool.triplet_size[i] = (uint8_t)n;
  }
  pool.n_triplets = MAX_DECK;
}

// ---- turns

static int fits(int size, int most) { return size >= 0 && size <= most; }

// Whether a player line is one of a game; the rows are checked where they become cards.
static int is_sane(const shown_player_t *p) {
  return fits(p->deck_size, MAX_DECK) && fits(p->max_mana, MAX_MANA + 1) && fits(p->draw, 1000) &&
         fits(p->health + 100000, 200000) && fits(p->rune, 30);
}

// Plays a turn; 0 if what is shown cannot be. `most` bounds the search in the place of time.
static int play_turn(int64_t start, int64_t most) {
  static int turns, cards_of_pool;
  static found_t found;
  int64_t limit = turns++ ? TURN_MS : FIRST_MS;
  uint64_t stream = stream_start((uint64_t)turns, 0);
  state_t state;
  char text[MAX_ACTION_TEXT];
  int i;
  if (!is_sane(&seen.player[0]) || !is_sane(&seen.player[1])) return 0;
  belief_see(&belief, &seen);
  if (seen.player[0].health <= 0 || seen.player[1].health <= 0) {
    printf("PASS\n");
    return 1;
  }
  if (!cards_of_pool || cards_of_pool != n_known) make_pool();
  cards_of_pool = n_known;
  if (!fits(seen.opponent_hand, MAX_HAND) || !n_known) return 0;
  if (seen.n_cards + n_known > MAX_CARDS) return 0;
  table.rules = RULES;
  table.n_cards = 0;
  if (belief_root(&belief, &seen, &offered, &state, &table) >= 0) return 0;
  belief_unknown(&belief, &seen, &pool, table.n_instances, &unknown);
  state_deal(&state, &table, &unknown, &stream);
  eval_use_table(&evaluation, &weights, &table);
  fill_card_keys(engine.w.card_keys, &table);
  engine_begin(&engine, &state, &table, &unknown, 0, (uint64_t)turns,
               most ? UNLIMITED : start + limit * 1000000, most && !IS_TREE ? most : UNLIMITED);
  engine_run(&engine, most && IS_TREE ? most : UNLIMITED, &found);
  for (i = 0; i < found.length; i++) {
    printf("%s%.*s", i ? ";" : "", state_write(&state, &table, found.path[i], text), text);
    state_apply(&state, &table, found.path[i]);
  }
  printf(found.length ? "\n" : "PASS\n");
  fprintf(stderr, "turn %d: value %.3f, %ld nodes, %ld ms\n", turns, found.value,
          (long)engine.w.made, (long)((now_ns_() - start) / 1000000));
  return 1;
}

// Reads what is shown: 1, 0 at the end of the input, -1 for what is none of the protocol.
static int read_turn(void) {
  static char line[4096];
  int more = 1;
  reader_start(&reader, &seen, RULES);
  while (more > 0) {
    int at = 0;
    if (!fgets(line, sizeof(line), stdin)) return 0;
    more = reader_take(&reader, &seen, line, (int)strlen(line), &at);
  }
  return more ? -1 : 1;
}

int main(int argc, char **argv) {
  static options_t options;
  int64_t most = argc > 1 ? atoll(argv[1]) : 0;
  int more;
  start_modules();
  set_options(&options);
  set_weights();
  eval_fill(&evaluation, &weights);
  belief_reset(&belief);
  offered.rules = RULES;
  if (engine_init(&engine, &options) < 0) return 1;
  engine_use(&engine, &evaluation, HAS_NETWORK ? &network : NULL, NULL, NULL);
  while ((more = read_turn()) > 0) {
    int64_t start = now_ns_();
    learn();
    if (seen.n_cards && seen.cards[0].id == -1) {
      more = choose();
    } else {
      more = play_turn(start, most);
    }
    if (!more) {
      more = -1;
      break;
    }
    fflush(stdout);
  }
  if (more < 0) fprintf(stderr, "what is shown is not of rules " RULES_NAME "\n");
  return more < 0;
}
