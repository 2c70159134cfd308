// ---- the search ---------------------------------------------------------------------------------

enum {
  LOCM_MAX_TURN_ACTIONS = 134,  // actions of a turn that the search finds
};

LOCMI_FUNCTION int locm_game_search(locm_game_t *g, const locm_state_t *s, int64_t deadline,
    int64_t most, uint8_t *actions) {
  static locmi_engine_t engine;
  static locmi_options_t options;
  static locmi_found_t found;
  static int is_ready;
  uint64_t stream = locm_stream_start((uint64_t)g->turns, 0);
  locm_state_t root = *s;
  if (!is_ready) {
    locmi_set_options(&options);
    if (locmi_engine_init(&engine, &options) < 0) return -1;
    is_ready = 1;
  }
  locm_state_deal(&root, &g->table, &g->unknown, &stream);
  locm_evaluation_use(&g->table);
#if HAS_NETWORK
  locmi_engine_use(&engine, &locmi_evaluation, &locmi_network, NULL);
#else
  locmi_engine_use(&engine, &locmi_evaluation, NULL, NULL);
#endif
  locmi_fill_card_keys(engine.w.card_keys, &g->table);
  if (!deadline) deadline = LOCMI_UNLIMITED;
  if (!most) most = LOCMI_UNLIMITED;
#if IS_TREE
  locmi_engine_begin(&engine, &root, &g->table, &g->unknown, 0, (uint64_t)g->turns, deadline,
      LOCMI_UNLIMITED);
  locmi_engine_run(&engine, most, &found);
#else
  locmi_engine_begin(&engine, &root, &g->table, &g->unknown, 0, (uint64_t)g->turns, deadline,
      most);
  locmi_engine_run(&engine, LOCMI_UNLIMITED, &found);
#endif
  memcpy(actions, found.path, (size_t)found.length);
  g->value = found.value;
  g->nodes = engine.w.nodes;
  return found.length;
}
