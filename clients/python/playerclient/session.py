"""The core: everything about one connection except its input and output.

A Session takes the bytes that the server sent (`receive`, `next_event`), and hands the bytes
for the server to a callable. It can be driven by any kind of socket, loop or file; client.py
and aio.py are two small examples.
"""

from __future__ import annotations

import enum
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from struct import Struct, error as struct_error
from typing import Any, NamedTuple

from . import compact, data as payloads
from .devices import (
    Devices, GotoDevice, GPSDevice, GripperDevice, IMUDevice, IODevice, JoystickDevice, LaserDevice, PTZDevice, RangerDevice,
    Round, ServoDevice, SonarDevice, VisionDevice,
)  # fmt: skip
from .errors import (
    AccessRefused, DevicesMoved, GoalError, GoalNotTaken, GoalReplaced, NoDevice, PlayerError, ProtocolError, Reason, UsageError, enough,
)  # fmt: skip


class Event(enum.Enum):
    """The kinds of events of Session.next_event."""

    ROUND = 1
    """A whole round of data."""
    REPLY = 2
    """The reply to the last request."""


class DataMode(enum.IntEnum):
    """When the server sends rounds."""

    CONTINUOUS = 0
    """At its frequency: the default."""
    REQUEST_REPLY = 1
    """One for each request_data."""


class VelocityMode(enum.IntEnum):
    """How the robot's microcontroller drives."""

    DIRECT_WHEEL_VELOCITY = 0
    """Faster, jerkier: the default."""
    SEPARATE_TRANS_ROT = 1
    """Smoother, slower."""


class GripperCommand(enum.IntEnum):
    """Commands of set_gripper (PROTOCOL 5.1)."""

    GRIP_OPEN = 1
    """Opens the paddles."""
    GRIP_CLOSE = 2
    """Closes the paddles."""
    GRIP_STOP = 3
    """Stops the paddles."""
    LIFT_UP = 4
    """Moves the lift to its upper end."""
    LIFT_DOWN = 5
    """Moves the lift to its lower end."""
    LIFT_STOP = 6
    """Stops the lift."""
    GRIP_STORE = 7
    """Closes the paddles and moves the lift up."""
    GRIP_DEPLOY = 8
    """Opens the paddles and moves the lift down."""
    GRIP_HALT = 15
    """Stops paddles and lift."""
    GRIP_PRESS = 16
    """Presses for a time: the value."""
    LIFT_CARRY = 17
    """Moves the lift for a time: the value."""


class _Payload(NamedTuple):
    field: str  # the attribute of Session
    decode: Callable[[bytes], Any]
    initial: Any


_PAYLOADS: dict[int, _Payload] = {
    ord("p"): _Payload("position", payloads.decode_position, payloads.Position()),
    ord("s"): _Payload("sonar", payloads.decode_sonar, payloads.decode_sonar(bytes(2 * payloads.SONARS))),
    ord("l"): _Payload("laser", payloads.decode_laser, payloads.decode_laser(bytes(2 * payloads.LASER_READINGS))),
    ord("m"): _Payload("misc", payloads.decode_misc, payloads.Misc()),
    ord("g"): _Payload("gripper", payloads.decode_gripper, payloads.Gripper()),
    ord("z"): _Payload("ptz", payloads.decode_ptz, payloads.PTZ()),
    ord("v"): _Payload("vision", payloads.decode_vision, payloads.Vision()),
    ord("j"): _Payload("joystick", payloads.decode_joystick, payloads.Joystick()),
    ord("y"): _Payload("freshness", payloads.decode_freshness, payloads.Freshness()),
}

_DECODERS: dict[str, Callable[[bytes], Any]] = {
    **{payload.field: payload.decode for payload in _PAYLOADS.values()},
    "ranger": payloads.decode_ranger,
    "imu": payloads.decode_imu,
    "gps": payloads.decode_gps,
    "io": payloads.decode_io,
    "servo": payloads.decode_servo,
    "goto": payloads.decode_goto,
}
"""By interface; freshness is for device y."""
_LETTERS: dict[str, str] = {payload.field: chr(letter) for letter, payload in _PAYLOADS.items() if chr(letter) != "y"}
"""Of the devices with index 0, by interface."""
_ACCESS = {"r": "r", "read": "r", "w": "w", "write": "w", "a": "a", "all": "a", "c": "c", "close": "c"}
"""The words for an access in a request by name, and their letters."""
_TAKE_LIMIT = 3.0
"""Seconds that go_to waits for data of its goal. The server answers no command, so a goal that it drops is only seen by
their absence. A network that needs longer is lost."""
_GOAL_REASONS: dict[int, str] = {
    payloads.GotoReason.COMMAND: "it was commanded to stop",
    payloads.GotoReason.OTHER: "the wheels got another command",
    payloads.GotoReason.EMERGENCY: "the emergency stop is active",
    payloads.GotoReason.BLIND: "its sensors give no ranges",
    payloads.GotoReason.LOST: "its wheels give no odometry",
    payloads.GotoReason.NO_WAY: "it has found no way",
    payloads.GotoReason.REFUSED: "the goal is too far, or the robot too wide",
    payloads.GotoReason.MOTORS: "its motors are off",
}
"""Sentences for a GoalError."""

_REPLY = ord("r")
_ANSWER = ord("Y")
_COMPACT = ord("Z")
_UNPRINTABLE = re.compile(rb"[^\n -~]")  # in answers, which people see on terminals
_SERVER = ord("y")
_BLOCK_HEADER = Struct(">BH")
_CLIENT_HEADER = Struct(">2sH")
_MAX_NAME = 64
"""Bytes (PROTOCOL 8.3)."""
_MAX_LIFETIME = 60000
"""Milliseconds: no program can rely on a longer one."""
_MAX_PAYLOAD = 512
"""The server skips larger messages (PROTOCOL 1.5)."""
_ADDRESS = re.compile(r"([^:]+)(?::([0-9]{1,9}))?")


class _Device:
    """The state of one device."""

    __slots__ = ("letter", "field", "decode", "access", "raw", "value", "has", "round", "taken")

    def __init__(self, letter: int, decode: Callable[[bytes], Any] | None) -> None:
        payload = _PAYLOADS.get(letter)
        self.letter = chr(letter)
        self.field = payload and payload.field
        self.decode = decode
        self.value: Any = None  # the newest that was decoded
        self.access = ""  # from the last reply
        self.raw: bytes | None = None
        self.has = False  # the newest block had valid data
        self.round = 0  # number of the round of the newest block
        self.taken: int | None = None  # us since the server started; None: not known

    @property
    def readable(self) -> bool:
        return self.access in ("r", "a")

    @property
    def writable(self) -> bool:
        return self.access in ("w", "a")


class Session:
    """One connection to a server. Methods take a device by its name: sonar, position, laser:1, imu, which means imu:0.
    The first devices of the manual have letters as well, as its programs have them: p position, s sonar, l laser, m misc,
    g gripper, z ptz, v vision, j joystick; y is the server itself, by name freshness.

    A robot may have more: further ones of an interface, and rangers, IMUs and others that have no letter (PROTOCOL
    2.11). Methods take their names once the server has listed its devices: after request, open or devices of the
    clients. They are objects, as well: lasers[1], imu.

    The attributes hold the newest data of the devices that are read, in the protocol's units; `has` reports whether a
    device has data. Each block replaces them with new objects, so a program may keep old ones."""

    position: payloads.Position
    """The odometry: mm, deg, mm/s, deg/s."""
    sonar: Sequence[int]
    """16 ranges, mm. 0 is at the front left, then clockwise: 7 at the front right, 15 at the
    rear left. 0 mm: the sonar has not fired yet, or is missing."""
    laser: Sequence[int]
    """361 ranges, mm, every half degree from the right (-90 deg) to the left (+90 deg)."""
    misc: payloads.Misc
    """Bumpers, and the battery in decivolt."""
    gripper: payloads.Gripper
    """Paddles, lift and break beams."""
    ptz: payloads.PTZ
    """Where the camera looks: deg, and the zoom from 0 to 1023."""
    vision: payloads.Vision
    """Blobs of colour, in pixels."""
    joystick: payloads.Joystick
    """A joystick of the robot: buttons, and axes from -32767 to 32767."""
    freshness: payloads.Freshness
    """The newest block of device y."""

    def __init__(self, send: Callable[[bytes], None]) -> None:
        """send is called with each message for the server."""
        self._send = send
        self._forget()
        self._reset()

    def _forget(self) -> None:
        """Drops what is restored after a lost connection."""
        self._wanted: dict[str, str] = {}  # access by device, in the order of first opening
        self._settings: dict[str, int] = {}  # arguments by configuration code
        self._own_name = ""
        self._listed: list[payloads.Device] | None = None  # of the robot, once the server has said
        self._codes: dict[str, str] = {}  # of those, the characters by name
        self._seen: dict[str, str] = {}  # names by characters that were listed, also before the server was started anew

    def _reset(self) -> None:
        """Starts a new connection."""
        self._buffer = b""  # received bytes
        self._at = 0  # those before are used
        self._devices: dict[int, _Device] = {}
        self._readers = 0  # devices open for reading
        self._aged = False  # device y is one of them
        self._awaited = 0  # replies still to come
        self._reply = ""
        self._refused = ""  # the reply that explain asks about
        self._answer = b""  # the newest answer to a question, of all its messages
        self._items: Iterator[tuple[int, bytes]] | None = None  # the rest of a compact round
        self._round = 0  # number of the current round, or of the last one
        self._left = 0  # blocks missing from this round
        self._fresh = False
        for payload in _PAYLOADS.values():
            setattr(self, payload.field, payload.initial)

    # The server's input

    def receive(self, received: bytes) -> None:
        """Adds bytes from the server. Call next_event until it returns None before the next
        receive; then a session holds at most one incomplete message, 64 KiB."""
        self._buffer = self._buffer[self._at :] + received
        self._at = 0

    def next_event(self) -> Event | None:
        """Returns the next event in the bytes received, or None if more bytes are needed.

        Raises ProtocolError for a block with an invalid payload; the next call continues after
        that block.
        """
        buffer, at = self._buffer, self._at
        while True:
            if self._items is not None:
                item = next(self._items, None)
                if item is None:
                    self._items = None
                elif self._take_block(*item):
                    return Event.ROUND
                continue
            if at + 3 > len(buffer):
                break
            letter, size = _BLOCK_HEADER.unpack_from(buffer, at)
            end = at + 3 + size
            if end > len(buffer):
                break
            payload = buffer[at + 3 : end]
            self._at = at = end
            if letter == _REPLY:
                if self._take_reply(payload):
                    return Event.REPLY
            elif letter == _ANSWER:
                goes_on = bool(payload) and payload[:1] == self._answer[:1]
                self._answer = (self._answer + payload[1:]) if goes_on else payload
                self._answer = _UNPRINTABLE.sub(b"?", self._answer)
            elif letter == _COMPACT:
                self._items = compact.blocks(payload, self._interface)
            elif self._take_block(letter, payload):
                return Event.ROUND
        return None

    def _take_reply(self, payload: bytes) -> bool:
        """Stores the granted access. The next block starts a round. Reports whether no other
        reply is awaited."""
        self._awaited = max(0, self._awaited - 1)
        self._left = 0
        self._reply = payload.decode("latin-1")
        for letter, access in zip(payload[::2], payload[1::2]):
            d = self._device(letter)
            d.access = chr(access)
            if d.readable or d.writable:
                self._wanted[d.letter] = d.access
            elif d.access == "c":
                self._wanted.pop(d.letter, None)
        self._readers = sum(d.readable for d in self._devices.values())
        self._aged = _SERVER in self._devices and self._devices[_SERVER].readable
        return self._awaited == 0

    def _take_block(self, letter: int, payload: bytes) -> bool:
        """Stores one block and reports whether it completes a round."""
        d = self._devices.get(letter) or self._device(letter)
        error: ProtocolError | None = None
        d.raw = payload
        d.has = bool(payload)
        if payload and d.decode:
            try:
                d.value = d.decode(payload)
                if d.field:
                    setattr(self, d.field, d.value)
            except ProtocolError as e:
                d.has, error = False, e
        if self._aged:
            whole, error = self._count_aged(d, error)
        else:
            whole = self._count(d)
        if error:
            raise error
        return whole

    def _count(self, d: _Device) -> bool:
        """Counts a block of a round without device y: a round has as many blocks as devices
        are read. A second block of one device starts the next round."""
        if d.access != "r" and d.access != "a":
            return False
        if self._left == 0 or d.round == self._round:
            self._round += 1
            self._left = self._readers
        d.round = self._round
        self._left -= 1
        return self._left == 0

    def _count_aged(self, d: _Device, error: ProtocolError | None) -> tuple[bool, ProtocolError | None]:
        """Counts a block of a round with device y: its block comes first and has an age for
        each block that follows."""
        if d.letter == "y":
            self._round += 1
            self._left = 0
            if not d.has:
                return False, error or ProtocolError("a block of device y has no data")
            d.round = self._round
            self._left = len(self.freshness.ages)
            return self._left == 0, None
        if self._left == 0:
            return False, error or ProtocolError(f"a block of device {d.letter!r} without a block of device y before it")
        age = self.freshness.ages[-self._left]
        d.taken = None if age == payloads.NO_AGE else self.freshness.time - age
        d.round = self._round
        self._left -= 1
        return self._left == 0, error

    def _device(self, letter: int) -> _Device:
        """Returns the state of a device, and creates it at its first use."""
        if letter not in self._devices:
            self._devices[letter] = _Device(letter, _DECODERS.get(self._interface(letter)))
        return self._devices[letter]

    def _find(self, device: str) -> _Device | None:
        return self._devices.get(ord(self._letter(device)))

    def _letter(self, device: str) -> str:
        """Returns the character of a device by its letter or name."""
        if len(device) == 1:
            return device
        letter = self._listed_as(device) or _letter_of(device)
        if letter is None:
            raise UsageError(f"{device!r} is neither a device of the manual, nor one that the server has listed")
        return letter

    def character_of(self, device: str) -> str:
        """Returns the character that stands for a device in request and in `new`, by its name or letter. UsageError:
        it is neither a device of the manual, nor one that the server has listed."""
        return self._letter(device)

    def _listed_as(self, name: str) -> str | None:
        """Returns the character of a device that the server has listed, by its name."""
        return self._codes.get(_full(name))

    @property
    def listed_names(self) -> list[str] | None:
        """The names of the devices that the server has listed, for example laser:1. None: it was not asked, or it is an
        older one."""
        return None if self._listed is None else [d.name for d in self._listed]

    def numbers_of(self, interface: str) -> list[int]:
        """Returns the numbers of the devices of an interface that the server has listed. Before it has, the
        requested devices of the manual count."""
        if self._listed is not None:
            return sorted(d.number for d in self._listed if d.interface == interface)
        letter = _LETTERS.get(interface)
        return [0] if letter and self.access(letter) else []

    def _name_of(self, letter: str) -> str:
        """Returns the name of a device that the server has listed, if it has no letter; otherwise its letter."""
        for d in self._listed or ():
            if d.code == letter and _LETTERS.get(d.interface) != letter:
                return d.name
        return letter if letter.isascii() and letter.isalpha() else self._seen.get(letter, letter)  # removed by a reload

    def _name(self, key: str) -> str | None:
        """Returns what a device is called by its name in an answer: _name_of. None: it is not known."""
        removed = next((code for code, name in self._seen.items() if name == key), None)  # by a reload
        letter = self._listed_as(key) or removed or (key if len(key) == 1 else None)
        return letter and self._name_of(letter)

    def _interface(self, letter: int) -> str:
        """Returns the interface of a device, empty if it is not known; freshness for y."""
        payload = _PAYLOADS.get(letter)
        if payload:
            return payload.field
        return next((d.interface for d in self._listed or () if d.code == chr(letter)), "")

    # Data and their ages

    def has(self, device: str) -> bool:
        """Reports whether a device has data: its newest block was not empty. If not, its
        attribute is zero or outdated."""
        d = self._find(device)
        return d is not None and d.has

    @property
    def new(self) -> str:
        """The letters of the devices with a block in the newest round, sorted. It is useful in
        freshness mode (set_fresh); otherwise every round has all devices. is_new takes names."""
        round = self._round
        return "".join(sorted(d.letter for d in self._devices.values() if d.round == round > 0))

    def is_new(self, device: str) -> bool:
        """Reports whether the newest round has a block of a device, by its name or letter."""
        d = self._find(device)
        return d is not None and d.round == self._round > 0

    def round(self) -> Round:
        """Returns the newest data of all devices as one object, which later rounds do not change. Loops over the
        clients return it."""
        devices = self._devices.values()
        return Round(self, {d.letter: d.value for d in devices}, "".join(d.letter for d in devices if d.has))

    def data(self, device: str) -> Any:
        """Returns the newest data of a device, as its interface has them: Ranger, IMU, GPS, IO, Servo or Goto, and for
        the others what the attribute of the first one has, for example 361 ranges for laser:1. None: it has sent none
        since the connection was made, or its interface is not known here. If `has` is false they are outdated. The
        objects lasers, imu and so on have the same data with their types."""
        d = self._find(device)
        return d.value if d else None

    def raw(self, device: str) -> bytes | None:
        """Returns the payload of a device's newest block as sent, or None. For devices of
        interfaces that are not known here it is the only access."""
        d = self._find(device)
        return d.raw if d else None

    def age_us(self, device: str) -> int | None:
        """Returns the age of a device's data in us when the server made the newest round. None:
        device y is not read, or the device has no data yet. Ages above 71 minutes are reported
        as 71 minutes."""
        d = self._find(device)
        if d is None or d.taken is None or not self._aged:
            return None
        return self.freshness.time - d.taken

    def access(self, device: str) -> str:
        """Returns the access to a device from the server's last reply: r, w, a, c or e, or an
        empty string if it was never requested."""
        d = self._find(device)
        return d.access if d else ""

    # The devices as objects

    @property
    def lasers(self) -> Devices[LaserDevice]:
        """The lasers: lasers[1] is laser:1."""
        return Devices(self, LaserDevice)

    @property
    def sonars(self) -> Devices[SonarDevice]:
        """The rings of sonars."""
        return Devices(self, SonarDevice)

    @property
    def rangers(self) -> Devices[RangerDevice]:
        """The range sensors of other shapes."""
        return Devices(self, RangerDevice)

    @property
    def imus(self) -> Devices[IMUDevice]:
        """The inertial measurement units."""
        return Devices(self, IMUDevice)

    @property
    def gps_receivers(self) -> Devices[GPSDevice]:
        """The satellite receivers."""
        return Devices(self, GPSDevice)

    @property
    def ios(self) -> Devices[IODevice]:
        """The devices with inputs and outputs."""
        return Devices(self, IODevice)

    @property
    def servos(self) -> Devices[ServoDevice]:
        """The devices with joints."""
        return Devices(self, ServoDevice)

    @property
    def gotos(self) -> Devices[GotoDevice]:
        """The devices that drive to a point."""
        return Devices(self, GotoDevice)

    @property
    def ptzs(self) -> Devices[PTZDevice]:
        """The cameras that turn."""
        return Devices(self, PTZDevice)

    @property
    def visions(self) -> Devices[VisionDevice]:
        """The cameras that find blobs of colour."""
        return Devices(self, VisionDevice)

    @property
    def grippers(self) -> Devices[GripperDevice]:
        """The grippers."""
        return Devices(self, GripperDevice)

    @property
    def joysticks(self) -> Devices[JoystickDevice]:
        """The joysticks of the robot."""
        return Devices(self, JoystickDevice)

    @property
    def ranger(self) -> RangerDevice:
        """The first of rangers. NoDevice: the robot has none. UsageError: the server has not listed it yet."""
        return self.rangers[0]

    @property
    def imu(self) -> IMUDevice:
        """The first of imus. NoDevice: the robot has none. UsageError: the server has not listed it yet."""
        return self.imus[0]

    @property
    def gps(self) -> GPSDevice:
        """The first of gps_receivers. NoDevice: the robot has none. UsageError: the server has not listed it yet."""
        return self.gps_receivers[0]

    @property
    def io(self) -> IODevice:
        """The first of ios. NoDevice: the robot has none. UsageError: the server has not listed it yet."""
        return self.ios[0]

    @property
    def servo(self) -> ServoDevice:
        """The first of servos. NoDevice: the robot has none. UsageError: the server has not listed it yet."""
        return self.servos[0]

    @property
    def goto(self) -> GotoDevice:
        """The first of gotos. NoDevice: the robot has none. UsageError: the server has not listed it yet."""
        return self.gotos[0]

    # Requests

    def start_request(self, pairs: str) -> None:
        """Sends a device request. Event.REPLY follows."""
        if len(pairs) % 2:
            raise UsageError(f"request {pairs!r} does not consist of pairs of device and access")
        self._refused = ""
        self._message("dr", _letters(pairs))
        self._awaited += 1

    def explain(self, pairs: str) -> bool:
        """After Event.REPLY, asks the server why devices were refused (PROTOCOL 8.9). If it
        returns True, Event.REPLY follows once more, and finish_request has the reasons."""
        if not self._is_reply_to(pairs) or all(g != "e" or a == "e" for a, g in zip(pairs[1::2], self._reply[1::2])):
            return False
        self._refused = self._reply
        self.start_question("e")
        return True

    def start_question(self, question: str) -> None:
        """Asks a question of PROTOCOL 8.9. Event.REPLY follows, after the answer."""
        self._answer = b""
        self.configure("y", b"q" + _letters(question))
        self._message("dr", b"")  # every server replies to it, and the answer comes before
        self._awaited += 1

    def finish_geometry(self) -> list[payloads.Part]:
        """Returns the parts of the robot after the Event.REPLY to question g."""
        return payloads.parts(self._answer, self._name)

    def finish_devices(self) -> list[payloads.Device]:
        """Returns the devices of the robot after the Event.REPLY to question d, and remembers them: from then on
        every method takes their names. An older server lists none."""
        if self._answer[:1] != b"d":
            return []
        self._listed = payloads.devices(self._answer)
        self._codes = {d.name: d.code for d in self._listed}
        for listed in self._listed:
            self._seen.setdefault(listed.code, listed.name)
        for letter, d in self._devices.items():
            d.decode = _DECODERS.get(self._interface(letter))
        return list(self._listed)

    def finish_rays(self) -> list[payloads.Rays]:
        """Returns where readings look from and to after the Event.REPLY to question r."""
        return payloads.rays(self._answer, self._name)

    def finish_channels(self) -> list[payloads.Channel]:
        """Returns the inputs, outputs and joints of the robot after the Event.REPLY to question i."""
        return payloads.channels(self._answer, self._name)

    def finish_colors(self) -> list[payloads.Color]:
        """Returns the colours of the channels of vision after the Event.REPLY to question v."""
        return payloads.colors(self._answer, self._name)

    def knows(self, devices: Mapping[str, str]) -> bool:
        """Reports whether pairs_of knows all devices, by their names. If not, it needs question d before it. Raises
        UsageError if one cannot be a name."""
        known = [self.is_listed(name) or _letter_of(name) is not None for name in devices]  # each name is looked at
        return all(known)

    def pairs_of(self, devices: Mapping[str, str]) -> str:
        """Returns the pairs of a request for devices by their names, each with its access: r or read, w or write, a or
        all, c or close. Raises UsageError for another access, and the errors of code_of."""
        pairs = ""
        for name, access in devices.items():
            if access not in _ACCESS:
                raise UsageError(f"access {access!r} to {name}: write r, w, a (both) or c (close)")
            pairs += (_letter_of(name) or self.code_of(name)) + _ACCESS[access]
        return pairs

    def is_listed(self, name: str) -> bool:
        """Reports whether the server has listed a device of this name, for example laser:1, or it is freshness, the
        server itself. If not, code_of needs question d before it. Raises UsageError if it cannot be a name."""
        if not _ADDRESS.fullmatch(name):
            raise UsageError(f'{name!r} is no device: write an interface, or an interface and an index as in "laser:1"')
        return _full(name) == _FRESHNESS or self._listed_as(name) is not None

    def code_of(self, name: str) -> str:
        """Returns the character of a device by its name, for start_request, after the Event.REPLY to question d. Raises
        NoDevice if the robot has none of this name; of an older server, devices with a letter are taken to be there."""
        if _full(name) == _FRESHNESS:
            return _LETTERED[_FRESHNESS]
        listed = self._listed_as(name)
        if listed is not None:
            return listed
        interface, _, index = name.partition(":")
        older = self._answer[:1] != b"d"
        if older and interface in _LETTERS and int(index or 0) == 0:
            return _LETTERS[interface]
        raise NoDevice(f"{interface}:{int(index or 0)}", None if older else [d.name for d in self._listed or ()])

    def _is_reply_to(self, pairs: str) -> bool:
        return len(self._reply) == len(pairs) and self._reply[::2] == pairs[::2]

    def _reasons(self) -> dict[str, Reason]:
        reasons: dict[str, Reason] = {}
        for line in payloads.lines(self._answer):
            key, _, reason = line.partition(" ")
            why, space, text = reason.partition(" ")
            device = self._name(key)
            if device and why and space:
                reasons.setdefault(device, Reason(why, text))
        return reasons

    def finish_request(self, pairs: str, called: Mapping[str, str] = {}) -> str:
        """Returns the granted pairs after Event.REPLY. Raises AccessRefused if they are less than
        those asked for, with the reasons that explain has asked for. called has the names by which the caller knows
        devices, by their characters; others are called by their letters, or by their names if they have none."""
        names = {letter: called.get(letter) or self._name_of(letter) for letter in pairs[::2]}
        if self._refused:
            reasons = self._reasons()
            for letter, name in called.items():
                if self._name_of(letter) in reasons:
                    reasons[name] = reasons.pop(self._name_of(letter))
            raise AccessRefused(pairs, self._refused, reasons, names)
        if not self._is_reply_to(pairs):
            raise ProtocolError(f"request {pairs!r}: the reply {self._reply!r} answers another request")
        if not all(map(enough, pairs[1::2], self._reply[1::2])):
            raise AccessRefused(pairs, self._reply, {}, names)
        return self._reply

    def check_readable(self) -> None:
        """Raises UsageError if the server sends no rounds in the present state."""
        if self._awaited:
            return
        if not self._readers:
            raise UsageError('no device is open for reading: request one first, for example sonar="r"')
        if self._fresh and not self._aged:
            raise UsageError('freshness mode needs device y: request freshness="r" first')

    # Commands. They do not wait, and the server does not answer them.

    def set_speed(self, speed: float, turnrate: float) -> None:
        """Drives the robot: mm/s, positive is forward, and deg/s, positive is counterclockwise. Fractions are cut off,
        and the server and the robot limit both speeds. The wheels turn until the next call, until the connection ends,
        or until the command's lifetime is over (set_command_lifetime). Raises UsageError, and sends nothing, if position
        is not open for writing, or if a speed is no number."""
        self.command("p", _shorts(speed, turnrate))

    def set_ptz(self, pan: float, tilt: float, zoom: float, device: str = "z") -> None:
        """Points the camera: pan -100 to 100 deg, positive is counterclockwise; tilt -25 to 25
        deg, positive is up; zoom 0 (wide) to 1023 (telephoto)."""
        self.command(device, _shorts(pan, tilt, zoom))

    def set_gripper(self, command: int, value: int = 0, device: str = "g") -> None:
        """Moves the gripper: a GripperCommand. value is the argument of GRIP_PRESS and
        LIFT_CARRY, in steps of 20 ms."""
        try:
            payload = bytes([command, value])
        except (TypeError, ValueError):
            raise UsageError(f"gripper command {command} {value}: both are bytes") from None
        self.command(device, payload)

    def set_output(self, device: str, channel: int, value: int) -> None:
        """Sets an output of an io device, for example "io", to a value in the unit of the output (channels); a
        digital one to 0 or 1. The server limits the value, and ignores a channel that is no output. Raises UsageError
        if the device is not open for writing, or if channel is not a byte, or value not of 32 bits."""
        self.command(device, _pack(_OUTPUT, channel, value))

    def move_joint(self, device: str, joint: int, goal: int | None, speed: int = 0) -> None:
        """Moves a joint of a servo device, for example "servo", to a goal in the unit of the joint (channels), at a
        speed in that unit each second; 0: as its driver moves it. goal None: it stops where it is. Joint ALL_JOINTS
        is all of them. Raises UsageError as set_output does; the speed has no sign."""
        self.command(device, _pack(_JOINT, joint, payloads.UNKNOWN if goal is None else goal, speed))

    def stop_joints(self, device: str) -> None:
        """Stops all joints of a servo device where they are."""
        self.move_joint(device, payloads.ALL_JOINTS, None)

    def set_goal(
        self,
        device: str,
        x_mm: float,
        y_mm: float,
        heading_deg: int | None = None,
        *,
        speed_mm_per_s: int = 0,
        turn_rate_deg_per_s: int = 0,
        tolerance_mm: int = 0,
        radius_mm: int = 0,
        tag: int = 0,
    ) -> None:
        """Has a goto device, for example "goto", drive to a point around obstacles: mm in the frame of the odometry, and
        the heading at the end, 0 to 359 deg, None for any. Its data say how far it has come; go_to of the clients waits
        for it. For the others 0 is the value of the device: the highest speed, mm/s, and turn rate, deg/s; how far from
        the goal the robot has arrived, mm; half of the narrowest gap that it is to pass, mm. The tag is any number to
        know the goal by in the data; a goal that has ended needs another one to be given again.

        A goal moves the wheels: it ends with the connection, at the end of the command's lifetime unless it is repeated,
        with any command to position, and by the emergency stop. Raises UsageError if the device is not open for writing,
        or for numbers that do not fit."""
        try:
            payload = payloads.goal_payload(
                round(x_mm), round(y_mm), heading_deg, speed_mm_per_s, turn_rate_deg_per_s, tolerance_mm, radius_mm, tag
            )
        except (OverflowError, TypeError, ValueError, struct_error):
            raise UsageError("a goal has mm of 32 bits, and other numbers of 16 bits without a sign") from None
        self.command(device, payload)

    def stop_goal(self, device: str) -> None:
        """Has a goto device give its goal up. It stops the wheels if the robot drives to it."""
        self.command(device, payloads.goal_payload(None))

    def command(self, device: str, payload: bytes) -> None:
        """Sends a command of any layout to a device. Without write access it raises UsageError,
        since the server would drop the command silently."""
        d = self._find(device)
        if d is None or not d.writable:
            how = f'request("{device}w")' if len(device) == 1 else f'request({{"{device}": "w"}})'
            raise UsageError(f"no write access to device {device!r}: call {how} first")
        self._message("c" + d.letter, payload)

    # Configuration. The server does not answer it.

    def set_data_mode(self, mode: int) -> None:
        """Selects when the server sends data to this client: a DataMode. read still returns the
        rounds that were streamed before, unless request("") follows: its reply comes after
        them."""
        self._configure_server("r", 1 if mode else 0, 1)

    @property
    def awaits_requests(self) -> bool:
        """Reports whether the mode is request/reply: a round comes only after request_data."""
        return bool(self._settings.get("r"))

    def set_frequency(self, frequency: int) -> None:
        """Sets the rate of this client's rounds in continuous mode, 1 to 65535 Hz. The default
        is 10 Hz. The server may have a lower maximum."""
        if not 1 <= frequency <= 65535 or frequency != int(frequency):
            raise UsageError(f"frequency {frequency} Hz is not in 1 to 65535")
        self._configure_server("f", int(frequency), 2)

    def request_data(self) -> None:
        """Asks for one round in request/reply mode. In continuous mode it has no effect."""
        self.configure("y", b"d")

    def set_fresh(self, on: bool) -> None:
        """Turns freshness mode on or off for this client (PROTOCOL 8.2): a round then contains
        only new data, and is sent only if there is some. It needs device y open for reading.
        Turn the mode off before you close y."""
        if on and not self._aged:
            raise UsageError('freshness mode needs device y: request freshness="r" first')
        self._configure_server("n", 1 if on else 0, 1)
        self._fresh = on

    def set_command_lifetime(self, seconds: float) -> None:
        """Sets for how long a command of set_speed or set_goal is good, in whole milliseconds up to a minute:
        the wheels stop unless it is repeated in time, also when this program hangs. A client with
        a lifetime yields: its zero speeds stop only what it drives itself. 0: the commands are
        good until the client leaves (PROTOCOL 5.5). 0.7.4a ignores it."""
        ms = round(seconds * 1000) if isfinite(seconds) else -1
        if not 0 <= ms <= _MAX_LIFETIME or ms == 0 != seconds:
            raise UsageError(f"a lifetime of {seconds} s is not in 0.001 to {_MAX_LIFETIME // 1000} s")
        self._configure_server("l", ms, 2)

    def set_name(self, name: str) -> None:
        """Sets the name by which people see this client: at most 64 bytes of printable ASCII. An
        empty name removes it."""
        if len(name) > _MAX_NAME or not all(" " <= c <= "~" for c in name):
            raise UsageError(f"name {name!r} is not {_MAX_NAME} bytes of printable ASCII at most")
        self.configure("y", b"w" + _letters(name))
        self._own_name = name

    def emergency_stop(self, on: bool) -> None:
        """Stops the robot for all, or releases the stop. While it holds, also when
        this client has left, the server drops all commands of all clients. It needs no open
        device, but the right to write; without it the server ignores the call."""
        self.configure("y", b"e" + bytes([1 if on else 0]))

    def change_motor_state(self, on: bool) -> None:
        """Turns the power of the motors on or off. Be careful: the robot may start at once.
        This and the two calls below affect all clients, and have no effect unless position,
        sonar, misc or gripper is open."""
        self.configure("p", b"m" + bytes([1 if on else 0]))

    def reset_position(self) -> None:
        """Sets the odometry to (0, 0, 0)."""
        self.configure("p", b"R")

    def change_velocity_control(self, mode: int) -> None:
        """Selects how the wheels follow set_speed: a VelocityMode."""
        self.configure("p", b"v" + bytes([1 if mode else 0]))

    def configure(self, device: str, payload: bytes) -> None:
        """Sends a configuration of any layout to a device: a code and its argument. It needs
        no access."""
        self._message("x" + self._letter(device), payload)

    def _configure_server(self, code: str, argument: int, size: int) -> None:
        self._settings[code] = argument
        self.configure("y", code.encode() + argument.to_bytes(size, "big"))

    # Reconnecting

    def _wanted_pairs(self) -> str:
        """The request that opens again what was open before the connection was lost."""
        return "".join(device + access for device, access in self._wanted.items())

    def _check_same(self) -> None:
        """Raises DevicesMoved, and forgets what was open, if a byte means another device than it has meant since the
        devices were opened. A device may have been away meanwhile."""
        moved = [self._seen[d.code] for d in self._listed or () if self._seen[d.code] != d.name]
        if moved:
            self._wanted.clear()
            self._seen = {d.code: d.name for d in self._listed or ()}
            raise DevicesMoved(moved)

    def _restore_settings(self) -> None:
        """Sends the name, and when rounds come, before the devices are requested."""
        if self._own_name:
            self.set_name(self._own_name)
        if "f" in self._settings:
            self.set_frequency(self._settings["f"])
        if "l" in self._settings:
            self._configure_server("l", self._settings["l"], 2)
        if self._settings.get("r"):
            self.set_data_mode(DataMode.REQUEST_REPLY)

    def _restore_freshness(self) -> None:
        """Sends freshness mode, after device y was requested."""
        if self._settings.get("n") and self._aged:
            self.set_fresh(True)

    def _message(self, kind: str, payload: bytes) -> None:
        if len(kind) != 2:
            raise UsageError(f"{kind[1:]!r} is not the letter of a device")
        if len(payload) > _MAX_PAYLOAD:
            raise UsageError(f"a message has {len(payload)} bytes, a server takes {_MAX_PAYLOAD}")
        self._send(_CLIENT_HEADER.pack(_letters(kind), len(payload)) + payload)


class _Drive:
    """A goal of go_to, from its command to its end, without input and output."""

    def __init__(self, robot: Session, device: str, x_mm: float, y_mm: float, heading_deg: int | None, limits: Mapping[str, int]) -> None:
        self._robot, self._device, self._limits = robot, device, limits
        self._goal = x_mm, y_mm, heading_deg
        self._tag = random.getrandbits(16)
        self._taken = False
        self._begun = time.monotonic()

    def command(self) -> None:
        """Gives the goal, again in each round for the sake of its lifetime, and asks for data if the mode needs it."""
        x, y, heading = self._goal
        self._robot.set_goal(self._device, x, y, heading, tag=self._tag, **self._limits)
        if self._robot.awaits_requests:
            self._robot.request_data()

    def arrived(self) -> payloads.Goto | None:
        """Returns after a round what the device says if the robot has arrived, None before. Raises GoalError if it has
        given up."""
        data: payloads.Goto = self._robot.data(self._device) or payloads.Goto()
        x, y, _ = self._goal
        if (data.tag, data.x_mm, data.y_mm) == (self._tag, round(x), round(y)) and data.state != payloads.GotoState.IDLE:
            self._taken = True
            if data.state == payloads.GotoState.STOPPED:
                why = _GOAL_REASONS.get(data.reason, f"reason {data.reason}")
                raise GoalError(f"the robot has not arrived at ({data.x_mm}, {data.y_mm}) mm: {why}", data)
            return data if data.state == payloads.GotoState.ARRIVED else None
        if self._taken:
            raise GoalReplaced("another goal has replaced this one", data)
        if time.monotonic() - self._begun > _TAKE_LIMIT:
            raise GoalNotTaken("the server has not taken the goal: another client has control, or the emergency stop is active", data)
        return None

    def abandon(self, why: BaseException) -> None:
        """Stops the robot if go_to ends before the goal does."""
        if isinstance(why, GoalError) and not isinstance(why, GoalNotTaken):
            return  # the goal has ended
        try:
            self._robot.stop_goal(self._device)
        except PlayerError:
            pass  # without a connection the server stops the robot itself


_OUTPUT, _JOINT = Struct(">Bi"), Struct(">BiI")


def _pack(layout: Struct, *values: int) -> bytes:
    try:
        return layout.pack(*values)
    except (TypeError, struct_error):
        raise UsageError(f"{values} are not whole numbers of {layout.format}") from None


def _full(name: str) -> str:
    """Returns the whole name of a device: imu:0 for imu."""
    interface, _, index = name.partition(":")
    return f"{interface}:{int(index or 0) if not index or index.isdecimal() else index}"


_FRESHNESS = "freshness:0"
"""The server itself, which is in no list of devices."""
_LETTERED = {**{f"{interface}:0": letter for interface, letter in _LETTERS.items()}, _FRESHNESS: "y"}


def _letter_of(name: str) -> str | None:
    """Returns the letter of a device of the manual by its name, None of others."""
    return _LETTERED.get(_full(name))


def _letters(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        raise UsageError(f"{text!r} has a character that is not a byte") from None


def _shorts(*values: float) -> bytes:
    """Encodes values as i16. Values beyond it are clipped, so that a speed never changes sign."""
    try:
        clipped: list[int] = [max(-32768, min(int(v), 32767)) for v in values]
    except (OverflowError, TypeError, ValueError):
        raise UsageError(f"{values} are not numbers") from None
    return b"".join(v.to_bytes(2, "big", signed=True) for v in clipped)
