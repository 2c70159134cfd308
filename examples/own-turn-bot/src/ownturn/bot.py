"""The agent as a bot on standard input and output, for any referee."""

import sys

from locmsim.bot import main as bot


def main() -> int:
    """Run the bot; options are those of ``python -m locmsim.bot``."""
    return bot(["--agent", "ownturn:OwnTurnAgent", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
