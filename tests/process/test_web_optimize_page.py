"""Browser test of the page Tuning: each parameter has a curve, which grows as games are played."""

from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest
from browser import browser, sync_api
from web_server import Opener, Server, server, visit

from locmsim.arena.registry import make_game
from locmsim.tuning import Optimization, OptimizationSettings

__all__ = ["browser", "server", "visit"]

expect = sync_api.expect


@pytest.mark.slow
def test_the_curves_of_a_run(tmp_path: Path, server: Server, visit: Opener) -> None:
    player = "beam:time_ms=0,nodes=20,width={width=4:1..40:int},plans={plans=4:1..8:int}"
    settings = OptimizationSettings(player, make_game("locm"), games=80, timeout_scale=0)
    run = Optimization(settings, folder=tmp_path / "run")
    page = visit(server(runs=[str(tmp_path / "run")]), "optimize")
    expect(page.locator("main")).to_contain_text("settings.json: No such file or directory")
    with closing(run.run(jobs=1)) as part:
        for _ in islice(part, 5):  # perhaps all: how many games a batch has depends on their times
            pass
    expect(page.locator("svg.chart path.value")).to_have_count(2)
    rest = Optimization(settings, folder=tmp_path / "run")
    for _ in rest.run(jobs=1):
        pass
    progress = rest.progress
    expect(page.locator("main")).to_contain_text(f"{progress.games} of about 80 games by spsa")
    headings = [f"{name} = {value}" for name, value in progress.values.items()]
    expect(page.get_by_role("heading", level=3)).to_have_text(headings)
    expect(page.locator("main")).to_contain_text("of the games against the start")
    before, after = page.locator("svg.chart").first.bounding_box(), page.viewport_size
    assert before["height"] > 100
    assert before["width"] <= after["width"]
    expect(page.locator('nav a[aria-current="page"]')).to_have_text("Tuning")
