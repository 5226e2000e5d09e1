#!/usr/bin/env python3
"""HDAPS as a joystick: tilt the laptop. The argument is the sysfs directory."""
import struct
import sys
import time


def read(name: str) -> list[int]:
    return [int(n) for n in open(f"{sys.argv[1]}/{name}").read().strip("()\n").split(",")]

rest, last = read("calibrate"), None
while True:
    axes = [max(-32767, min(32767, (now - zero) * 218)) for now, zero in zip(read("position"), rest)]
    if axes != last:
        sys.stdout.buffer.write(struct.pack(">cHI8h", b"j", 20, 0, *axes, 0, 0, 0, 0, 0, 0))
        sys.stdout.flush()
    last = axes
    time.sleep(0.05)
