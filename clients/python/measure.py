"""Measures how many frames of 807 bytes the parser decodes in a second on one core: all
devices of a Pioneer, and vision without data.

    python3 measure.py
"""

from __future__ import annotations

import platform
import time
from pathlib import Path

from playerclient import Event, Session
from tests.blocks import POSITION, SONAR, block, reply

# The data of each device.
DATA = {
    "s": SONAR,
    "l": bytes.fromhex("".join(f"{2000 + 17 * i:04X}" for i in range(361))),
    "p": POSITION,
    "m": bytes.fromhex("11067C"),
    "g": bytes.fromhex("1224"),
    "z": bytes.fromhex("FFE2 000A 0200"),
    "v": b"",
}
DEVICES = "".join(DATA)
FRAMES = 100_000
RECEIVED = 80  # frames in each 64 KiB, when the program is the bottleneck


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def measure(devices: str, at_once: int) -> float:
    """Returns frames per second."""
    frame = b"".join(block(letter, DATA[letter]) for letter in devices)
    pairs = "".join(letter + "r" for letter in devices)
    session = Session(lambda _: None)
    session.start_request(pairs)
    session.receive(reply(pairs))
    session.next_event()
    rounds = 0
    began = time.process_time()
    for _ in range(FRAMES // at_once):
        session.receive(at_once * frame)
        while session.next_event() is Event.ROUND:
            rounds += 1
    return rounds / (time.process_time() - began)


if __name__ == "__main__":
    size = sum(3 + len(DATA[letter]) for letter in DEVICES)
    print(f"{platform.python_implementation()} {platform.python_version()}, {processor()}")
    print(f"frames of {size} bytes, one at a time: {measure(DEVICES, 1):,.0f} per second")
    print(f"frames of {size} bytes, {RECEIVED} at a time: {measure(DEVICES, RECEIVED):,.0f} per second")
    print(f"scans of the laser alone: {measure('l', 1):,.0f} per second")
