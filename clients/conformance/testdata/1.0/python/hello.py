"""The first program of the Player manual (appendix A): the robot drives around, turns away from
the nearer obstacle, and stands still while something is close ahead. Ctrl-C stops it.

    python3 -m examples.hello localhost:6665

A Pioneer starts with its motors off: press its white button.
"""

from __future__ import annotations

from playerclient import PlayerClient

from .arguments import parse


def main() -> None:
    host, port, rounds = parse(__doc__, rounds=1000)
    with PlayerClient(host, port) as robot:
        robot.request("srpw")  # sonar read, position write; this can take a few seconds
        for _ in range(rounds):
            robot.read(timeout=5)
            if not robot.has("s"):  # the sonars have not fired yet
                continue
            sonar = robot.sonar
            print("sonar (mm)", *sonar, flush=True)
            # Sonars 0 and 1 look to the left, 6 and 7 to the right.
            turnrate = -20 if sonar[0] + sonar[1] < sonar[6] + sonar[7] else 20  # deg/s
            robot.set_speed(0 if sonar[3] < 500 else 100, turnrate)  # mm/s
        robot.request("scpc")  # the server stops the wheels, also at the end of the connection


if __name__ == "__main__":
    main()
