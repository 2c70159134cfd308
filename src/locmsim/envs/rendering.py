"""What environments show people: texts, and pictures of the cards as arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.art import sheet_svg

__all__ = ["RENDER_MODES", "battle_svg", "check_render_mode", "offer_svg", "rgb_of", "show"]

RENDER_MODES = ["ansi", "human", "rgb_array"]


def check_render_mode(mode: str | None) -> str | None:
    """The mode; ``ValueError`` if there is no such one."""
    if mode is not None and mode not in RENDER_MODES:
        raise ValueError(f"render_mode: expected {', '.join(RENDER_MODES)} or None, got {mode!r}")
    return mode


def show(mode: str | None, text: Callable[[], str], svg: Callable[[], str]) -> Any:
    """What `render` gives in a mode: a text, an array, or None after printing the text."""
    if mode is None:
        return None
    if mode == "rgb_array":
        return rgb_of(svg())
    if mode == "ansi":
        return text()
    print(text())
    return None


def battle_svg(state: State, player: int) -> str:
    """A picture of what a player sees of a battle."""
    return state.observation(player)._repr_html_()


def offer_svg(cards: Any) -> str:
    """A picture of cards on offer."""
    return sheet_svg(cards)


def rgb_of(svg: str) -> NDArray[np.uint8]:
    """An SVG picture as a uint8 array (height, width, 3).

    ``DependencyNotInstalled`` without the extra ``png``.
    """
    try:
        from cairosvg.parser import Tree
        from cairosvg.surface import PNGSurface
    except (ImportError, OSError) as error:  # the second without the library cairo
        raise DependencyNotInstalled(
            f'render_mode "rgb_array" needs the extra png: pip install "locmsim[png]" ({error})'
        ) from None
    surface = PNGSurface(Tree(bytestring=svg.encode()), None, 96)
    image = surface.cairo
    width, height = image.get_width(), image.get_height()
    rows = np.frombuffer(image.get_data(), np.uint8).reshape(height, image.get_stride())
    # Blue, green, red and opacity, by which they are multiplied already; on white.
    pixels = rows[:, : 4 * width].reshape(height, width, 4).astype(np.uint16)
    colours = pixels[..., 2::-1] + (255 - pixels[..., 3:])
    picture: NDArray[np.uint8] = np.minimum(colours, 255).astype(np.uint8)
    return picture
