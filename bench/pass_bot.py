"""A bot that answers PASS as soon as it has read its input."""

import os
import sys


def main():
    lines = sys.stdin.buffer
    while lines.readline():
        lines.readline()
        _, actions = lines.readline().split()
        for _ in range(int(actions)):
            lines.readline()
        for _ in range(int(lines.readline())):
            lines.readline()
        os.write(1, b"PASS\n")


main()
