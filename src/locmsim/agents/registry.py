"""Agents by name: those of the library and of installed packages, and classes of modules and files.

A description is a name, optionally followed by a colon and comma-separated options:

===========================  ======================================================
``greedy``                   an agent of the library, see `known_agents`
``beam:time_ms=50,plans=8``  ... with options, which are arguments of its class
``mybots:Mine:depth=3``      the class ``Mine`` of the module ``mybots``
``bots/mine.py:Mine``        the class ``Mine`` of a file
===========================  ======================================================

An installed package registers its agents as entry points of the group ``locmsim.agents``. The
library's names take precedence, so that results stay comparable.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from locmsim.agents.base import Agent, ChoosingAgent
from locmsim.options import texts
from locmsim.options.checks import OptionError
from locmsim.options.texts import MISSING, make, options_of, read_options
from locmsim.support.plugins import Registry, place_of

#: Module and class of each agent of the library.
BUILT_IN = {
    "random": ("random", "RandomAgent"),
    "greedy": ("greedy", "GreedyAgent"),
    "beam": ("turn_search", "BeamAgent"),
    "mcts": ("turn_search", "MCTSAgent"),
    "policy": ("policy", "PolicyAgent"),
    "learned": ("learned", "LearnedAgent"),
    "search": ("policy_search", "PolicySearchAgent"),
    "rule": ("rule", "RuleAgent"),
    "osl": ("osl", "OSLAgent"),
    "max-attack": ("max_attack", "MaxAttackAgent"),
    "level": ("level", "LevelAgent"),
}

_registry = Registry(
    "agent",
    "locmsim.agents",
    {name: f"locmsim.agents.{module}:{class_}" for name, (module, class_) in BUILT_IN.items()},
)

#: The agents of the library by name. Their options are the keyword arguments of their classes.
#: An agent added here is known in this process only; for other processes, name it by its module,
#: its file or an entry point.
AGENTS: MutableMapping[str, Callable[..., Agent]] = _registry

_METHODS = ("reset", "choose", "act")


class AgentSpec(NamedTuple):
    """The parts of an agent's description.

    Parameters
    ----------
    name : str
        A registered name, ``module:Class`` or ``file.py:Class``.
    options : dict
        Option -> text.
    """

    name: str
    options: dict[str, str]


@dataclass(frozen=True)
class AgentInfo:
    """Information about a registered agent.

    Parameters
    ----------
    name : str
        The name.
    summary : str
        One sentence.
    options : mapping
        Option -> default; `inspect.Parameter.empty` for an option without a default.
    package : str
        The package that the agent comes from.
    factory : class or function, optional
        What creates the agent; None if it cannot be imported.
    """

    name: str
    summary: str
    options: Mapping[str, Any]
    package: str = "locmsim"
    factory: Callable[..., Agent] | None = None


# -------------------------------------------------------------------------------- descriptions


def parse_spec(text: str) -> AgentSpec:
    """Split the description of an agent into its name and options.

    Parameters
    ----------
    text : str
        Such as ``"beam:time_ms=50"`` or ``"bots/mine.py:Mine:depth=3"``.

    Returns
    -------
    AgentSpec
        The name and the options as texts. Nothing is imported and no option is checked.

    Raises
    ------
    ValueError
        No agent has that name, and it is not a class of a module or file; or an option is not
        ``option=value``.
    """
    name, options = _registry.split(text)
    return AgentSpec(name, read_options(f"agent {name}", options))


def is_agent(text: str) -> bool:
    """Return whether a text describes an agent; otherwise it may be the command of a program.

    A class of a module or file counts as an agent even if it does not exist, so that the error is
    about the class; but a text with blanks, like most commands, counts only if the file exists.

    Parameters
    ----------
    text : str
        A description or a command.
    """
    return _registry.describes(text)


def is_foreign(text: str) -> bool:
    """Return whether the description of an agent names code that is not part of the library.

    Nothing is imported.

    Parameters
    ----------
    text : str
        A description for which `is_agent` holds.
    """
    return _registry.is_foreign(text)


def refuse_own_cards(
    agent: str, other: str = "decks", why: str = "which chooses the cards"
) -> None:
    """Check that a description does not say how the agent chooses cards where others choose them.

    Agents of others may have options of these names for anything; nothing of them is imported.

    Parameters
    ----------
    agent : str
        A description for which `is_agent` holds.
    other, why : str
        The option by which they do, and how.

    Raises
    ------
    ValueError
        It does; the message names both options.
    """
    name, options = parse_spec(agent)
    if is_foreign(name):
        return
    for option in ("deck", "draft"):
        factory = _registry.find(name) if option in options else None
        if isinstance(factory, type) and issubclass(factory, ChoosingAgent):
            raise OptionError(option, "does not apply with ", other, f", {why}: {agent}")


def did_you_mean(name: str, known: Iterable[str] | None = None) -> str:
    """Return the end of a message about an unknown name: ``"; did you mean 'greedy'?"``, or "".

    Parameters
    ----------
    name : str
        The unknown name.
    known : iterable of str, optional
        The names that exist; by default those of agents.
    """
    return texts.did_you_mean(name, _registry.names() if known is None else known)


def suggest(name: str) -> str:
    """Return the end of a message that names the agent that was probably meant, or all agents.

    Parameters
    ----------
    name : str
        The unknown name.
    """
    return did_you_mean(name) or f"; the agents are {', '.join(AGENTS)}"


def known_agents() -> list[AgentInfo]:
    """Return the agents that have a name, those of the library first.

    Classes of installed packages are imported; if that fails, the summary is the error.
    """
    found = []
    for name in _registry.names():
        package = _registry.package(name)
        try:
            found.append(_info(name, _registry.find(name), package))
        except ValueError as error:
            found.append(AgentInfo(name, str(error), {}, package))
    return found


def describe_agents(width: int = 80) -> str:
    """Describe how agents are named, for a help page: each name with a summary and its options.

    Parameters
    ----------
    width : int
        Columns of the text.
    """
    intro = (
        "An agent is one of the following names, module:Class or file.py:Class, with options after"
        " a colon:"
    )
    import textwrap

    lines = []
    for info in known_agents():
        options = ", ".join(
            name if default is MISSING else f"{name}={default}"
            for name, default in info.options.items()
        )
        lines.append(f"{info.name:10} {info.summary}")
        if options:
            lines.append(f"{'':10} {options}")
    wrapped = (
        textwrap.fill(
            line, width, initial_indent="  ", subsequent_indent=" " * 13, break_on_hyphens=False
        )
        for line in lines
    )
    return "\n".join([textwrap.fill(intro, width), "", *wrapped])


def _info(name: str, factory: Callable[..., Agent], package: str) -> AgentInfo:
    summary = (inspect.getdoc(factory) or "").partition("\n\n")[0].replace("\n", " ")
    options, _ = options_of(factory)
    defaults = {option: parameter.default for option, parameter in options.items()}
    return AgentInfo(name, summary, defaults, package, factory)


# ---------------------------------------------------------------------------------- the agents


def make_agent(agent: str | Callable[..., Agent] | Agent, /, **options: Any) -> Agent:
    """Create an agent that is ready to play.

    Parameters
    ----------
    agent : str, class or agent
        A description (see `locmsim.agents.registry`), a class, or an agent.
    **options
        Keyword arguments of the agent's class; they take precedence over those of a description.

    Returns
    -------
    Agent
        A new agent, unless `agent` already is one.

    Raises
    ------
    ValueError
        The agent, module, file or class does not exist, cannot be imported or lacks a method of
        `Agent`; or an option is unknown or has a wrong value.
    TypeError
        `agent` is something else.
    """
    if isinstance(agent, str):
        name, texts = parse_spec(agent)
        factory = _registry.find(name)
    elif isinstance(agent, type):
        name, texts, factory = agent.__qualname__, {}, agent
    elif all(callable(getattr(agent, method, None)) for method in _METHODS):
        if options:
            raise ValueError(
                f"options need a class or description, not an agent: {', '.join(options)}"
            )
        return agent  # type: ignore[return-value]
    elif callable(agent):
        name, texts, factory = getattr(agent, "__qualname__", repr(agent)), {}, agent
    else:
        _check_methods(type(agent).__qualname__, agent)
        raise AssertionError("not reached")
    if isinstance(factory, type):
        _check_methods(name, factory)
    new_agent: Agent = make(f"agent {name}", factory, texts, **options)
    _check_methods(name, new_agent)
    return new_agent


def check_rules(agent: Agent, rules: str) -> Agent:
    """Return the agent if it plays a rule set.

    An agent that plays only one rule set names it as `only_rules`.

    Parameters
    ----------
    agent : Agent
        Any agent.
    rules : str
        The rule set.

    Raises
    ------
    ValueError
        The agent plays only another rule set.
    """
    only = getattr(agent, "only_rules", rules)
    if only != rules:
        raise ValueError(f"{type(agent).__name__} plays rules {only} only, not {rules}")
    return agent


def agent_spec(agent: str | type[Agent]) -> str:
    """Return the description by which another process creates agents of a class.

    Parameters
    ----------
    agent : str or class
        A class, or a description, which is returned unchanged.

    Raises
    ------
    ValueError
        Other processes cannot import the class: it was defined at a prompt, in a notebook or in a
        function, or its file is being imported for an agent and runs something at once.
    """
    if isinstance(agent, str):
        return agent
    for name, factory in AGENTS.items():
        if factory is agent:
            return name
    return place_of(agent)


def _check_methods(name: str, agent: Any) -> None:
    """Raise ``ValueError`` if a method of `Agent` is missing, ``TypeError`` if all are."""
    missing = [method for method in _METHODS if not callable(getattr(agent, method, None))]
    if len(missing) == len(_METHODS) and not isinstance(agent, type):
        raise TypeError(f"expected a description, a class or an agent, got {agent!r}")
    if missing:
        raise ValueError(
            f"agent {name}: it lacks the method{'s' * (len(missing) > 1)} {', '.join(missing)};"
            f" an agent has {', '.join(_METHODS)}"
        )
