"""The fields of forms and requests, from the declarations of options: names, bounds, defaults."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, replace
from typing import Any

from locmsim.options.declarations import Declared
from locmsim.web.endpoints import Refusal

#: The largest number that JavaScript holds exactly; larger bounds are checked here alone.
_EXACT = 2**53


def up_to(field: Declared, high: float) -> Declared:
    """Return an option with a lower upper bound, which the server sets for all its users."""
    return field._replace(option=replace(field.option, high=high))


def form_of(fields: Sequence[Declared]) -> list[dict[str, Any]]:
    """Return what a page makes the fields of a form from."""
    return [
        {
            "name": one.name,
            "text": one.option.text[:1].upper() + one.option.text[1:],
            "default": None if one.default is MISSING else one.default,
            "choices": one.option.choices,
            "whole": one.type is int,
            "low": _bound(one.option.low),
            "high": _bound(one.option.high),
        }
        for one in fields
    ]


def _bound(bound: float | None) -> float | None:
    return None if bound is None or abs(bound) > _EXACT else bound


def values_of(data: Mapping[str, Any], fields: Sequence[Declared]) -> dict[str, Any]:
    """Return the values of a request; raise `Refusal` for one that an option does not have."""
    found = {}
    for one in fields:
        value = data.get(one.name)
        if value in (None, ""):
            found[one.name] = None if one.default is MISSING else one.default
            continue
        try:
            found[one.name] = value = _number(one, value)
            one.check(value)
        except ValueError as error:
            raise Refusal(error) from None
    return found


def _number(field: Declared, value: Any) -> Any:
    """Return a number that is given as a text, or the value as it is."""
    if isinstance(value, str) and field.type in (int, float) and len(value) <= 40:
        try:
            return field.type(value)
        except ValueError:
            pass
    return value
