"""What rows wait for, done in Python: card sets, decks, searches, battles, and asking players."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from locmsim.agents import BeamAgent, make_agent
from locmsim.agents._scripted import SCRIPTED
from locmsim.contract import play_match
from locmsim.decks import build_deck
from locmsim.envs._row import BATTLES, BY_PYTHON, CARD_SET, DECKS, SEARCH
from locmsim.envs._rows import Rows
from locmsim.envs._searcher import Searcher
from locmsim.envs.asked import search_agent, searcher_of, show_choice
from locmsim.envs.cards import as_offered
from locmsim.envs.episodes import Episodes
from locmsim.envs.players import Players
from locmsim.search.belief import prior


class Serving:
    """Does what the rows of some episodes wait for.

    Parameters
    ----------
    episodes : Episodes
    players : Players
        Those of the episodes.
    """

    def __init__(self, episodes: Episodes, players: Players) -> None:
        self._episodes = episodes
        self._players = players
        #: The players of a choice's battles: agents run as compiled searches or in Python.
        self._battlers: list[Any] = [None, None]
        self._searches: list[Searcher | None] = [None, None]
        if episodes.options.episode == "choice":
            self._set_battlers(episodes.options.battlers)

    @property
    def _rows(self) -> Rows:
        return self._episodes.rows

    def _set_battlers(self, texts: Sequence[str]) -> None:
        kinds: list[Any] = []
        known: dict[str, Any] = {}
        for text in texts:
            agent = search_agent(text)
            if agent is not None:
                known.setdefault(text, searcher_of(agent, self._episodes.rules.name))
            kinds.append(SCRIPTED.get(text, BY_PYTHON) if agent is None else known[text])
            self._battlers[len(kinds) - 1] = agent
        if BY_PYTHON in kinds:
            kinds = [BY_PYTHON, BY_PYTHON]
            self._battlers = [search_agent(text) or make_agent(text) for text in texts]
        self._rows.players.set_battlers(kinds)
        self._searches = [kind if isinstance(kind, Searcher) else None for kind in kinds]

    # --------------------------------------------------------------------------------- requests

    def serve(self, rows: NDArray[np.int64] | None) -> None:
        """Do what these rows wait for, or all, until they wait for nothing.

        Rows that want the same player are asked together. The caller sees to it that nobody else
        steps the rows meanwhile.
        """
        while True:
            asked, others = self._rows.requests.waiting(rows)
            if not asked and not others:
                return
            for row, what in others:
                self._serve(row, what)
            for slot, waiting in asked.items():
                self._players.external[slot].play(self._episodes, waiting)
            # Only those may wait for more.
            served = [*asked.values(), *([np.array([r for r, _ in others])] if others else ())]
            rows = served[0] if len(served) == 1 else np.concatenate(served)

    def _serve(self, row: int, what: int) -> None:
        """Do one thing that a row waits for, and let it go on."""
        if what == CARD_SET:
            self._give_set(row)
        elif what == DECKS:
            self._rows.requests.give_decks(row, self._choose_decks(row))
        elif what == SEARCH:
            self.search(row)
        elif what == BATTLES:
            self._play_battles(row)
        self._rows.requests.resume(row)

    def search(self, row: int) -> None:
        """Play the turn of a row's opponent that searches.

        Parameters
        ----------
        row : int
            The number of the row.
        """
        if not self._rows.requests.search(row):
            self._give_set(row)
            agent = self._players.agents[self._rows.views.opponent(row)]
            self._give_prior(row, self._rows.players.searcher(row), agent)
            self._rows.requests.search(row)

    def _play_battles(self, row: int) -> None:
        """Play the battles of the decks that have been chosen in a row."""
        if self._rows.requests.play_battles(row):
            return
        if self._rows.players.battlers == [BY_PYTHON, BY_PYTHON]:
            self._rows.requests.end_battles(row, self._battles_of_agents(row))
            return
        self._give_set(row)
        for searcher, agent in zip(self._searches, self._battlers, strict=True):
            if searcher is not None:
                self._give_prior(row, searcher, agent)
        self._rows.requests.play_battles(row)

    def _battles_of_agents(self, row: int) -> list[int]:
        rows, names = self._rows, self._episodes.rules.seed_names
        seed, seeds = rows.views.seeds(row)
        decks, offers = rows.views.decks(row), self._offers(row)
        agents = self._battlers[::-1] if rows.views.seat(row) == 1 else self._battlers
        shown, winners = self._episodes.offers(row), []
        for shuffles, seeds_of_agents in rows.requests.draw_battles(row):
            match = self._episodes.match_of(
                seed, [*seeds[: len(names) - 2], *shuffles], decks, offers
            ).match()
            for player, agent in enumerate(agents):
                agent.reset(seeds_of_agents[player])
                show_choice(agent, match.rules, shown, player, match.chosen[player])
            winner = play_match(match, agents).winner
            winners.append(-1 if winner is None else winner)
        return winners

    def _give_set(self, row: int) -> None:
        if not self._rows.card_sets.has(row):
            table, cards = self._episodes.sets.of(self._rows.card_sets.seed(row))
            self._rows.card_sets.give(row, table, self._episodes.decks.of_set(cards))

    def _give_prior(self, row: int, searcher: Searcher, agent: BeamAgent) -> None:
        """Tell a searcher which cards of a row's set others are expected to choose."""
        slot, key = self._rows.requests.wanted_prior(row)
        score, builder, _ = prior(
            self._episodes.rules.name, *agent.prior(self._episodes.rules.name)
        )
        cards = self._episodes.cards(row)
        copies = None
        if builder is not None:
            deck = Counter(build_deck(as_offered(cards), builder))
            copies = np.array([deck[card.base_id] for card in cards], np.uint8)
        searcher.give(slot, key, np.array([*map(score, cards)], np.float64), copies)

    def _choose_decks(self, row: int) -> list[list[int]]:
        """Decks of a row's cards where Python chooses, as indices; [] for the caller's."""
        cards, offers = self._episodes.cards(row), self._offers(row)
        if self._episodes.options.episode == "battle":
            return self._episodes.decks.drawn(
                cards, offers, np.random.default_rng(self._rows.requests.draw(row))
            )
        other = 1 - self._rows.views.seat(row)
        deck = self._episodes.decks.drawn_for(
            other, cards, offers, lambda: self._rows.requests.draw(row)
        )
        return [deck if player == other else [] for player in range(2)]

    def _offers(self, row: int) -> list[list[int]] | None:
        return self._rows.card_sets.offers(row) if self._episodes.rules.draft else None
