"""The agents `osl` and `max-attack`, from snapshots and texts alone."""

from locmsim import State


def osl_choices(state: State) -> list[str]:
    """Return the best actions other than PASS, in gym-locm's order."""
    player = state.current_player()
    texts = [state.action_to_string(action) for action in state.legal_actions()][1:]
    values = {}
    for text in texts:
        sides = state.child(state.string_to_action(text)).snapshot()["p"]
        me, opponent = sides[player], sides[1 - player]
        value = 2 * me["hp"] - 2 * opponent["hp"]
        value += (1000 if opponent["hp"] <= 0 else 0) - (1000 if me["hp"] <= 0 else 0)
        value += sum(row[2] + row[3] for row in me["board"])
        value -= sum(row[2] + row[3] for row in opponent["board"])
        values[text] = value
    best = [text for text in texts if values[text] == max(values.values())]
    # By action number, the player comes first among the targets of a card.
    source = best[0].rpartition(" ")[0] if best else ""
    same = [text for text in best if text.rpartition(" ")[0] == source]
    on_creatures = [text for text in same if not text.endswith(" -1")]
    return on_creatures + [text for text in same if text.endswith(" -1")]


def max_attack_choice(state: State) -> str:
    """Return the action of max-attack."""
    snapshot = state.snapshot()
    player = state.current_player()
    me, opponent = snapshot["p"][player], snapshot["p"][1 - player]
    texts = [state.action_to_string(action) for action in state.legal_actions()]
    attacks = [text.split() for text in texts if text.startswith("ATTACK")]
    for lane in (0, 1):
        able = {int(words[1]) for words in attacks}
        rows = [row for row in me["board"] if row[5] == lane and row[0] in able]
        if rows:
            attacker = sorted(rows, key=lambda row: -row[2])[0][0]
            guards = [r[0] for r in opponent["board"] if r[5] == lane and "G" in r[4]]
            return f"ATTACK {attacker} {guards[0] if guards else -1}"
    printed = dict(state.players[player].hand)
    summons = [text for text in texts if text.startswith("SUMMON")]
    if not summons:
        return "PASS"
    strongest = max(printed[int(text.split()[1])].attack for text in summons)
    return next(t for t in summons if printed[int(t.split()[1])].attack == strongest)
