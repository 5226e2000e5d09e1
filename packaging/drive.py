"""Drives the robot of the server at a port ahead until it has input, and connects again when the connection
is lost. It prints a line when the robot drives, and one when the connection is lost."""
import select
import sys

from playerclient import ConnectionClosed, PlayerClient, TimedOut

with PlayerClient("127.0.0.1", int(sys.argv[1])) as robot:
    robot.request("pa", timeout=60)
    robot.set_command_lifetime(30)  # s; the end of the server comes first
    begun = None  # mm, where the robot was when this connection began
    drives = False
    while not select.select([sys.stdin], [], [], 0)[0]:
        try:
            robot.read(timeout=10)
            robot.set_speed(100, 0)  # mm/s
        except (ConnectionClosed, TimedOut) as e:
            print("lost:", e, flush=True)
            begun, drives = None, False
            robot.reconnect(timeout=120)
            continue
        if not robot.has("p"):
            continue
        begun = robot.position.x if begun is None else begun
        if not drives and robot.position.x > begun + 30:  # mm
            drives = True
            print("drives", flush=True)
    robot.set_speed(0, 0)
