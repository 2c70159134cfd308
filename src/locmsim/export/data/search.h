// ---- the search ---------------------------------------------------------------------------------

enum {
  LOCM_MAX_TURN_ACTIONS = 134,  // actions of a turn that the search finds
};

// The engine, ready for a player's turn; NULL if there is too little memory.
static locmi_engine_t *locmi_game_engine(const locm_game_t *g) {
  static locmi_engine_t engine;
  static locmi_options_t options;
  static int is_ready;
  if (!is_ready) {
    locmi_set_options(&options);
    if (locmi_engine_init(&engine, &options) < 0) return NULL;
    is_ready = 1;
  }
  locm_evaluation_use(&g->table);
#if HAS_NETWORK
  locmi_engine_use(&engine, &locmi_evaluation, &locmi_network, NULL);
#else
  locmi_engine_use(&engine, &locmi_evaluation, NULL, NULL);
#endif
  locmi_fill_card_keys(engine.w.card_keys, &g->table);
  return &engine;
}

// Searches from a world that was dealt with the seed. 0 for a deadline or `most` is no bound.
static locmi_engine_t *locmi_game_find(const locm_game_t *g, const locm_state_t *root,
    uint64_t seed, int64_t deadline, int64_t most, locmi_found_t *found) {
  locmi_engine_t *engine = locmi_game_engine(g);
  if (!engine) return NULL;
  if (!deadline) deadline = LOCMI_UNLIMITED;
  if (!most) most = LOCMI_UNLIMITED;
#if IS_TREE
  locmi_engine_begin(engine, root, &g->table, &g->unknown, 0, seed, deadline, LOCMI_UNLIMITED);
  locmi_engine_run(engine, most, found);
#else
  locmi_engine_begin(engine, root, &g->table, &g->unknown, 0, seed, deadline, most);
  locmi_engine_run(engine, LOCMI_UNLIMITED, found);
#endif
  return engine;
}

LOCMI_FUNCTION int locm_game_search(locm_game_t *g, const locm_state_t *s, int64_t deadline,
    int64_t most, uint8_t *actions) {
  static locmi_found_t found;
  uint64_t stream = locm_stream_start((uint64_t)g->turns, 0);
  locmi_engine_t *engine;
  locm_state_t root = *s;
  locm_state_deal(&root, &g->table, &g->unknown, &stream);
  engine = locmi_game_find(g, &root, (uint64_t)g->turns, deadline, most, &found);
  if (!engine) return -1;
  memcpy(actions, found.path, (size_t)found.length);
  g->value = found.value;
  g->nodes = engine->w.nodes;
  return found.length;
}
