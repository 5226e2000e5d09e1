"""Prints the data of every device and its age, whenever there is new data. It connects again
when the connection is lost. Ctrl-C ends it.

    python3 -m examples.watch localhost:6665
"""

from __future__ import annotations

import asyncio

from playerclient import AccessRefused, AsyncPlayerClient, ConnectionClosed, TimedOut

from .arguments import parse

DEVICES = "yspmlgzv"  # y, the server itself, sends the ages


def line(robot: AsyncPlayerClient, device: str) -> str:
    texts = {
        "p": lambda: str(robot.position),
        "s": lambda: f"sonar {list(robot.sonar)} mm",
        "l": lambda: f"laser {robot.laser[0]} mm right, {robot.laser[180]} mm ahead, {robot.laser[360]} mm left",
        "m": lambda: str(robot.misc),
        "g": lambda: str(robot.gripper),
        "z": lambda: str(robot.ptz),
        "v": lambda: f"vision: {[(c, len(robot.vision.channels[c])) for c in robot.vision.active_channels]}",
    }
    age = robot.age_us(device)
    return f"{'?' if age is None else age // 1000:>5} ms  {texts[device]() if robot.has(device) else device + ': no data'}"


async def watch(host: str, port: int, rounds: int) -> None:
    async with AsyncPlayerClient(host, port) as robot:
        try:
            await robot.request("".join(device + "r" for device in DEVICES))
        except AccessRefused as e:
            print(e, flush=True)  # the robot does not have all devices
        robot.set_fresh(True)  # only new data
        for _ in range(rounds):
            try:
                await robot.read(timeout=10)
            except (ConnectionClosed, TimedOut) as e:
                print(f"{e}: connecting again", flush=True)
                await robot.reconnect()
                continue
            for device in robot.new.replace("y", ""):
                print(line(robot, device), flush=True)


def main() -> None:
    asyncio.run(watch(*parse(__doc__, rounds=1_000_000)))


if __name__ == "__main__":
    main()
