// A bot on the header of `locmsim export --kernel -o locm.h`. It plays every rule set; its search
// is the simplest one that sees hidden cards and chance: random playouts from sampled states.
//     cc -O2 bot.c -o bot
#include "locm.h"

#include <stdio.h>

enum { PLAYOUTS = 100 };  // for each action

static locm_table_t offered, table;  // the cards that may be in the game; those of the position
static locm_pool_t pool = {.t = &offered};

// Reads what is shown in a turn, of a rule set or -1; 0 at the end of the input.
static int read_turn(locm_shown_t *seen, int rules) {
  static locm_reader_t reader;
  static char line[1024];
  int more = 1;
  locm_reader_start(&reader, seen, rules);
  while (more > 0 && fgets(line, sizeof line, stdin)) {
    int at = 0;
    more = locm_reader_take(&reader, seen, line, (int)strlen(line), &at);
  }
  return more == 0;
}

// Notes the cards of an offer and takes the cheapest ones.
static void choose(const locm_shown_t *seen, locm_belief_t *belief) {
  int best = 0, left = LOCM_MAX_DECK;
  for (int i = 0; i < seen->n_cards; i++) {
    int j = 0;
    while (j < pool.n && offered.cards[j].base_id != seen->cards[i].base_id) j++;
    if (seen->cards[i].cost < seen->cards[best].cost) best = i;
    if (j < pool.n || j == LOCM_MAX_CARDS - 60) continue;
    locm_card_of_row(&offered.cards[j], &seen->cards[i], j);
    offered.cards[j].id = LOCM_POOL_ID;
    pool.entry[j] = (uint8_t)j;
    pool.weight[j] = 1;
    offered.n_cards = pool.n = j + 1;
  }
  if (seen->rules != LOCM_RULES_15) {
    locm_belief_chose(belief, seen->cards[best].base_id);
    printf("PICK %d", best);
  } else {
    for (int cost = 0; left; cost++)
      for (int i = 0; i < 2 * seen->n_cards && left; i++)
        if (seen->cards[i / 2].cost == cost) {
          left--;
          locm_belief_chose(belief, seen->cards[i / 2].base_id);
          printf("CHOOSE %d;", seen->cards[i / 2].base_id);
        }
  }
}

// The action after which the player wins most random games from here.
static int best_action(const locm_state_t *s, const locm_unknown_t *unknown) {
  uint8_t actions[LOCM_MAX_ACTIONS + 1];
  int n = locm_state_list(s, &table, actions), best = 0, most = -1, me = locm_state_player(s);
  for (int i = 0; i < n; i++) {
    int wins = 0;
    uint64_t count = 0;
    for (int k = 0; k < PLAYOUTS; k++) {
      uint64_t stream = locm_stream_start(1, k);
      locm_state_t world = *s;
      locm_state_deal(&world, &table, unknown, &stream);
      locm_state_apply(&world, &table, actions[i]);
      wins += locm_state_rollout(&world, &table, stream, &count) == me;
    }
    if (wins > most) most = wins, best = actions[i];
  }
  return best;
}

int main(void) {
  static locm_shown_t seen;
  static locm_belief_t belief;
  static locm_unknown_t unknown;
  locm_state_t state;
  char text[LOCM_MAX_ACTION_TEXT];
  int rules = -1;
  locm_fill_tables();
  locm_belief_reset(&belief);
  while (read_turn(&seen, rules)) {
    if (seen.n_cards) rules = offered.rules = table.rules = seen.rules;
    if (seen.n_cards && seen.cards[0].id == -1) {
      choose(&seen, &belief);
    } else {
      if (pool.n == 0) return 1;  // no offer was seen, so nothing is known of what is hidden
      locm_belief_see(&belief, &seen);
      table.n_cards = 0;
      if (locm_belief_root(&belief, &seen, &offered, &state, &table) >= 0) return 1;
      locm_belief_unknown(&belief, &seen, &pool, table.n_instances, &unknown);
      for (int action = -1; action && locm_state_winner(&state) < 0;) {
        action = best_action(&state, &unknown);
        printf("%.*s;", locm_state_write(&state, &table, action, text), text);
        locm_state_apply(&state, &table, action);
      }
    }
    printf("\n");
    fflush(stdout);
  }
  return 0;
}
