"""The motifs of card pictures, drawn as SVG paths in a square of 100 x 100 units.

A motif is a tuple of parts, each a tone and the data of a path. The tones are those of a picture:
``body``, ``shade`` and ``light`` take their colour from the card, ``ink`` is nearly black and
``white`` nearly white. They are in ``data/motifs.json``, by type of card and name.
"""

import json
from collections.abc import Mapping
from importlib import resources

from locmsim.rules.cards import CardType

#: Tone and path data of each part, back to front.
Motif = tuple[tuple[str, str], ...]


_DATA: Mapping[str, Mapping[str, list[tuple[str, str]]]] = json.loads(
    (resources.files("locmsim.art") / "data" / "motifs.json").read_text(encoding="utf-8")
)

#: The motifs of each type of card.
MOTIFS: Mapping[CardType, tuple[Motif, ...]] = {
    kind: tuple(
        tuple((tone, path) for tone, path in motif) for motif in _DATA[kind.name.lower()].values()
    )
    for kind in CardType
}
#: What each motif shows, capitalized.
NOUNS: Mapping[CardType, tuple[str, ...]] = {
    kind: tuple(name.title() for name in _DATA[kind.name.lower()]) for kind in CardType
}
