// ---- what opponents may have

// Makes the pool of the cards known.
static void make_pool(void) {
  double scores[MAX_CARDS];
  int i;
  pool_of_known(&pool, &offered, &known);
  for (i = 0; i < pool.n; i++) scores[i] = score_of(&offered.cards[pool.entry[i]]);
  pool_set_weights(&pool, scores, own_copies(), &prior);
#if RULES
  if (n_offers == MAX_DECK) weigh_offers();
#endif
}

// ---- turns

static int fits(int size, int most) { return size >= 0 && size <= most; }

// Whether a player line is one of a game; the rows are checked where they become cards.
static int is_sane(const shown_player_t *p) {
  return fits(p->deck_size, MAX_DECK) && fits(p->max_mana, MAX_MANA + 1) && fits(p->draw, 1000) &&
         fits(p->health + 100000, 200000) && fits(p->rune, 30);
}

// Plays a turn; 0 if what is shown is impossible. `most` bounds the search in place of time;
// `news`: a card was seen that was not known before.
static int play_turn(int64_t start, int64_t most, int news) {
  static int turns, has_pool;
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
  if (!fits(seen.opponent_hand, MAX_HAND) || !known.n) return 0;
  if (seen.n_cards + known.n > MAX_CARDS) return 0;
  if (news || !has_pool) make_pool();
  has_pool = 1;
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
          (long)engine.w.nodes, (long)((now_ns_() - start) / 1000000));
  return 1;
}

// Reads what is shown: 1, 0 at the end of the input, -1 for a line that is not of the protocol.
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
  engine_use(&engine, &evaluation, HAS_NETWORK ? &network : NULL, NULL);
  while ((more = read_turn()) > 0) {
    int64_t start = now_ns_();
    int news = 0, i;
    for (i = 0; i < seen.n_cards; i++) news |= known_see(&known, &seen.cards[i]);
    if (seen.n_cards && seen.cards[0].id == -1) {
      more = choose();
    } else {
      more = play_turn(start, most, news);
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
