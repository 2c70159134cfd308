"""Measures the speed of the two ways to call the kernel: ``python -m flatbot``."""

import argparse
import time
from collections.abc import Callable
from statistics import median

from flatbot import _inlined, _pointers
from locmsim import State
from locmsim.game.positions import start_position

Playouts = Callable[[State, int, int], tuple[int, int]]


def rate(playouts: Playouts, state: State, games: int, seed: int) -> float:
    """Return the playouts per second."""
    start = time.perf_counter()
    playouts(state, games, seed)
    return games / (time.perf_counter() - start)


def main() -> None:
    parser = argparse.ArgumentParser(prog="flatbot", description=__doc__)
    parser.add_argument("--games", type=int, default=100_000, help="playouts per sample")
    games = parser.parse_args().games
    state = start_position(1)
    if _pointers.playouts(state, 100, 1) != _inlined.playouts(state, 100, 1):
        raise SystemExit("flatbot: the two versions play different games")
    rates = [
        [rate(module.playouts, state, games, seed) for module in (_pointers, _inlined)]
        for seed in range(7)  # alternating, so that a busy moment slows both
    ]
    pointers, inlined = (median(column) for column in zip(*rates, strict=True))
    print(f"through function pointers  {pointers:>12,.0f} playouts/s")
    print(f"through locm.h, inlined    {inlined:>12,.0f} playouts/s")
    print(f"inlined over pointers      {inlined / pointers:>12.2f}")


if __name__ == "__main__":
    main()
