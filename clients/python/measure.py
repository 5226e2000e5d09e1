"""Measures how many frames of 807 bytes the parser decodes in a second on one core: all
devices of a Pioneer, and vision without data.

    python3 measure.py
"""

from __future__ import annotations

import platform
import time
from pathlib import Path

from playerclient import Event, Session
from tests.blocks import DATA, block, reply

DEVICES = "slpmgzv"
FRAMES = 100_000
RECEIVED = 80  # frames in each 64 KiB, when the program is the bottleneck


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.machine())


def payload(letter: str) -> bytes:
    return b"" if letter == "v" else DATA[letter][0]


def measure(devices: str, at_once: int) -> float:
    """Returns frames per second."""
    frame = b"".join(block(letter, payload(letter)) for letter in devices)
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
    size = sum(3 + len(payload(letter)) for letter in DEVICES)
    print(f"{platform.python_implementation()} {platform.python_version()}, {processor()}")
    print(f"frames of {size} bytes, one at a time: {measure(DEVICES, 1):,.0f} per second")
    print(f"frames of {size} bytes, {RECEIVED} at a time: {measure(DEVICES, RECEIVED):,.0f} per second")
    print(f"scans of the laser alone: {measure('l', 1):,.0f} per second")
