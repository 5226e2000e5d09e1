"""Follows the wall on the right with the laser, at 600 mm. Ctrl-C stops it.

    python3 -m examples.laser_wall localhost:6665
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from playerclient import PlayerClient

from .arguments import parse

DISTANCE = 600  # mm, to the wall
SPEED = 250  # mm/s
LOST = 2 * DISTANCE  # mm, above which there is no wall on the right


def steer(laser: Sequence[int]) -> tuple[int, int]:
    """Returns the speed in mm/s and the turn rate in deg/s."""
    ahead = min(laser[120:241])  # -30 to +30 deg
    if ahead < DISTANCE:
        return 0, 40  # a corner: turn left on the spot
    right = laser[0:180]  # -90 to 0 deg
    distance = min(right)
    if distance > LOST:
        return SPEED // 2, -20  # an outer corner, or no wall yet: curve to the right
    # The nearest reading of a wall is at a right angle to it. Parallel to the wall, it is the
    # first one; driving towards the wall, it is further ahead.
    towards = right.index(distance) / 2  # deg
    turn = 0.8 * towards + (DISTANCE - distance) / 20
    return SPEED, max(-20, min(round(turn), 40))


def main() -> None:
    host, port, rounds = parse(__doc__, rounds=600)
    with PlayerClient(host, port) as robot:
        robot.set_command_lifetime(0.5)  # if this program hangs, the robot stops after half a second
        robot.request(laser="r", position="w")
        for data in islice(robot, rounds):
            if data.has("laser"):
                robot.set_speed(*steer(data.laser))


if __name__ == "__main__":
    main()
