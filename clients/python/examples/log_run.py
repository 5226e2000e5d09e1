"""Writes a run of the robot into a table: where it is and how near things are, while other programs drive it. Ctrl-C
ends it. `player record` writes everything, and player_log.py reads that (docs/LOGS.md).

    python3 -m examples.log_run localhost:6665 > run.csv
"""

from __future__ import annotations

import csv
import sys
from itertools import islice

from playerclient import PlayerClient

from .arguments import parse


def main() -> None:
    host, port, rounds = parse(__doc__, rounds=600)
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["time_ms", "x_mm", "y_mm", "heading_deg", "speed_mm_per_s", "nearest_mm"])
    with PlayerClient(host, port) as robot:
        robot.request(position="r", sonar="r")  # it reads only: the robot does what others command
        for data in islice(robot, rounds):
            p = data.position
            nearest = min((mm for mm in data.sonar if mm > 0), default="")  # 0: not fired yet
            table.writerow([p.time, p.x, p.y, p.heading, p.speed, nearest])


if __name__ == "__main__":
    main()
