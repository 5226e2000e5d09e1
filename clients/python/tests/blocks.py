"""Blocks as the server sends them."""

from __future__ import annotations

import struct


def block(letter: str, payload: bytes) -> bytes:
    return letter.encode("latin-1") + struct.pack(">H", len(payload)) + payload


def reply(pairs: str) -> bytes:
    return block("r", pairs.encode("latin-1"))


POSITION = bytes.fromhex("0001E240 00000457 FFFFF752 002D 0064 FFEC 010E 01")
SONAR = bytes.fromhex("".join(f"{1000 + 100 * i:04X}" for i in range(16)))
NO_BLOBS = bytes([1]) * 64
# Two blobs in channel 3: the areas are 1234 = 19 * 64 + 18, and 2**24 - 1.
VISION = bytes.fromhex("0101" * 3 + "0103" + "0301" * 28 + "01011413513D475B333D" + "40404040FF01FF01FF01")
# A robot with a second laser, an imu and a servo, and without an io device.
DEVICES = b"d\n108 laser 0 sick\n128 laser 1 urg\n130 imu 0 a driver\n131 servo 0 arm"
