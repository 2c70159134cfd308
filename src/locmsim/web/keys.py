"""Keys: what pages call a match or a position."""

import re
from enum import StrEnum
from typing import NamedTuple


class KeyKind(StrEnum):
    """The kinds of things that have a page, by the first letter of their keys."""

    #: A match that is over, by a hash of its log.
    MATCH = "m"
    #: A match in an arena's results.
    RESULT = "d"
    #: A match that another program is playing.
    LIVE = "l"
    #: A match that is played on the pages.
    HOSTED = "g"
    #: A position that was set up.
    POSITION = "s"


_TEXT = re.compile(
    rf"m[0-9a-f]{{16}}|([{''.join(KeyKind)[1:]}])(0|[1-9][0-9]{{0,8}})(?::([0-9]{{1,17}}))?",
    re.ASCII,
)


class Key(NamedTuple):
    """A key, written ``m0123456789abcdef``, ``d0:17`` or ``g2``."""

    kind: KeyKind
    #: The number of the thing among those of its kind; of a result, that of the file; the hash.
    place: int
    #: The number of the match in the file of results; None for the other kinds.
    number: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Key":
        """Return the key that a text is; raise ``ValueError`` if it names no match."""
        found = _TEXT.fullmatch(text)
        if found is not None and text[0] == KeyKind.MATCH:
            return cls(KeyKind.MATCH, int(text[1:], 16))
        if found is None or (found[3] is None) == (found[1] == KeyKind.RESULT):
            raise ValueError(f"there is no match {text[:40]!r}")
        number = None if found[3] is None else int(found[3])
        return cls(KeyKind(found[1]), int(found[2]), number)

    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        if self.kind == KeyKind.MATCH:
            return f"{self.kind}{self.place:016x}"
        return f"{self.kind}{self.place}" + ("" if self.number is None else f":{self.number}")
