"""Makes what `locmsim export` puts together: the kernel and the searches as C.

    python tools/export_templates.py            writes src/locmsim/export/data/*.h
    python tools/export_templates.py --check    compares them with what the sources give

Needs Cython, whose parser reads the sources (see the package `cython_to_c` beside this file); the
installed locmsim does not.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

from cython_to_c import Program, Style, translate

SOURCES = Path(__file__).parents[1] / "src" / "locmsim"
TARGET = SOURCES / "export" / "data"
#: Lowest first.
MODULES = (
    "_platform",
    "_core",
    "game.observation",
    "networks._network",
    "networks._decks",
    "networks._drafts",
    "search._evaluation",
    "search._work",
    "search._wins",
    "search._beam",
    "search._mcts",
    "search._belief",
    "search._engine",
)
RULES = {"1.5": "RULES_15", "1.2": "RULES_12", "1.0": "RULES_10"}
SEARCHES = ("beam", "mcts")
#: What the header for one's own bots is made for.
KERNEL = """
    fill_tables complete_card card_of_row
    state_player state_winner state_next_draw decode_action encode_action
    state_count state_list state_kth state_is_legal state_write
    state_apply state_end_turn state_draw state_fault state_perft
    stream_start stream_below state_rollout playout_winner state_play_turn
    reader_start reader_take shown_read
    state_show state_fill_deck state_fill_hand state_deal
    belief_reset belief_chose belief_see belief_root belief_unknown pool_add
"""
#: What the hand-written part of a bot calls.
BOT = """
    fill_tables complete_card card_of_row state_write state_apply stream_start state_deal
    reader_start reader_take belief_reset belief_chose belief_see belief_root belief_unknown
    eval_fill eval_use_table fill_card_keys engine_init engine_use engine_begin engine_run
"""
#: ... in rules with a constructed deck.
DECK = "offer_start offer_add deck_value deck_improve"
#: ... and in rules with a draft.
DRAFT = "draft_fill draft_expected"


def program(fixed: dict[object, int | str]) -> Program:
    """The sources, with the values that are known."""
    modules = {}
    for name in MODULES:
        path = SOURCES / name.replace(".", "/")
        files = [path.with_suffix(".pxd"), path.with_suffix(".pyx")]
        modules[f"locmsim.{name}"] = [file for file in files if file.exists()]
    return Program(modules, {"LOCMSIM_DEBUG": 0, **fixed})


def kernel() -> str:
    """The simulator."""
    style = Style("locm_", static="LOCM_FUNCTION", inline="LOCM_INLINE")
    return translate(program({}), style, KERNEL.split())


def templates(chosen: Iterable[str] = RULES) -> dict[str, str]:
    """The text of each file, those of bots for the chosen rule sets."""
    texts = {"kernel.h": kernel()}
    for rules in chosen:
        for search in SEARCHES:
            fixed: dict[object, int | str] = {
                ("table_t", "rules"): RULES[rules],
                ("shown_t", "rules"): RULES[rules],
                ("belief_t", "rules"): RULES[rules],
                ("options_t", "is_tree"): int(search == "mcts"),
                ("work_t", "function"): 0,
                ("work_t", "own_deck"): 0,
            }
            style = Style(inline="INLINE", start="start_modules")
            roots = BOT + (DECK if rules == "1.5" else DRAFT)
            texts[f"{search}-{rules}.h"] = translate(program(fixed), style, roots.split())
    return texts


def main() -> None:
    check = sys.argv[1:] == ["--check"]
    for name, text in templates().items():
        path = TARGET / name
        same = path.exists() and path.read_text(encoding="utf-8") == text
        if check and not same:
            raise SystemExit(f"{path} is not what the sources give")
        path.write_text(text, encoding="utf-8")
        print(f"{name}: {len(text)} characters{'' if same else ', new'}")


if __name__ == "__main__":
    main()
