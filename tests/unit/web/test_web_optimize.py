"""The page of runs of ``locmsim optimize``: what is played is drawn, also while it is."""

import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from locmsim.arena.registry import make_game
from locmsim.tuning import Optimization, OptimizationSettings

pytest.importorskip("starlette", reason="starlette is not installed")
testclient = pytest.importorskip("starlette.testclient", reason="httpx2 is not installed")

from locmsim.web.app import create_app  # noqa: E402
from locmsim.web.library import Library  # noqa: E402
from locmsim.web.site import Site  # noqa: E402

PLAYER = "beam:time_ms=0,nodes=20,width={width=4:1..40:int}"


@pytest.mark.slow
def test_a_run_is_shown_as_it_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, none = tmp_path / "run", tmp_path / "none"
    # A minute passes between two questions: the folder is looked at for each of them.
    minutes = itertools.count(60, 60)
    clock = SimpleNamespace(monotonic=lambda: next(minutes))
    monkeypatch.setattr("locmsim.web.news.time", clock)
    site = Site(Library([], []), runs=[str(folder), str(none)])
    settings = OptimizationSettings(PLAYER, make_game("locm"), games=60, timeout_scale=0)
    with testclient.TestClient(create_app(site), base_url="http://127.0.0.1") as client:

        def shown() -> dict[str, object]:
            answer = client.get("/api/optimize", params={"token": site.token})
            first, second = answer.json()["runs"]
            assert second == {
                "folder": str(none),
                "error": f"{none / 'settings.json'}: No such file or directory",
            }
            assert isinstance(first, dict)
            return first

        def changed() -> bool:
            """Return whether a page that follows the runs is told that they have changed."""
            nonlocal version
            before, version = version, site.news.version("optimize")
            return version != before

        version: str | None = "unknown"
        assert [changed(), changed()] == [True, False]
        assert shown()["error"]
        run = Optimization(settings, folder=folder)
        # The present values meet the start for the first time after twenty games.
        for progress in run.run(jobs=1):
            now = shown()
            assert [changed(), changed()] == [True, False]
            assert now["games"] == progress.games
            assert now["score"] == (None if progress.score is None else [*progress.score])
            (one,) = now["parameters"]  # type: ignore[misc]
            assert one["value"] == progress.values["width"]
            assert one["games"][-1] == run.history[-1][0]
        assert progress.score is not None
        assert now["goal"] == 60
        assert (now["player"], now["method"]) == (PLAYER, "spsa")
        assert len(one["values"]) == len(one["games"]) == len(run.history)
        assert one["values"][0] == 4
        page = client.get("/optimize")
        assert page.status_code == 200
        assert '<a href="/optimize">Tuning</a>' in page.text
        assert client.get("/static/optimize.js").status_code == 200
        assert client.get("/api/optimize").status_code == 403


def test_no_page_without_runs() -> None:
    with testclient.TestClient(create_app(Site(Library([], []))), base_url="http://127.0.0.1") as c:
        assert c.get("/optimize").status_code == 404
        assert "Tuning" not in c.get("/").text


def test_what_is_no_run(tmp_path: Path) -> None:
    settings = OptimizationSettings(PLAYER, make_game("locm"), games=60, timeout_scale=0)
    path = tmp_path / "settings.json"
    begun = {**settings.to_json(), "opponents": [], "identity": {}, "notes": []}
    path.write_text(json.dumps(begun))
    run = Optimization.load(tmp_path)
    assert run.update().games == 0
    (tmp_path / "trials.csv").write_text("1,2\n2,1")
    assert run.update().games == 2
    (tmp_path / "trials.csv").write_text("1,2\n2,1\n7,1\n")
    with pytest.raises(ValueError, match=r"trials\.csv: line 3: not the result of that trial"):
        run.update()
    for text in ("{}", "[]", "{", json.dumps({**begun, "opponents": [{"x": 1}]})):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"settings\.json: not the settings"):
            Optimization.load(tmp_path)
