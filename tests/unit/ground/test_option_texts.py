"""Options declared once, and the text form of options with quoted values."""

import json
import os
import pickle
import re
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np
import pytest
from helpers import raises

from locmsim.agents import BeamAgent, MCTSAgent, make_agent
from locmsim.arena import Arena, Sprt, make_game
from locmsim.envs import LocmVectorEnv, Options
from locmsim.options.declarations import Option, check, declared, documented
from locmsim.options.texts import read_options, written
from locmsim.search import BeamOptions, MCTSOptions, SearchOptions
from locmsim.support.identity import identity
from locmsim.tuning import Optimization, OptimizationSettings, TuningSettings


@documented()
@dataclass
class Some:
    """Options.

    Parameters
    ----------
    options
    other : str
        Not declared.
    """

    nodes: Annotated[int, Option("number of positions", 0, 1 << 31)] = 5
    share: Annotated[float, Option("share of the time", 0.0, 1.0)] = 0.5
    fast: Annotated[bool, Option("play without waiting")] = False
    other: str = ""


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"nodes": -4}, "nodes: expected 0 to 2^31, got -4"),
        ({"nodes": True}, "nodes: expected an integer, got True"),
        ({"nodes": 2.0}, "nodes: expected an integer, got 2.0"),
        ({"share": float("nan")}, "share: expected 0 to 1, got nan"),
        ({"share": "1"}, "share: expected 0 to 1, got '1'"),
        ({"fast": "no"}, "fast: expected True or False, got 'no'"),
        ({"fast": None}, "fast: expected True or False, got None"),
    ],
)
def test_checks_have_one_wording(values: dict[str, object], message: str) -> None:
    check(Some())
    raises(ValueError, f"^{re.escape(message)}$", check, Some(**values))


def test_numbers_of_numpy_become_those_of_python() -> None:
    """They can be written as JSON, wherever options are kept."""
    some = Some(np.int64(7), np.float32(0.25), np.True_)  # type: ignore[arg-type]
    check(some)
    assert (some.nodes, some.share, some.fast) == (7, 0.25, True)
    assert (type(some.nodes), type(some.share), type(some.fast)) == (int, float, bool)
    many: Any = np.int32(40)
    for options in (
        TuningSettings(games=many, match_games=many, nodes=many, pools=many, seed=many),
        Options(episode="choice", battles=many, max_actions=many, refresh=many, gamma=1),
        MCTSOptions(worlds=many, exploration=many),
        Sprt(np.int64(0), many, alpha=np.float64(0.25)),
    ):
        kept = asdict(options).values()
        assert {type(value).__module__ for value in kept} == {"builtins"}
        assert 40 in kept
    with Arena(None, ["greedy", "random"], seed=many, games=2, timeout_scale=many) as arena:
        assert type(arena.settings.seed) is int
        assert '"greedy"' in json.dumps(arena.to_json())


def test_docstrings_follow_from_the_declarations() -> None:
    assert [*declared(Some)] == ["nodes", "share", "fast"]
    assert (Some.__doc__ or "").splitlines()[4:] == [
        "nodes : int, default 5",
        "    Number of positions; from 0 to 2^31.",
        "share : float, default 0.5",
        "    Share of the time; from 0 to 1.",
        "fast : bool, default False",
        "    Play without waiting.",
        "other : str",
        "    Not declared.",
    ]


@pytest.mark.parametrize(("agent", "options"), [(BeamAgent, BeamOptions), (MCTSAgent, MCTSOptions)])
def test_agents_document_every_option_of_their_search(
    agent: type, options: type[SearchOptions]
) -> None:
    for one in declared(options).values():
        assert one.entry() in agent.__doc__
        assert one.entry() in options.__doc__
    for name in ("time_ms", "threads", agent.bound):  # type: ignore[attr-defined]
        assert f"\n{name} : " in agent.__doc__
    assert not {"\noptions\n", "\nsearched\n", "limit : int"} & {*agent.__doc__.splitlines(True)}


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("", {}),
        ("a=1,b=x:y=z", {"a": "1", "b": "x:y=z"}),
        ('weights="a,b.npz",nodes=5', {"weights": "a,b.npz", "nodes": "5"}),
        ('a="",b=', {"a": "", "b": ""}),
        ('a="say ""x,y""",b=2', {"a": 'say "x,y"', "b": "2"}),
        ('a=in"side', {"a": 'in"side'}),
        ("a=1,,b=2,", {"a": "1", "b": "2"}),
    ],
)
def test_text_form(text: str, options: dict[str, str]) -> None:
    assert read_options("agent x", text) == options


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "agent x: expected option=value, got 'a'"),
        ("a=1,b", "agent x: expected option=value, got 'b'"),
        ('a="1,b=2', "agent x: expected a closing double quote, got 'a=\"1'"),
        ('a="1"2', "agent x: expected a closing double quote, got 'a=\"1\"2'"),
    ],
)
def test_malformed_text(text: str, message: str) -> None:
    raises(ValueError, f"^{re.escape(message)}$", read_options, "agent x", text)


@pytest.mark.parametrize("value", ["", "x,y", '"q"', 'in"s', "p:=z", ' a, "b" '])
def test_options_are_written_as_they_are_read(value: str) -> None:
    options = {"first": value, "last": "1"}
    assert read_options("agent x", written(options)) == options


@pytest.mark.skipif(os.name == "nt", reason="names of files have no colons")
def test_quoted_values_work_wherever_a_description_is_read(tmp_path, monkeypatch) -> None:
    """In agents, agents inside agents, files of results, environments and placeholders."""
    monkeypatch.chdir(tmp_path)
    name = "a,b:c.json"
    (tmp_path / name).write_text('{"1.5": {"own.card": 1.0}}')
    spec = f'beam:weights="{name}",nodes=5,time_ms=0'
    assert make_agent(spec).nodes == 5
    with Arena("results.db", [spec, "random"], games=2, seed=1) as arena:
        arena.run(jobs=1)
    with Arena("results.db", games=4) as arena:
        arena.run(jobs=1)
        assert arena.settings.players[0].spec == spec
        assert [*(arena.settings.players[0].identity or ())] == [name, "locmsim"]
    env = LocmVectorEnv(2, opponent=spec, card_sets=1)
    env.reset(seed=1)
    env.step(env.action_masks().argmax(1))
    settings = OptimizationSettings(
        f'beam:weights="{name}",time_ms=0,nodes=5,plans={{plans}},width={{w=9:1..20:int}}',
        make_game("locm"),
        games=40,
    )
    optimization = Optimization(settings)
    assert [one.name for one in optimization.versions.parameters] == ["plans", "w"]
    assert optimization.versions.command(optimization.best) == (
        f'beam:weights="{name}",time_ms=0,nodes=5,plans=64,width=9'
    )
    inside = 'greedy:deck="policy:path=""x,y.npz"",rules=1.5"'
    raises(ValueError, r"deck: .*x,y\.npz", make_agent, inside)
    (tmp_path / "x,y.npz").write_bytes(b"x")
    assert [*identity(inside, False)] == ["x,y.npz", "locmsim"]


def test_an_agent_with_a_comma_in_an_option_is_described(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "with_a_comma.py").write_text(
        "from dataclasses import dataclass\n"
        "from locmsim.agents import GreedyAgent\n"
        "@dataclass\n"
        "class Mine(GreedyAgent):\n"
        "    words: str = ''\n"
    )
    from with_a_comma import Mine

    spec, _ = make_game("locm").describe(Mine(words='a,"b"'))
    assert spec == 'with_a_comma:Mine:words="a,""b"""'
    assert make_agent(spec).words == 'a,"b"'


@documented()
@dataclass
class Whole:
    """What others pass on.

    Parameters
    ----------
    options
    """

    kind: Annotated[str, Option("kind", choices=("a", "b"))] = "a"
    size: Annotated[int, Option("size", 1, 9, needs=("kind", "b"))] = 3
    more: Annotated[tuple[str, str], Option("pair", kind="pair")] = ("x", "y")

    def __post_init__(self) -> None:
        check(self)


def test_what_needs_another_option() -> None:
    assert Whole(kind="b", size=4).size == Whole().size + 1
    with pytest.raises(ValueError, match=r'^size: needs kind="b"$') as found:
        Whole(size=4)
    same = pickle.loads(pickle.dumps(found.value))  # as from a worker process
    assert same.spelt("--{}".format) == '--size: needs --kind="b"'
    raises(ValueError, r"^kind: expected one of a, b, got 'c'$", Whole, kind="c")


def test_docstrings_of_what_passes_options_on() -> None:
    @documented(Whole, without=("more",))
    def make(first: int = 1, **options: object) -> None:
        """Make it.

        Parameters
        ----------
        options
        """

    assert (make.__doc__ or "").splitlines()[4:] == [
        'kind : {"a", "b"}, default "a"',
        "    Kind.",
        "size : int, default 3",
        '    Size; from 1 to 9. Needs ``kind="b"``.',
    ]
    assert 'more : pair, default ("x", "y")\n' in (Whole.__doc__ or "")
