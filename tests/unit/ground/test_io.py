"""Files that are written completely or not at all."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest
from vestrock_help import FileAccounts

from locmsim.support.files import numbered, write_whole

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions are those of POSIX")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("before", [0o600, 0o640, 0o664])
def test_permissions_are_kept(tmp_path: Path, before: int) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(before)
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert mode(path) == before
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_has_what_the_umask_leaves(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        write_whole(tmp_path / "file", b"new")
        write_whole(tmp_path / "secret", b"new", mode=0o600)
    finally:
        os.umask(umask)
    assert mode(tmp_path / "file") == 0o640
    assert mode(tmp_path / "secret") == 0o600


def test_accounts_are_for_their_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "accounts"
    FileAccounts.set_password(path, "anna", "secret")
    assert mode(path) == 0o600
    path.chmod(0o640)  # a group of operators
    FileAccounts.set_password(path, "bert", "secret")
    assert mode(path) == 0o640


@pytest.mark.parametrize(
    ("numbers", "name"),
    [
        ([7], "game 7"),
        ([7, 8], "games 7 to 8"),
        (range(1, 21), "games 1 to 20"),
        ([2, 7], "games 2, 7"),
        ([2, 3, 5, 7, 11, 13, 17], "games 2, 3, 5, 7, 11 and 2 more"),
    ],
)
def test_what_is_called_by_numbers(numbers: Sequence[int], name: str) -> None:
    assert numbered("game", numbers) == name
