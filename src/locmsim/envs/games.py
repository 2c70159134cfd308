"""The core of all environments: rows of episodes, and what they need from Python.

`Games` owns the compiled rows (`locmsim.envs._rows.Rows`), the arrays that they write into and the
threads that step them, and does for the rows what they cannot do without the interpreter. The
environments around it only translate to an interface.
"""

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from hashlib import sha256
from typing import Any, Literal

import numpy as np
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from locmsim._checks import MOST_ROWS, MOST_THREADS, player_number, whole
from locmsim._core import State, Table
from locmsim.agents import BeamAgent, make_agent
from locmsim.agents._scripted import SCRIPTED
from locmsim.contract import play_match
from locmsim.decks import build_deck
from locmsim.envs._row import BATTLES, CARD_SET, DECKS, SEARCH
from locmsim.envs._rows import Rows
from locmsim.envs._searcher import Searcher
from locmsim.envs.cards import (
    OFFER,
    Decks,
    as_offered,
    card_range,
    fixed,
    generated,
    generated_once,
    generated_table,
    indices_of,
    table_of,
)
from locmsim.envs.episode_match import EpisodeMatch
from locmsim.envs.options import HIDDEN_SIZE, Options
from locmsim.envs.players import Players, search_agent, searcher_of, show_choice
from locmsim.envs.rendering import battle_frame, battle_text, choice_frame, choice_text, show
from locmsim.envs.results import Results
from locmsim.envs.workers import Workers
from locmsim.errors import IllegalActionError
from locmsim.game.layouts import CHOICE, Layout, get_layout
from locmsim.game.params import effective_params
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import DECK_SIZE, RuleSet, get_rules
from locmsim.search.belief import prior

__all__ = ["Games"]

#: For another thread, and for an opponent that steps the environment that asks it.
_IN_USE = "the environment is being stepped or reset: only one thread may do so at a time"
#: Illegal actions that a message names.
_SHOWN = 10


class Games:
    """Rows of episodes and all that they need from Python.

    Parameters
    ----------
    n : int
        Number of rows.
    options : Options
    threads : int
        Threads that share the rows in `step`; results do not depend on it.
    autoreset : {"next", "same", "disabled"}
        When a row whose episode has ended begins the next one.
    final_obs : bool
        Whether `arrays` has the last observations of episodes, with "same".
    """

    #: The threads; no pickle has them.
    _workers: Workers | None = None
    #: Held by the thread that steps or resets; no pickle has it.
    _alone: threading.Lock
    #: The arrays that the rows write into.
    _bound: Mapping[str, NDArray[Any]] | None = None

    def __init__(
        self,
        n: int,
        options: Options,
        *,
        threads: int = 1,
        autoreset: Literal["next", "same", "disabled"] = "disabled",
        final_obs: bool = False,
    ) -> None:
        n = whole("num_envs", n, 1, MOST_ROWS)
        threads = whole("threads", threads, 1, MOST_THREADS)
        self.options = options
        self.rules: RuleSet = get_rules(options.rules)
        self.layout = options.observation_layout
        self.n = n
        self.threads = threads
        # A reward of the user's is shown the positions at which episodes ended.
        self._has_final = final_obs or (autoreset == "same" and callable(options.reward))
        #: Whether infos have the last observations of episodes.
        self.shows_final = final_obs and autoreset == "same"
        #: Card sets that resets were given, by what stands for their cardGenSeed.
        self._reset_sets: dict[int, tuple[Table, list[Card]]] = {}
        self._cards: list[Card] | None = None
        first_set, n_sets = 0, 0
        if self.rules.draft:
            self._table, self._cards = fixed(self.rules.name)
            first_set, n_sets = -1, 1
        elif options.cards is not None:
            self._table, self._cards = table_of(options.cards)
            first_set, n_sets = -1, 1
        elif options.card_sets is not None:
            first_set, n_sets = card_range(options.card_sets)
        #: Whether each episode has a card set of its own, which no other one asks for.
        self._sets_are_new = not n_sets
        win, deck_weight, raw, weights = options.rewards()
        #: Whether there is shaping, which `rewards_both` alone has for both seats.
        self.shaped = any(weights)
        battle = options.episode == "battle"
        #: What the numbers of the choice phase mean, None without one.
        self.choice_layout = None if battle else get_layout(CHOICE, self.rules.name)
        self._decks = Decks(options.decks, self.rules, battle)
        #: Whether decks may not fit the cards of an episode: `begin` fails then.
        self._may_refuse = not isinstance(options.decks, str)
        size = len(self._cards) if self._cards is not None else OFFER
        self.rows = Rows(
            n,
            {
                "rules": self.rules.name,
                "episode": options.episode,
                "layout": options.layout,
                "seat": options.seat,
                "illegal": options.illegal,
                "autoreset": autoreset,
                "max_actions": options.max_actions,
                "decks": self._decks.source,
                "choosers": self._decks.sources,
                "battles": options.battles,
                "win": win,
                "gamma": options.gamma,
                "raw_potentials": raw,
                "shaping": weights,
                "first_set": first_set,
                "n_sets": n_sets,
                "refresh": options.refresh,
                "find_set": generated_table,
                "n_cards": size,
                "allowed": list(range(size)),
            },
        )
        #: What episodes that have ended come to.
        self.results = Results(self, deck_weight)
        #: Whether rows have begun.
        self._begun = False
        #: Whether `check` has to look: before the first episodes, and once what Python does for a
        #: row has raised an exception.
        self.failed = True
        self._alone = threading.Lock()
        #: The player of the other seat.
        self.players = Players(self, options.opponent)
        #: The players of a choice's battles: agents run as compiled searches or in Python.
        self._battlers: list[Any] = [None, None]
        if options.episode == "choice":
            self._set_battlers(options.battlers)

    def _set_battlers(self, texts: Sequence[str]) -> None:
        kinds: list[Any] = []
        known: dict[str, Any] = {}
        for text in texts:
            agent = search_agent(text)
            if agent is not None:
                known.setdefault(text, searcher_of(agent, self.rules.name))
            kinds.append(SCRIPTED.get(text, -1) if agent is None else known[text])
            self._battlers[len(kinds) - 1] = agent
        if -1 in kinds:
            kinds = [-1, -1]
            self._battlers = [search_agent(text) or make_agent(text) for text in texts]
        self.rows.players.set_battlers(kinds)
        self._searches = [kind if isinstance(kind, Searcher) else None for kind in kinds]

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value
            for name, value in self.__dict__.items()
            if name not in ("_workers", "_bound", "_alone")
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._alone = threading.Lock()
        if "arrays" in state:
            self.bind()

    # ----------------------------------------------------------------------------------- arrays

    @property
    def observation_shape(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Shape and type of an observation."""
        size = 0 if self.options.episode == "choice" else self.layout.shape[0]
        if self.choice_layout is not None:
            size += self.choice_layout.shape[0]
        dtype = np.dtype(np.int8) if self.options.episode == "choice" else self.layout.dtype
        return (size,), dtype

    @cached_property
    def shapes(self) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
        """Shape and type of each array that rows can write into, by name."""
        n = self.n
        shape, dtype = self.observation_shape
        flag, byte, real = (np.dtype(kind) for kind in (np.bool_, np.int8, np.float32))
        return {
            "obs": ((n, *shape), dtype),
            "masks": ((n, self.rows.n_actions), byte),
            "rewards": ((n,), real),
            "rewards_both": ((n, 2), real),
            "terminated": ((n,), flag),
            "truncated": ((n,), flag),
            "to_move": ((n,), byte),
            "acted": ((n,), byte),
            "winner": ((n,), byte),
            "length": ((n,), np.dtype(np.int32)),
            "final_obs": ((n, *shape), dtype),
            "state": ((n, HIDDEN_SIZE), byte),
        }

    @cached_property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The environment's own arrays: what `Rows.bind` takes, as far as it is needed."""
        left = {"winner", "length"}
        if not self._has_final:
            left.add("final_obs")
        if not self.options.privileged:
            left.add("state")
        return {name: np.zeros(*kind) for name, kind in self.shapes.items() if name not in left}

    def bind(self, arrays: Mapping[str, NDArray[Any]] | None = None) -> bool:
        """Have the rows write into these arrays, or into `arrays` of this object.

        Parameters
        ----------
        arrays : mapping, optional
            Name -> array, as in `shapes`.

        Returns
        -------
        bool
            Whether the rows wrote into others before.

        Raises
        ------
        ValueError
            For an array that does not fit.
        """
        wanted = self.arrays if arrays is None else arrays
        if self.results.pays and ("rewards" in wanted or "rewards_both" in wanted):
            wanted = {**self.arrays, **wanted}  # what completes the rewards is shown all arrays
        bound = self._bound
        if bound is wanted or (
            bound is not None
            and bound.keys() == wanted.keys()
            and all(bound[name] is array for name, array in wanted.items())
        ):
            return False
        for name, array in wanted.items():
            shape, dtype = self.shapes[name]
            byte = dtype.itemsize == 1 and array.dtype.kind in "iub" and array.itemsize == 1
            if not (array.dtype == dtype or byte) or array.shape != shape:
                raise ValueError(
                    f"{name}: expected {dtype} of shape {shape}, got {array.dtype} {array.shape}"
                )
        self.rows.bind(**wanted)
        self._bound = wanted
        return True

    def observed(self, copy: bool = True) -> Any:
        """Return the caller's view of `arrays` in the form of the observation space.

        Parameters
        ----------
        copy : bool
            Whether the arrays are copied.

        Returns
        -------
        array, or dict of arrays
        """
        seen = self.arrays["obs"].copy() if copy else self.arrays["obs"]
        if self.options.mask == "info":
            return seen
        views = {"observation": seen}
        for name, array in (("action_mask", "masks"), ("state", "state")):
            if array in self.arrays:
                views[name] = self.arrays[array].copy() if copy else self.arrays[array]
        return views

    # ----------------------------------------------------------------------------- what is shown

    @property
    def shown_layout(self) -> Layout:
        """What the numbers of an observation mean, in the battle if there is one."""
        if self.options.episode == "choice":
            assert self.choice_layout is not None
            return self.choice_layout
        return self.layout

    def cards(self, row: int) -> list[Card]:
        """Return the cards of a row's set, by ascending base id.

        Parameters
        ----------
        row : int
            The number of the row.
        """
        return self.set_of(self.rows.card_sets.seed(row))[1]

    def set_of(self, seed: int) -> tuple[Table, list[Card]]:
        """Return the cards of a cardGenSeed, or those shared by all episodes.

        Parameters
        ----------
        seed : int
            A cardGenSeed.

        Returns
        -------
        table, list of Card
            Compiled, and by ascending base id.
        """
        if self._cards is not None:
            return self._table, self._cards
        make = generated_once if self._sets_are_new else generated
        return self._reset_sets.get(seed) or make(seed)

    def _choice_of(self, row: int) -> tuple[list[Card], list[Card]]:
        """The cards that the player to move may pick, and those that they have chosen."""
        cards, picked = self.cards(row), self.rows.views.picked(row, self.rows.views.mover(row))
        offer: Sequence[int] = range(len(cards))
        if self.rules.draft:
            offer = self.rows.card_sets.offers(row)[len(picked)] if len(picked) < DECK_SIZE else []
        return [cards[i] for i in offer], [cards[i] for i in picked]

    def text(self, row: int) -> str:
        """Return the learner's view of a row as text; in self-play, that of the player to move.

        Parameters
        ----------
        row : int
            The number of the row.
        """
        if self.rows.views.phase(row) == "choice":
            return choice_text(*self._choice_of(row))
        return battle_text(self.rows.views.state(row), self._viewer(row))

    def frame(self, row: int) -> NDArray[np.uint8]:
        """Return the same view as a picture.

        Parameters
        ----------
        row : int
            The number of the row.

        Returns
        -------
        uint8 array (600, 800, 3)
        """
        if self.rows.views.phase(row) == "choice":
            return choice_frame(self.rules.name, *self._choice_of(row))
        return battle_frame(self.rows.views.state(row), self._viewer(row))

    def shown(self, row: int, mode: str | None) -> Any:
        """Return the output of `render` for a row in a mode, see `rendering.show`.

        Parameters
        ----------
        row : int
            The number of the row.
        mode : {"ansi", "human", "rgb_array"}, optional

        Returns
        -------
        str, array or None
        """
        return show(mode, partial(self.text, row), partial(self.frame, row))

    def movers(self) -> NDArray[np.int8]:
        """Return the player to move in each row; the caller's seat where they have one.

        Returns
        -------
        int8 array (n,)
        """
        out = np.empty(self.n, np.int8)
        self.rows.views.movers(out)
        return out

    def masks(self) -> NDArray[np.bool_]:
        """Return the legal actions of each row.

        Returns
        -------
        bool array (n, actions)
        """
        out = np.empty((self.n, self.rows.n_actions), np.bool_)
        self.rows.views.masks(out)
        return out

    def sample(self, seed: int) -> NDArray[np.int64]:
        """Return a uniformly random legal action for each row.

        Parameters
        ----------
        seed : int
            64 bits.

        Returns
        -------
        int64 array (n,)
        """
        out = np.empty(self.n, np.int64)
        self.rows.sample(seed, out)
        return out

    def _viewer(self, row: int) -> int:
        seat = self.rows.views.seat(row)
        return self.rows.views.turn(row) & 1 if seat < 0 else seat

    # ----------------------------------------------------------------------------------- stepping

    def step(self, actions: Any) -> int:
        """Step all rows by actions of the caller.

        After an exception the rows go on waiting for what raised it, and `check` refuses to step.

        Parameters
        ----------
        actions : int64 array (n,)

        Returns
        -------
        int
            The number of rows that did more than to take an action, plus 2^32 times the number
            of those that waited for Python.

        Raises
        ------
        ResetNeeded
            Before the first reset, or if rows still wait for an opponent that raised an exception.
        IllegalActionError
            With ``illegal="raise"``. Nothing was applied.
        RuntimeError
            While another thread steps or resets the rows.
        """
        array = self._actions(actions)
        if not self._alone.acquire(False):
            raise RuntimeError(_IN_USE)
        try:
            return self._step(array)
        finally:
            self._alone.release()

    def _step(self, array: NDArray[np.int64]) -> int:
        if self.failed:
            self.check()
        if self.options.illegal == "raise" and (bad := self.rows.bad_rows(array)):
            shown = ", ".join(f"row {i}: {array[i]}" for i in bad[:_SHOWN])
            raise IllegalActionError(f"illegal actions, nothing was applied; {shown}")
        if self._workers is None:
            self._workers = Workers(self.rows, self.threads)
        try:
            special = self._workers.run(array)
        except BaseException:
            self.failed = True
            raise
        if special >> 32:  # rows that wait
            self._serve_all(None)
        if self.results.pays and self._bound and "rewards" in self._bound:
            self.results.pay(self._bound)
        return special

    def _actions(self, actions: Any) -> NDArray[np.int64]:
        """Actions as the array that they have to be."""
        if not isinstance(actions, np.ndarray) or actions.dtype != np.int64:
            array = np.asarray(actions)
            if array.dtype.kind not in "iu":
                raise TypeError(f"actions: expected integers, got {array.dtype}")
            actions = array.astype(np.int64)
        if actions.shape != (self.n,):
            raise ValueError(f"actions: expected shape ({self.n},), got {actions.shape}")
        return np.ascontiguousarray(actions)

    def check_rewards(self) -> None:
        """Raise ``ValueError`` if there is shaping and the caller plays both seats."""
        if self.shaped and self.players.has_caller_twice():
            raise ValueError(
                "rewards: where the caller plays both seats, shaping is in rewards_both only: call"
                " step_into with rewards_both, and without rewards"
            )

    def check_alone(self) -> None:
        """Raise ``RuntimeError`` while a thread steps or resets the rows."""
        if self._alone.locked():
            raise RuntimeError(_IN_USE)

    def check(self) -> None:
        """Raise ``ResetNeeded`` before the first episodes and after an opponent's exception.

        Rows may still wait for that opponent: no action of the caller's must be played for somebody
        else.
        """
        if self.failed:
            asked, others = self.rows.requests.waiting()
            waiting = sorted([row for row, _ in others] + [i for r in asked.values() for i in r])
            if waiting:
                raise ResetNeeded(
                    f"the opponent's turn was broken off by an exception in"
                    f" row{'s' * (len(waiting) > 1)} {', '.join(map(str, waiting))}: reset"
                )
            if not self._begun:
                raise ResetNeeded("no episode is running: call reset first")
            self.failed = False

    def close(self) -> None:
        """End the threads; another step starts them again."""
        if self._workers is not None:
            self._workers.close()

    # ----------------------------------------------------------------------- what rows wait for

    def serve(self, rows: NDArray[np.int64] | None = None) -> None:
        """Do what all rows wait for, or some, until they wait for nothing.

        Rows that want the same player are asked together. After an exception, of an opponent say,
        the rows go on waiting: `check` refuses them.

        Parameters
        ----------
        rows : int64 array, optional
            By default all.
        """
        if not self._alone.acquire(False):
            raise RuntimeError(_IN_USE)
        try:
            self._serve_all(rows)
        finally:
            self._alone.release()

    def _serve_all(self, rows: NDArray[np.int64] | None) -> None:
        try:
            while True:
                asked, others = self.rows.requests.waiting(rows)
                if not asked and not others:
                    return
                for row, what in others:
                    self._serve(row, what)
                for slot, waiting in asked.items():
                    self.players.external[slot].play(self, waiting)
                # Only those may wait for more.
                served = [*asked.values(), *([np.array([r for r, _ in others])] if others else ())]
                rows = served[0] if len(served) == 1 else np.concatenate(served)
        except BaseException:
            self.failed = True
            raise

    def _serve(self, row: int, what: int) -> None:
        """Do one thing that a row waits for, and let it go on."""
        if what == CARD_SET:
            self._give_set(row)
        elif what == DECKS:
            self.rows.requests.give_decks(row, self._choose_decks(row))
        elif what == SEARCH:
            self.search(row)
        elif what == BATTLES:
            self._play_battles(row)
        self.rows.requests.resume(row)

    def search(self, row: int) -> None:
        """Play the turn of a row's opponent that searches.

        Parameters
        ----------
        row : int
            The number of the row.
        """
        if not self.rows.requests.search(row):
            self._give_set(row)
            agent = self.players.agents[self.rows.views.opponent(row)]
            self._give_prior(row, self.rows.players.searcher(row), agent)
            self.rows.requests.search(row)

    def _play_battles(self, row: int) -> None:
        """Play the battles of the decks that have been chosen in a row."""
        if self.rows.requests.play_battles(row):
            return
        if all(isinstance(kind, int) and kind < 0 for kind in self.rows.players.battlers):
            self.rows.requests.end_battles(row, self._battles_of_agents(row))
            return
        self._give_set(row)
        for searcher, agent in zip(self._searches, self._battlers, strict=True):
            if searcher is not None:
                self._give_prior(row, searcher, agent)
        self.rows.requests.play_battles(row)

    def _battles_of_agents(self, row: int) -> list[int]:
        rows, names = self.rows, self.rules.seed_names
        seed, seeds = rows.views.seeds(row)
        decks, offers = (
            rows.views.decks(row),
            rows.card_sets.offers(row) if self.rules.draft else [],
        )
        agents = self._battlers[::-1] if rows.views.seat(row) == 1 else self._battlers
        winners = []
        for shuffles, seeds_of_agents in rows.requests.draw_battles(row):
            match = self.match_of(
                seed, [*seeds[: len(names) - 2], *shuffles], decks, offers
            ).match()
            shown = [offer for offer in match.offers if isinstance(offer, list)]
            shown = shown or [[card for card in match.offers if isinstance(card, Card)]]
            for player, agent in enumerate(agents):
                agent.reset(seeds_of_agents[player])
                show_choice(agent, match.rules, shown, player, match.chosen[player])
            winner = play_match(match, agents).winner
            winners.append(-1 if winner is None else winner)
        return winners

    def _give_set(self, row: int) -> None:
        if not self.rows.card_sets.has(row):
            table, cards = self.set_of(self.rows.card_sets.seed(row))
            self.rows.card_sets.give(row, table, self._decks.of_set(cards))

    def _give_prior(self, row: int, searcher: Searcher, agent: BeamAgent) -> None:
        """Tell a searcher which cards of a row's set others are expected to choose."""
        slot, key = self.rows.requests.wanted_prior(row)
        score, builder, _ = prior(self.rules.name, *agent.prior(self.rules.name))
        cards = self.cards(row)
        copies = None
        if builder is not None:
            deck = Counter(build_deck(as_offered(cards), builder))
            copies = np.array([deck[card.base_id] for card in cards], np.uint8)
        searcher.give(slot, key, np.array([*map(score, cards)], np.float64), copies)

    def _choose_decks(self, row: int) -> list[list[int]]:
        """Decks of a row's cards where Python chooses, as indices; [] for the caller's."""
        cards, offers = self.cards(row), self._offers(row)
        if self.options.episode == "battle":
            return self._decks.drawn(
                cards, offers, np.random.default_rng(self.rows.requests.draw(row))
            )
        other = 1 - self.rows.views.seat(row)
        deck = self._decks.drawn_for(other, cards, offers, lambda: self.rows.requests.draw(row))
        return [deck if player == other else [] for player in range(2)]

    def _offers(self, row: int) -> list[list[int]] | None:
        return self.rows.card_sets.offers(row) if self.rules.draft else None

    def match_of(self, seed: int, seeds: list[int], decks: Any, triplets: Any) -> EpisodeMatch:
        """Return the match of these seeds, decks and offers.

        Parameters
        ----------
        seed : int
            That of the match.
        seeds : list of int
            Those derived from it.
        decks, triplets
            Decks and, in a draft, offers, as indices into the cards.
        """
        listed = self.options.cards is not None or seeds[0] in self._reset_sets
        cards = self.set_of(seeds[0])[1]
        return EpisodeMatch(self.rules.name, (seed, seeds, decks, triplets), cards, listed)

    # ---------------------------------------------------------------------------------- episodes

    def begin(
        self,
        rows: int | Sequence[int],
        seeds: Any = None,
        options: Any = None,
    ) -> None:
        """Begin an episode in a row, or in each of several.

        Parameters
        ----------
        rows : int or sequence of int
        seeds : int, or sequence of them
            For each of these rows the 64 bits that everything random in it follows from; None goes
            on with what it has.
        options : mapping, or sequence of mappings
            For each of these rows ``match``: parameters of the referee; ``cards``: a card list
            (1.5); ``decks``: two decks in order of choice, as base ids; ``state``: a `State`;
            ``seat``: 0 or 1; ``player``: the name of the opponent.

        Raises
        ------
        ValueError
            For a value that cannot be used. All rows are as they were before.
        """
        if not self._alone.acquire(False):
            raise RuntimeError(_IN_USE)
        try:
            if not isinstance(rows, int):
                self._begin_all(rows, seeds or (None,) * len(rows), options)
            elif options or self._may_refuse:
                self._begin_all((rows,), (seeds,), (options,))
            else:
                self._begin(rows, seeds, None)
        finally:
            self._alone.release()
        self._begun = True

    def _begin_all(
        self,
        rows: Sequence[int],
        seeds: Sequence[int | None],
        options: Sequence[Mapping[str, Any]] | None,
    ) -> None:
        kept = []
        try:
            for i, row in enumerate(rows):
                wanted = options[i] if options else None
                if wanted or self._may_refuse:
                    kept.append((row, self.rows.resets.kept(row)))
                self._begin(row, seeds[i], wanted)
        except BaseException:
            for row, before in kept:
                self.rows.resets.put_back(row, before)
            raise
        if self.n > 1:
            for name in ("terminated", "truncated", "rewards"):  # nothing has ended in these rows
                self.arrays[name][rows] = 0

    def _begin(self, row: int, seed: int | None, wanted: Mapping[str, Any] | None) -> None:
        if not wanted:
            if self.rows.begin(row, seed):
                self._serve_all(np.array([row]))
            return
        seat = wanted.get("seat")
        if seat is not None:
            seat = player_number(seat, "seat")
        player = self.players.slot(wanted["player"]) if "player" in wanted else None
        for name in ("decks", "state"):
            if name in wanted and self.options.episode != "battle":
                raise ValueError(f"{name}: episodes that begin with a choice take none")
        if seed is not None:
            self.rows.seed(row, seed)
        self.rows.resets.draw(row, seat, player)
        if "state" in wanted:
            self._begin_at(row, wanted)
        else:
            if "match" in wanted or "cards" in wanted:
                self._set_match(row, wanted)
            decks = self._wanted_decks(row, wanted["decks"]) if "decks" in wanted else None
            self.rows.resets.begin(row, decks)
        self._serve_all(np.array([row]))

    def _begin_at(self, row: int, wanted: Mapping[str, Any]) -> None:
        """Begin an episode at a position."""
        if others := sorted({"match", "cards", "decks"} & wanted.keys()):
            raise ValueError(f"{others[0]}: does not go together with state")
        if not isinstance(wanted["state"], State):
            raise ValueError(f"state: expected a State, got {wanted['state']!r}")
        self.rows.resets.begin_at(row, wanted["state"])

    def _set_match(self, row: int, wanted: Mapping[str, Any]) -> None:
        """Set the seeds of a row's match, and its cards."""
        seed, seeds = self._seeds(row, wanted)
        table, cards = self.set_of(seeds[0])
        self.rows.resets.set_seeds(row, seed, seeds)
        self.rows.card_sets.give_own(row, table, self._decks.of_set(cards))

    def _wanted_decks(self, row: int, decks: Any) -> list[list[int]]:
        """Return two decks of base ids as indices into a row's cards."""
        if not isinstance(decks, Sequence | np.ndarray):
            raise ValueError(f"decks: expected two, got {decks!r}")
        if len(decks) != 2:
            raise ValueError(f"decks: expected two, got {len(decks)}")
        return [indices_of(deck, self.cards(row), self.rules) for deck in decks]

    def _seeds(self, row: int, wanted: Mapping[str, Any]) -> tuple[int, list[int]]:
        """Return the seeds of a match; missing ones are derived from the row's seed."""
        seed, seeds = self.rows.views.seeds(row)
        params = wanted.get("match")
        if params is not None:
            if not isinstance(params, Mapping):
                raise ValueError(f"match: expected a mapping of seeds, got {params!r}")
            effective = effective_params(self.rules, None, {"seed": seed, **params})
            if set(params) - {"seed", *self.rules.seed_names}:
                raise ValueError(f"match: expected seeds only, got {', '.join(params)}")
            seed = int(effective["seed"])
            seeds = [int(effective[name]) for name in self.rules.seed_names]
        if "cards" in wanted:
            seeds[0] = self._keep_cards(wanted["cards"])
        return seed, seeds

    def _keep_cards(self, cards: Any) -> int:
        """Keep a card list for the episodes that have it; what stands for its cardGenSeed."""
        if self._cards is not None:
            raise ValueError("cards: all episodes of this environment have the same ones")
        table, found = table_of(cards)
        if len(found) != OFFER:
            raise ValueError(f"cards: expected {OFFER} in a reset, got {len(found)}")
        digest = sha256(repr([card.to_row() for card in found]).encode()).digest()
        key = -1 - int.from_bytes(digest[:7], "little")
        if len(self._reset_sets) > 2 * self.n:  # some are of no episode any more
            used = {self.rows.card_sets.seed(i) for i in range(self.n)}
            last = [self.rows.views.result(i).match for i in range(self.n)]
            used.update(seeds[0] for _, seeds, _, _ in filter(None, last))
            self._reset_sets = {one: kept for one, kept in self._reset_sets.items() if one in used}
        self._reset_sets.setdefault(key, (table, found))
        return key
