"""Accounts of Vestrock's server."""

from pathlib import Path

import pytest

from locmsim.vestrock.accounts import FileAccounts, OpenAccounts


def test_the_first_use_of_a_name_sets_its_password() -> None:
    accounts = OpenAccounts()
    assert accounts.check("ann", "one")
    assert not accounts.check("ann", "two")
    assert accounts.check("ann", "one")
    assert accounts.check("bob", "two")
    assert accounts.names() is None


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
    assert "line 1: expected name, salt, hash" in caplog.text
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
        ("# comment\nann\n", "line 2: expected name, salt, hash"),
        ("ann b@d aGFzaA==\n", "line 1: expected name, salt, hash"),
        ("a/b c2FsdA== aGFzaA==\n", "line 1: 'a/b' is not a valid name"),
        ("ann c2FsdA== aGFzaA==\n\nann c2FsdA== aGFzaA==\n", "line 3: ann occurs twice"),
    ],
)
def test_a_damaged_file_names_the_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "accounts"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        FileAccounts(path)
    with pytest.raises(ValueError, match=message):
        FileAccounts.set_password(path, "bob", "secret")
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("name", "password"),
    [("", "x"), ("a b", "x"), ("ann", ""), ("ann", "é"), ("ann", "a\n"), ("ann", " a")],
)
def test_what_nobody_could_send_is_refused(tmp_path: Path, name: str, password: str) -> None:
    path = tmp_path / "accounts"
    with pytest.raises(ValueError, match=r"name|password"):
        FileAccounts.set_password(path, name, password)
    assert not path.exists()
