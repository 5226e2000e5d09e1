"""Reads many robots in one asyncio loop, for the benchmarks (docs/CLIENTS.md)."""

from __future__ import annotations

import asyncio
import json
import platform
import sys
import time

from playerclient import AsyncPlayerClient

RATE = 50
"""Hz."""
LIMIT = 10.0
"""Seconds for each wait."""


class Window:
    """The time in which rounds are counted, and their intervals in seconds."""

    begin = end = float("inf")
    intervals: list[float] = []


async def follow(robot: AsyncPlayerClient) -> None:
    last = 0.0
    while True:
        await robot.read(timeout=LIMIT)
        now = time.monotonic()
        if last and Window.begin <= now < Window.end:
            Window.intervals.append(now - last)
        last = now


async def main(host: str, port: int, count: int, warmup: float, seconds: float) -> None:
    robots = [AsyncPlayerClient(host, port + i) for i in range(count)]
    for robot in robots:
        await robot.connect()
        robot.set_frequency(RATE)
        await robot.request("lrsrprgrmrvrzr", timeout=LIMIT)
    Window.begin = time.monotonic() + warmup
    Window.end = Window.begin + seconds
    tasks = [asyncio.ensure_future(follow(robot)) for robot in robots]
    await asyncio.sleep(Window.begin - time.monotonic())
    print("begin", flush=True)
    await asyncio.sleep(Window.end - time.monotonic())
    print("end", flush=True)
    sys.stdin.read()
    for task in tasks:
        if task.done():
            task.result()  # raises its error
        task.cancel()
    n = len(Window.intervals)
    intervals = sorted(round(1e6 * interval) for interval in Window.intervals) or [0]
    result = {
        "runtime": f"{platform.python_implementation()} {platform.python_version()}",
        "frames": n,
        "p50_us": intervals[n // 2],
        "p99_us": intervals[n * 99 // 100],
        "max_us": intervals[-1],
    }
    print(json.dumps(result))


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit("usage: speed.py HOST PORT COUNT WARMUP SECONDS")
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5])))
