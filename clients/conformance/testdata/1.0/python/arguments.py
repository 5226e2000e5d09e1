"""The command line that the examples share."""

from __future__ import annotations

import argparse
import signal
from typing import Optional, Tuple


def parse(description: Optional[str], rounds: int) -> Tuple[str, int, int]:
    """Returns the host and the port of the server, and how many rounds to run."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it; the server then stops the robot
    p = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("address", nargs="?", default="localhost:6665", help="host[:port] of the server (%(default)s)")
    p.add_argument("-n", type=int, default=rounds, help="rounds of data, ten in a second (%(default)s)")
    arguments = p.parse_args()
    host, _, port = arguments.address.partition(":")
    return host or "localhost", int(port or 6665), arguments.n
