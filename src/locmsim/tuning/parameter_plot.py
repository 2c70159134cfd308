"""A picture of the parameters over the games of an optimization."""

import html
from collections.abc import Sequence

from locmsim.tuning.methods import Point
from locmsim.tuning.parameters import Parameter

_WIDTH, _HEIGHT, _GAP = 720, 110, 30
#: Points of a curve: more cannot be seen.
_POINTS = 400


def parameters_svg(parameters: Sequence[Parameter], history: Sequence[tuple[int, Point]]) -> str:
    """Return an SVG with one curve for each parameter: its value over the games.

    Parameters
    ----------
    parameters : sequence of Parameter
        The parameters.
    history : sequence of pairs
        Games played, and the point after them.
    """
    height = len(parameters) * (_HEIGHT + _GAP) + _GAP
    title = f"{', '.join(one.name for one in parameters)} over {history[-1][0]:,} games"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img"'
        ' font-family="sans-serif" font-size="12">',
        f"<title>{html.escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
    ]
    kept = history[:: max(1, len(history) // _POINTS)]
    kept = kept if kept[-1] == history[-1] else [*kept, history[-1]]
    for i, one in enumerate(parameters):
        curve = [(games, one.value(point[i])) for games, point in kept]
        parts += _chart(one, curve, i * (_HEIGHT + _GAP) + _GAP)
    return "\n".join([*parts, "</svg>", ""])


def _chart(parameter: Parameter, curve: Sequence[tuple[int, float]], top: int) -> list[str]:
    low, high = min(value for _, value in curve), max(value for _, value in curve)
    if low == high:
        low, high = low - 1, high + 1
    left, right, bottom = 70, _WIDTH - 90, top + _HEIGHT
    games = max(curve[-1][0], 1)

    def place(played: int, value: float) -> tuple[float, float]:
        return (
            left + (right - left) * played / games,
            bottom - (bottom - top) * (value - low) / (high - low),
        )

    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in curve))
    x, y = place(*curve[-1])
    label = f'<text x="{left - 6}" text-anchor="end" fill="#555" '
    name = html.escape(parameter.name)
    return [
        f'<text x="{left}" y="{top - 8}" font-weight="bold">{name}</text>',
        f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#999"/>',
        f'{label}y="{top + 10}">{high:.4g}</text>',
        f'{label}y="{bottom}">{low:.4g}</text>',
        f'<text x="{right}" y="{top - 8}" text-anchor="end" fill="#555">{games:,} games</text>',
        f'<polyline points="{line}" fill="none" stroke="#06c" stroke-width="2"/>',
        f'<text x="{x + 6:.1f}" y="{y + 4:.1f}">{parameter.text(curve[-1][1])}</text>',
    ]
