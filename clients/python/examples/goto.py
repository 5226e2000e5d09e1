"""Drives to a point around obstacles (docs/GOTO.md). The point is in metres from where the robot's odometry began. The
server plans the way: start it with -goto. Ctrl-C stops the robot.

    python3 -m examples.goto -addr localhost:6665 -- 4.5 -1.2
"""

from __future__ import annotations

import argparse
import signal
import sys

from playerclient import DataMode, GoalError, NoDevice, PlayerClient, Round


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it; the server then stops the robot
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-addr", default="localhost:6665", help="host:port of the server (%(default)s)")
    p.add_argument("-step", action="store_true", help="the robot is in a world in step, which waits for this program")
    p.add_argument("x", type=float, help="m ahead")
    p.add_argument("y", type=float, help="m to the left")
    a = p.parse_args()
    host, _, port = a.addr.partition(":")
    rounds = 0

    def each(data: Round) -> None:
        nonlocal rounds
        if rounds % 10 == 0:
            print(f"at {data.position.x} {data.position.y} mm, {robot.goto.data.distance_mm} mm to go", flush=True)
        rounds += 1

    with PlayerClient(host or "localhost", int(port or 6665)) as robot:
        robot.set_command_lifetime(1)  # if this program hangs, the robot stops after a second
        if a.step:
            robot.set_data_mode(DataMode.REQUEST_REPLY)
        try:
            robot.request(position="r", goto="a")
            robot.go_to(1000 * a.x, 1000 * a.y, each=each)
        except (NoDevice, GoalError) as e:
            print(f"arrived=0 time={rounds / 10:.1f}")
            sys.exit(str(e))
        print(f"arrived=1 time={rounds / 10:.1f}")


if __name__ == "__main__":
    main()
