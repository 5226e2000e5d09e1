"""The data of the devices (PROTOCOL 7 and 8.1), and their decoding.

All values are in the protocol's units: mm, degrees, mm/s, deg/s. x is forward, y is to the
left, and angles increase counterclockwise. Every decoder takes a payload and raises
ProtocolError if it has another size or layout.
"""

from __future__ import annotations

import enum
import re
import sys
from array import array
from collections.abc import Callable, Sequence
from struct import Struct
from math import isfinite
from typing import NamedTuple, Optional

from .errors import ProtocolError

SONARS = 16
LASER_READINGS = 361
CHANNELS = 32
MAX_BLOBS = 10
"""ACTS reports at most so many blobs in one channel."""

NO_AGE = 0xFFFFFFFF
"""The age of a device that has no data yet (PROTOCOL 8.1)."""

MAX_READINGS, MAX_CHANNELS, MAX_JOINTS = 8192, 128, 64
"""The most readings of a ranger, channels of an io device, and joints of a servo device (PROTOCOL 7)."""
NOTHING_IN_RANGE, UNKNOWN_RANGE = 0xFFFE, 0xFFFF
"""Readings of Ranger.ranges that are no distance (PROTOCOL 7.9): nothing is in range; the reading was not taken, or
its echo was no distance."""
ALL_JOINTS = 255
"""The joint of move_joint that is all of them (PROTOCOL 5.1)."""
UNKNOWN = -(2**31)
"""The number in the protocol for a signed value that is not known; it is None here (PROTOCOL 7.10)."""
UNKNOWN_AMOUNT = 0xFFFFFFFF
"""The same for a value without a sign (PROTOCOL 7.11 and 7.14)."""
ANY_HEADING = 0xFFFF
"""The number in the protocol for the heading of a goal that is any; it is None here (PROTOCOL 5.6)."""


class Position(NamedTuple):
    """The odometry (PROTOCOL 7.1): mm and degrees from where the robot was when its wheels were first opened, or
    when reset_position was called. x is ahead, y to the left, and headings are counterclockwise."""

    time: int = 0
    """ms since the server started."""
    x: int = 0
    """mm ahead of the origin."""
    y: int = 0
    """mm to the left of the origin."""
    heading: int = 0
    """deg, 0 to 359, counterclockwise."""
    speed: int = 0
    """mm/s, forward."""
    turnrate: int = 0
    """deg/s, counterclockwise."""
    compass: int = 0
    """deg, 0 to 359."""
    stall: int = 0
    """Zero while the motors turn freely; otherwise the robot pushes against something."""


class Misc(NamedTuple):
    """Bumpers and battery (PROTOCOL 7.4)."""

    front_bumpers: int = 0
    """The lowest five bits, each set while its bumper is pressed."""
    rear_bumpers: int = 0
    """As front_bumpers."""
    battery: int = 0
    """decivolt."""

    @property
    def voltage(self) -> int:
        """The battery in decivolt, by the name that the manual's C++ has."""
        return self.battery


class Gripper(NamedTuple):
    """Paddles, lift and break beams (PROTOCOL 7.5): two bytes of bits, and their names."""

    state: int = 0
    """Bits of paddles and lift, as sent."""
    beams: int = 0
    """Bits of limits, beams and single paddles, as sent."""

    @property
    def paddles_open(self) -> bool:
        """Reports whether both paddles are open."""
        return bool(self.state & 0x01)

    @property
    def paddles_closed(self) -> bool:
        """Reports whether both paddles are closed."""
        return bool(self.state & 0x02)

    @property
    def paddles_moving(self) -> bool:
        """Reports whether the paddles move."""
        return bool(self.state & 0x04)

    @property
    def paddles_error(self) -> bool:
        """Reports whether the paddles have failed."""
        return bool(self.state & 0x08)

    @property
    def lift_up(self) -> bool:
        """Reports whether the lift is at its upper end."""
        return bool(self.state & 0x10)

    @property
    def lift_down(self) -> bool:
        """Reports whether the lift is at its lower end."""
        return bool(self.state & 0x20)

    @property
    def lift_moving(self) -> bool:
        """Reports whether the lift moves."""
        return bool(self.state & 0x40)

    @property
    def lift_error(self) -> bool:
        """Reports whether the lift has failed."""
        return bool(self.state & 0x80)

    @property
    def grip_limit_reached(self) -> bool:
        """Reports whether the paddles press as hard as they may."""
        return bool(self.beams & 0x01)

    @property
    def lift_limit_reached(self) -> bool:
        """Reports whether the lift carries as much as it may."""
        return bool(self.beams & 0x02)

    @property
    def outer_beam_obstructed(self) -> bool:
        """Reports whether something is between the tips of the paddles."""
        return bool(self.beams & 0x04)

    @property
    def inner_beam_obstructed(self) -> bool:
        """Reports whether something is between the paddles, near the robot."""
        return bool(self.beams & 0x08)

    @property
    def left_paddle_open(self) -> bool:
        """Reports whether the left paddle is open."""
        return bool(self.beams & 0x10)

    @property
    def right_paddle_open(self) -> bool:
        """Reports whether the right paddle is open."""
        return bool(self.beams & 0x20)


class PTZ(NamedTuple):
    """The camera's direction and zoom (PROTOCOL 7.6)."""

    pan: int = 0
    """deg, -100 to 100, counterclockwise."""
    tilt: int = 0
    """deg, -25 to 25, up."""
    zoom: int = 0
    """0, wide, to 1023, telephoto."""


class Blob(NamedTuple):
    """One patch of colour in the camera image. Coordinates are pixels, 0 to 254, from the top left."""

    area: int
    """Pixels of the patch."""
    x: int
    """Column of its centre."""
    y: int
    """Row of its centre."""
    left: int
    """First column of the box around it."""
    right: int
    """Last column of the box around it."""
    top: int
    """First row of the box around it."""
    bottom: int
    """Last row of the box around it."""


class Vision(NamedTuple):
    """The blobs of one image (PROTOCOL 7.7)."""

    channels: Sequence[Sequence[Blob]] = ((),) * CHANNELS
    """32 lists, one for each colour, the largest blob first. colors of the clients says which colours they are."""

    @property
    def active_channels(self) -> list[int]:
        """The channels that have at least one blob."""
        return [channel for channel, blobs in enumerate(self.channels) if blobs]


class Joystick(NamedTuple):
    """The state of a joystick (PROTOCOL 7.8)."""

    buttons: int = 0
    """Bit n is set while button n is pressed."""
    axes: Sequence[int] = (0,) * 8
    """-32767 to 32767, 0 at rest."""


class Freshness(NamedTuple):
    """The block of device y (PROTOCOL 8.1)."""

    time: int = 0
    """us since the server started."""
    ages: Sequence[int] = ()
    """us, of every other block of the frame; NO_AGE of a device without data."""


class Ranger(NamedTuple):
    """The readings of any range sensor (PROTOCOL 7.9). Question rays says where each of them looks."""

    unit_mm: int = 1
    """mm that one unit of the readings has."""
    ranges: Sequence[int] = ()
    """Distances in units of unit_mm; or NOTHING_IN_RANGE, or UNKNOWN_RANGE."""

    def mm(self, reading: int) -> int | None:
        """Returns a reading in mm. None: nothing is in range, or it was not taken."""
        units = self.ranges[reading]
        return None if units >= NOTHING_IN_RANGE else units * self.unit_mm


class IMU(NamedTuple):
    """The data of an inertial measurement unit (PROTOCOL 7.10), in the robot's axes: x ahead, y to the left, z up. A
    field is None if the unit does not measure it. Gravity is a part of the accelerations: at rest on level ground
    z_mm_per_s2 is 9807."""

    roll_mdeg: int | None = None
    """Thousandths of a degree about x: positive with the left side up."""
    pitch_mdeg: int | None = None
    """Thousandths of a degree about y: positive with the front down."""
    yaw_mdeg: int | None = None
    """Thousandths of a degree about z, counterclockwise."""
    roll_rate_mdeg_per_s: int | None = None
    """Thousandths of a degree each second, about x."""
    pitch_rate_mdeg_per_s: int | None = None
    """Thousandths of a degree each second, about y."""
    yaw_rate_mdeg_per_s: int | None = None
    """Thousandths of a degree each second, about z."""
    x_mm_per_s2: int | None = None
    """Acceleration ahead, mm/s2."""
    y_mm_per_s2: int | None = None
    """Acceleration to the left, mm/s2."""
    z_mm_per_s2: int | None = None
    """Acceleration up, mm/s2."""


class Fix(enum.IntEnum):
    """How a receiver has found its position."""

    NONE = 0
    """It has no position."""
    PLAIN = 1
    """From satellites alone."""
    DGPS = 2
    """With corrections."""
    FLOAT = 3
    """RTK, not settled: some decimetres."""
    RTK = 4
    """RTK, settled: some centimetres."""
    DEAD_RECKONING = 5
    """Estimated from the last fix."""


class GPS(NamedTuple):
    """Where a satellite receiver is (PROTOCOL 7.11). A field is None if it is not known."""

    fix: int | None = None
    """A Fix; a later server may have others."""
    satellites: int | None = None
    """How many are used."""
    latitude_e7: int | None = None
    """1e-7 deg (11 mm), WGS 84, north."""
    longitude_e7: int | None = None
    """1e-7 deg, WGS 84, east."""
    height_mm: int | None = None
    """mm above mean sea level."""
    horizontal_mm: int | None = None
    """mm: standard deviation of the place."""
    vertical_mm: int | None = None
    """mm: standard deviation of the height."""
    time_ms: int | None = None
    """ms of UTC since 1970."""
    speed_mm_per_s: int | None = None
    """mm/s over ground."""
    course_mdeg: int | None = None
    """Thousandths of a degree over ground, 0 to 359999, clockwise from north."""

    @property
    def has_place(self) -> bool:
        """Reports whether the receiver knows where it is."""
        return self.fix != Fix.NONE and self.latitude_e7 is not None and self.longitude_e7 is not None


class IO(NamedTuple):
    """The values of inputs and outputs (PROTOCOL 7.12). Question channels describes them."""

    values: Sequence[int | None] = ()
    """The value of each channel in its unit, 0 or 1 of a digital one; None: not known."""


class Joint(NamedTuple):
    """One joint of a Servo."""

    position: int | None = None
    """In the unit of the joint (question channels); None: not known."""
    goal: int | None = None
    """In the unit of the joint; None: not known, or it has none."""
    state: int = 0
    """Bits, as sent; the properties are None if they are not known."""

    def _bit(self, bit: int) -> bool | None:
        return bool(self.state & bit) if self.state & 0x80 else None

    @property
    def moving(self) -> bool | None:
        """Reports whether the joint moves."""
        return self._bit(0x01)

    @property
    def powered(self) -> bool | None:
        """Reports whether the joint has power."""
        return self._bit(0x02)

    @property
    def at_limit(self) -> bool | None:
        """Reports whether the joint is at an end of its way."""
        return self._bit(0x04)

    @property
    def failed(self) -> bool | None:
        """Reports whether the joint has failed."""
        return self._bit(0x08)


class Servo(NamedTuple):
    """The joints of a servo device (PROTOCOL 7.13). Question channels describes them."""

    joints: Sequence[Joint] = ()
    """Each joint, by its number."""


class GotoState(enum.IntEnum):
    """How far a goto device has come with its goal."""

    IDLE = 0
    """It has had no goal since it was opened."""
    DRIVING = 1
    """It drives to the goal."""
    ARRIVED = 2
    """The robot has arrived, and has the heading of the goal."""
    BLOCKED = 3
    """It sees no way, and tries on."""
    STOPPED = 4
    """It has given the goal up: GotoReason."""


class GotoReason(enum.IntEnum):
    """Why a goto device has given its goal up."""

    NONE = 0
    """It has not."""
    COMMAND = 1
    """A command said so, or the client left or was silent for its command's lifetime."""
    OTHER = 2
    """The wheels got another command."""
    EMERGENCY = 3
    """The emergency stop is active."""
    BLIND = 4
    """Its lasers, rangers or sonars sent nothing for a second and a half."""
    LOST = 5
    """The wheels sent no odometry for a second, or have failed."""
    NO_WAY = 6
    """It saw no way, or made none, for two minutes, or came no nearer for five."""
    REFUSED = 7
    """The goal is more than 500 km away, or the robot wider than 8 m."""
    MOTORS = 8
    """The motors are off."""


class Goto(NamedTuple):
    """How far a goto device has come (PROTOCOL 7.14). Its goal is in the frame of the odometry, and is kept after its
    end. None: it has had no goal yet."""

    state: int = GotoState.IDLE
    """A GotoState; a later server may have others."""
    reason: int = GotoReason.NONE
    """A GotoReason; a later server may have others."""
    tag: int = 0
    """The number with which the goal was given."""
    x_mm: int | None = None
    """mm ahead of the odometry's origin: the goal."""
    y_mm: int | None = None
    """mm to the left of the odometry's origin: the goal."""
    heading_deg: int | None = None
    """deg, 0 to 359, counterclockwise: the heading at the goal; None: any."""
    distance_mm: int | None = None
    """mm to the goal in a straight line."""


_POSITION = Struct(">IiiHhhHB")
_PTZ = Struct(">hhh")
_JOYSTICK = Struct(">I8h")
_TIME = Struct(">Q")
_IMU = Struct(">9i")
_GPS = Struct(">BBiiiIIQII")
_VALUE = Struct(">i")
_JOINT = Struct(">iiB")
_GOTO = Struct(">BBHiiHI")
_GPS_UNKNOWN = (255, 255, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN_AMOUNT, UNKNOWN_AMOUNT, 0, UNKNOWN_AMOUNT, UNKNOWN_AMOUNT)
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


def _known(value: int) -> int | None:
    return None if value == UNKNOWN else value


def decode_ranger(payload: bytes) -> Ranger:
    if len(payload) < 2 or len(payload) % 2 or len(payload) > 2 + 2 * MAX_READINGS:
        raise ProtocolError(f"ranger payload has {len(payload)} bytes, want 2 and 2 for each of up to {MAX_READINGS} readings")
    unit = payload[0] << 8 | payload[1]
    if unit == 0:
        raise ProtocolError("ranger payload has a unit of 0 mm")
    return Ranger(unit, _integers("H", payload[2:]))


def decode_imu(payload: bytes) -> IMU:
    _check("imu", payload, _IMU.size)
    return IMU._make(map(_known, _IMU.unpack(payload)))


def decode_gps(payload: bytes) -> GPS:
    _check("gps", payload, _GPS.size)
    return GPS._make(None if value == unknown else value for value, unknown in zip(_GPS.unpack(payload), _GPS_UNKNOWN))


def decode_io(payload: bytes) -> IO:
    if len(payload) % 4 or len(payload) > 4 * MAX_CHANNELS:
        raise ProtocolError(f"io payload has {len(payload)} bytes, want 4 for each of at most {MAX_CHANNELS} channels")
    return IO([_known(value) for (value,) in _VALUE.iter_unpack(payload)])


def decode_servo(payload: bytes) -> Servo:
    if len(payload) % _JOINT.size or len(payload) > _JOINT.size * MAX_JOINTS:
        raise ProtocolError(f"servo payload has {len(payload)} bytes, want {_JOINT.size} for each of up to {MAX_JOINTS}")
    return Servo([Joint(_known(at), _known(goal), state) for at, goal, state in _JOINT.iter_unpack(payload)])


def decode_goto(payload: bytes) -> Goto:
    _check("goto", payload, _GOTO.size)
    state, reason, tag, x, y, heading, distance = _GOTO.unpack(payload)
    return Goto(
        state, reason, tag, _known(x), _known(y), None if heading == ANY_HEADING else heading,
        None if distance == UNKNOWN_AMOUNT else distance,
    )  # fmt: skip


_GOAL = Struct(">ii6H")


def goal_payload(
    x_mm: int | None,
    y_mm: int = 0,
    heading_deg: int | None = None,
    speed_mm_per_s: int = 0,
    turn_rate_deg_per_s: int = 0,
    tolerance_mm: int = 0,
    radius_mm: int = 0,
    tag: int = 0,
) -> bytes:
    """Returns the command of a goto device (PROTOCOL 5.6). x_mm None is the command to stop, with zeros behind it."""
    if x_mm is None:
        return _GOAL.pack(UNKNOWN, 0, 0, 0, 0, 0, 0, 0)
    if x_mm == UNKNOWN:
        raise ValueError("a goal that means to stop")
    heading = ANY_HEADING if heading_deg is None else heading_deg
    return _GOAL.pack(x_mm, y_mm, heading, speed_mm_per_s, turn_rate_deg_per_s, tolerance_mm, radius_mm, tag)


_HEADER = 2 * CHANNELS
_BLOB = 10
_NO_BLOBS = bytes([1]) * _HEADER


def decode_vision(payload: bytes) -> Vision:
    """Decodes a packet of ACTS 1.0. Every byte stores its value plus one."""
    if payload == _NO_BLOBS:
        return Vision()
    if len(payload) < _HEADER:
        raise ProtocolError(f"vision payload has {len(payload)} bytes, the header alone has {_HEADER}")
    channels: list[list[Blob]] = []
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


Name = Callable[[str], Optional[str]]
"""Returns what a device is called here by its name in an answer, None if it is not known: its letter, or its name."""


class Part(NamedTuple):
    """One part of a device, in mm and degrees, in the robot's frame: the origin is the centre of
    rotation, x ahead, y to the left (PROTOCOL 8.9.3). A length, width, range or view of 0 is not known, or there is
    none."""

    device: str
    """Its letter, or its name if it has none."""
    number: int
    """Of a sonar: its place in the ranges; otherwise 0."""
    x: float
    """mm ahead of the centre of rotation, of the middle of the part."""
    y: float
    """mm to the left of it."""
    heading: float
    """deg, counterclockwise."""
    length: float
    """mm along its heading; of position: of the robot's body."""
    width: float
    """mm across its heading."""
    range: float
    """mm that a sensor reaches."""
    view: float
    """deg that it sees, half to each side."""


def lines(answer: bytes) -> list[str]:
    """Returns the lines of an answer (PROTOCOL 8.9)."""
    return answer[1:].decode("latin-1").split("\n")


def parts(answer: bytes, name: Name) -> list[Part]:
    """Returns the parts in an answer. Lines of another form are skipped, and so are fields that
    a later server adds to a line."""
    found = []
    for line in lines(answer):
        words = line.split()
        try:
            device = name(words[0])
            part = Part(device or "", int(words[1]), *map(float, words[2:9]))
        except (IndexError, TypeError, ValueError):
            continue
        if device and all(map(isfinite, part[2:])):
            found.append(part)
    return found


class Device(NamedTuple):
    """One device of the robot (PROTOCOL 8.9.5)."""

    code: str
    """The character whose code is its byte: the letter of a device that has one."""
    interface: str
    """For example laser."""
    number: int
    """Its index among the devices of the interface, from 0."""
    driver: str
    """The name of its driver, for people."""

    @property
    def name(self) -> str:
        """Its name, for example laser:1."""
        return f"{self.interface}:{self.number}"


_MAX_INDEX = 2**31 - 1


def devices(answer: bytes) -> list[Device]:
    """Returns the devices in an answer. Lines that are none are skipped."""
    found = []
    for line in lines(answer):
        words = line.split(" ", 3)
        if len(words) != 4 or not words[0].isdigit() or not words[2].isdigit():
            continue
        code, interface, index, driver = int(words[0]), words[1], int(words[2]), words[3]
        if 0 < code <= 255 and index <= _MAX_INDEX and interface and ":" not in interface:
            found.append(Device(chr(code), interface, index, driver))
    return found


class Rays(NamedTuple):
    """Where readings of a laser, a ring of sonars or a ranger look from and to (PROTOCOL 8.9.6): those that follow
    each other from one point, in equal steps. The frame is the frame of Part."""

    device: str
    """Its letter, or its name if it has none."""
    first: int
    """The first of these readings, from 0."""
    readings: int
    """How many, from 1."""
    x_mm: float
    """mm ahead of the centre of rotation, of the point."""
    y_mm: float
    """mm to the left of it."""
    heading_deg: float
    """deg, counterclockwise: where the first reading looks."""
    step_deg: float
    """deg from a reading to the next, counterclockwise."""
    near_mm: float | None
    """mm: the smallest distance; None: not known."""
    far_mm: float | None
    """mm: the largest distance; None: not known."""
    cone_deg: float
    """deg that a reading sees, half to each side; 0: a line, or not known."""


def rays(answer: bytes, name: Name) -> list[Rays]:
    """Returns the rays in an answer, as parts does."""
    found = []
    for line in lines(answer):
        words = line.split()
        try:
            device, first, count = name(words[0]), int(words[1]), int(words[2])
            x, y, heading, step, near, far, cone = numbers = [float(word) for word in words[3:10]]
        except (IndexError, ValueError):
            continue
        if device and first >= 0 and count >= 1 and first + count <= MAX_READINGS and all(map(isfinite, numbers)):
            found.append(Rays(device, first, count, x, y, heading, step, near or None, far or None, cone))
    return found


class Channel(NamedTuple):
    """An input or an output of an io device, or a joint of a servo device (PROTOCOL 8.9.7)."""

    device: str
    """Its name, for example io:0."""
    number: int
    """Its number in the data and in commands, from 0."""
    role: str
    """input, output or joint."""
    unit: str | None
    """Of its values: bit of a digital channel, mV, mdeg, um, ...; None: not known."""
    min: int | None
    """The smallest value; None: not known."""
    max: int | None
    """The largest value; None: not known."""
    name: str
    """For people; may be empty."""


def channels(answer: bytes, name: Name) -> list[Channel]:
    """Returns the channels in an answer. Lines that are none are skipped."""
    found = []
    for line in lines(answer):
        words = line.split(" ", 6)
        try:
            device, number, least, most = name(words[0]), int(words[1]), int(words[4]), int(words[5])
            role, unit, text = words[2], words[3], words[6]
        except (IndexError, ValueError):
            continue
        if device and 0 <= number < MAX_CHANNELS and role in ("input", "output", "joint") and unit:
            limits = _known(least), _known(most)
            found.append(Channel(device, number, role, None if unit == "-" else unit, *limits, text))
    return found


class Color(NamedTuple):
    """The colour of a channel of a vision device (PROTOCOL 8.9.8)."""

    device: str
    """Its letter, or its name if it has none."""
    channel: int
    """Of Vision.channels, 0 to 31."""
    rgb: int
    """0xRRGGBB."""

    @property
    def hex(self) -> str:
        """The colour as pages write it, for example #ffa500."""
        return f"#{self.rgb:06x}"


_RGB = re.compile("[0-9a-fA-F]{6}")


def colors(answer: bytes, name: Name) -> list[Color]:
    """Returns the colours in an answer. Lines of another form are skipped, and so are fields that a later server adds
    to a line."""
    found = []
    for line in lines(answer):
        words = line.split()
        if len(words) < 3 or not words[1].isdecimal() or int(words[1]) >= CHANNELS or not _RGB.fullmatch(words[2]):
            continue
        device = name(words[0])
        if device:
            found.append(Color(device, int(words[1]), int(words[2], 16)))
    return found
