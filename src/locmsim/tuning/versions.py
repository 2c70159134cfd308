"""The versions of a bot that is tuned: a point of its parameters becomes a player."""

import contextlib
import hashlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path

from locmsim.arena.fixtures import Player
from locmsim.contract import Game
from locmsim.options.checks import OptionError
from locmsim.referee.agent_process import AgentFacts
from locmsim.referee.players import Seat, seat_of
from locmsim.support.files import write_whole
from locmsim.tuning.methods import Point
from locmsim.tuning.parameters import Parameter, Template, read_parameters, texts

#: Placeholder of the file that is written for each run.
FILE = "file"


def is_program(text: str, game: Game) -> bool:
    """Check a player's description; agents of others are made when games begin."""
    seat = seat_of(text, f"player {text!r}", game)
    seat.check()
    return seat.process


class Versions:
    """A bot with placeholders, whose versions have other numbers in their place.

    Points have the value of each parameter, in steps from its start.

    Parameters
    ----------
    player : str
        A command or an agent, with placeholders.
    template : str or None
        The content of a file with placeholders, if `player` has ``{file}``.
    game : Game
        The game.

    Raises
    ------
    ValueError
        A placeholder or the bot is wrong.
    """

    def __init__(self, player: str, template: str | None, game: Game) -> None:
        self._text, self._game = player, game
        self._template = Template(player, "player")
        self._file = None if template is None else Template(template, "template", file=True)
        placeholders = [one for one in self._template.placeholders if one.name != FILE]
        uses_file = len(placeholders) < len(self._template.placeholders)
        if self._file is not None and not uses_file:
            raise OptionError("template", "the command does not say where the file is, by {file}")
        if self._file is None and uses_file:
            raise OptionError("player", "{file} stands for a file, and no template was given")
        placeholders += [] if self._file is None else self._file.placeholders
        self.parameters: tuple[Parameter, ...] = read_parameters(
            placeholders, lambda name: self._known.defaults.get(name)
        )
        if uses_file:
            self._folder = Path(tempfile.mkdtemp(prefix="locmsim-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        # Checked once; that other values may not be valid is seen when they are played.
        self._process = is_program(self.command((0.0,) * len(self.parameters)), game)

    @cached_property
    def _known(self) -> AgentFacts:
        """What is known of the bot, if it is an agent, without the options it is given."""
        before = self._text.partition("{")[0]
        while ":" in before:
            before = before.rpartition(":")[0]
            with contextlib.suppress(ValueError):
                if self._game.is_agent(before):
                    return Seat(before, self._game, "player").known() or AgentFacts()
        return AgentFacts()

    def values(self, point: Point) -> dict[str, str]:
        """Return the value of each parameter, as the bot gets it.

        Parameters
        ----------
        point : tuple of float
            The version.
        """
        return texts(self.parameters, point)

    def command(self, point: Point, file: str | None = None) -> str:
        """Return the description of a version, a command or an agent.

        Parameters
        ----------
        point : tuple of float
            The version.
        file : str, optional
            The path that ``{file}`` stands for; by default that of a temporary file with the
            `content` of the version.
        """
        values = self.values(point)
        if file is not None:
            values[FILE] = file
        elif self._file is not None:
            path = self._path(point)
            if not path.exists():
                write_whole(path, self.content(point))
            values[FILE] = str(path)
        return self._template.fill(values)

    def _path(self, point: Point) -> Path:
        digest = hashlib.blake2b(self.content(point).encode(), digest_size=8)
        return self._folder / digest.hexdigest()

    def content(self, point: Point) -> str:
        """Return the file that is made from the template for a version; empty without one.

        Parameters
        ----------
        point : tuple of float
            The version.
        """
        return "" if self._file is None else self._file.fill(self.values(point))

    def player(self, name: str, point: Point, file: str | None = None) -> Player:
        """Return a version as a player.

        Parameters
        ----------
        name : str
            The player's name.
        point : tuple of float
            The version.
        file : str, optional
            As for `command`.
        """
        return Player(name, self.command(point, file), self._process)

    @contextlib.contextmanager
    def written_to(
        self, folder: Path | None, kept: Callable[[], Iterable[Point]]
    ) -> Iterator[None]:
        """Write files of versions into a folder within.

        Parameters
        ----------
        folder : path or None
            The folder; None for a temporary one.
        kept : callable
            Returns the versions whose files stay when this ends.
        """
        if folder is None or self._file is None:
            yield
            return
        self._folder = Path(os.path.relpath(folder))
        self._folder.mkdir(exist_ok=True)
        try:
            yield
        finally:
            names = {self._path(point).name for point in kept()}
            for path in self._folder.iterdir():
                if path.name not in names:
                    path.unlink()
