// ---- the engine ---------------------------------------------------------------------------------
// A match, and two players of whom each knows what they were shown. Written by hand: it hands texts
// and numbers through. Whatever is longer than a number is in one text, which functions read and
// write; JSON where they say so. `LOCM_API` makes functions visible to other languages.

enum {
  LOCM_ENGINE_TEXT = 65536,  // bytes of the text
  LOCM_MILLION = 1000000,    // chances and results are whole millionths
};

static char engine_text[LOCM_ENGINE_TEXT];
static int engine_length;

// What each player has been shown: in the choice phase alone, and so far.
static locm_game_t engine_chosen[2], engine_views[2];
// The position as each player knows it at the start of their turn, and the real one.
static locm_state_t engine_roots[2], engine_position;
static locm_table_t engine_cards;
static locm_shown_t engine_shown;
// What was done in the last turn and so far in this one, as the opponent is shown it.
static locm_shown_action_t engine_acted[2][LOCM_MAX_SHOWN_ACTIONS];
static int engine_n_acted[2];
static uint8_t engine_done[LOCM_MAX_SHOWN_ACTIONS];
static int engine_n_done, engine_has_battle;

// The cards that were offered, by ascending base id, and what each player took, as base ids.
static locm_card_t engine_set[LOCM_MAX_CARDS];
static int engine_set_size;
static int engine_picks[2][LOCM_MAX_DECK], engine_n_picks[2];

// -- the text

static void engine_put(const char *text, int n) {
  if (n < 0) n = (int)strlen(text);
  if (engine_length + n > LOCM_ENGINE_TEXT) n = LOCM_ENGINE_TEXT - engine_length;
  memcpy(&engine_text[engine_length], text, (size_t)n);
  engine_length += n;
}

static void engine_put_number(const char *before, int number) {
  char digits[16];
  int n = locmi_write_number(digits, number);  // a blank comes first
  engine_put(before, -1);
  engine_put(&digits[1], n - 1);
}

static void engine_put_result(const char *before, double result) {
  engine_put_number(before, (int)(result * LOCM_MILLION + (result < 0 ? -0.5 : 0.5)));
}

// Reads the next integer from `*at` on, past blanks; returns its number of digits.
static int engine_take_number(int *at, int size, int *number) {
  int i = *at, sign = 1, value = 0, digits = 0;
  while (i < size && engine_text[i] == ' ') i++;
  if (i < size && engine_text[i] == '-') {
    sign = -1;
    i++;
  }
  for (; i < size && digits < 9 && engine_text[i] >= '0' && engine_text[i] <= '9'; i++, digits++) {
    value = 10 * value + engine_text[i] - '0';
  }
  *at = i;
  *number = sign * value;
  return digits;
}

// Writes actions that follow each other; `s` is changed to the position after them.
static void engine_put_line(
    locm_state_t *s, const locm_table_t *t, const uint8_t *actions, int n) {
  char action[LOCM_MAX_ACTION_TEXT];
  int i;
  for (i = 0; i < n; i++) {
    if (i) engine_put(";", 1);
    engine_put(action, locm_state_write(s, t, actions[i], action));
    locm_state_apply(s, t, actions[i]);
  }
}

// Reads the legal action that stands in the text from `at` to `end`; -1 for any other text.
static int engine_take_action(const locm_state_t *s, const locm_table_t *t, int at, int end) {
  uint8_t legal[LOCM_MAX_ACTIONS + 1];
  char action[LOCM_MAX_ACTION_TEXT];
  int i, n = locm_state_winner(s) < 0 ? locm_state_list(s, t, legal) : 0;
  for (i = 0; i < n; i++) {
    int length = locm_state_write(s, t, legal[i], action);
    if (length == end - at && !memcmp(action, &engine_text[at], (size_t)length)) return legal[i];
  }
  return -1;
}

// -- the match

static uint64_t engine_seed_of(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

LOCM_API char *locm_engine_text(void) { return engine_text; }

LOCM_API void locm_engine_start(void) {
  int who;
  for (who = 0; who < 2; who++) locm_game_start(&engine_views[who]);
  engine_has_battle = engine_n_done = engine_n_acted[0] = engine_n_acted[1] = 0;
  engine_set_size = engine_n_picks[0] = engine_n_picks[1] = 0;
}

// Adds a card to those that were offered.
static void engine_offered(const locm_shown_card_t *row) {
  int i = engine_set_size;
  while (i && engine_set[i - 1].base_id > row->base_id) i--;
  if (i && engine_set[i - 1].base_id == row->base_id) return;
  if (engine_set_size == LOCM_MAX_CARDS) return;
  memmove(&engine_set[i + 1], &engine_set[i],
      (size_t)(engine_set_size - i) * sizeof(locm_card_t));
  locmi_card_of_row(&engine_set[i], row, 0);
  engine_set_size++;
}

LOCM_API int locm_engine_read(int player, int size) {
  static locm_reader_t reader;
  int kind, i;
  if (locmi_shown_read(&engine_shown, &reader, engine_text, size, LOCM_RULES) < 0) return -1;
  engine_n_done = 0;
  kind = locm_game_see(&engine_views[player & 1], &engine_shown, &engine_roots[player & 1]);
  for (i = 0; kind == LOCM_OFFER && i < engine_shown.n_cards; i++) {
    engine_offered(&engine_shown.cards[i]);
  }
  return kind;
}

LOCM_API int locm_engine_choose(int player) {
  return locm_game_choose(&engine_views[player & 1], &engine_shown, engine_text);
}

LOCM_API void locm_engine_took(int player, int size) {
  locm_belief_t *belief = &engine_views[player & 1].belief;
  int at = 0, id;
  belief->n_kinds = belief->n_chosen = engine_n_picks[player & 1] = 0;
  while (engine_take_number(&at, size, &id)) {
    locm_belief_chose(belief, id);
    if (engine_n_picks[player & 1] < LOCM_MAX_DECK) {
      engine_picks[player & 1][engine_n_picks[player & 1]++] = id;
    }
  }
}

// Begins the battle at a position; what players were shown in an earlier one is forgotten.
static void engine_begin(const locm_state_t *position, const locm_table_t *cards) {
  int i;
  for (i = 0; i < 2; i++) {
    if (!engine_has_battle) engine_chosen[i] = engine_views[i];
    engine_views[i] = engine_chosen[i];
    engine_n_acted[i] = 0;
  }
  engine_cards = *cards;
  engine_position = *position;
  engine_has_battle = 1;
  engine_n_done = 0;
}

// The parts of `State.to_bytes` begin with 16 bytes, of which the third number is their size.
static int engine_part_size(int at) {
  int32_t size;
  memcpy(&size, &engine_text[at + 8], sizeof(size));
  return size;
}

LOCM_API int locm_engine_place(int size) {
  static locm_table_t cards;
  locm_state_t position;
  const char *fault;
  int head = 16, fields = 8, bytes;
  if (size < head + fields) return 0;
  bytes = engine_part_size(0) - fields;
  if (bytes < 0 || bytes % (int)sizeof(locm_card_t) || bytes > (int)sizeof(cards.cards)) return 0;
  if (size != 2 * head + fields + bytes + (int)sizeof(position)) return 0;
  memset(&cards, 0, sizeof(cards));
  memcpy(&cards.rules, &engine_text[head], sizeof(cards.rules));
  memcpy(&cards.n_instances, &engine_text[head + 4], sizeof(cards.n_instances));
  memcpy(cards.cards, &engine_text[head + fields], (size_t)bytes);
  cards.n_cards = bytes / (int)sizeof(locm_card_t);
  memcpy(&position, &engine_text[2 * head + fields + bytes], sizeof(position));
  if (cards.rules != LOCM_RULES || cards.n_instances < 0 || cards.n_instances > cards.n_cards) {
    return 0;
  }
  locm_fill_tables();
  fault = locm_state_fault(&position, &cards);
  if (fault) {
    engine_length = 0;
    engine_put(fault, -1);
    return -engine_length;
  }
  engine_begin(&position, &cards);
  return 1;
}

LOCM_API int locm_engine_offers(uint32_t seed_low, uint32_t seed_high) {
  locmi_match_t match;
  uint8_t allowed[160];
  int i, j;
  for (i = 0; i < 160; i++) allowed[i] = (uint8_t)i;
  memset(&match, 0, sizeof(match));
  match.rules = LOCM_RULES;
  locmi_match_seed(&match, (int64_t)engine_seed_of(seed_low, seed_high));
  locmi_match_offer(&match, allowed, 160);
  engine_length = 0;
  for (i = 0; i < LOCM_MAX_DECK; i++) {
    for (j = 0; j < 3; j++) engine_put_number(i + j ? " " : "", match.triplets[i][j] + 1);
  }
  return engine_length;
}

LOCM_API int locm_engine_deal(uint32_t seed_low, uint32_t seed_high) {
  static locm_table_t cards;
  locm_state_t position;
  locmi_match_t match;
  int who, i, j;
  memset(&match, 0, sizeof(match));
  memset(&cards, 0, sizeof(cards));
  match.rules = LOCM_RULES;
  match.cards = engine_set;
  match.n_cards = engine_set_size;
  locmi_match_seed(&match, (int64_t)engine_seed_of(seed_low, seed_high));
  for (who = 0; who < 2; who++) {
    if (engine_n_picks[who] != LOCM_MAX_DECK) return 0;
    for (i = 0; i < LOCM_MAX_DECK; i++) {
      for (j = 0; j < engine_set_size && engine_set[j].base_id != engine_picks[who][i]; j++) continue;
      if (j == engine_set_size) return 0;
      match.decks[who][i] = (uint8_t)j;
    }
    match.picked[who] = LOCM_MAX_DECK;
  }
  locm_fill_tables();
  locmi_match_deal(&match, &position, &cards);
  for (i = 0; i < engine_set_size; i++) {  // what was offered is the pool of hidden cards
    locm_card_t *c = &cards.cards[cards.n_cards];
    *c = engine_set[i];
    c->id = LOCM_POOL_ID;
    c->creature.card = (uint8_t)cards.n_cards++;
  }
  locmi_state_end_turn(&position, &cards);
  engine_begin(&position, &cards);
  return 1;
}

LOCM_API int locm_engine_show(void) {
  int who = locm_state_player(&engine_position);
  int n = engine_n_acted[1 - who];
  locmi_state_seen(&engine_position, &engine_cards, who, &engine_shown);
  memcpy(engine_shown.actions, engine_acted[1 - who], (size_t)n * sizeof(locm_shown_action_t));
  engine_shown.n_actions = n;
  engine_n_done = engine_n_acted[who] = 0;
  return locm_game_see(&engine_views[who], &engine_shown, &engine_roots[who]);
}

LOCM_API int locm_engine_shown(void) { return locmi_shown_write(&engine_shown, engine_text); }

LOCM_API int locm_engine_legal(void) {
  uint8_t legal[LOCM_MAX_ACTIONS + 1];
  char action[LOCM_MAX_ACTION_TEXT];
  int i, n = 0;
  engine_length = 0;
  if (locm_state_winner(&engine_position) < 0) {
    n = locm_state_list(&engine_position, &engine_cards, legal);
  }
  for (i = 1; i < n; i++) {
    if (i > 1) engine_put(";", 1);
    engine_put(action, locm_state_write(&engine_position, &engine_cards, legal[i], action));
  }
  return engine_length;
}

// Notes an action that stands in the text, as the opponent will be shown it.
static void engine_note_action(int who, int size) {
  locm_shown_action_t *a = &engine_acted[who][engine_n_acted[who]];
  int at = 0, i, entry = -1;
  while (at < size && engine_text[at] != ' ') at++;
  a->kind = engine_text[0] == 'S' ? LOCM_SUMMON : engine_text[0] == 'U' ? LOCM_USE : LOCM_ATTACK;
  engine_take_number(&at, size, &a->id);
  if (!engine_take_number(&at, size, &a->target)) a->target = LOCM_NO_TARGET;
  for (i = 0; i < engine_cards.n_instances; i++) {
    int id = engine_cards.cards[i].id;
    if (id == a->id || (entry < 0 && id == a->id - 1)) entry = i;  // the original of a copy
  }
  a->base_id = entry < 0 ? 0 : engine_cards.cards[entry].base_id;
  engine_n_acted[who]++;
}

LOCM_API int locm_engine_do(int size) {
  int who = locm_state_player(&engine_position);
  int action = engine_take_action(&engine_position, &engine_cards, 0, size);
  if (action < 0 || engine_n_done == LOCM_MAX_SHOWN_ACTIONS) return 0;
  if (action) {
    engine_note_action(who, size);
    engine_done[engine_n_done++] = (uint8_t)action;
  }
  locm_state_apply(&engine_position, &engine_cards, action);
  return 1;
}

// -- the board, for pages

static void engine_put_creature(const locm_player_t *p, int slot, int is_first) {
  const char *letters = "BCDGLW";
  const locm_creature_t *x = &p->board[slot];
  const locm_card_t *c = &engine_cards.cards[x->card];
  int bit;
  engine_put_number(is_first ? "[" : ",[", c->id + x->copy);
  engine_put_number(",", c->base_id);
  engine_put_number(",", x->attack);
  engine_put_number(",", x->defense);
  engine_put(",\"", 2);
  for (bit = 0; bit < 6; bit++) engine_put(x->keywords >> bit & 1 ? &letters[bit] : "-", 1);
  engine_put_number("\",", LOCM_RULES == LOCM_RULES_10 ? 0 : slot / 3);
  engine_put_number(",", p->marks >> LOCM_READY >> slot & 1);
  engine_put("]", 1);
}

static void engine_put_side(const locm_state_t *s, int who) {
  const locm_player_t *p = &s->p[who];
  int i, n = 0;
  engine_put_number("{\"health\":", p->health);
  engine_put_number(",\"mana\":", p->mana);
  engine_put_number(",\"max_mana\":", p->max_mana);
  engine_put_number(",\"draws\":", locm_state_next_draw(s, who));
  engine_put_number(",\"deck\":", p->deck_left);
  engine_put(LOCM_RULES == LOCM_RULES_15 ? ",\"runes\":null" : ",\"runes\":[", -1);
  for (i = 0; i < 5 && LOCM_RULES != LOCM_RULES_15; i++) {
    if (p->runes >> i & 1) engine_put_number(n++ ? "," : "", 5 * (i + 1));
  }
  engine_put(LOCM_RULES == LOCM_RULES_15 ? ",\"hand\":[" : "],\"hand\":[", -1);
  for (i = 0; i < p->hand_size; i++) {
    const locm_card_t *c = locm_hand_card(p, &engine_cards, i);
    engine_put_number(i ? ",[" : "[", c->id);
    engine_put_number(",", c->base_id);
    engine_put("]", 1);
  }
  engine_put("],\"board\":[", -1);
  for (i = n = 0; i < LOCM_MAX_BOARD; i++) {
    if (p->marks >> LOCM_OCCUPIED >> i & 1) engine_put_creature(p, i, !n++);
  }
  engine_put("]}", 2);
}

LOCM_API int locm_engine_board(void) {
  const locm_state_t *s = &engine_position;
  int winner = locm_state_winner(s);
  engine_length = 0;
  engine_put_number("{\"turn\":", s->turn);
  engine_put_number(",\"player\":", winner < 0 ? locm_state_player(s) : -1);
  if (winner < 0) {
    engine_put(",\"winner\":null", -1);
  } else {
    engine_put_number(",\"winner\":", winner);
  }
  engine_put(",\"sides\":[", -1);
  engine_put_side(s, 0);
  engine_put(",", 1);
  engine_put_side(s, 1);
  engine_put("]}", 2);
  return engine_length;
}

// -- what a player finds; `player` is one whose turn was shown

// Makes the position of a player's turn after what was done in it, in a world that is dealt.
static void engine_world(int player, uint64_t seed, locm_state_t *s) {
  locm_game_t *g = &engine_views[player];
  uint64_t stream = locm_stream_start(seed, 0);
  int i;
  *s = engine_roots[player];
  for (i = 0; i < engine_n_done; i++) locm_state_apply(s, &g->table, engine_done[i]);
  locm_state_deal(s, &g->table, &g->unknown, &stream);
}

static void engine_put_plan(
    const locmi_work_t *w, const locm_state_t *root, const locmi_plan_t *plan, int is_first) {
  uint8_t path[LOCMI_MAX_PATH];
  locm_state_t s = *root;
  int n = locmi_path_of(w, plan->parent, plan->action, path);
  engine_put(is_first ? "[\"" : ",[\"", -1);
  engine_put_line(&s, w->table, path, n);
  engine_put_number("\",", plan->visits);
  engine_put_result(",", plan->result);
  engine_put("]", 1);
}

// Writes the plans with most visits; of equal ones the better first.
static void engine_put_plans(const locmi_work_t *w, const locm_state_t *root, int most) {
  uint8_t is_put[LOCMI_MAX_PLANS] = {0};
  int n, i;
  for (n = 0; n < most; n++) {
    int best = -1;
    for (i = 0; i < w->n_plans; i++) {
      const locmi_plan_t *plan = &w->plans[i];
      if (is_put[i] || !plan->visits) continue;
      if (best < 0 || plan->visits > w->plans[best].visits ||
          (plan->visits == w->plans[best].visits && plan->result > w->plans[best].result)) {
        best = i;
      }
    }
    if (best < 0) return;
    is_put[best] = 1;
    engine_put_plan(w, root, &w->plans[best], !n);
  }
}

// Searches a player's turn; 0 if there is nothing to search, or the search would never end.
static locmi_engine_t *engine_find(int player, uint64_t seed, double time_ms, double most,
    locm_state_t *root, locmi_found_t *found) {
  int64_t deadline = time_ms > 0 ? locm_now_ns() + (int64_t)(time_ms * 1e6) : 0;
  engine_length = 0;
  if (!(time_ms > 0) && !(most >= 1)) return 0;
  engine_world(player, seed, root);
  if (locm_state_winner(root) >= 0) return 0;
  return locmi_game_find(
      &engine_views[player], root, seed, deadline, most >= 1 ? (int64_t)most : 0, found);
}

LOCM_API int locm_engine_search(
    int player, uint32_t seed_low, uint32_t seed_high, double time_ms, double most, int plans) {
  static locmi_found_t found;
  uint64_t seed = engine_seed_of(seed_low, seed_high);
  locm_state_t root;
  locmi_engine_t *engine = engine_find(player & 1, seed, time_ms, most, &root, &found);
  if (!engine) return 0;
  engine_put_result("{\"value\":", found.value);
  engine_put_number(",\"visits\":", found.visits);
  engine_put_number(",\"nodes\":", (int)engine->w.nodes);
  engine_put_number(",\"won\":", engine->w.won);
  engine_put(",\"plans\":[", -1);
  if (!engine->w.won) engine_put_plans(&engine->w, &root, plans);
  engine_put("],\"line\":\"", -1);
  engine_put_line(&root, &engine_views[player & 1].table, found.path, found.length);
  engine_put("\"}", 2);
  return engine_length;
}

LOCM_API int locm_engine_value(
    int player, int size, int worlds, uint32_t seed_low, uint32_t seed_high) {
  uint64_t seed = engine_seed_of(seed_low, seed_high);
  locm_game_t *g = &engine_views[player & 1];
  locmi_engine_t *engine = locmi_game_engine(g);
  locm_state_t root, end;
  double total = 0;
  int at, next, i;
  if (!engine || worlds < 1) return -2 * LOCM_MILLION;
  engine_world(player & 1, seed, &root);
  end = root;
  for (at = 0; at < size; at = next + 1) {
    int action;
    for (next = at; next < size && engine_text[next] != ';'; next++) continue;
    action = engine_take_action(&end, &g->table, at, next);
    if (action < 1) return -2 * LOCM_MILLION;
    locm_state_apply(&end, &g->table, action);
  }
  i = locm_state_winner(&end);
  if (i >= 0) return i == (player & 1) ? LOCM_MILLION : -LOCM_MILLION;
  if (worlds > engine->w.max_worlds) worlds = engine->w.max_worlds;
  locmi_engine_begin(engine, &root, &g->table, &g->unknown, 0, seed, LOCMI_UNLIMITED,
      LOCMI_UNLIMITED);
  for (i = 0; i < worlds; i++) {
    total += locmi_play_on(&engine->w, &end, locmi_sampled_world(&engine->w, i), engine->o.turns);
  }
  total = total / worlds * LOCM_MILLION;
  return (int)(total + (total < 0 ? -0.5 : 0.5));
}

LOCM_API int locm_engine_held(int player, int worlds) {
  static int times[1 << 16];
  locm_game_t *g = &engine_views[player & 1];
  const locm_player_t *op;
  locm_state_t world;
  int i, h, k, n = 0;
  memset(times, 0, sizeof(times));
  for (i = 0; i < worlds; i++) {
    engine_world(player & 1, (uint64_t)i, &world);
    op = &world.p[1 - (player & 1)];
    for (h = 0; h < op->hand_size; h++) {
      int id = locm_hand_card(op, &g->table, h)->base_id;
      for (k = 0; k < h; k++) {  // a second copy does not count
        if (locm_hand_card(op, &g->table, k)->base_id == id) break;
      }
      times[id] += k == h;
    }
  }
  engine_length = 0;
  for (i = 0; i < 1 << 16; i++) {
    if (!times[i]) continue;
    engine_put_number(n++ ? ",[" : "[[", i);
    engine_put_number(",", times[i]);
    engine_put("]", 1);
  }
  engine_put(n ? "]" : "[]", -1);
  return engine_length;
}

// An error that is near enough to a normal distribution of deviation 1, as `LevelAgent` draws it.
static double engine_blur(uint64_t *stream) {
  double sum = -6;
  int i;
  for (i = 0; i < 12; i++) sum += (locm_stream_below(stream, 128) + 0.5) / 128;
  return sum;
}

// Plays greedily, with an error of each evaluation.
static void engine_greedy(int player, double blur, uint64_t *stream) {
  static locmi_eval_t evaluation;
  locmi_weights_t weights;
  const locm_table_t *t = &engine_views[player].table;
  locm_state_t s = engine_roots[player];
  char text[LOCM_MAX_ACTION_TEXT];
  double most;
  int i;
  memcpy(&weights, locmi_hand_set_weights, sizeof(weights));
  locmi_eval_fill(&evaluation, &weights);
  for (i = 0; i < engine_n_done; i++) locm_state_apply(&s, t, engine_done[i]);
  engine_length = 0;
  if (locm_state_winner(&s) >= 0) return;
  most = locmi_evaluate(&s, t, &evaluation, player) + blur * engine_blur(stream);
  for (;;) {
    uint8_t legal[LOCM_MAX_ACTIONS + 1];
    int n = locm_state_winner(&s) < 0 ? locm_state_list(&s, t, legal) : 0, best = 0;
    for (i = 1; i < n; i++) {
      locm_state_t child = s;
      double value;
      locm_state_apply(&child, t, legal[i]);
      value = locmi_evaluate(&child, t, &evaluation, player) + blur * engine_blur(stream);
      if (value > most) {
        most = value;
        best = legal[i];
      }
    }
    if (!best) break;
    if (engine_length) engine_put(";", 1);
    engine_put(text, locm_state_write(&s, t, best, text));
    locm_state_apply(&s, t, best);
  }
}

LOCM_API int locm_engine_turn(int player, double slips, double blur, double time_ms, double most,
    uint32_t seed_low, uint32_t seed_high, int turn) {
  static locmi_found_t found;
  uint64_t seed = locm_stream_start(engine_seed_of(seed_low, seed_high), (uint64_t)turn) >> 1;
  uint64_t stream = locm_stream_start(seed, 1);
  double chance = locm_stream_below(&stream, 128) * 128;
  locm_game_t *g = &engine_views[player & 1];
  locm_state_t root;
  chance = (chance + locm_stream_below(&stream, 128)) / 16384;
  if (chance < slips) {
    engine_greedy(player & 1, blur, &stream);
  } else if (engine_find(player & 1, seed, time_ms, most, &root, &found)) {
    engine_put_line(&root, &g->table, found.path, found.length);
  }
  return engine_length;
}
