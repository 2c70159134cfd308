"""Tests of `locmsim export --kernel --with`: the parts decide, deal and evaluate as Python does."""

import re
from pathlib import Path

import pytest
from exported_c import build, check
from helpers import each_rules, each_rules_slowly, main
from test_export_bot import answers, python_bot

from locmsim import Match
from locmsim.agents import make_agent
from locmsim.decks import score_of
from locmsim.export import export_bot
from locmsim.search import Belief, Evaluation

#: The oldest and the newest standard.
ALL_STANDARDS = {"gcc": "c11", "clang": "c11", "g++": "c++20", "clang++": "c++20"}
#: Answers to all that a player is shown. After the answer to a turn come three worlds: the
#: opponent's hand, the hash of the turn, and the value to the player.
HARNESS = """
#include "locm.h"
#include <stdio.h>

static locm_game_t game;
static locm_shown_t seen;

static int read_turn(void) {
  static locm_reader_t reader;
  static char line[1024];
  int more = 1;
  locm_reader_start(&reader, &seen, LOCM_RULES);
  while (more > 0 && fgets(line, sizeof line, stdin)) {
    int at = 0;
    more = locm_reader_take(&reader, &seen, line, (int)strlen(line), &at);
  }
  return more == 0;
}

static void print_worlds(const locm_state_t *s) {
  int me = locm_state_player(s), i, j;
  for (i = 0; i < 3; i++) {
    uint64_t stream = locm_stream_start((uint64_t)i, 0);
    locm_state_t world = *s;
    const locm_player_t *op = &world.p[1 - me];
    locm_state_deal(&world, &game.table, &game.unknown, &stream);
    for (j = 0; j < op->hand_size; j++) {
      printf("%d ", locm_hand_card(op, &game.table, j)->base_id);
    }
    printf("%llu", (unsigned long long)locm_turn_hash(&world, &game.table));
#ifdef EVALUATES
    locm_evaluation_use(&game.table);
    printf(" %.9g", locm_evaluate(&world, &game.table, me));
#endif
    printf("\\n");
  }
}

int main(void) {
  locm_state_t state;
  locm_game_start(&game);
  while (read_turn()) {
    int kind = locm_game_see(&game, &seen, &state);
    if (kind == LOCM_IMPOSSIBLE) return 1;
#ifdef CHOOSES
    if (kind == LOCM_OFFER) {
      static char text[LOCM_MAX_CHOICE_TEXT];
      printf("%.*s\\n", locm_game_choose(&game, &seen, text), text);
    }
#endif
#ifdef SEARCHES
    if (kind == LOCM_TURN) {
      uint8_t actions[LOCM_MAX_TURN_ACTIONS];
      char text[LOCM_MAX_ACTION_TEXT];
      locm_state_t played = state;
      int i, n = locm_game_search(&game, &state, 0, 1000, actions);
      for (i = 0; i < n; i++) {
        int length = locm_state_write(&played, &game.table, actions[i], text);
        printf("%s%.*s", i ? ";" : "", length, text);
        locm_state_apply(&played, &game.table, actions[i]);
      }
      printf(n ? "\\n" : "PASS\\n");
    }
#endif
    if (kind == LOCM_TURN) print_worlds(&state);
  }
  return 0;
}
"""


def compiled(folder, rules, parts, *options):
    """Export a header with some parts, and build the harness with it."""
    header = str(folder / "locm.h")
    words = ["export", "--kernel", "--rules", rules, "--with", parts, "-o", header, *options]
    assert main(words) == 0
    (folder / "harness.c").write_text(HARNESS)
    macros = {"search": "SEARCHES", "deck": "CHOOSES", "evaluation": "EVALUATES"}
    defines = [f"-D{macro}" for part, macro in macros.items() if part in parts]
    return build(folder / "harness.c", folder / "harness", "-Og", *defines)


def worlds(belief, evaluation=None):
    """Yield three worlds of a belief as the harness prints them."""
    sampler = belief.determinizer()
    for seed in range(3):
        state = sampler.sample(seed)
        me = state.current_player()
        theirs = [held.card.base_id for held in state.players[1 - me].hand]
        found = [f"{evaluation(state, me):.9g}"] if evaluation else []
        yield " ".join(map(str, [*theirs, state.turn_hash(), *found]))


@pytest.mark.slow
@each_rules_slowly
@pytest.mark.parametrize(
    "minified", [pytest.param(False, marks=pytest.mark.slow, id="readable"), True]
)
def test_all_parts_answer_as_python(rules, minified, tmp_path):
    options = ["--minify"] if minified else []
    program = compiled(tmp_path, rules, "deck,draft,belief,evaluation,search", *options)
    weights = export_bot(rules).weights
    weights.save(tmp_path / "bot.npz")
    evaluation = Evaluation(weights[rules].evaluation, rules=rules)
    match = Match(rules, seed=21)
    agents = [python_bot(tmp_path / "bot.npz", "beam", 1000) for _ in range(2)]
    texts, lines = ["", ""], [[], []]
    while match.to_ask:
        player = match.to_ask[0]
        observation = match.observation(player)
        texts[player] += match.input_text(player)
        if match.state is None:
            answer = agents[player].choose(observation)
            lines[player].append(answer)
        else:
            answer = agents[player].act(observation)
            if not match.state.is_terminal():
                lines[player] += [answer, *worlds(agents[player].belief, evaluation)]
        assert match.submit(player, answer).error is None
    assert [answers(program, text) for text in texts] == lines


@pytest.mark.slow
@each_rules_slowly
def test_a_belief_without_networks_goes_by_the_scores_of_cards(rules, tmp_path):
    program = compiled(tmp_path, rules, "belief")
    scores = {rules: score_of(export_bot(rules).weights[rules])}
    match = Match(rules, seed=22)
    beliefs = [Belief(scores) for _ in range(2)]
    others = [make_agent("max-attack") for _ in range(2)]
    for agent in others:
        agent.reset(0)
    texts, lines = ["", ""], [[], []]
    while match.to_ask:
        player = match.to_ask[0]
        texts[player] += match.input_text(player)
        beliefs[player].see(match.observation(player))
        if match.state is not None and not match.state.is_terminal():
            lines[player] += worlds(beliefs[player])
        match.submit(
            player, others[player].act(match.observation(player)) if match.state else "PASS"
        )
    assert [answers(program, text) for text in texts] == lines


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ALL_STANDARDS)
@pytest.mark.parametrize("options", [[], ["--minify"]], ids=["readable", "minified"])
def test_headers_are_c11_and_cpp20_without_warnings(compiler, options, tmp_path):
    for rules, parts in (
        ("1.5", "deck,search,tests"),
        ("1.0", "draft,network"),
        ("1.2", "search,tests"),
    ):
        header = tmp_path / "locm.h"
        words = ["export", "--kernel", "--rules", rules, "--with", parts, "--force", *options]
        assert main([*words, "-o", str(header)]) == 0
        (tmp_path / "one.c").write_text('#include "locm.h"\n')
        check(tmp_path / "one.c", compiler, standard=ALL_STANDARDS[compiler])


@pytest.mark.slow
@each_rules
def test_the_size_is_printed_with_what_is_left(rules, tmp_path, capsys):
    header = tmp_path / "locm.h"
    assert main(["export", "--kernel", "--rules", rules, "--minify", "-o", str(header)]) == 0
    size = len(header.read_text(encoding="utf-8"))
    said = f"{header}: {size:,} characters of 100,000: {100_000 - size:,} are left\n"
    assert capsys.readouterr().out == said


def test_the_code_on_the_page_compiles(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "codingame.md"
    if not page.exists():
        pytest.skip("not the source tree")
    (code,) = re.findall(r"```c\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    words = ["export", "--kernel", "--rules", "1.2", "--with", "belief"]
    assert main([*words, "-o", str(tmp_path / "locm.h")]) == 0
    head = '#include "locm.h"\nstatic locm_game_t game;\nvoid count(locm_state_t state);\n'
    (tmp_path / "one.c").write_text(f"{head}void count(locm_state_t state) {{\n{code}}}\n")
    check(tmp_path / "one.c", "gcc", standard="c11")
