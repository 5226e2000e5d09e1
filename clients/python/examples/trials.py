"""An experiment: how well does the avoidance of obstacles get around from anywhere in a room? One
process makes all trials of a simulation in step, each from another place with other noise.

    player -stage examples/tune/tune.world -http localhost:8080
    python3 -m examples.trials -n 100

A trial has 20 simulated seconds. Trials are the same whenever they are run.
"""

from __future__ import annotations

import argparse
import math
import random

from playerclient import DataMode, PlayerClient, Simulation, SimulationRefused, SimulationState

from .sonar_avoidance import steer

ROUNDS = 200
"""Rounds of a trial, ten in a simulated second."""


def place(world: Simulation, seed: int) -> SimulationState:
    """Starts the world over with a seed, the robot anywhere that has room for it."""
    draw = random.Random(seed)
    while True:
        pose = (draw.uniform(-3, 3), draw.uniform(-3, 3), draw.uniform(-180, 180))  # m, deg
        try:
            return world.order(seed=seed, move={"r0": pose})
        except SimulationRefused:
            pass  # a wall is there


def trial(robot: PlayerClient, world: Simulation, seed: int) -> float:
    """Returns how far the robot got in m, from one second to the next."""
    at, way = place(world, seed).mover("r0"), 0.0
    for done in range(1, ROUNDS + 1):
        robot.request_data()
        robot.read(timeout=10)
        robot.set_speed(*steer(robot.sonar))
        if done % 10 == 0:
            now = world.state().mover("r0")
            at, way = now, way + math.hypot(now.x - at.x, now.y - at.y)
    return way


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-robot", default="localhost:6665", help="host:port of the robot (%(default)s)")
    p.add_argument("-world", default="localhost:8080", help="host:port of the dashboard (%(default)s)")
    p.add_argument("-n", type=int, default=20, help="trials (%(default)s)")
    arguments = p.parse_args()
    (host, port), (page, page_port) = arguments.robot.split(":"), arguments.world.split(":")
    world = Simulation(page, int(page_port))
    with PlayerClient(host, int(port)) as robot:
        robot.set_data_mode(DataMode.REQUEST_REPLY)  # the world waits for it
        robot.request(sonar="r", position="w")
        ways = [trial(robot, world, seed) for seed in range(arguments.n)]
    for seed, way in enumerate(ways):
        print(f"trial {seed}: {way:.2f} m")
    print(f"mean {sum(ways) / len(ways):.2f} m, worst {min(ways):.2f} m")


if __name__ == "__main__":
    main()
