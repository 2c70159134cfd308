// A bot on the header of `locmsim export --kernel -o locm.h`. It plays every rule set; its search
// is the simplest one that sees hidden cards and chance: random playouts from sampled states.
//     cc -O2 bot.c -o bot
#include "locm.h"

#include <stdio.h>
#include <stdlib.h>

static locm_table_t offered, table;  // the cards that may be in the game; those of the position
static locm_pool_t pool;
static locm_shown_t seen;
static locm_belief_t belief;
static locm_unknown_t unknown;

// Reads what is shown in a turn, of a rule set or -1; 0 at the end of the input.
static int read_turn(int rules) {
  static locm_reader_t reader;
  static char line[1024];
  int more = 1;
  locm_reader_start(&reader, &seen, rules);
  while (more > 0 && fgets(line, sizeof line, stdin)) {
    int at = 0;
    more = locm_reader_take(&reader, &seen, line, (int)strlen(line), &at);
  }
  return more == 0;
}

// What a card is worth for its cost, attack and defense: the cheapest come first. Other numbers can be
// given as arguments, and found by `locmsim optimize "./bot {cost=-1} {attack=0} {defense=0}"`.
static double worth[3] = {-1, 0, 0};

static double score(const locm_shown_card_t *c) {
  return worth[0] * c->cost + worth[1] * abs(c->attack) + worth[2] * abs(c->defense);
}

// Takes the best cards of an offer: one of three, or 30 of 120, each twice.
static void choose(void) {
  int taken[LOCM_OFFER_SIZE] = {0};
  for (int i = 0; i < seen.n_cards; i++) locm_pool_add(&pool, &offered, &seen.cards[i]);
  for (int left = seen.rules == LOCM_RULES_15 ? LOCM_MAX_DECK : 1; left; left--) {
    int best = -1;
    for (int i = 0; i < seen.n_cards; i++)
      if (taken[i] < 2 && (best < 0 || score(&seen.cards[i]) > score(&seen.cards[best]))) best = i;
    taken[best]++;
    locm_belief_chose(&belief, seen.cards[best].base_id);
    if (seen.rules == LOCM_RULES_15) printf("CHOOSE %d;", seen.cards[best].base_id);
    else printf("PICK %d", best);
  }
}

#ifndef TURN_MS
#define TURN_MS 50  // of what a turn has: the machine may have something else to do
#endif
#ifndef PLAYOUTS
#define PLAYOUTS 100  // from each action, if there is time
#endif

// The action after which the player wins most of the random games from here; all actions have the
// same number of them. Where there was no time for one, the turn ends: action 0.
static int best_action(const locm_state_t *s, int64_t deadline) {
  uint8_t actions[LOCM_MAX_ACTIONS + 1];
  int wins[LOCM_MAX_ACTIONS + 1] = {0}, won[LOCM_MAX_ACTIONS + 1];
  int n = locm_state_list(s, &table, actions), best = 0;
  for (int k = 0; k < PLAYOUTS; k++) {
    uint64_t count = 0, stream = locm_stream_start(1, k);
    locm_state_t world = *s;
    locm_state_deal(&world, &table, &unknown, &stream);  // one world for all actions
    for (int i = 0; i < n; i++) {
      locm_state_t game = world;
      if (locm_now_ns() >= deadline) goto over;  // a round that not all took part in does not count
      locm_state_apply(&game, &table, actions[i]);
      won[i] = locm_state_rollout(&game, &table, stream, &count) == locm_state_player(s);
    }
    for (int i = 0; i < n; i++) wins[i] += won[i];
  }
over:
  for (int i = 1; i < n; i++)
    if (wins[i] > wins[best]) best = i;
  return actions[best];
}

int main(int argc, char **argv) {
  locm_state_t state;
  char text[LOCM_MAX_ACTION_TEXT];
  int rules = -1;  // known from the first offer on
  for (int i = 1; i < argc && i <= 3; i++) worth[i - 1] = atof(argv[i]);
  locm_fill_tables();
  locm_belief_reset(&belief);
  for (; read_turn(rules); printf("\n"), fflush(stdout)) {
    rules = offered.rules = table.rules = seen.rules;
    if (seen.n_cards && seen.cards[0].id == -1) {
      choose();
      continue;
    }
    int64_t deadline = locm_now_ns() + TURN_MS * 1000000LL;
    locm_belief_see(&belief, &seen);
    table.n_cards = 0;
    if (!pool.n || locm_belief_root(&belief, &seen, &offered, &state, &table) >= 0) return 1;
    locm_belief_unknown(&belief, &seen, &pool, table.n_instances, &unknown);
    for (int action = -1; action && locm_state_winner(&state) < 0;) {
      int64_t now = locm_now_ns();
      action = best_action(&state, now + (deadline - now) / 2);  // 0 ends the turn
      printf("%.*s;", locm_state_write(&state, &table, action, text), text);
      locm_state_apply(&state, &table, action);
    }
  }
  return 0;
}
