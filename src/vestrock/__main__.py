"""``python -m vestrock``: the command line tool."""

import sys

from vestrock.cli import main

if __name__ == "__main__":
    sys.exit(main())
