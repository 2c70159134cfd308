// ---- the bot ------------------------------------------------------------------------------------
// Written by hand: reading lines, and the clock. What is seen and believed, and what is played, is
// decided above, by the package's own code.

static locm_game_t game;

// Plays a turn. `most` bounds the search in place of time.
static void play_turn(locm_state_t *state, int64_t start, int64_t most) {
  int64_t deadline = start + (game.turns > 1 ? TURN_MS : FIRST_MS) * 1000000LL;
  uint8_t actions[LOCM_MAX_TURN_ACTIONS];
  char text[LOCM_MAX_ACTION_TEXT];
  int i, n = locm_game_search(&game, state, most ? 0 : deadline, most, actions);
  for (i = 0; i < n; i++) {
    int length = locm_state_write(state, &game.table, actions[i], text);
    printf("%s%.*s", i ? ";" : "", length, text);
    locm_state_apply(state, &game.table, actions[i]);
  }
  puts(n > 0 ? "" : "PASS");
  fprintf(stderr, "turn %d: value %.3f, %ld nodes, %.0f ms\n", game.turns, game.value,
          (long)game.nodes, (locm_now_ns() - start) / 1e6);
}

// Reads what is shown: 1, 0 at the end of the input, -1 for a line that is not of the protocol.
static int read_turn(locm_shown_t *seen) {
  static locm_reader_t reader;
  static char line[4096];
  int more = 1;
  locm_reader_start(&reader, seen, LOCM_RULES);
  while (more > 0) {
    int at = 0;
    if (!fgets(line, sizeof(line), stdin)) return 0;
    more = locm_reader_take(&reader, seen, line, (int)strlen(line), &at);
  }
  return more ? -1 : 1;
}

int main(int argc, char **argv) {
  static locm_shown_t seen;
  static char text[LOCM_MAX_CHOICE_TEXT];
  int64_t most = argc > 1 ? atoll(argv[1]) : 0;
  locm_state_t state;
  int more;
  locm_game_start(&game);
  while ((more = read_turn(&seen)) > 0) {
    int64_t start = locm_now_ns();
    int length, kind = locm_game_see(&game, &seen, &state);
    if (kind == LOCM_TURN) {
      play_turn(&state, start, most);
    } else if (kind == LOCM_OVER) {
      puts("PASS");
    } else {
      length = kind == LOCM_OFFER ? locm_game_choose(&game, &seen, text) : 0;
      more = length ? 1 : -1;
      if (length) printf("%.*s\n", length, text);
    }
    if (more < 0) break;
    fflush(stdout);
  }
  if (more < 0) fputs("not rules " RULES_NAME "\n", stderr);
  return more < 0;
}
