"""A block of each device as the server sends it, and its data."""

from __future__ import annotations

import struct
from typing import Any, Dict

from playerclient import Blob, Freshness, Gripper, Joystick, Misc, Position, PTZ


def block(letter: str, payload: bytes) -> bytes:
    return letter.encode("latin-1") + struct.pack(">H", len(payload)) + payload


def reply(pairs: str) -> bytes:
    return block("r", pairs.encode("latin-1"))


def aged(time: int, *ages: int) -> bytes:
    """Returns a block of device y."""
    return block("y", struct.pack(f">Q{len(ages)}I", time, *ages))


POSITION = bytes.fromhex("0001E240 00000457 FFFFF752 002D 0064 FFEC 010E 01")
SONAR = bytes.fromhex("".join(f"{1000 + 100 * i:04X}" for i in range(16)))
LASER = bytes.fromhex("".join(f"{2000 + 17 * i:04X}" for i in range(361)))
MISC = bytes.fromhex("11067C")
GRIPPER = bytes.fromhex("1224")
PTZ_ = bytes.fromhex("FFE2 000A 0200")
JOYSTICK = bytes.fromhex("80000001 8001 7FFF 0000 0001 FFFF 0000 0000 0002")
NO_BLOBS = bytes([1]) * 64
# Two blobs in channel 3: the areas are 1234 = 19 * 64 + 18, and 2**24 - 1.
VISION = bytes.fromhex("0101" * 3 + "0103" + "0301" * 28 + "01011413513D475B333D" + "40404040FF01FF01FF01")

# Payload, attribute, value.
DATA: Dict[str, Any] = {
    "p": (POSITION, "position", Position(123456, 1111, -2222, 45, 100, -20, 270, 1)),
    "s": (SONAR, "sonar", [1000 + 100 * i for i in range(16)]),
    "l": (LASER, "laser", [2000 + 17 * i for i in range(361)]),
    "m": (MISC, "misc", Misc(0b10001, 0b00110, 124)),
    "g": (GRIPPER, "gripper", Gripper(0x12, 0x24)),
    "z": (PTZ_, "ptz", PTZ(-30, 10, 512)),
    "j": (JOYSTICK, "joystick", Joystick(0x80000001, [-32767, 32767, 0, 1, -1, 0, 0, 2])),
    "v": (
        VISION,
        "vision.channels",
        [[], [], []]
        + [[Blob(1234, 80, 60, 70, 90, 50, 60), Blob(2**24 - 1, 254, 0, 254, 0, 254, 0)]]
        + [[] for _ in range(28)],
    ),
    "y": (aged(2**53)[3:], "freshness", Freshness(2**53, [])),
}
