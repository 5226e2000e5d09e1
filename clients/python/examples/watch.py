"""Prints the data of every device and its age, whenever there is new data. It connects again
when the connection is lost. Ctrl-C ends it.

    python3 -m examples.watch localhost:6665
"""

from __future__ import annotations

import asyncio

from playerclient import AccessRefused, AsyncPlayerClient, ConnectionClosed, Round, TimedOut

from .arguments import parse

DEVICES = ["position", "sonar", "misc", "laser", "gripper", "ptz", "vision"]


def line(robot: AsyncPlayerClient, data: Round, device: str) -> str:
    channels = data.vision.channels
    texts: dict[str, str] = {
        "position": str(data.position),
        "sonar": f"sonar {list(data.sonar)} mm",
        "laser": f"laser {data.laser[0]} mm right, {data.laser[180]} mm ahead, {data.laser[360]} mm left",
        "misc": str(data.misc),
        "gripper": str(data.gripper),
        "ptz": str(data.ptz),
        "vision": f"vision: {[(c, len(channels[c])) for c in data.vision.active_channels]}",
    }
    age = robot.age_us(device)
    return f"{'?' if age is None else age // 1000:>5} ms  {texts[device] if data.has(device) else device + ': no data'}"


async def watch(host: str, port: int, rounds: int) -> None:
    async with AsyncPlayerClient(host, port) as robot:
        try:
            await robot.request({"freshness": "r", **dict.fromkeys(DEVICES, "r")})  # freshness has the ages
        except AccessRefused as e:
            print(e, flush=True)  # the robot does not have all devices
        robot.set_fresh(True)  # only new data
        while rounds > 0:
            try:
                async for data in robot:
                    for device in filter(data.is_new, DEVICES):
                        print(line(robot, data, device), flush=True)
                    rounds -= 1
                    if rounds == 0:
                        break
            except (ConnectionClosed, TimedOut) as e:
                print(f"{e}: connecting again", flush=True)
                await robot.reconnect(timeout=None)  # for ever


def main() -> None:
    asyncio.run(watch(*parse(__doc__, rounds=1_000_000)))


if __name__ == "__main__":
    main()
