"""Drives two robots in one program, with asyncio: each around obstacles with its sonars. Ctrl-C stops both.

    player -stage simulation/worlds/subsumption-fleet.world &
    python3 -m examples.two_robots localhost:6665 localhost:6666
"""

from __future__ import annotations

import argparse
import asyncio

from playerclient import AsyncPlayerClient, Position

from .arguments import address
from .sonar_avoidance import steer


async def wander(name: str, where: str, rounds: int) -> Position:
    """Drives one robot, and returns where it is in the end."""
    async with AsyncPlayerClient(*address(where)) as robot:
        robot.set_name(name)
        robot.set_command_lifetime(0.5)  # if this program hangs, the robot stops after half a second
        await robot.request(sonar="r", position="a")
        async for data in robot:
            if data.has("sonar"):
                robot.set_speed(*steer(data.sonar))
            rounds -= 1
            if rounds == 0:
                break
        return robot.position


async def both(addresses: list[str], rounds: int) -> None:
    for name, end in zip(addresses, await asyncio.gather(*(wander(f"wander {a}", a, rounds) for a in addresses))):
        print(f"{name}: x {end.x} mm, y {end.y} mm")


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("address", nargs="*", default=["localhost:6665", "localhost:6666"], help="host[:port] of each robot")
    p.add_argument("-n", type=int, default=300, help="rounds of data, ten in a second (%(default)s)")
    arguments = p.parse_args()
    try:
        asyncio.run(both(arguments.address, arguments.n))
    except KeyboardInterrupt:
        pass  # the connections have ended, so the server has stopped the robots


if __name__ == "__main__":
    main()
