"""Options declared once, and the text form of options with quoted values."""

import re
from dataclasses import dataclass
from typing import Annotated

import pytest

from locmsim._options import Option, check, declared, documented
from locmsim._specs import read_options
from locmsim.agents import BeamAgent, MCTSAgent, make_agent
from locmsim.arena.schedule import named_files
from locmsim.search import BeamOptions, MCTSOptions, SearchOptions


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
    other: str = ""


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"nodes": -4}, "nodes: expected 0 to 2^31, got -4"),
        ({"nodes": True}, "nodes: expected an integer, got True"),
        ({"nodes": 2.0}, "nodes: expected an integer, got 2.0"),
        ({"share": float("nan")}, "share: expected 0 to 1, got nan"),
        ({"share": "1"}, "share: expected 0 to 1, got '1'"),
    ],
)
def test_checks_have_one_wording(values: dict[str, object], message: str) -> None:
    check(Some())
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        check(Some(**values))  # type: ignore[arg-type]


def test_docstrings_follow_from_the_declarations() -> None:
    assert [*declared(Some)] == ["nodes", "share"]
    assert (Some.__doc__ or "").splitlines()[4:] == [
        "nodes : int, default 5",
        "    Number of positions; from 0 to 2^31.",
        "share : float, default 0.5",
        "    Share of the time; from 0 to 1.",
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
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        read_options("agent x", text)


def test_a_file_with_a_comma_in_its_name(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"a,b\.npz"):
        make_agent('beam:weights="a,b.npz"')
    (tmp_path / "a,b.npz").write_bytes(b"x")
    assert [*named_files('beam:weights="a,b.npz"', process=False)] == ["a,b.npz"]
