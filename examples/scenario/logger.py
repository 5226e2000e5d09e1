"""Keeps the ground truth: writes the positions that overhead cameras report to a file.

    python3 logger.py FILE NAME=HOST:PORT...

The file has a line for each report of a camera: the time of the report in seconds since the
server started, the name, x and y in metres, heading in degrees, speed in metres a second.
SIGINT or SIGTERM ends it.
"""

from __future__ import annotations

import asyncio
import csv
import pathlib
import signal
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))

from playerclient import AsyncPlayerClient, PlayerError  # noqa: E402

HEADER = ("time_s", "robot", "x_m", "y_m", "heading_deg", "speed_m_s")


async def follow(name: str, address: str, table: Any) -> None:
    """Writes what one camera reports, until the connection ends."""
    host, port = address.rsplit(":", 1)
    async with AsyncPlayerClient(host, int(port)) as camera:
        await camera.request("yrpr")  # y sends the ages
        camera.configure("y", b"wlogger")  # the name in the server's status
        camera.set_fresh(True)  # a round for each new report
        while True:
            await camera.read(timeout=10)
            age = camera.age_us("p")
            if age is None:  # no report yet
                continue
            at = camera.position
            time = (camera.freshness.time - age) / 1e6
            table.writerow((f"{time:.3f}", name, at.x / 1000, at.y / 1000, at.heading, at.speed / 1000))


async def log(path: str, cameras: list[list[str]]) -> None:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    for signum in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signum, lambda: task and task.cancel())
    with open(path, "w", newline="", buffering=1) as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(HEADER)
        try:
            await asyncio.gather(*(follow(name, address, table) for name, address in cameras))
        except asyncio.CancelledError:
            pass  # a signal: the file is complete


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        asyncio.run(log(sys.argv[1], [camera.split("=", 1) for camera in sys.argv[2:]]))
    except PlayerError as e:
        sys.exit(f"logger: {e}")
