"""The data of the devices (PROTOCOL 7 and 8.1), and their decoding.

All values are in the protocol's units: mm, degrees, mm/s, deg/s. x is forward, y is to the
left, and angles increase counterclockwise. Every decoder takes a payload and raises
ProtocolError if it has another size or layout.
"""

from __future__ import annotations

import sys
from array import array
from struct import Struct
from math import isfinite
from typing import List, NamedTuple, Sequence

from .errors import ProtocolError

SONARS = 16
LASER_READINGS = 361
CHANNELS = 32
MAX_BLOBS = 10
"""ACTS reports at most so many blobs in one channel."""

NO_AGE = 0xFFFFFFFF
"""The age of a device that has no data yet (PROTOCOL 8.1)."""


class Position(NamedTuple):
    """The odometry (PROTOCOL 7.1)."""

    time: int = 0  # ms since the server started
    x: int = 0  # mm, forward of the odometry's origin
    y: int = 0  # mm, to the left
    heading: int = 0  # deg, 0..359, counterclockwise
    speed: int = 0  # mm/s, forward
    turnrate: int = 0  # deg/s, counterclockwise
    compass: int = 0  # deg, 0..359
    stall: int = 0  # zero if the motors turn freely


class Misc(NamedTuple):
    """Bumpers and battery (PROTOCOL 7.4)."""

    front_bumpers: int = 0  # lowest five bits, set while pressed
    rear_bumpers: int = 0  # lowest five bits, set while pressed
    battery: int = 0  # decivolt

    @property
    def voltage(self) -> int:
        """The battery in decivolt, by the name that the manual's C++ has."""
        return self.battery


class Gripper(NamedTuple):
    """Paddles, lift and break beams (PROTOCOL 7.5): two bytes of bits, and their names."""

    state: int = 0
    beams: int = 0

    @property
    def paddles_open(self) -> bool:
        return bool(self.state & 0x01)

    @property
    def paddles_closed(self) -> bool:
        return bool(self.state & 0x02)

    @property
    def paddles_moving(self) -> bool:
        return bool(self.state & 0x04)

    @property
    def paddles_error(self) -> bool:
        return bool(self.state & 0x08)

    @property
    def lift_up(self) -> bool:
        return bool(self.state & 0x10)

    @property
    def lift_down(self) -> bool:
        return bool(self.state & 0x20)

    @property
    def lift_moving(self) -> bool:
        return bool(self.state & 0x40)

    @property
    def lift_error(self) -> bool:
        return bool(self.state & 0x80)

    @property
    def grip_limit_reached(self) -> bool:
        return bool(self.beams & 0x01)

    @property
    def lift_limit_reached(self) -> bool:
        return bool(self.beams & 0x02)

    @property
    def outer_beam_obstructed(self) -> bool:
        return bool(self.beams & 0x04)

    @property
    def inner_beam_obstructed(self) -> bool:
        return bool(self.beams & 0x08)

    @property
    def left_paddle_open(self) -> bool:
        return bool(self.beams & 0x10)

    @property
    def right_paddle_open(self) -> bool:
        return bool(self.beams & 0x20)


class PTZ(NamedTuple):
    """The camera's direction and zoom (PROTOCOL 7.6)."""

    pan: int = 0  # deg, -100..100, counterclockwise
    tilt: int = 0  # deg, -25..25, up
    zoom: int = 0  # 0 wide .. 1023 telephoto


class Blob(NamedTuple):
    """One patch of colour in the camera image. Coordinates are pixels, 0..254, from the top
    left."""

    area: int  # pixels
    x: int  # centre
    y: int
    left: int  # bounding box
    right: int
    top: int
    bottom: int


class Vision(NamedTuple):
    """The blobs of one image (PROTOCOL 7.7)."""

    channels: Sequence[Sequence[Blob]] = ((),) * CHANNELS  # 32 lists, the largest blob first

    @property
    def active_channels(self) -> List[int]:
        """The channels that have at least one blob."""
        return [channel for channel, blobs in enumerate(self.channels) if blobs]


class Joystick(NamedTuple):
    """The state of a joystick (PROTOCOL 7.8)."""

    buttons: int = 0  # bit n is set while button n is pressed
    axes: Sequence[int] = (0,) * 8  # -32767..32767, 0 at rest


class Freshness(NamedTuple):
    """The block of device y (PROTOCOL 8.1)."""

    time: int = 0  # us since the server started
    ages: Sequence[int] = ()  # us, of every other block of the frame; NO_AGE without data


_POSITION = Struct(">IiiHhhHB")
_PTZ = Struct(">hhh")
_JOYSTICK = Struct(">I8h")
_TIME = Struct(">Q")
_SWAP = sys.byteorder == "little"
_U32 = "I" if array("I").itemsize == 4 else "L"


def _check(what: str, payload: bytes, size: int) -> None:
    if len(payload) != size:
        raise ProtocolError(f"{what} payload has {len(payload)} bytes, want {size}")


def _integers(code: str, payload: bytes) -> Sequence[int]:
    """Decodes big-endian unsigned integers. For a laser scan, an array takes a tenth of the time
    that struct.unpack takes for a tuple."""
    values = array(code, payload)
    if _SWAP:
        values.byteswap()
    return values


def decode_position(payload: bytes) -> Position:
    _check("position", payload, _POSITION.size)
    return Position._make(_POSITION.unpack(payload))


def decode_sonar(payload: bytes) -> Sequence[int]:
    """Decodes 16 ranges in mm: 0 at the front left, then clockwise (PROTOCOL 7.2)."""
    _check("sonar", payload, 2 * SONARS)
    return _integers("H", payload)


def decode_laser(payload: bytes) -> Sequence[int]:
    """Decodes 361 ranges in mm: every half degree from the right to the left (PROTOCOL 7.3)."""
    _check("laser", payload, 2 * LASER_READINGS)
    return _integers("H", payload)


def decode_misc(payload: bytes) -> Misc:
    _check("misc", payload, 3)
    return Misc._make(payload)


def decode_gripper(payload: bytes) -> Gripper:
    _check("gripper", payload, 2)
    return Gripper._make(payload)


def decode_ptz(payload: bytes) -> PTZ:
    _check("ptz", payload, _PTZ.size)
    return PTZ._make(_PTZ.unpack(payload))


def decode_joystick(payload: bytes) -> Joystick:
    _check("joystick", payload, _JOYSTICK.size)
    buttons, *axes = _JOYSTICK.unpack(payload)
    return Joystick(buttons, axes)


def decode_freshness(payload: bytes) -> Freshness:
    if len(payload) < 8 or len(payload) % 4:
        raise ProtocolError(f"freshness payload has {len(payload)} bytes, want 8 plus 4 for each age")
    return Freshness(_TIME.unpack_from(payload)[0], _integers(_U32, payload[8:]))


_HEADER = 2 * CHANNELS
_BLOB = 10
_NO_BLOBS = bytes([1]) * _HEADER


def decode_vision(payload: bytes) -> Vision:
    """Decodes a packet of ACTS 1.0. Every byte stores its value plus one."""
    if payload == _NO_BLOBS:
        return Vision()
    if len(payload) < _HEADER:
        raise ProtocolError(f"vision payload has {len(payload)} bytes, the header alone has {_HEADER}")
    channels: List[List[Blob]] = []
    at, total = _HEADER, 0
    for channel in range(CHANNELS):
        first, count = payload[2 * channel], payload[2 * channel + 1] - 1
        # An index above 254 does not fit into the byte and is sent as 254.
        if first != min(total, 254) + 1 or not 0 <= count <= MAX_BLOBS:
            raise ProtocolError(f"vision: channel {channel} has index byte {first}, count byte {count + 1}")
        total += count
        end = at + count * _BLOB
        if end > len(payload):
            raise ProtocolError(f"vision payload has {len(payload)} bytes, too few for {total} blobs")
        channels.append([_decode_blob(payload[i : i + _BLOB]) for i in range(at, end, _BLOB)])
        at = end
    if at != len(payload):
        raise ProtocolError(f"vision payload has {len(payload)} bytes, {total} blobs need {at}")
    return Vision(channels)


def _decode_blob(b: bytes) -> Blob:
    if 0 in b or max(b[:4]) > 64:
        raise ProtocolError(f"vision: the bytes {b.hex()} are not a blob")
    area = (b[0] - 1) << 18 | (b[1] - 1) << 12 | (b[2] - 1) << 6 | (b[3] - 1)
    return Blob(area, b[4] - 1, b[5] - 1, b[6] - 1, b[7] - 1, b[8] - 1, b[9] - 1)


class Part(NamedTuple):
    """One part of a device, in mm and degrees, in the robot's frame: the origin is the centre of
    rotation, x ahead, y to the left (PROTOCOL 8.9.3)."""

    device: str
    number: int  # of a sonar: its place in the ranges; otherwise 0
    x: float  # of its middle
    y: float
    heading: float  # counterclockwise
    # 0: not known, or it has none.
    length: float  # along its heading; of position: the robot's body
    width: float
    range: float  # of a sensor
    view: float  # how wide it sees, half to each side


def parts(answer: bytes) -> List[Part]:
    """Returns the parts in an answer. Lines that are none are skipped, and so is what a later
    server adds to a line."""
    found = []
    for line in answer[1:].decode("latin-1").split("\n"):
        words = line.split()
        try:
            part = Part(words[0], int(words[1]), *map(float, words[2:9]))
        except (IndexError, TypeError, ValueError):
            continue
        if len(part.device) == 1 and all(map(isfinite, part[2:])):
            found.append(part)
    return found
