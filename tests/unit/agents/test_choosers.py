"""How cards are chosen, wherever decks are: by policies, functions of files, at random."""

import os
import re
import shlex
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from amounts import FEW
from helpers import main, raises, tournament

from locmsim import Match, play_match
from locmsim.agents import make_agent
from locmsim.agents.combined import chooser_description
from locmsim.decks import build_deck, pick
from locmsim.envs import LocmEnv
from locmsim.policy import Policy, PolicyChooser, load_policy
from locmsim.tuning.dataset import examples_of_agent

FUNCTIONS = """
import numpy as np

from locmsim.decks import build_deck

def trained(cards):
    return build_deck(cards, "cheapest")

def first(offer, picked, rules):
    return len(picked) % 3

class Cheap:
    def __init__(self, best=0):
        self.best = best
    def __call__(self, cards):
        return build_deck(cards, "cheapest" if self.best else "classic")

class Chooser:
    rules, layout = "1.5", "choice"
    def act_batch(self, observations, masks, seeds):
        return masks.argmax(axis=1)

class Counting(Chooser):
    state_shape = (1,)

    def act_batch(self, observations, masks, seeds, *, state):
        assert len(observations) == 1
        state += 1
        return np.flatnonzero(masks[0])[int(state[0, 0]) % 3][None]

class CountingDraft(Counting):
    rules = "1.2"

class Drawing(Chooser):
    def act_batch(self, observations, masks, seeds):
        return np.array([np.random.default_rng(seeds[0]).choice(np.flatnonzero(masks[0]))])

NUMBER = 3
"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("choosers")
    (folder / "mydeck.py").write_text(FUNCTIONS)
    for rules in ("1.5", "1.2"):
        Policy.random("cards", rules=rules, seed=2).save(folder / f"choice-{rules}.npz")
    Policy.random(seed=1).save(folder / "battle.npz")
    return folder


@pytest.fixture
def files(tmp_path, written):
    return shutil.copytree(written, tmp_path, dirs_exist_ok=True)


def chosen(agent, rules="1.5", seed=3):
    """Return the base ids that an agent chooses as player 0."""
    match = Match(rules, seed=seed)
    agent = make_agent(agent)
    agent.reset(1)
    while match.phase == "choice":
        for player in (0, 1):
            line = agent.choose(match.observation(0)) if player == 0 else "PASS"
            match.submit(player, line)
    return match.chosen[0]


AGENTS = ["greedy", "random", "rule", "osl", "max-attack", "beam", "mcts", "learned", "search"]


@pytest.mark.parametrize("agent", AGENTS)
def test_a_trained_chooser_chooses_for_every_agent(files, agent):
    path = files / "choice-1.5.npz"
    deck = chosen(f"{agent}:deck=policy:path={path}")
    cards = Match(seed=3).cards
    assert deck == build_deck(cards, PolicyChooser(Policy.load(path)).build)
    assert chosen(f"{agent}:deck={files}/mydeck.py:trained") == build_deck(cards, "cheapest")
    assert len(chosen(f"{agent}:deck=random")) == 30


def test_a_file_that_is_replaced_is_read_again(files):
    path = files / "choice-1.5.npz"
    text = f"greedy:deck=policy:path={path}"
    cards, first = Match(seed=3).cards, chosen(text)
    other = Policy.random("cards", seed=9)
    other.save(path)
    assert chosen(text) == build_deck(cards, PolicyChooser(other).build) != first
    battle = files / "battle.npz"
    arrays = []
    for seed in (1, 2):
        Policy.random(seed=seed).save(battle)
        arrays.append(make_agent(f"policy:path={battle}").policy.arrays["value.w"])
    assert (arrays[0] != arrays[1]).any()


def test_a_file_of_python_that_is_replaced_is_read_again(files):
    """So is what it imports."""
    (files / "built.py").write_text("from mydeck import trained\n")
    file, cards = files / "mydeck.py", Match(seed=3).cards
    code = file.read_text()
    last = "masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)"
    changed = code.replace("masks.argmax(axis=1)", last).replace('"cheapest")', '"classic")')
    for text, name, place in ((code, "cheapest", 0), (changed, "classic", 119)):
        file.write_text(text)
        made = 10**9 * (1 + place)  # a clock may be coarse
        os.utime(file, ns=(made, made))
        for one in (f"{file}:trained", f"{files}/built.py:trained"):
            assert chosen(f"greedy:deck={one}") == build_deck(cards, name)
        first, *_ = chosen(f"greedy:deck=policy:path={file}:Chooser")
        assert first == cards[place].base_id


def test_choosers_of_drafts(files):
    path = files / "choice-1.2.npz"
    offers = Match("1.2", seed=3).offers
    chooser, picked = PolicyChooser(load_policy(path)), []
    for offer in offers:
        picked.append(offer[pick(offer, picked, "1.2", chooser.pick)])
    ids = [card.base_id for card in picked]
    assert chosen(f"greedy:draft=policy:path={path}", "1.2") == ids
    first = [offer[i % 3].base_id for i, offer in enumerate(offers)]
    assert chosen(f"greedy:draft={files}/mydeck.py:first", "1.2") == first
    drawn = [chosen("greedy:draft=random", "1.2", seed) for seed in (3, 4)]
    assert drawn[0] != drawn[1]
    assert drawn[0] == chosen("greedy:draft=random", "1.2", 3)


def test_what_a_chooser_takes_is_what_its_policy_takes_in_an_environment(files):
    """The same cards, in the same order, as by `act_batch` in `Construct` and `Draft`."""
    for rules in ("1.5", "1.2"):
        path = files / f"choice-{rules}.npz"
        policy = Policy.load(path)
        env = LocmEnv(
            rules=rules, episode="choice", seat="first", battlers=("random", "random"), **FEW
        )
        seen, _ = env.reset(seed=8)
        over = False
        while not over:
            action = policy.act_batch(seen["observation"][None], seen["action_mask"][None])[0]
            seen, _, over, _, info = env.step(action)
        match = info["match"].match()
        option = "draft" if rules == "1.2" else "deck"
        agent = make_agent(f"greedy:{option}=policy:path={path}")
        again = Match(rules, params=match.params, cards=match.cards if rules == "1.5" else None)
        for _ in range(30 if rules == "1.2" else 1):
            again.submit(0, agent.choose(again.observation(0)))
            again.submit(1, "PASS")
        assert Counter(again.chosen[0]) == Counter(match.chosen[0])


def test_classes_of_files_take_options(files):
    cards = Match(seed=3).cards
    for best, name in ((0, "classic"), (1, "cheapest")):
        text = f'greedy:deck="{files}/mydeck.py:Cheap:best={best}"'
        assert chosen(text) == build_deck(cards, name)
    assert chosen(f"greedy:deck=policy:path={files}/mydeck.py:Chooser")[:4] == [
        card.base_id for card in cards[:2] for _ in range(2)
    ]


def test_recurrent_choosers_remember_the_choice_phase(files):
    """What they keep is zero at the beginning of each draft or deck, and lasts to its end."""
    deck = f"greedy:deck=policy:path={files}/mydeck.py:Counting"
    first = chosen(deck)
    assert first == chosen(deck)
    places = [card.base_id for card in Match(seed=3).cards]
    assert [places.index(base_id) for base_id in first[:4]] == [1, 2, 0, 1]

    def counted(match):
        return [offer[(i + 1) % 3].base_id for i, offer in enumerate(match.offers)]

    text = f"policy:path={files}/mydeck.py:CountingDraft"
    assert chosen(f"greedy:draft={text}", "1.2") == counted(Match("1.2", seed=3))
    env, over = LocmEnv(rules="1.2", decks=text, opponent="greedy"), False
    env.reset(seed=1)
    while not over:
        _, _, over, _, info = env.step(0)
    match = info["match"].match()
    assert match.chosen == [counted(match)] * 2


def test_choosers_that_draw_have_other_numbers_for_each_card(files):
    agent = f"greedy:deck=policy:path={files}/mydeck.py:Drawing"
    deck = chosen(agent)
    assert deck == chosen(agent)
    assert len(set(deck)) > 15
    assert deck != chosen(agent, seed=4)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("deck=random1", "deck: expected one of default, .*policy:path=FILE or file.py:NAME"),
        ("deck=clasic", "did you mean 'classic'"),
        ("deck=policy:path={}/none.npz", "deck: path: .*none.npz: No such file"),
        ("deck=policy:", "deck: path: expected the file of a policy"),
        ('deck="policy:path=a,depth=3"', "deck: unknown option 'depth', expected path, rules"),
        ("deck=policy:path={}/choice-1.2.npz", "trained on rules 1.2: use it as draft="),
        ("draft=policy:path={}/choice-1.5.npz", "trained on rules 1.5: use it as deck="),
        ("deck=policy:path={}/battle.npz", "it plays battles: a chooser of cards has layout"),
        ("deck={}/mydeck.py:nobody", "deck: .*nobody"),
        ("deck={}/mydeck.py:NUMBER", "NUMBER is neither a class nor a function"),
    ],
)  # fmt: skip
def test_what_chooses_no_cards_is_refused(files, option, message):
    raises(ValueError, message, make_agent, f"greedy:{option.format(files)}")


def test_a_chooser_plays_no_battles(files):
    path = files / "choice-1.5.npz"
    message = r"it chooses cards and plays no battles: use it as deck="
    raises(ValueError, message, make_agent, f"policy:path={path}")
    raises(ValueError, message, LocmEnv, opponent=str(path), **FEW)


def test_choosers_in_environments_and_data_sets(files):
    path = files / "choice-1.5.npz"
    for decks in (f"policy:path={path}", (f"policy:path={path}", "classic"), "random"):
        env = LocmEnv(decks=decks, seat="first", opponent="pass", **FEW)
        env.reset(seed=1)
        cards = {card.base_id: card for card in env.games.cards(0)}
        own = [cards[card.card.base_id] for card in env.state.players[0].deck]
        own += [cards[card.card.base_id] for card in env.state.players[0].hand]
        built = build_deck(list(cards.values()), PolicyChooser(Policy.load(path)).build)
        same = Counter(card.base_id for card in own) == Counter(built)
        assert same == (decks != "random")
    draft = LocmEnv(rules="1.2", decks=f"policy:path={files}/choice-1.2.npz", opponent="pass")
    draft.reset(seed=1)
    examples = [*examples_of_agent("random", 1, decks=f"policy:path={path}", card_sets=2)][-1]
    assert len(examples)
    raises(ValueError, "did you mean 'classic'", LocmEnv, decks="clasic")


@pytest.mark.slow
def test_decks_of_the_arena_and_of_play(files, capsys):
    """`--decks` takes all that the options of agents take; both players then have such cards."""
    path = files / "choice-1.5.npz"
    cards = Match(seed=3).cards
    policy, cheap = PolicyChooser(Policy.load(path)).build, "cheapest"
    for text, builder in (
        (f"policy:path={path}", policy), ("cheapest", cheap),
        (f"osl:deck={files}/mydeck.py:trained", cheap),
    ):  # fmt: skip
        agent = make_agent(chooser_description(text))
        agent.reset(1)
        match = play_match(Match(seed=3), [agent, agent])
        assert match.chosen == [build_deck(cards, builder)] * 2
        with tournament(None, ["greedy", "osl"], games=2, decks=text) as arena:
            replayed = arena.replay(1).match
            assert replayed.chosen[0] == replayed.chosen[1] == build_deck(replayed.cards, builder)
    main(["play", "greedy", "random", "--decks", f"policy:path={path}", "-d", "seed=3"])
    assert "seed=3" in capsys.readouterr().out
    with tournament(None, ["greedy", "osl"], games=2, decks="random") as arena:
        assert all(map(len, arena.replay(1).match.chosen))


@pytest.mark.slow
def test_commands_of_the_page(tmp_path, monkeypatch, capsys):
    """The commands with choosers in docs/training.md, with fewer games and untrained networks."""
    page = Path(__file__).parents[3] / "docs" / "training.md"
    monkeypatch.chdir(tmp_path)
    for folder in ("construct/seed-1", "match"):
        (tmp_path / "runs" / folder).mkdir(parents=True)
        Policy.random("cards", seed=1).save(tmp_path / "runs" / folder / "choice.npz")
    Policy.random(seed=1).save(tmp_path / "runs" / "match" / "policy.npz")
    found = re.findall("^locmsim (.*choice.npz.*)$", page.read_text(), re.MULTILINE)
    assert len(found) == 4
    for line in found:
        words = re.sub("--games [0-9]+", "--games 2", line)
        main([*shlex.split(words), "--jobs", "1"])
    assert "wins" in capsys.readouterr().out
    data = np.load(tmp_path / "chosen.npz")
    assert data["cards"].shape[1:] == (20, 2)
