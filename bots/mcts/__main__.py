"""The bundled bot as a program: it plays `mcts` at 1.2 and 1.0 and `beam` at 1.5.

``python bots/mcts`` runs it without an installed command.
"""

import sys

from locmsim.bot import main

sys.exit(main())
