"""Hidden information: sampled states against golden games, where the truth is known."""

from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from math import factorial
from statistics import mean, stdev

import pytest
from amounts import amount
from helpers import (
    REFERENCE,
    Game,
    GoldenChunk,
    Snapshot,
    begun_match,
    each_rules,
    game_cards,
    game_name,
    raises,
)

from locmsim import Card, Match, State
from locmsim._core import Determinizer
from locmsim.decks import DECK_BUILDERS, build_deck, card_score
from locmsim.game.observation import Observation
from locmsim.game.positions import start_position
from locmsim.rules.cards import CardType, cards_1x
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import MAX_MANA
from locmsim.search import Belief
from locmsim.search.belief import attractions


def choose(belief: Belief, game: Game, player: int) -> None:
    for text in game["choice_inputs"][player]:
        belief.see(Observation.parse(text, game["rules"]))
    belief.chose(game["chosen"][player])


def battles(rules: str, step: int = 1) -> Iterator[tuple[Game, int, Observation, Belief, Snapshot]]:
    """Yield the battle turns of every `step`-th golden game.

    Each has the player, their observation and belief, and the true position.
    """
    parts = step * amount(15, 1) * (1 if REFERENCE is None else 10)  # the full files take minutes
    for game in GoldenChunk(rules, 0, parts):
        beliefs = Belief(), Belief()
        for player, belief in enumerate(beliefs):
            choose(belief, game, player)
        for turn in game["turns"]:
            player = turn["player"]
            observation = Observation.parse(turn["input"], rules)
            beliefs[player].see(observation)
            yield game, player, observation, beliefs[player], turn["states"][0]


def visible(snapshot: Snapshot, player: int) -> Snapshot:
    """Return a copy without the opponent's hand."""
    players = [dict(p) for p in snapshot["p"]]
    players[1 - player]["hand"] = len(players[1 - player]["hand"])
    return {**snapshot, "p": players}


# ------------------------------------------------------------------------------ what is visible


@each_rules
def test_all_but_the_hidden_cards_is_the_truth(rules):
    """A belief also infers what texts omit, such as the turn, bonus mana and lost effects."""
    for game, player, observation, belief, truth in battles(rules):
        state = belief.sample(seed=5)
        state.validate()
        sampled, wanted = visible(state.snapshot(), player), visible(truth, player)
        if any(card.area and card.my_health_change < 0 for card in game_cards(game).values()):
            # A belief does not infer how often an area card harmed its own player.
            for snapshot in (sampled, wanted):
                del snapshot["p"][1 - player]["lost"]
        if observation.me.health <= 0:  # dead from drawing, but asked
            assert state.winner == 1 - player
            sampled["winner"] = wanted["winner"]
        assert sampled == wanted, game_name(game)
        assert state.observation(player, observation.opponent_actions) == observation
        assert belief.seat == player


@each_rules
def test_a_single_observation_is_enough(rules):
    """Without the past, all visible values are right, and others as far as the mana tells."""
    for game, player, observation, _, truth in battles(rules, step=3):
        belief = Belief(deck=DECK_BUILDERS["classic"])  # the default deck takes longer to build
        belief.see(observation)
        state = belief.sample(seed=5)
        state.validate()
        assert state.observation(player, observation.opponent_actions) == observation
        sampled = state.snapshot()
        if truth["p"][0]["maxMana"] < MAX_MANA and (observation.cards or belief.seat == player):
            assert sampled["turn"] == truth["turn"], game_name(game)
            assert [p["bonus"] for p in sampled["p"]] == [p["bonus"] for p in truth["p"]]
        other = [p[1 - player] for p in (sampled["p"], truth["p"])]
        assert len(other[0]["hand"]) == len(other[1]["hand"])


def test_the_seat_shows_before_the_battle_in_a_draft():
    match = Match("1.2", seed=3)
    for player in (0, 1):
        belief = Belief()
        belief.see(match.observation(player))
        assert belief.seat == player


# ------------------------------------------------------------------------------- what is hidden


@each_rules
def test_decks_hold_what_was_chosen_and_not_seen(rules):
    """The opponent's: two of a card at most, or one of each triplet."""
    for game, player, observation, belief, truth in battles(rules, step=3):
        left = truth["p"][player]["deck"]
        pairs = game["decks"][player]
        deck = [base_id for _, base_id in pairs[len(pairs) - left :]]
        samples = [belief.sample(seed).players for seed in (1, 2)]
        decks = [[item.card.base_id for item in views[player].deck] for views in samples]
        assert Counter(decks[0]) == Counter(decks[1]) == Counter(deck), game_name(game)
        assert observation.me.deck_size == left
        theirs = samples[0][1 - player]
        cards = [item.card.base_id for item in (*theirs.hand, *theirs.deck)]
        assert len(cards) == observation.opponent_hand + observation.opponent.deck_size
        if rules == "1.5":
            assert max(Counter(cards + belief.opponent_cards).values()) <= 2
        else:
            offers = [{row[0] for row in triplet} for triplet in game["cards"]]
            assert can_be_drafted(cards + belief.opponent_cards, offers), game_name(game)


def test_own_deck_is_shuffled():
    match = begun_match("1.5", seed=4)
    belief = believer(match, 0)
    top = Counter(belief.sample(seed).players[0].deck[0].card.base_id for seed in range(2000))
    deck = Counter(item.card.base_id for item in match.state.players[0].deck)
    for base_id, copies in deck.items():
        assert top[base_id] == pytest.approx(2000 * copies / 25, rel=0.35)


def can_be_drafted(cards: list[int], offers: list[set[int]]) -> bool:
    """Return whether there is a triplet for each card (bipartite matching)."""
    taken: dict[int, int] = {}  # triplet -> card number

    def assign(number: int, tried: set[int]) -> bool:
        for i in {i for i, offer in enumerate(offers) if cards[number] in offer} - tried:
            tried.add(i)
            if i not in taken or assign(taken[i], tried):
                taken[i] = number
                return True
        return False

    return all(assign(number, set()) for number in range(len(cards)))


@each_rules
def test_opponent_is_taken_to_choose_well(rules):
    match = begun_match(rules, seed=6)
    belief = believer(match, 0)
    score = card_score(rules)
    if rules == "1.5":
        offered = list(match.offers)
    else:
        offered = [card for triplet in match.offers for card in triplet]
    drawn = [item.card for seed in range(20) for item in belief.sample(seed).players[1].deck]
    worth = [score(card) for card in offered]
    assert mean(map(score, drawn)) > mean(worth) + 0.4 * stdev(worth)
    # Another prior can be passed, here one that prefers expensive cards.
    belief = believer(match, 0, Belief({rules: lambda card: 5.0 * card.cost}))
    dear = [item.card for seed in range(20) for item in belief.sample(seed).players[1].deck]
    assert mean(card.cost for card in dear) > mean(card.cost for card in offered) + 1


@each_rules
def test_samples_depend_on_observations_and_the_seed_only(rules):
    match = begun_match(rules, seed=8)
    state = match.state
    other = state.resample_hidden(0, seed=1)
    assert other != state
    assert other.observation(0) == state.observation(0)
    beliefs = [Belief(), Belief()]
    for belief, true_state in zip(beliefs, (state, other), strict=True):
        belief.see(true_state.observation(0))
    first, second = (belief.sample(3) for belief in beliefs)
    assert first == second
    assert first == beliefs[0].sample(3)
    assert first != beliefs[0].sample(4)


def test_a_small_offer_fills_all_places():
    cards = [Card(number, CardType.CREATURE, 1, 1, 1) for number in range(15)]
    match = Match(cards=cards, seed=1)
    belief = Belief()
    belief.see(match.observation(1))
    assert [match.submit(player, "PASS").error for player in (0, 1)] == [None, None]
    belief.chose(match.chosen[1])
    match.submit(0, "PASS")
    belief.see(match.observation(1))
    view = belief.sample(1).players[0]
    shown = Counter(item.card.base_id for item in (*view.hand, *view.deck))
    assert shown == Counter(2 * list(range(15)))


def test_nothing_to_sample_before_the_battle():
    belief = Belief()
    raises(ValueError, "nothing was observed", belief.sample, 1)
    raises(TypeError, r"^expected an Observation, got 'x'$", belief.see, "x")
    belief.see(Match(seed=1).observation(0))
    raises(ValueError, "before the battle", belief.sample, 1)


def believer(match: Match, player: int, belief: Belief | None = None) -> Belief:
    """Return the belief of a player who saw the offers of a match and is asked in the battle."""
    belief = belief or Belief()
    choices = Match(match.rules, params=match.params)
    while choices.phase == "choice":
        belief.see(choices.observation(player))
        choices.submit(0, "PASS")
        choices.submit(1, "PASS")
    belief.chose(choices.chosen[player])
    belief.see(match.observation(player))
    return belief


# --------------------------------------------------------------------------------- determinizer


CARDS = generate_cards(1)


def start() -> State:
    return State.new(CARDS[:30], CARDS[30:60], pool=CARDS)


def test_a_group_gives_its_copies_and_no_more():
    state = start()
    triplets = [(1, [(card, 1.0) for card in CARDS[i : i + 3]]) for i in range(0, 90, 3)]
    pairs = [(2, [(card, 1.0)]) for card in CARDS[:13]]
    determinizer = Determinizer(state, 0, [pairs, triplets])
    for seed in range(20):
        sampled = determinizer.sample(seed)
        sampled.validate()
        assert sampled.observation(0) == state.observation(0)
        me, op = sampled.players
        assert max(Counter(item.card.base_id for item in me.deck).values()) == 2
        taken = [item.card.base_id // 3 for item in (*op.hand, *op.deck)]
        assert sorted(taken) == list(range(30))


def test_weights_count():
    state = start()
    choices = [(1, [(CARDS[0], 3.0), (CARDS[1], 1.0)])]
    rest = [(1, [(card, 1.0)]) for card in CARDS[2:31]]
    determinizer = Determinizer(state, 1, [choices + rest, rest])
    samples = [determinizer.sample(seed).players[0] for seed in range(2000)]
    cards = [[item.card for item in (*view.hand, *view.deck)] for view in samples]
    share = mean(CARDS[0] in all_cards for all_cards in cards)
    assert share == pytest.approx(0.75, abs=0.04)
    # A card's place does not depend on its weight.
    first = mean(view.hand[0].card in CARDS[:2] for view in samples)
    assert first == pytest.approx(1 / 30, abs=0.015)


def exact_shares(groups, places):
    """Return the probability of each sequence of cards in the hidden places, by enumeration."""
    shares = Counter()

    def draw(left, cards, probability):
        if len(cards) == places:
            for order in permutations(cards):
                shares[order] += probability / factorial(places)
            return
        open_groups = [number for number, copies in enumerate(left) if copies]
        total = sum(weight for number in open_groups for _, weight in groups[number][1])
        for number in open_groups:
            after = [copies - (n == number) for n, copies in enumerate(left)]
            for card, weight in groups[number][1]:
                draw(after, [*cards, card], probability * weight / total)

    draw([copies for copies, _ in groups], [], 1.0)
    return shares


@pytest.mark.parametrize(
    ("groups", "places"),
    [
        ([(2, [(0, 3)]), (1, [(1, 2), (2, 6)]), (2, [(3, 1), (4, 2)])], 3),
        ([(1, [(0, 4)]), (1, [(1, 1)]), (1, [(2, 2), (3, 1)]), (2, [(4, 1)])], 4),
        # As many copies as places: the weights count within a group only.
        ([(1, [(0, 1), (1, 5)]), (2, [(2, 90)]), (1, [(3, 2), (4, 1), (5, 1)])], 4),
        # Nearly all draws meet a card that is gone.
        ([(1, [(0, 60000)]), (1, [(1, 300)]), (1, [(2, 2)]), (1, [(3, 1)])], 3),
    ],
)
def test_samples_have_the_exact_distribution(groups, places):
    pool = CARDS[: sum(len(group) for _, group in groups)]
    # The hand holds four cards, and a fifth is drawn before the first turn.
    state = State.new(CARDS[:10], CARDS[10 : 10 + places], pool=pool)
    fills = [(5, [(pool[0], 1.0)])]
    theirs = [(copies, [(pool[i], w) for i, w in group]) for copies, group in groups]
    determinizer = Determinizer(state, 0, [fills, theirs])
    views = (determinizer.sample(seed).players[1] for seed in range(20000))
    assert_shares((view.hand + view.deck for view in views), exact_shares(groups, places))


def test_samples_have_the_exact_distribution_after_draws():
    """There are fewer places then than copies, of which all were needed before."""
    groups = [(1, [(0, 1), (1, 5)]), (2, [(2, 90)]), (1, [(3, 2), (4, 1)]), (1, [(5, 40)])]
    state = State.new(CARDS[:10], CARDS[10:15], pool=CARDS[:6])
    mine = [(copies, [(CARDS[i], w) for i, w in group]) for copies, group in groups]
    worlds = Determinizer(state, 0, [mine, [(5, [(CARDS[0], 1.0)])]])
    assert len(worlds.sample(0).players[0].deck) == 5
    later = worlds.after([0, 0])
    decks = (later.sample(seed).players[0].deck for seed in range(20000))
    assert_shares(decks, exact_shares(groups, 4))


def assert_shares(samples, expected):
    """Assert that samples of hidden cards, the first ones of `CARDS`, have these probabilities."""
    numbers = {card: number for number, card in enumerate(CARDS)}
    found = Counter(tuple(numbers[item.card] for item in sample) for sample in samples)
    assert found.keys() <= expected.keys()
    assert p_of_shares(found, expected) > 1e-3


def p_of_shares(counts, expected):
    """Return the p-value of a chi-squared test; outcomes that are rare are put together."""
    from scipy import special  # slow to import

    total, value, cells = counts.total(), 0.0, 0
    rare = rare_count = 0.0
    for outcome, share in expected.items():
        if share * total < 5:
            rare += share * total
            rare_count += counts[outcome]
            continue
        value += (counts[outcome] - share * total) ** 2 / (share * total)
        cells += 1
    if rare > 1:
        value += (rare_count - rare) ** 2 / rare
        cells += 1
    return special.chdtrc(cells - 1, value)


def test_determinizer_names_what_is_wrong():
    state = start()
    enough = [(2, [(card, 1.0)]) for card in CARDS[:20]]
    stranger = cards_1x()[0]
    for mine, message in [
        (enough[:5], r"groups\[0\]: 10 cards for 25 hidden places"),
        ([*enough, (0, [(CARDS[1], 1.0)])], r"groups\[0\]\[20\]: copies: expected 1 to 255, got 0"),
        ([*enough, (1, [])], r"groups\[0\]\[20\]: no cards"),
        ([*enough, (1, [(CARDS[1], 0.0)])], r"groups\[0\]\[20\]: weight 0.0 is not positive"),
        ([*enough, (1, [(stranger, 1.0)])], r"groups\[0\]\[20\]: .* is not in the pool"),
        (enough * 13, r"groups\[0\]\[256\]: more than 256 cards"),
    ]:
        raises(ValueError, message, Determinizer, state, 0, [mine, enough])
    raises(ValueError, "player: expected 0 or 1, got 2", Determinizer, state, 2, [enough, enough])
    for weight in (0, 0.0, -1.0):  # of all cards alike
        group = [(60, [(CARDS[0], weight)])]
        message = r"^groups\[0\]\[0\]: weight .* is not positive"
        raises(ValueError, message, Determinizer, state, 0, [group, group])


def test_cards_of_our_own_deck_are_likelier():
    """An opponent who chooses from the same offer may well build the same deck."""
    cards = generate_cards(4)
    own = set(build_deck(cards))
    assert len(own) >= 15
    by_score = dict(attractions(cards, "1.5", card_score("1.5")))
    weights = dict(attractions(cards, "1.5"))
    assert max(weights.values()) == 1
    ratio = {card.base_id: weights[card] / by_score[card] for card in cards}
    others = [ratio[i] for i in ratio if i not in own]
    assert max(others) - min(others) < 1e-9 * max(others)
    assert min(ratio[i] for i in own) > max(others)


def test_no_deck_is_built_where_no_offer_was_seen(monkeypatch):
    """The card set is unknown then and changes with each new card, so decks cost most of a turn."""
    observation = start_position(3, "1.5").observation(0)
    seen, blind = Belief(), Belief()
    seen.see(Match("1.5", seed=3).observation(0))
    for belief in (seen, blind):
        belief.see(observation)
    monkeypatch.setattr("locmsim.search.belief.build_deck", None)
    blind.sample(1)
    with pytest.raises(TypeError):  # the deck of the offer
        seen.sample(1)


def test_nothing_is_guessed_before_it_is_sampled():
    """Computing what the opponent may hold takes longer than the rest of a turn, so it waits."""
    asked = []

    def rate(card: Card) -> float:
        asked.append(card)
        return 1.0

    match = Match(seed=3)
    belief = Belief({"1.5": rate})
    belief.see(match.observation(0))
    _ = match.submit(0, "PASS"), match.submit(1, "PASS")
    belief.chose(match.chosen[0])
    belief.see(match.observation(0))
    root = belief.root()
    assert asked == []
    sample = belief.sample(1)
    assert len(asked) == 120
    for state in (root, sample):
        assert state.observation(0) == match.observation(0)
        assert state.legal_actions() == match.state.legal_actions()
    belief.sample(2)
    assert len(asked) == 120
