"""Drives around obstacles with the sonars, as in appendix C of the Player manual: the nearer an
obstacle, the slower it drives; it turns towards the side with more room; without room it backs
off. Ctrl-C stops it.

    python3 -m examples.sonar_avoidance localhost:6665
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from playerclient import PlayerClient

from .arguments import parse


def steer(sonar: Sequence[int]) -> tuple[int, int]:
    """Returns the speed in mm/s and the turn rate in deg/s."""
    left, right = push(sonar[1:4]), push(sonar[4:7])
    return left + right, left - right


def push(ranges: Sequence[int]) -> int:
    """Returns how much one side drives the robot on: -100 at the wall, 0 at 300 mm, 150 from
    750 mm on. A sonar that has not fired yet reads 0 and does not count."""
    return min(100 * min((mm for mm in ranges if mm > 0), default=300) // 300 - 100, 150)


def main() -> None:
    host, port, rounds = parse(__doc__, rounds=400)
    with PlayerClient(host, port) as robot:
        robot.set_command_lifetime(0.5)  # if this program hangs, the robot stops after half a second
        robot.request(sonar="r", position="w")
        for data in islice(robot, rounds):
            if data.has("sonar"):
                robot.set_speed(*steer(data.sonar))


if __name__ == "__main__":
    main()
