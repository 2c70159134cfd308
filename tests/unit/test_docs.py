"""docs/api.md is complete; that its examples are right, pytest itself sees."""

import re
from pathlib import Path

import pytest

import locmsim

API = Path(__file__).parents[2] / "docs" / "api.md"


def test_every_public_name_is_in_the_api_page():
    text = API.read_text()
    for name in locmsim.__all__:
        if not name.startswith("__"):
            assert re.search(rf"`{name}\b|\.{name}\b", text), name


@pytest.mark.parametrize("owner", ["State", "StateBatch", "Match"])
def test_every_method_is_in_the_api_page(owner):
    text = API.read_text()
    for name in dir(getattr(locmsim, owner)):
        if not name.startswith("_"):
            assert re.search(rf"\b{name}\b", text), f"{owner}.{name}"
