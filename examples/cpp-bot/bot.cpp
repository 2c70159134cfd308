// A bot in C++17 on the header that locmsim exports: it chooses its cards as the bots of locmsim do,
// finds good turns with a beam search, and plays the one that fares best against the opponent's best
// replies in many sampled worlds. Make the header for one rule set, then compile:
//     locmsim export --kernel --rules 1.5 --with deck,draft,belief,evaluation,network --minify -o locm.h
//     c++ -std=c++17 -O2 bot.cpp -o bot
// The site wants one file, which this makes of both:
//     locmsim export --paste bot.cpp -o paste.cpp
#include "locm.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <unordered_set>
#include <vector>

namespace {

#ifndef TURN_MS
#define TURN_MS 50  // of the 100 to 200 that a turn has: the machine may have something else to do
#endif
#ifndef WORLDS
#define WORLDS 0  // if not 0: so many worlds instead of that time, so that answers can be repeated
#endif
constexpr std::size_t WIDTH = 64;  // positions that the beam keeps after each action
constexpr std::size_t PLANS = 12;  // turns that are tried in sampled worlds
constexpr int LONGEST = 24;        // actions of a turn

locm_game_t game;

// A turn: its actions, and where they lead in the root position.
struct Plan {
  locm_state_t state;
  std::vector<int> actions;
  float value = 0;   // of the position at its end
  double total = 0;  // of the results in sampled worlds
};

bool better(const Plan &a, const Plan &b) { return a.value > b.value; }

// Keeps the best plans.
void keep_best(std::vector<Plan> &plans, std::size_t most) {
  std::size_t n = std::min(most, plans.size());
  std::partial_sort(plans.begin(), plans.begin() + static_cast<std::ptrdiff_t>(n), plans.end(), better);
  plans.resize(n);
}

// The turns whose end is worth most: all actions after the best so far, again and again. The first
// card that is drawn is the same in all of them, and not looked at.
std::vector<Plan> find_plans(const locm_state_t &root, int64_t deadline) {
  int me = locm_state_player(&root);
  std::vector<Plan> beam(1), found;
  std::unordered_set<uint64_t> seen;
  beam[0].state = root;
  beam[0].value = locm_evaluate(&root, &game.table, me);
  found = beam;
  for (int depth = 0; depth < LONGEST && !beam.empty(); depth++) {
    std::vector<Plan> next;
    for (const Plan &plan : beam) {
      uint8_t actions[LOCM_MAX_ACTIONS + 1];
      int n = locm_state_list(&plan.state, &game.table, actions);
      if (locm_now_ns() >= deadline) break;
      for (int i = 1; i < n; i++) {  // action 0 ends the turn
        locm_state_t child = plan.state;
        locm_state_apply(&child, &game.table, actions[i]);
        if (!seen.insert(locm_turn_hash(&child, &game.table)).second) continue;
        Plan longer;
        longer.state = child;
        longer.value = locm_evaluate(&child, &game.table, me);
        longer.actions = plan.actions;
        longer.actions.push_back(actions[i]);
        next.push_back(longer);
        if (locm_state_winner(&child) == me) return {longer};
      }
    }
    keep_best(next, WIDTH);
    found.insert(found.end(), next.begin(), next.end());
    beam.swap(next);
  }
  keep_best(found, PLANS);
  return found;
}

// Plays the best single action at a time, as long as it improves the position for its player.
void play_greedily(locm_state_t &s) {
  int who = locm_state_player(&s);
  float value = locm_evaluate(&s, &game.table, who);
  for (bool goes_on = true; goes_on && locm_state_winner(&s) < 0;) {
    uint8_t actions[LOCM_MAX_ACTIONS + 1];
    int n = locm_state_list(&s, &game.table, actions);
    locm_state_t best = s;
    goes_on = false;
    for (int i = 1; i < n; i++) {
      locm_state_t child = s;
      locm_state_apply(&child, &game.table, actions[i]);
      float reached = locm_evaluate(&child, &game.table, who);
      if (reached > value) {
        value = reached;
        best = child;
        goes_on = true;
      }
    }
    s = best;
  }
}

// The result that the network expects at the end of the opponent's turn, between -1 and 1.
double result(const locm_state_t &s, int me) {
  int winner = locm_state_winner(&s);
  if (winner >= 0) return winner == me ? 1 : -1;
  return -std::tanh(locm_network_value(&s, &game.table, 1 - me) / 2);
}

// Plays a plan in a world, and the opponent's reply to it.
double try_plan(const Plan &plan, locm_state_t world, int me) {
  for (int action : plan.actions) locm_state_apply(&world, &game.table, action);
  if (locm_state_winner(&world) < 0) {
    locm_state_apply(&world, &game.table, LOCM_PASS);  // the opponent draws
    play_greedily(world);
  }
  return result(world, me);
}

// The actions of a turn. A world is dealt once for all plans: that is faster, and fairer.
std::vector<int> search(const locm_state_t &root, int64_t start) {
  int64_t deadline = start + TURN_MS * 1000000LL;
  int me = locm_state_player(&root);
  std::vector<Plan> plans = find_plans(root, WORLDS ? INT64_MAX : start + TURN_MS * 400000LL);
  for (int i = 0; plans.size() > 1 && (WORLDS ? i < WORLDS : locm_now_ns() < deadline); i++) {
    uint64_t stream = locm_stream_start(static_cast<uint64_t>(root.turn), static_cast<uint64_t>(i));
    locm_state_t world = root;
    locm_state_deal(&world, &game.table, &game.unknown, &stream);
    for (Plan &plan : plans) plan.total += try_plan(plan, world, me);
  }
  auto worse = [](const Plan &a, const Plan &b) { return a.total < b.total; };
  return std::max_element(plans.begin(), plans.end(), worse)->actions;
}

// Writes the actions as one line.
void play_turn(locm_state_t &state, int64_t start) {
  char text[LOCM_MAX_ACTION_TEXT];
  locm_evaluation_use(&game.table);
  std::vector<int> actions = search(state, start);
  for (int action : actions) {
    int length = locm_state_write(&state, &game.table, action, text);
    std::printf("%.*s;", length, text);
    locm_state_apply(&state, &game.table, action);
  }
  std::printf("PASS\n");
}

// Reads what is shown in a turn; false at the end of the input, or if it is of other rules.
bool read_turn(locm_shown_t &seen) {
  static locm_reader_t reader;
  static char line[1024];
  int more = 1;
  locm_reader_start(&reader, &seen, LOCM_RULES);
  while (more > 0 && std::fgets(line, sizeof line, stdin)) {
    int at = 0;
    more = locm_reader_take(&reader, &seen, line, static_cast<int>(std::strlen(line)), &at);
  }
  return more == 0;
}

}  // namespace

int main() {
  static locm_shown_t seen;
  static char text[LOCM_MAX_CHOICE_TEXT];
  locm_state_t state;
  locm_game_start(&game);
  while (read_turn(seen)) {
    int64_t start = locm_now_ns();
    int kind = locm_game_see(&game, &seen, &state);
    if (kind == LOCM_IMPOSSIBLE) return 1;
    if (kind == LOCM_OFFER) std::printf("%.*s\n", locm_game_choose(&game, &seen, text), text);
    if (kind == LOCM_TURN) play_turn(state, start);
    if (kind == LOCM_OVER) std::printf("PASS\n");
    std::fflush(stdout);
  }
  return 0;
}
