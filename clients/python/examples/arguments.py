"""The command line of the examples."""

from __future__ import annotations

import argparse
import signal


def parse(description: str | None, rounds: int) -> tuple[str, int, int]:
    """Returns the host and the port of the server, and how many rounds to run."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it; the server then stops the robot
    p = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("address", nargs="?", default="localhost:6665", help="host[:port] of the server (%(default)s)")
    p.add_argument("-n", type=int, default=rounds, help="rounds of data, ten in a second (%(default)s)")
    arguments = p.parse_args()
    host, port = address(arguments.address)
    return host, port, arguments.n


def address(text: str) -> tuple[str, int]:
    """Returns the host and the port of host[:port]."""
    host, _, port = text.partition(":")
    return host or "localhost", int(port or 6665)
