"""Declare the options of the searches, each once with default, bounds and meaning.

Compiled searches, the options of agents and help texts are all derived from these classes.

    >>> BeamOptions(plans=8).plans
    8
    >>> BeamOptions(plans=0)
    Traceback (most recent call last):
    ...
    locmsim.options.checks.OptionError: plans: expected 1 to 256, got 0
"""

from dataclasses import dataclass
from typing import Annotated

from locmsim.options.declarations import Option, check, declared, documented
from locmsim.rules.rulesets import MAX_ACTIONS


@documented()
@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Options of both searches.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        An option has the wrong type or is out of bounds.
    """

    turns: Annotated[
        int,
        Option("turns played out after the player's, the first one by the opponent", 0, 20),
    ] = 2
    reply_width: Annotated[
        int, Option("width of the beam that finds these turns; 1: greedy", 1, 16)
    ] = 8
    worlds: Annotated[int, Option("maximum number of sampled worlds", 1, 4096)] = 512
    wins_share: Annotated[
        float, Option("share of the budget for the search for a win in this turn", 0.0, 1.0)
    ] = 0.2
    width: Annotated[
        int,
        Option(
            "maximum number of positions kept after each action; the search is repeated with more"
            " while there is time",
            1,
            65536,
        ),
    ] = 1024
    plans: Annotated[int, Option("number of whole turns that are compared by playouts", 1, 256)] = (
        64
    )
    static_worlds: Annotated[
        float, Option("weight of a turn's static value, in sampled worlds", 0.0, 1e6)
    ] = 2.0
    plan_share: Annotated[
        float,
        Option("share of the budget for finding whole turns, after the search for a win", 0.0, 1.0),
    ] = 0.4

    def __post_init__(self) -> None:
        check(self)


@documented()
@dataclass(frozen=True, slots=True, kw_only=True)
class BeamOptions(SearchOptions):
    """Options of `BeamSearch`; the defaults are tuned. With `turns` 0, static values decide.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        An option has the wrong type or is out of bounds.
    """


@documented()
@dataclass(frozen=True, slots=True, kw_only=True)
class MCTSOptions(SearchOptions):
    """Options of `MCTS`; the defaults are tuned. The visits of a plan cycle through the sampled
    worlds and go deeper into the tree of each.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        An option has the wrong type or is out of bounds.
    """

    turns: Annotated[
        int,
        Option("minimum number of turns followed by a visit, the first one by the opponent", 1, 20),
    ] = 2
    worlds: Annotated[int, Option("maximum number of sampled worlds", 1, 4096)] = 48
    exploration: Annotated[
        float, Option("weight of the prior against the mean result (PUCT)", 0.0, 1000.0)
    ] = 0.1
    temperature: Annotated[
        float, Option("temperature of the priors, in units of expected results", 0.001, 1e6)
    ] = 0.2
    max_nodes: Annotated[
        int,
        Option("maximum number of turns in the tree; each takes about 0.3 KB", 16, 1 << 22),
    ] = 65536


@documented()
@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyOptions:
    """Options of `PolicySearch`.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        An option has the wrong type or is out of bounds.
    """

    simulations: Annotated[int, Option("number of simulations for each decision", 1, 1 << 24)] = 64
    root: Annotated[
        str,
        Option(
            "how the root chooses",
            choices=("gumbel", "puct"),
            more='With "puct" it is a node like the others, and the most visited action is taken.',
        ),
    ] = "gumbel"
    considered: Annotated[
        int,
        Option(
            "largest number of actions that sequential halving begins with",
            1,
            MAX_ACTIONS,
            needs=("root", "gumbel"),
        ),
    ] = 16
    leaves: Annotated[
        int,
        Option(
            "largest number of simulations of one position in a call of the evaluator",
            1,
            1 << 12,
            more='With "gumbel" it makes no difference to the results; with "puct" those on their'
            " way count as lost (virtual loss).",
        ),
    ] = 8
    exploration: Annotated[
        float, Option("weight of the priors against the mean results (PUCT)", 0.0, 1e6)
    ] = 1.25
    visit_offset: Annotated[
        float,
        Option(
            "offset of the most visits of an action",
            0.0,
            1e6,
            more="A mean result counts as much as (`visit_offset` + most visits of an action) *"
            " `value_scale` times its size in the logarithm of a prior.",
        ),
    ] = 50.0
    value_scale: Annotated[
        float, Option("weight of mean results, see `visit_offset`", 0.0, 1e6)
    ] = 0.1
    temperature: Annotated[
        float, Option("number that the logits of a policy are divided by", 1e-3, 1e6)
    ] = 1.0
    noise: Annotated[
        float,
        Option(
            "how much Gumbel noise is added to the logarithms of the priors at the root",
            0.0,
            1e3,
            needs=("root", "gumbel"),
            more="1 draws from the improved policy, for self-play; 0 takes its best action.",
        ),
    ] = 0.0
    mix: Annotated[
        float,
        Option("part of the value of a leaf that comes from the network of `evaluation`", 0.0, 1.0),
    ] = 0.0

    def __post_init__(self) -> None:
        check(self)


def describe_options(options: type[SearchOptions]) -> str:
    """Return the options of a search as text for a help page.

    Parameters
    ----------
    options : type
        `BeamOptions` or `MCTSOptions`.

    Returns
    -------
    str
        A line for each option: its name, its default and what it means.
    """
    found = declared(options).values()
    width = max(len(one.name) for one in found)
    return "\n".join(f"{one.name:{width}}  {one.default:<6g}  {one.option.text}" for one in found)
