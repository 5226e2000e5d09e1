"""Drives a square of one metre by the odometry, to the left, and ends where it began. Ctrl-C stops the robot.

    python3 -m examples.square localhost:6665

It looks at no sensor: give it room.
"""

from __future__ import annotations

import math
from itertools import islice

from playerclient import PlayerClient, Position

from .arguments import parse

SIDE = 1000  # mm
SPEED, TURN = 200, 30  # mm/s, deg/s
NEAR, EXACT = 20, 2  # mm, deg: this near counts as there


class Square:
    """Where the robot is on its square."""

    def __init__(self, start: Position) -> None:
        self.x, self.y, self.heading = start.x, start.y, start.heading  # of the corner where this side began
        self.turning = False
        self.sides = 0  # that are done

    def steer(self, now: Position) -> tuple[int, int]:
        """Returns the speed in mm/s and the turn rate in deg/s."""
        wrong = (self.heading - now.heading + 180) % 360 - 180  # deg to turn to the left
        if self.turning:
            if abs(wrong) > EXACT:
                return 0, limited(wrong, TURN)
            self.turning, self.x, self.y = False, now.x, now.y
        left = SIDE - math.hypot(now.x - self.x, now.y - self.y)  # mm
        if left < NEAR:
            self.sides, self.turning, self.heading = self.sides + 1, True, (self.heading + 90) % 360
            return 0, 0
        return limited(left, SPEED), limited(wrong, TURN)


def limited(value: float, most: int) -> int:
    """Returns a speed that falls towards the end of the way, so that the robot does not drive too far."""
    return round(max(-most, min(most, value)))


def main() -> None:
    host, port, rounds = parse(__doc__, rounds=1200)
    with PlayerClient(host, port) as robot:
        robot.set_command_lifetime(0.5)  # if this program hangs, the robot stops after half a second
        robot.request(position="a")  # read the odometry, write the wheels
        robot.read()
        square = Square(robot.position)
        for data in islice(robot, rounds):
            robot.set_speed(*square.steer(data.position))
            if square.sides == 4 and not square.turning:
                break
        print(f"{square.sides} sides; x {robot.position.x} mm, y {robot.position.y} mm, heading {robot.position.heading} deg")


if __name__ == "__main__":
    main()
