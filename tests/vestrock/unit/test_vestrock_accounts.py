"""Accounts of Vestrock's server."""

import contextlib
import threading
from pathlib import Path

import pytest
from helpers import raises
from vestrock_help import FileAccounts, OpenAccounts, hash_password, line_of, write_accounts

from vestrock import accounts as module

LINE = "ann $scrypt$ln=14,r=8,p=1 c2FsdA== aGFzaA=="


def test_the_first_use_of_a_name_sets_its_password() -> None:
    accounts = OpenAccounts()
    assert accounts.check("ann", "one")
    assert not accounts.check("ann", "two")
    assert accounts.check("ann", "one")
    assert accounts.check("bob", "two")
    assert accounts.names() is None


@pytest.mark.slow
def test_accounts_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "accounts"
    FileAccounts.set_password(path, "bob", "first")
    FileAccounts.set_password(path, "ann", "se cret")
    FileAccounts.set_password(path, "bob", "second")
    assert "second" not in path.read_text()
    accounts = FileAccounts(path)
    assert accounts.names() == ["ann", "bob"]
    assert accounts.check("bob", "second")
    assert accounts.check("bob", "second")
    assert not accounts.check("bob", "first")
    assert not accounts.check("bob", "")
    assert not accounts.check("carl", "second")
    assert accounts.check("ann", "se cret")


@pytest.mark.slow
def test_what_is_known_is_checked_at_once_and_a_changed_file_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "accounts"
    FileAccounts.set_password(path, "ann", "first")
    accounts = FileAccounts(path)
    assert accounts.check_quickly("ann", "first") is None
    assert accounts.check("ann", "first")
    assert accounts.check_quickly("ann", "first")
    assert accounts.check_quickly("ann", "other") is None
    assert accounts.check_quickly("carl", "first") is None
    FileAccounts.set_password(path, "ann", "second")
    FileAccounts.set_password(path, "bob", "x")
    assert accounts.check_quickly("ann", "first") is None
    assert not accounts.check("ann", "first")
    assert accounts.check("ann", "second")
    assert accounts.check("bob", "x")
    assert accounts.names() == ["ann", "bob"]
    path.write_text("damaged\n")
    assert accounts.check_quickly("ann", "second")
    assert "line 1: expected name, parameters of scrypt, salt, hash" in caplog.text
    path.unlink()
    assert accounts.check_quickly("ann", "second")


def test_salts_differ(tmp_path: Path) -> None:
    path = tmp_path / "accounts"
    for name in ("ann", "bob"):
        FileAccounts.set_password(path, name, "same")
    one, other = path.read_text().splitlines()
    assert one.split()[1:] != other.split()[1:]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# comment\nann\n", "line 2: expected name, parameters of scrypt, salt, hash"),
        *(
            (f"ann {words}\n", "line 1: expected name, parameters of scrypt, salt, hash")
            for words in (
                "c2FsdA==",
                "c2FsdA== aGFzaA==",
                "b@d aGFzaA==",
                "x c2FsdA== aGFzaA==",
                "$scrypt$ln=14,r=8 c2FsdA== aGFzaA==",
                "$scrypt$ln=14,r=0,p=1 c2FsdA== aGFzaA==",
                "$scrypt$ln=40,r=8,p=1 c2FsdA== aGFzaA==",
                "$scrypt$ln=16,r=1,p=1 c2FsdA== aGFzaA==",
                "$scrypt$ln=14,r=8,p=9999 c2FsdA== aGFzaA==",
                "$scrypt$ln=1,r=999,p=999 c2FsdA== aGFzaA==",
                "$scrypt$ln=14,r=8,p=1 x c2FsdA== aGFzaA==",
            )
        ),
        ("a/b $scrypt$ln=14,r=8,p=1 c2FsdA== aGFzaA==\n", "line 1: 'a/b' is not a valid name"),
        (f"{LINE}\n\n{LINE}\n", "line 3: ann occurs twice"),
    ],
)
def test_a_damaged_file_names_the_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "accounts"
    path.write_text(text)
    raises(ValueError, message, FileAccounts, path)
    raises(ValueError, message, FileAccounts.set_password, path, "bob", "secret")
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("name", "password"),
    [("", "x"), ("a b", "x"), ("ann", ""), ("ann", "é"), ("ann", "a\n"), ("ann", " a")],
)
def test_what_nobody_could_send_is_refused(tmp_path: Path, name: str, password: str) -> None:
    path = tmp_path / "accounts"
    raises(ValueError, r"name|password", FileAccounts.set_password, path, name, password)
    assert not path.exists()


def test_lines_with_other_parameters_are_checked_by_theirs(tmp_path: Path) -> None:
    path = tmp_path / "accounts"
    path.write_text(f"bob {line_of('b', 10, 4, 2)}\n")
    FileAccounts.set_password(path, "carl", "c")
    other, new = (line.split() for line in path.read_text().splitlines())
    assert [other[1], new[1]] == ["$scrypt$ln=10,r=4,p=2", "$scrypt$ln=14,r=8,p=1"]
    accounts = FileAccounts(path)
    for name, password in (("bob", "b"), ("carl", "c")):
        assert accounts.check(name, password)
        assert not accounts.check(name, "x")


def test_an_unknown_name_is_hashed_with_the_usual_parameters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "accounts"
    write_accounts(path, "ann", "bob")
    used = []
    monkeypatch.setattr(
        module, "hash_password", lambda *words: used.append(words[2]) or hash_password(*words)
    )
    assert not FileAccounts(path).check("nobody", "x")
    assert used == [(4, 1, 1)]


def test_accounts_that_are_added_at_once_are_all_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight writers who read the file before any of them has written it would keep one account."""
    path = tmp_path / "accounts"
    write_accounts(path, "first")
    monkeypatch.setattr(module, "hash_password", lambda *_: b"x")
    reading = threading.Barrier(8)

    class Read(FileAccounts):
        def __init__(self, path: object) -> None:
            super().__init__(path)  # type: ignore[arg-type]
            # Without a lock all eight would be here at the same time; with it only one is.
            with contextlib.suppress(threading.BrokenBarrierError):
                reading.wait(0.3)

    monkeypatch.setattr(module, "FileAccounts", Read)
    writers = [
        threading.Thread(target=FileAccounts.set_password, args=(path, f"a{i}", "x"))
        for i in range(8)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert FileAccounts(path).names() == [*(f"a{i}" for i in range(8)), "first"]
