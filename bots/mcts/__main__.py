"""The bundled bot as a program: ``python bots/mcts``, without installing a command."""

import sys

from locmsim.bot import main

sys.exit(main())
