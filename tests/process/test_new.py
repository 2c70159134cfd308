"""Tests of ``locmsim new``: it writes the files of examples/, and its suggested commands work."""

import shutil
from importlib.resources import files
from pathlib import Path

import pytest
from helpers import main, output_of
from page_commands import Desk

from locmsim.cli.new import KINDS, contents

EXAMPLES = Path(__file__).parents[2] / "examples"


def commands_after(desk: Desk, kind: str) -> list[str]:
    """Run ``locmsim new`` and return the commands that it suggests."""
    printed = desk.run(f"locmsim new {kind} mine")
    return [line.strip() for line in printed.partition("Next:\n")[2].splitlines()]


@pytest.mark.skipif(not EXAMPLES.exists(), reason="not the source tree")
@pytest.mark.parametrize("kind", KINDS)
def test_the_files_are_the_examples(kind, tmp_path):
    """The written files are the examples; if this fails, run python tools/pack_examples.py."""
    import pack_examples

    assert main(["new", kind, str(tmp_path / "a" / "b")]) == 0
    wanted = pack_examples.files(kind)
    written = {p for p in (tmp_path / "a" / "b").rglob("*") if p.is_file()}
    assert {p.relative_to(tmp_path / "a" / "b").as_posix() for p in written} == {*wanted}
    for name, source in wanted.items():
        assert (tmp_path / "a" / "b" / name).read_bytes() == source.read_bytes()


def test_the_package_knows_each_kind_and_stays_small():
    for kind in KINDS:
        assert contents(kind), kind
    assert len(files("locmsim").joinpath("data", "examples.zip").read_bytes()) <= 100_000


@pytest.mark.skipif(not EXAMPLES.exists(), reason="not the source tree")
def test_the_archive_depends_on_the_examples_alone(tmp_path, monkeypatch):
    import pack_examples

    packed = pack_examples.archive()
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    (
        tmp_path / "examples" / "cython-bot" / "src" / "flatbot" / "_inlined.c"
    ).touch()  # as a build leaves
    monkeypatch.setattr(pack_examples, "EXAMPLES", tmp_path / "examples")
    assert pack_examples.archive() == packed


# ---------------------------------------------------------------------------- existing files


def test_no_file_is_overwritten(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "uct.py").write_text("my own\n")
    (folder / "notes.txt").write_text("keep\n")
    err = output_of("new", "agent", str(folder), code=2).err
    assert f"{folder / 'uct.py'} already exists: nothing was written" in err
    assert sorted(path.name for path in folder.iterdir()) == ["notes.txt", "uct.py"]
    assert (folder / "uct.py").read_text() == "my own\n"
    (folder / "uct.py").unlink()
    assert main(["new", "agent", str(folder)]) == 0
    assert (folder / "notes.txt").read_text() == "keep\n"


def test_a_link_that_leads_nowhere_is_there_as_well(tmp_path):
    (tmp_path / "bot.c").symlink_to(tmp_path / "elsewhere")
    assert "already exists" in output_of("new", "c-bot", str(tmp_path), code=2).err
    assert not (tmp_path / "elsewhere").exists()


def test_files_where_folders_have_to_be(tmp_path):
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        err = output_of("new", "bot", str(path), code=2).err
        assert f"{tmp_path / 'file'} exists and is not a folder" in err
    (tmp_path / "src").touch()
    err = output_of("new", "cython-bot", str(tmp_path), code=2).err
    assert f"{tmp_path / 'src'} exists and is not a folder" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "src"]


def test_a_failure_in_the_middle_leaves_no_file(tmp_path, monkeypatch):
    from locmsim.cli import new

    written = []

    def full(path, data):
        written.append(path)
        if len(written) == 3:
            raise OSError(28, "No space left on device", str(path))
        path.write_bytes(data)

    monkeypatch.setattr(new, "write_whole", full)
    err = output_of("new", "agent", str(tmp_path / "mine"), code=1).err
    assert f"cannot write {written[-1]}: No space left on device" in err
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_the_help_lists_all():
    shown = output_of("new", "--help").out
    assert all(f"  {name:<12}{kind.summary}\n" in shown for name, kind in KINDS.items())


# --------------------------------------------------------------------------- suggested commands


@pytest.mark.slow
def test_the_agent_plays(desk):
    folder, arena = commands_after(desk, "agent")
    printed = desk.run(f"{folder} && {arena.replace('--games 20', '--games 4')}")
    assert printed.startswith("4 games of rules 1.5")


def test_the_bot_plays(desk):
    assert desk.run(" && ".join(commands_after(desk, "bot"))).split()[:2] in (
        ["0", "1"],
        ["1", "0"],
    )


@pytest.mark.slow
def test_the_c_bot_plays(desk):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler (cc)")
    printed = desk.run(" && ".join(commands_after(desk, "c-bot")))
    assert printed.split()[:2] in (["0", "1"], ["1", "0"])


def test_what_takes_longer_has_its_own_tests(desk):
    """The suggested commands are those that test_cython_bot.py and test_learning.py run."""
    _, _, install, arena = commands_after(desk, "cython-bot")
    page = (desk.folder / "mine" / "README.md").read_text(encoding="utf-8")
    assert f"    {install}\n" in page
    assert f"    {arena.removesuffix(' --games 20')} --games " in page
    (desk.folder / "mine").rename(desk.folder / "other")
    _, install, command = commands_after(desk, "trainer")
    assert install == 'pip install "locmsim[train]"'
    assert (desk.folder / "mine" / command.split()[1]).exists()
