"""What the panel *Engine* shows, the same on the pages of the server and in a page of one file."""

from typing import Final

from locmsim.referee.turn_report import WORLDS

#: The most lines, and the most cards of the opponent's hand.
LINES: Final = 8
HELD: Final = 12
#: Samples of the opponent's hand.
SAMPLES: Final = 400
#: The seed of the worlds in which lines are compared, as in a report.
SEED: Final = 1
#: What chances are.
CHANCES: Final = (
    f"the mean of {WORLDS} sampled worlds, in which the opponent's reply and the next turns are"
    " played on."
)
