"""The folder of a tuning, from which it can be resumed."""

import io
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from locmsim._io import try_lock, write_whole
from locmsim.networks import Weights, WeightsFile
from locmsim.tuning.self_play import TrainingGames
from locmsim.tuning.settings import TuningSettings

__all__ = ["Folder", "TuningProgress", "replaced"]


@dataclass
class TuningProgress:
    """The progress of a tuning."""

    #: The weights file that it started from.
    start: WeightsFile
    #: Accepted weights, the best last; the first are those of the start.
    adopted: list[Weights]
    #: The commands that started and resumed it.
    commands: list[str] = field(default_factory=list)
    #: Number of complete iterations, and of games in them.
    iteration: int = 0
    games: int = 0
    #: Results of the matches by which new weights were accepted.
    accepted: list[dict[str, Any]] = field(default_factory=list)
    #: Matches of this iteration: label -> chunk -> wins of each pair.
    open: dict[str, dict[str, list[float]]] = field(default_factory=dict)


#: Fields of `TuningProgress` that are weights, stored in separate files.
_WEIGHTS = {"start", "adopted"}


def replaced(
    file: WeightsFile, rules: str, weights: Weights, record: Mapping[str, Any]
) -> WeightsFile:
    """Return a weights file with new weights of a rule set and one more record."""
    return WeightsFile({**file.weights, rules: weights}, [*file.record, record])


class Folder:
    """The folder of a tuning, or none.

    ``state.json`` has the settings and the progress, ``start.npz`` the weights file of the start,
    ``adopted-N.npz`` the weights that were adopted in iteration N, ``games-N.npz`` its games.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def _state(self) -> Path:
        assert self.path is not None
        return self.path / "state.json"

    @property
    def _start(self) -> Path:
        assert self.path is not None
        return self.path / "start.npz"

    def _adopted_file(self, iteration: int) -> Path:
        assert self.path is not None
        return self.path / f"adopted-{iteration:04}.npz"

    def games_file(self, iteration: int) -> Path:
        """Return the file of an iteration's games."""
        assert self.path is not None
        return self.path / f"games-{iteration:04}.npz"

    def exists(self) -> bool:
        """Return whether the folder holds a tuning."""
        return self.path is not None and self._state.exists()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else tunes in it within; ``ValueError`` if another process does."""
        if self.path is None:
            yield
            return
        with self._start.open("r+b") as file:  # the one that is never replaced
            try:
                alone = try_lock(file.fileno())
            except OSError:  # file systems of some clusters do not support locks
                alone = True
            if not alone:
                raise ValueError(f"{self.path}: another process is tuning there")
            yield

    # --------------------------------------------------------------------------- progress

    def save(self, settings: TuningSettings, progress: TuningProgress) -> None:
        """Save everything except the games."""
        if self.path is None:
            return
        self.path.mkdir(parents=True, exist_ok=True)
        if not self._start.exists():
            progress.start.save(self._start)
        for match, weights in zip(progress.accepted, progress.adopted[1:], strict=True):
            if not (path := self._adopted_file(match["iteration"])).exists():
                WeightsFile({settings.rules: weights}).save(path)
        content = {
            field.name: getattr(progress, field.name)
            for field in fields(TuningProgress)
            if field.name not in _WEIGHTS
        }
        text = json.dumps({"settings": asdict(settings), **content})
        write_whole(self._state, text + "\n")

    def load(self) -> tuple[TuningSettings, TuningProgress]:
        """Load what `save` wrote; ``ValueError`` names a file that is not valid."""
        assert self.path is not None
        try:
            content = json.loads(self._state.read_text(encoding="utf-8"))
            settings = content.pop("settings")
            settings["parts"] = tuple(settings["parts"])
            chosen = TuningSettings(**settings)
            iterations = [match["iteration"] for match in content["accepted"]]
            start = WeightsFile.load(self._start)
            files = [start, *(WeightsFile.load(self._adopted_file(i)) for i in iterations)]
            adopted = [file[chosen.rules] for file in files]
            return chosen, TuningProgress(start, adopted, **content)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"{self._state}: not the state of a tuning: {error}") from None

    # ------------------------------------------------------------------------------ games

    def save_games(self, iteration: int, done: Mapping[int, TrainingGames]) -> None:
        """Save the games of the chunks of an iteration."""
        if self.path is None or not done:
            return
        chunks = sorted(done)
        parts = [done[chunk] for chunk in chunks]
        file = io.BytesIO()
        np.savez_compressed(
            file,
            chunks=np.array(chunks),
            sizes=np.array([(len(part.position_won), len(part.deck_won)) for part in parts]),
            **vars(TrainingGames.joined(parts)),
        )
        write_whole(self.games_file(iteration), file.getvalue())

    def load_games(self, iteration: int) -> dict[int, TrainingGames]:
        """Return the saved games by chunk; ``ValueError`` names a damaged file."""
        if self.path is None or not self.games_file(iteration).exists():
            return {}
        try:
            # Opened here because numpy does not close a file that it refuses.
            with self.games_file(iteration).open("rb") as opened, np.load(opened) as file:
                ends = file["sizes"].cumsum(axis=0)[:-1]
                columns = [
                    np.split(file[column.name], ends[:, int(not column.name.startswith("pos"))])
                    for column in fields(TrainingGames)
                ]
                parts = [TrainingGames(*part) for part in zip(*columns, strict=True)]
                for part in parts:
                    part.check()
                return dict(zip(file["chunks"].tolist(), parts, strict=True))
        except (ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile) as error:
            path = self.games_file(iteration)
            raise ValueError(f"{path}: not the games of a tuning: {error}") from None
