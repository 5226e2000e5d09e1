"""Drives to a point around obstacles, with the laser, or with the sonars if the robot has none
(docs/GOTO.md). The point is in metres from where the robot's odometry began. Ctrl-C stops it.

    python3 -m examples.goto -addr localhost:6665 -- 4.5 -1.2
"""

from __future__ import annotations

import argparse
import signal

from playerclient import AccessRefused, DataMode, Part, PlayerClient
from playerclient.vfh import Way, config_of, laser_beams, sonar_beams


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it; the server then stops the robot
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-addr", default="localhost:6665", help="host:port of the server (%(default)s)")
    p.add_argument("-step", action="store_true", help="the robot is in a world in step, which waits for this program")
    p.add_argument("-sonar", action="store_true", help="use the sonars, even if there is a laser")
    p.add_argument("-n", type=int, default=3000, help="rounds of data until it gives up, ten in a second (%(default)s)")
    p.add_argument("x", type=float, help="m ahead")
    p.add_argument("y", type=float, help="m to the left")
    a = p.parse_args()
    host, _, port = a.addr.partition(":")
    with PlayerClient(host or "localhost", int(port or 6665)) as robot:
        if a.step:
            robot.set_data_mode(DataMode.REQUEST_REPLY)
        sensor = open_sensor(robot, a.sonar)
        parts = robot.geometry()
        laser = next((part for part in parts if part.device == "l"), Part("l", 0, 80, 0, 0, 0, 0, 0, 0))  # as on a Pioneer
        robot.set_command_lifetime(1)  # if this program hangs the robot stops
        way = Way(config_of(parts), int(a.x * 1000), int(a.y * 1000))
        for done in range(a.n):
            if a.step:
                robot.request_data()
            robot.read(timeout=30)
            if not robot.has("p") or not robot.has(sensor):  # nothing yet
                continue
            beams = sonar_beams(parts, robot.sonar) if sensor == "s" else laser_beams(laser, robot.laser)
            speed, turn, arrived = way.next(robot.position, beams)
            robot.set_speed(speed, turn)
            if arrived:
                print(f"arrived=1 time={done / 10:.1f}")
                return
        robot.set_speed(0, 0)
        print(f"arrived=0 time={a.n / 10:.1f}")


def open_sensor(robot: PlayerClient, sonar: bool) -> str:
    """Opens the wheels and the laser or the sonars, of which it returns the letter. In step,
    devices that are opened in one request have data from the first round on."""
    if not sonar:
        try:
            robot.request("palr")
            return "l"
        except AccessRefused:
            pass
    robot.request("pasr")
    return "s"


if __name__ == "__main__":
    main()
