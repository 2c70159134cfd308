"""``python -m locmsim`` is the command line tool."""

import sys

from locmsim.cli.main import main

sys.exit(main())
