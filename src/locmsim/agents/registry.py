"""Agents by name: those of the library, those of installed packages, classes of modules and files.

A description is a name and, after a colon, options with commas between them:

===========================  ======================================================
``greedy``                   an agent of the library, see `known_agents`
``beam:time_ms=50,plans=8``  ... with options, which are arguments of its class
``mybots:Mine:depth=3``      the class ``Mine`` of the module ``mybots``
``bots/mine.py:Mine``        the class ``Mine`` of a file
===========================  ======================================================

An installed package gives its agents names by entry points of the group ``locmsim.agents``. Names
of the library come first, so that results stay comparable.
"""

import importlib
import inspect
import os
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from locmsim import _specs
from locmsim._specs import MISSING, guess, options_of, read_options
from locmsim.agents.base import Agent

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = [
    "AGENTS",
    "BUILT_IN",
    "ENTRY_POINTS",
    "AgentInfo",
    "AgentSpec",
    "agent_spec",
    "check_rules",
    "describe_agents",
    "did_you_mean",
    "is_agent",
    "known_agents",
    "make_agent",
    "parse_spec",
]


class _Agents(MutableMapping[str, Callable[..., Agent]]):
    """Name -> class; those given as ``module:Class`` are imported when they are asked for."""

    def __init__(self, places: Mapping[str, str]) -> None:
        self._found: dict[str, str | Callable[..., Agent]] = {**places}

    def __getitem__(self, name: str) -> Callable[..., Agent]:
        found = self._found[name]
        if isinstance(found, str):
            module, _, attribute = found.partition(":")
            found = self._found[name] = getattr(importlib.import_module(module), attribute)
        return found

    def __setitem__(self, name: str, factory: Callable[..., Agent]) -> None:
        self._found[name] = factory

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._found

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


#: Module and class of each agent of the library.
BUILT_IN = {
    "random": ("random", "RandomAgent"),
    "greedy": ("greedy", "GreedyAgent"),
    "beam": ("searching", "BeamAgent"),
    "mcts": ("searching", "MCTSAgent"),
    "policy": ("policy", "PolicyAgent"),
    "learned": ("learned", "LearnedAgent"),
    "rule": ("rule", "RuleAgent"),
    "osl": ("osl", "OSLAgent"),
    "max-attack": ("max_attack", "MaxAttackAgent"),
    "level": ("level", "LevelAgent"),
}

#: The agents of the library by name. Options are keyword arguments; those that a class takes as
#: ``**options`` are its ``bound`` and the fields of its dataclass ``options_class``. What is added
#: here is known in this process only: agents for other processes are named by module, file or entry
#: point.
AGENTS: MutableMapping[str, Callable[..., Agent]] = _Agents(
    {name: f"locmsim.agents.{module}:{class_}" for name, (module, class_) in BUILT_IN.items()}
)

#: The entry point group by which installed packages name their agents.
ENTRY_POINTS = "locmsim.agents"

_METHODS = ("reset", "choose", "act")
_IDENTIFIER = r"[^\W\d]\w*"
_FILE = re.compile(rf"(?P<place>.+\.py):(?P<name>{_IDENTIFIER})(?::(?P<options>.*))?", re.DOTALL)
_MODULE = re.compile(
    rf"(?P<place>{_IDENTIFIER}(?:\.{_IDENTIFIER})*):(?P<name>{_IDENTIFIER})(?::(?P<options>.*))?",
    re.DOTALL,
)
_NAME = re.compile(r"[\w.+-]+")

#: Files that are being imported right now.
_importing: list[str] = []


class AgentSpec(NamedTuple):
    """A description that was taken apart."""

    #: A registered name, ``module:Class`` or ``file.py:Class``.
    name: str
    options: dict[str, str]


@dataclass(frozen=True)
class AgentInfo:
    """What is known about an agent that has a name."""

    name: str
    #: One sentence.
    summary: str
    #: Option -> default; the class ``inspect.Parameter.empty`` if it has none.
    options: Mapping[str, Any]
    #: The package that it comes from.
    package: str = "locmsim"


# -------------------------------------------------------------------------------- descriptions


def parse_spec(text: str) -> AgentSpec:
    """Take the description of an agent apart.

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
        No agent has that name, and it is no class of a module or file; or an option is no
        ``option=value``.
    """
    name, _, rest = text.partition(":")
    if name not in AGENTS and not _entry_points(name):
        match = _FILE.fullmatch(text) or _MODULE.fullmatch(text)
        if not match:
            known = ", ".join(_names())
            raise ValueError(
                f"unknown agent {name!r}: expected one of {known}, module:Class or file.py:Class"
                f"{did_you_mean(name)}"
            )
        name, rest = f"{match['place']}:{match['name']}", match["options"] or ""
    return AgentSpec(name, read_options(f"agent {name}", rest))


def is_agent(text: str) -> bool:
    """Whether a text describes an agent; otherwise it may be the command of a program.

    A class of a module or file counts whether it is there or not, so that the error is about it;
    but a text with blanks, such as a command has, only if the file is there.
    """
    name = text.partition(":")[0]
    if name in AGENTS or _MODULE.fullmatch(text):
        return True
    if match := _FILE.fullmatch(text):
        return not re.search(r"\s", text) or os.path.isfile(match["place"])
    return bool(_entry_points(name))


def did_you_mean(name: str, known: Iterable[str] | None = None) -> str:
    """The end of a message about an unknown name: ``"; did you mean 'greedy'?"``, or nothing.

    `known` are the names there are; those of agents by default.
    """
    return _specs.did_you_mean(name, _names() if known is None else known)


def known_agents() -> list[AgentInfo]:
    """The agents that have a name, those of the library first.

    The classes of installed packages are imported. One that cannot be has the error as its
    summary.
    """
    found = [_info(name, factory) for name, factory in AGENTS.items()]
    for name in _names()[len(AGENTS) :]:
        package = _distribution(_entry_points(name)[0])
        try:
            found.append(_info(name, _find(name), package))
        except ValueError as error:
            found.append(AgentInfo(name, str(error), {}, package))
    return found


def describe_agents(width: int = 80) -> str:
    """How agents are named, as text for a help page: the names, with a summary and the options."""
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
        lines.append(f"{info.name:9} {info.summary}")
        if options:
            lines.append(f"{'':9} {options}")
    wrapped = (
        textwrap.fill(
            line, width, initial_indent="  ", subsequent_indent=" " * 12, break_on_hyphens=False
        )
        for line in lines
    )
    return "\n".join([textwrap.fill(intro, width), "", *wrapped])


def _info(name: str, factory: Callable[..., Agent], package: str = "locmsim") -> AgentInfo:
    summary = (inspect.getdoc(factory) or "").partition("\n\n")[0].replace("\n", " ")
    options, _ = options_of(factory)
    return AgentInfo(name, summary, {o: p.default for o, p in options.items()}, package)


# ---------------------------------------------------------------------------------- the agents


def make_agent(agent: str | Callable[..., Agent] | Agent, /, **options: Any) -> Agent:
    """An agent, ready to play.

    Parameters
    ----------
    agent : str, class or agent
        A description (see `locmsim.agents.registry`), a class, or an agent that is ready.
    **options
        More arguments of its class; they win over those in a description.

    Returns
    -------
    Agent
        A new one, but for an agent that is ready.

    Raises
    ------
    ValueError
        There is no such agent, module, file or class; it cannot be imported; it lacks a method of
        `Agent`; an option is unknown or has a value that does not fit.
    TypeError
        `agent` is none of these.
    """
    if isinstance(agent, str):
        name, texts = parse_spec(agent)
        factory = _find(name)
    elif isinstance(agent, type):
        name, texts, factory = agent.__qualname__, {}, agent
    elif all(callable(getattr(agent, method, None)) for method in _METHODS):
        if options:
            raise ValueError(f"an agent that is ready takes no options, got {', '.join(options)}")
        return agent  # type: ignore[return-value]
    elif callable(agent):
        name, texts, factory = getattr(agent, "__qualname__", repr(agent)), {}, agent
    else:
        _check_methods(type(agent).__qualname__, agent)
        raise AssertionError("not reached")
    if isinstance(factory, type):
        _check_methods(name, factory)
    given = _arguments(name, factory, texts, options)
    try:
        made = factory(**given)
    except ValueError as error:
        raise ValueError(f"agent {name}: {error}") from error
    except Exception as error:
        arguments_given = ", ".join(f"{key}={value!r}" for key, value in given.items())
        raise ValueError(
            f"agent {name}: making it with ({arguments_given}) raised {_told(error)}"
        ) from error
    _check_methods(name, made)
    return made


def _arguments(
    name: str, factory: Callable[..., Agent], texts: Mapping[str, str], options: Mapping[str, Any]
) -> dict[str, Any]:
    """What a factory is called with: texts of a description, and values that win over them."""
    known, any_name = options_of(factory)
    arguments = inspect.signature(factory).parameters
    for option in [*texts, *options]:
        if not (option in known or any_name or (option in options and option in arguments)):
            raise ValueError(_unknown(name, option, known, factory))
    where = f"agent {name}: "
    given = {
        option: known[option].value(where + option, text) if option in known else guess(text)
        for option, text in texts.items()
    } | {**options}
    for option, (default, _) in known.items():
        if option not in given and default is MISSING:
            raise ValueError(f"agent {name}: the option {option!r} is missing")
    return given


def check_rules(agent: Agent, rules: str) -> Agent:
    """The agent, if it plays a rule set.

    An agent that plays one only has its name as `only_rules`.

    Raises
    ------
    ValueError
        It plays another one only.
    """
    only = getattr(agent, "only_rules", rules)
    if only != rules:
        raise ValueError(f"{type(agent).__name__} plays rules {only} only, not {rules}")
    return agent


def agent_spec(agent: str | type[Agent]) -> str:
    """The description by which another process makes agents of a class.

    Parameters
    ----------
    agent : str or class
        A description is returned as it is.

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
    name, module = agent.__qualname__, sys.modules.get(agent.__module__)
    if not re.fullmatch(_IDENTIFIER, name) or getattr(module, name, None) is not agent:
        raise ValueError(f"{name} is not at the top level of a module, where others can import it")
    file = getattr(module, "__file__", None)
    if agent.__module__ == "__main__" and file is None:
        raise ValueError(
            f"{name} was defined at a prompt or in a notebook, where other processes cannot import"
            " it: put it into a file"
        )
    if file is not None and os.path.abspath(file) in _importing:
        raise ValueError(_unguarded(file))
    if agent.__module__ == "__main__" or agent.__module__.startswith(_FILE_MODULE):
        return f"{file}:{name}"
    return f"{agent.__module__}:{name}"


def _unknown(
    name: str, option: str, known: Mapping[str, Any], factory: Callable[..., Agent]
) -> str:
    expected = ", ".join(known) or "none"
    hint = did_you_mean(option, known)
    if option in getattr(factory, "__annotations__", {}) and "__init__" not in vars(factory):
        hint = f"; it is a field of the class: put @dataclass before `class {factory.__name__}`"
    return f"agent {name}: unknown option {option!r}, expected {expected}{hint}"


def _check_methods(name: str, agent: Any) -> None:
    """``ValueError`` for a class or object that lacks a method of `Agent`; ``TypeError``: all."""
    missing = [method for method in _METHODS if not callable(getattr(agent, method, None))]
    if len(missing) == len(_METHODS) and not isinstance(agent, type):
        raise TypeError(f"expected a description, a class or an agent, got {agent!r}")
    if missing:
        raise ValueError(
            f"agent {name}: it lacks the method {' and '.join(missing)};"
            f" an agent has {', '.join(_METHODS)}"
        )


def _told(error: BaseException) -> str:
    """An exception in one line, with the line of the file that it comes from."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = error.__traceback__
    place = ""
    while frames is not None:
        file = frames.tb_frame.f_code.co_filename
        if "importlib" not in file and os.path.abspath(file) != os.path.abspath(__file__):
            place = f" ({file}, line {frames.tb_lineno})"
        frames = frames.tb_next
    return text.partition("\n")[0] + place


# ------------------------------------------------------------------------------ where they are


def _names() -> list[str]:
    """The registered names, those of the library first."""
    return [*AGENTS, *sorted({point.name for point in _entry_points()} - {*AGENTS})]


def _entry_points(name: str = "") -> "list[EntryPoint]":
    """The entry points for agents of that name, or all."""
    if name and not _NAME.fullmatch(name):
        return []
    from importlib.metadata import entry_points  # takes longer than all else here

    points = entry_points(group=ENTRY_POINTS)
    return [*(points.select(name=name) if name else points)]


def _distribution(point: "EntryPoint") -> str:
    return point.dist.name if point.dist is not None else "?"


def _find(name: str) -> Callable[..., Agent]:
    """What makes the agent of a name that `parse_spec` gave."""
    if name in AGENTS:
        return AGENTS[name]
    if match := _FILE.fullmatch(name):
        return _attribute(name, _import_file(name, match["place"]), match["name"])
    if match := _MODULE.fullmatch(name):
        return _attribute(name, _import_module(name, match["place"]), match["name"])
    points = {point.value: point for point in _entry_points(name)}
    if len(points) > 1:
        packages = " and ".join(f"{_distribution(p)} ({v})" for v, p in points.items())
        raise ValueError(f"agent {name}: several packages have one of that name: {packages}")
    (point,) = points.values()
    try:
        made: Callable[..., Agent] = point.load()
    except Exception as error:
        raise ValueError(
            f"agent {name}: {point.value} of the package {_distribution(point)}: {_told(error)}"
        ) from error
    return made


def _attribute(name: str, module: types.ModuleType, attribute: str) -> Callable[..., Agent]:
    try:
        found = getattr(module, attribute)
    except AttributeError:
        classes = [key for key, value in vars(module).items() if isinstance(value, type)]
        raise ValueError(
            f"agent {name}: there is no class {attribute!r} in {module.__file__}"
            f"{did_you_mean(attribute, classes)}"
        ) from None
    if not callable(found):
        raise ValueError(f"agent {name}: {attribute} is no class, but {found!r}")
    return found  # type: ignore[no-any-return]


def _import_module(name: str, module: str) -> types.ModuleType:
    # A console script does not look for modules in the folder where it is started.
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(f"{error.name}.")):
            hint = did_you_mean(module)
            raise ValueError(f"agent {name}: there is no module {error.name!r}{hint}") from None
        raise ValueError(f"agent {name}: importing {module}: {_told(error)}") from error
    except (Exception, SystemExit) as error:
        raise ValueError(f"agent {name}: importing {module}: {_told(error)}") from error


#: How the modules of files are called; what follows depends on the path and on the file's time.
_FILE_MODULE = "locmsim_agent_"


def _import_file(name: str, file: str) -> types.ModuleType:
    import hashlib
    import importlib.util

    path = os.path.abspath(file)
    try:
        stat = os.stat(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise ValueError(f"agent {name}: there is no file {file!r} ({reason})") from None
    if path in _importing:
        raise ValueError(f"agent {name}: {_unguarded(file)}")
    key = f"{path}\0{stat.st_mtime_ns}\0{stat.st_size}"
    module_name = f"{_FILE_MODULE}{hashlib.sha256(key.encode()).hexdigest()[:16]}"
    if module_name in sys.modules:
        return sys.modules[module_name]
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # What lies beside the file can be imported by it, but never in the place of something else.
    if os.path.dirname(path) not in sys.path:
        sys.path.append(os.path.dirname(path))
    sys.modules[module_name] = module
    _importing.append(path)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[module_name]
        raise ValueError(f"agent {name}: importing {file}: {_told(error)}") from error
    finally:
        _importing.pop()
    return module


def _unguarded(file: str) -> str:
    return (
        f"{file} plays matches while it is imported for its agent:"
        ' put what it runs under `if __name__ == "__main__":`'
    )
