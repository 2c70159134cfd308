"""Tests of `locmsim export --kernel`: the header compiles and plays exactly like the package."""

import struct
import subprocess

import pytest
from amounts import amount
from exported_c import STANDARDS, build, check
from helpers import RULE_SETS, each_rules, main

from locmsim.export import export_bot
from locmsim.game.positions import random_game, start_position
from locmsim.networks import Network

HARNESS = """
#include "locm.h"
#include <stdio.h>
#include <stdlib.h>

static locm_table_t table;

int main(void) {
  int32_t head[5];
  locm_state_t state, copy;
  locm_fill_tables();
  while (fread(head, 4, 5, stdin) == 5) {
    uint64_t applied = 0;
    int i, n, lost = 0;
    table.rules = head[0];
    table.n_instances = head[1];
    table.n_cards = head[2];
    if (fread(table.cards, sizeof(locm_card_t), head[2], stdin) != (size_t)head[2]) return 1;
    if (fread(&state, sizeof(state), 1, stdin) != 1) return 1;
    for (i = 0; i < head[2]; i++) locm_complete_card(&table.cards[i], i);
    if (locm_state_fault(&state, &table)) {
      fprintf(stderr, "%s", locm_state_fault(&state, &table));
      return 2;
    }
    for (i = 0; i < head[3]; i++) {
      copy = state;
      n = locm_state_rollout(&copy, &table, locm_stream_start(7, i), &applied);
      putchar('0' + n);
      lost += n;
    }
    for (i = 1; i <= head[4]; i++) {
      printf(" %llu", (unsigned long long)locm_state_perft(&state, &table, i));
    }
    uint8_t actions[LOCM_MAX_ACTIONS + 1];
    char text[LOCM_MAX_ACTION_TEXT];
    n = locm_state_list(&state, &table, actions);
    for (i = 0; i < n; i++) {
      int length = locm_state_write(&state, &table, actions[i], text);
      copy = state;
      locm_state_apply(&copy, &table, actions[i]);
      printf(" %d:%.*s:%llu", actions[i], length, text,
             (unsigned long long)locm_turn_hash(&copy, &table));
    }
#ifdef PREDICTS
    printf(" %.9g", locm_network_value(&state, &table, state.turn & 1));
#endif
    printf("\\n");
  }
  return 0;
}
"""


def exported(folder, *words):
    path = folder / "locm.h"
    assert main(["export", "--kernel", *words, "-o", str(path)]) == 0
    (folder / "harness.c").write_text(HARNESS)
    return path


@pytest.fixture(scope="module")
def header(tmp_path_factory):
    return exported(tmp_path_factory.mktemp("kernel"), "--with", "tests")


@pytest.mark.parametrize("compiler", STANDARDS)
def test_it_is_c_and_cpp_without_warnings(header, compiler, tmp_path):
    source = tmp_path / "one.c"
    source.write_text(f'#include "{header}"\n')
    check(source, compiler)


def positions(rules, games):
    """Yield the first and the middle position of random games."""
    for seed in range(games):
        played = [state for state, _ in random_game(start_position(seed, rules), seed)]
        yield from (played[0], played[len(played) // 2])


CARD = 32  # bytes


def question(state, playouts, depth):
    """Return the harness's input for a position: its table and its state without their headers."""
    data = state.to_bytes()
    table, own = data[16 : -256 - 16], data[-256:]
    assert (len(table) - 8) % CARD == 0
    numbers = struct.pack("<iii", (len(table) - 8) // CARD, playouts, depth)
    return table[:8] + numbers + table[8:] + own


def answer(state, playouts, depth, network):
    winners = "".join(map(str, state.rollouts(playouts, 7)))
    counts = [state.perft(i) for i in range(1, depth + 1)]
    actions = [
        f"{action}:{state.action_to_string(action)}:{state.child(action).turn_hash()}"
        for action in state.legal_actions()
    ]
    values = [f"{network(state, state.current_player()):.9g}"] if network else []
    return " ".join(map(str, [winners, *counts, *actions, *values]))


def same(header, folder, options, games, playouts, rule_sets=RULE_SETS, network=None):
    """Check that playouts, perft and actions with texts and hashes are those of the package."""
    program = build(header.parent / "harness.c", folder / "harness", *options, "-I", header.parent)
    states = [state for rules in rule_sets for state in positions(rules, games)]
    asked = b"".join(question(state, playouts, 3) for state in states)
    done = subprocess.run([program], input=asked, capture_output=True)
    assert done.returncode == 0, done.stderr
    wanted = [answer(state, playouts, 3, network) for state in states]
    assert done.stdout.decode().splitlines() == wanted


@pytest.mark.slow
@pytest.mark.parametrize("level", ["-O0", pytest.param("-O2", marks=pytest.mark.slow)])
def test_it_plays_as_the_package(header, level, tmp_path):
    same(header, tmp_path, [level], 3, 500)


@pytest.mark.slow
@pytest.mark.parametrize("level", amount(["-O2"], most=["-O0", "-O2"]))
def test_it_plays_as_the_package_for_long(header, level, tmp_path):
    same(header, tmp_path, [level], amount(6, most=12), 20_000)


@pytest.mark.slow
@each_rules
def test_the_network_alone_answers_as_python(rules, tmp_path):
    header = exported(tmp_path, "--rules", rules, "--with", "tests,network", "--minify")
    network = Network(export_bot(rules).weights[rules].network)
    same(header, tmp_path, ["-Og", "-DPREDICTS"], 3, 10, [rules], network)
