"""How the sizes of folders are counted, which `.ci/run` keeps below those of `.ci/sizes`."""

import sizes


def test_comments_docstrings_and_blank_lines_are_no_code() -> None:
    text = (
        '"""A module."""\n\n# A comment.\ndef f(a):\n    """A\n    text."""\n    return a  # so\n'
    )
    assert sizes.size_of("a.py", text) == {"lines": 2, "tokens": 8}
    assert sizes.size_of("a.js", "/* A\nfile. */\nlet a = 1; // so\n") == {"lines": 1, "tokens": 5}


def test_joined_lines_have_as_many_tokens() -> None:
    long, short = "f(a, b)\n", "f(\n    a,\n    b\n)\n"
    assert sizes.size_of("a.pyx", long)["tokens"] == sizes.size_of("a.pyx", short)["tokens"] == 6


def test_texts_and_what_is_formatted_are_code() -> None:
    assert sizes.size_of("a.py", 'f("""a\nb""")\n') == {"lines": 2, "tokens": 4}
    assert sizes.size_of("a.py", 'x = f"{a + b} of {c}"\n')["tokens"] == 7


def test_words_of_documentation() -> None:
    assert sizes.size_of("a.md", "# Two words\n") == {"words": 3}
    assert not sizes.size_of("a.json", "{}")


def test_tests_that_reach_behind_public_names() -> None:
    text = (
        "import locmsim.search\nfrom locmsim.search.turn_search import Search\n"
        "def test(monkeypatch):\n"
        "    from locmsim.support.files import write\n    from vestrock_help import served\n"
        '    monkeypatch.setattr(write, "a", 1)\n    monkeypatch.setenv("A", "1")\n'
    )
    assert sizes.size_of("tests/unit/test_a.py", text)["deep"] == 3
    assert "deep" not in sizes.size_of("src/locmsim/a.py", text)


def test_a_folder_above_its_number_is_named() -> None:
    allowed = "folder lines tokens words deep\nsrc 10 100 0 0\n"
    found = {"src": sizes.Counter(lines=11, tokens=99), "new": sizes.Counter(words=3)}
    assert sizes.above(found, allowed) == [
        "new has 3 words, and .ci/sizes allows 0",
        "src has 11 lines, and .ci/sizes allows 10",
    ]
    assert not sizes.above({"src": sizes.Counter(lines=10, tokens=100)}, allowed)
