"""How cards are chosen, by name: what the options ``deck`` and ``draft`` of all agents may be.

===========================  ==================================================================
``classic``                  a name of `locmsim.decks.DECK_BUILDERS` or `DRAFT_PICKERS`
``random``                   random cards, by the seed of the game
``policy:path=choice.npz``   a trained policy of the layout "choice": a file that
                             `locmsim.policy.load_policy` loads; also ``,rules=1.2,layout=choice``
``mydeck.py:build``          a function of a file or module, or a class whose objects are called
===========================  ==================================================================

A function for ``deck`` takes the offered cards and returns 30 base ids; one for ``draft`` takes the
offered cards, those picked before and the rule set, and returns the index of a card.

    >>> from locmsim.agents import make_agent
    >>> agent = make_agent("greedy:deck=random")
"""

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from locmsim.agents.policies import cached_for_file, load_as_option
from locmsim.decks import DECK_BUILDERS, DRAFT_PICKERS, DeckBuilder, DraftPicker
from locmsim.options.checks import OptionError
from locmsim.options.texts import did_you_mean, make, read_options
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE
from locmsim.support.plugins import Registry

__all__ = ["RANDOM", "deck_builder_of", "draft_picker_of", "is_foreign_chooser"]

#: The name of random cards.
RANDOM = "random"
_POLICY = "policy"


class _Kind(NamedTuple):
    """The ways to choose cards that an option may name."""

    named: Mapping[str, Any]
    at_random: Callable[..., Any]
    #: Functions of files and modules.
    registry: Registry


def deck_builder_of(deck: str | DeckBuilder, rng: random.Random | None = None) -> DeckBuilder:
    """Return what builds the decks of 1.5.

    Parameters
    ----------
    deck : str or function
        As the option ``deck`` of agents.
    rng : random.Random, optional
        Where random decks come from.

    Raises
    ------
    ValueError
        For a text that says no way to build decks.
    """
    found: DeckBuilder = _chooser_of("deck", deck, rng)
    return found


def draft_picker_of(draft: str | DraftPicker, rng: random.Random | None = None) -> DraftPicker:
    """Return what picks the cards of a draft.

    Parameters
    ----------
    draft : str or function
        As the option ``draft`` of agents.
    rng : random.Random, optional
        Where random picks come from.

    Raises
    ------
    ValueError
        For a text that says no way to pick cards.
    """
    found: DraftPicker = _chooser_of("draft", draft, rng)
    return found


def is_foreign_chooser(text: str) -> bool:
    """Return whether a text names code that is not part of the library; nothing is imported.

    Parameters
    ----------
    text : str
        As the option ``deck`` or ``draft`` of agents.
    """
    if ".py:" in text:
        return True
    if _is_named(text) or text.partition(":")[0] == _POLICY:
        return False
    registries = (kind.registry for kind in _KINDS.values())
    return any(one.describes(text) and one.is_foreign(text) for one in registries)


def _is_named(text: str) -> bool:
    return text in {*DECK_BUILDERS, *DRAFT_PICKERS, RANDOM}


def _random_deck(rng: random.Random, cards: Sequence[Card]) -> list[int]:
    copies = [card.base_id for card in cards] * COPIES_PER_CARD
    return rng.sample(copies, DECK_SIZE)


def _random_pick(
    rng: random.Random, offer: Sequence[Card], picked: Sequence[Card], rules: str
) -> int:
    return rng.randrange(len(offer))


#: Option -> what it may be.
_KINDS = {
    "deck": _Kind(
        DECK_BUILDERS, _random_deck, Registry("deck builder", "locmsim.deck_builders", {})
    ),
    "draft": _Kind(
        DRAFT_PICKERS, _random_pick, Registry("draft picker", "locmsim.draft_pickers", {})
    ),
}


def _chooser_of(option: str, value: Any, rng: random.Random | None) -> Any:
    """Return what chooses cards by the value of an option."""
    named, at_random, _ = _KINDS[option]
    if not isinstance(value, str):
        return value
    if value in named:
        return named[value]
    return partial(at_random, rng or random.Random()) if value == RANDOM else _found(option, value)


def _found(option: str, text: str) -> Any:
    """Return the policy or the function of a text."""
    kind, _, options = text.partition(":")
    if kind != _POLICY:
        return cached_for_file(text, _function, option)
    path, rules, layout = _policy_of(option, options)
    return cached_for_file(path, _chooser, option, rules, layout)


def _function(text: str, option: str) -> Any:
    named, _, registry = _KINDS[option]
    if not registry.describes(text):
        known = (*named, RANDOM)
        raise OptionError(
            option,
            f"expected one of {', '.join(known)}, policy:path=FILE or file.py:NAME,"
            f" got {text!r}{did_you_mean(text, known)}",
        )
    try:
        name, options = registry.split(text)
        found: Callable[..., Any] = registry.find(name)
        if isinstance(found, type) or options:
            found = make(name, found, read_options(name, options))
    except ValueError as error:
        raise OptionError(option, error) from None
    if not callable(found):
        raise OptionError(option, f"{text}: expected a function, got {found!r}")
    return found


def _policy_of(option: str, texts: str) -> tuple[str, str, str]:
    """Return the path, rule set and layout that the options of a policy name."""
    values = {"path": "", "rules": "", "layout": "", **read_options(option, texts)}
    if unknown := values.keys() - {"path", "rules", "layout"}:
        name = min(unknown)
        raise OptionError(option, f"unknown option {name!r}, expected path, rules, layout")
    return values["path"], values["rules"], values["layout"]


def _chooser(path: str, option: str, rules: str, layout: str) -> Any:
    from locmsim.policy import PolicyChooser  # numpy, which is slow to import

    try:
        chooser = PolicyChooser(load_as_option(path, rules, layout))
    except ValueError as error:
        raise OptionError(option, error) from None
    wanted = "deck" if chooser.rules == "1.5" else "draft"
    if option != wanted:
        raise OptionError(
            option, f"{path} was trained on rules {chooser.rules}: use it as {wanted}="
        )
    return chooser.build if option == "deck" else chooser.picker
