"""The devices of a robot as objects: robot.lasers[1], robot.imu, robot.goto. Both clients have the same ones, since
none of their calls waits. And Round, which loops over a client return."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from . import data as payloads
from .errors import NoDevice, UsageError

if TYPE_CHECKING:
    from .session import Session

D = TypeVar("D")
H = TypeVar("H", bound="DeviceHandle[Any]")


class DeviceHandle(Generic[D]):
    """One device of a robot. It stays valid when the client connects again."""

    interface = ""
    """For example laser."""
    _nothing: Any = None

    def __init__(self, robot: Session, number: int, interface: str = "") -> None:
        """Programs get handles from the attributes of the client."""
        self.interface = interface or self.interface
        self.number = number
        self.name = f"{self.interface}:{number}"
        self._robot = robot

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @property
    def data(self) -> D:
        """The newest data, zeros or None before the first. A new object replaces it, so it may be kept."""
        value: D = self._robot.data(self.name)
        return self._nothing if value is None else value

    @property
    def has_data(self) -> bool:
        """Reports whether the newest block had data. If not, `data` are outdated."""
        return self._robot.has(self.name)

    @property
    def is_new(self) -> bool:
        """Reports whether the newest round had a block of it."""
        return self._robot.is_new(self.name)

    @property
    def age_us(self) -> int | None:
        """The age of the data in us when the server made the newest round. None: device y is not read (request
        freshness="r"), or there are no data yet."""
        return self._robot.age_us(self.name)

    @property
    def access(self) -> str:
        """The access that the server has granted: r, w, a (both), c (closed), e (refused), or empty: never
        requested."""
        return self._robot.access(self.name)


class LaserDevice(DeviceHandle[Sequence[int]]):
    """A laser. Its data are ranges_mm."""

    interface = "laser"
    _nothing = payloads.decode_laser(bytes(2 * payloads.LASER_READINGS))

    @property
    def ranges_mm(self) -> Sequence[int]:
        """361 ranges in mm, every half degree from the right (-90 deg) to the left (+90 deg)."""
        return self.data


class SonarDevice(DeviceHandle[Sequence[int]]):
    """A ring of sonars. Its data are ranges_mm."""

    interface = "sonar"
    _nothing = payloads.decode_sonar(bytes(2 * payloads.SONARS))

    @property
    def ranges_mm(self) -> Sequence[int]:
        """16 ranges in mm, 0 at the front left, then clockwise. 0 mm: it has not fired yet, or is missing."""
        return self.data


class RangerDevice(DeviceHandle[payloads.Ranger]):
    """A range sensor of any shape."""

    interface = "ranger"
    _nothing = payloads.Ranger()

    @property
    def ranges_mm(self) -> list[int | None]:
        """Its readings in mm. None: nothing is in range, or it was not taken. rays of the client says where they
        look."""
        data = self.data
        return [data.mm(i) for i in range(len(data.ranges))]


class IMUDevice(DeviceHandle[payloads.IMU]):
    """An inertial measurement unit."""

    interface = "imu"
    _nothing = payloads.IMU()


class GPSDevice(DeviceHandle[payloads.GPS]):
    """A satellite receiver."""

    interface = "gps"
    _nothing = payloads.GPS()


class IODevice(DeviceHandle[payloads.IO]):
    """Inputs and outputs. channels of the client describes them."""

    interface = "io"
    _nothing = payloads.IO()

    @property
    def values(self) -> Sequence[int | None]:
        """The value of each channel in its unit; None: not known."""
        return self.data.values

    def set(self, channel: int, value: int) -> None:
        """Sets an output: see Session.set_output."""
        self._robot.set_output(self.name, channel, value)


class ServoDevice(DeviceHandle[payloads.Servo]):
    """Joints. channels of the client describes them."""

    interface = "servo"
    _nothing = payloads.Servo()

    @property
    def joints(self) -> Sequence[payloads.Joint]:
        """Each joint, by its number."""
        return self.data.joints

    def move(self, joint: int, goal: int | None, speed: int = 0) -> None:
        """Moves a joint: see Session.move_joint."""
        self._robot.move_joint(self.name, joint, goal, speed)

    def stop(self) -> None:
        """Stops all joints where they are."""
        self._robot.stop_joints(self.name)


class GotoDevice(DeviceHandle[payloads.Goto]):
    """A device that drives to a point around obstacles (docs/GOTO.md). go_to of the client waits for the end."""

    interface = "goto"
    _nothing = payloads.Goto()

    def set_goal(
        self,
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
        """Has the robot drive to a point: see Session.set_goal."""
        self._robot.set_goal(
            self.name, x_mm, y_mm, heading_deg, speed_mm_per_s=speed_mm_per_s, turn_rate_deg_per_s=turn_rate_deg_per_s,
            tolerance_mm=tolerance_mm, radius_mm=radius_mm, tag=tag,
        )  # fmt: skip

    def stop(self) -> None:
        """Gives the goal up, and stops the wheels if the robot drives to it."""
        self._robot.stop_goal(self.name)


class PTZDevice(DeviceHandle[payloads.PTZ]):
    """A camera that turns."""

    interface = "ptz"
    _nothing = payloads.PTZ()

    def set(self, pan_deg: float, tilt_deg: float, zoom: float) -> None:
        """Points the camera: see Session.set_ptz."""
        self._robot.set_ptz(pan_deg, tilt_deg, zoom, self.name)


class GripperDevice(DeviceHandle[payloads.Gripper]):
    """A gripper."""

    interface = "gripper"
    _nothing = payloads.Gripper()

    def set(self, command: int, value: int = 0) -> None:
        """Moves the gripper: see Session.set_gripper."""
        self._robot.set_gripper(command, value, self.name)


class VisionDevice(DeviceHandle[payloads.Vision]):
    """A camera that finds blobs of colour."""

    interface = "vision"
    _nothing = payloads.Vision()


class JoystickDevice(DeviceHandle[payloads.Joystick]):
    """A joystick of the robot."""

    interface = "joystick"
    _nothing = payloads.Joystick()


class Devices(Generic[H]):
    """The devices of one kind, by their numbers: robot.lasers[1] is laser:1. Their number is known once the server has
    listed its devices, which it is asked for by devices, by open, and by a request for a device without a letter."""

    def __init__(self, robot: Session, kind: type[H]) -> None:
        self._robot, self._kind = robot, kind

    def __getitem__(self, number: int) -> H:
        """Returns the device with a number. NoDevice: the robot has none. UsageError: the server was not asked."""
        if number not in self._robot.numbers_of(self._kind.interface):
            name, listed = f"{self._kind.interface}:{number}", self._robot.listed_names
            if listed is None:
                raise UsageError(f'{name} is not known yet: request it, for example request({{"{name}": "r"}}), or call devices')
            raise NoDevice(name, listed)
        return self._kind(self._robot, number)

    def __iter__(self) -> Iterator[H]:
        return (self._kind(self._robot, number) for number in self._robot.numbers_of(self._kind.interface))

    def __len__(self) -> int:
        return len(self._robot.numbers_of(self._kind.interface))

    def __repr__(self) -> str:
        return repr(list(self))


class Round:
    """One round of data, which loops over a client return: the newest data of every device at that time. Later rounds
    do not change it, so a program may keep it. Data of a device that has sent none are zero: see has."""

    __slots__ = (
        "position", "sonar", "laser", "misc", "gripper", "ptz", "vision", "joystick", "freshness", "new", "_robot", "_data", "_had",
    )  # fmt: skip

    position: payloads.Position
    """The odometry."""
    sonar: Sequence[int]
    """16 ranges in mm: see Session.sonar."""
    laser: Sequence[int]
    """361 ranges in mm: see Session.laser."""
    misc: payloads.Misc
    """Bumpers and battery."""
    gripper: payloads.Gripper
    """The gripper."""
    ptz: payloads.PTZ
    """Where the camera looks."""
    vision: payloads.Vision
    """Blobs of colour."""
    joystick: payloads.Joystick
    """A joystick of the robot."""
    freshness: payloads.Freshness
    """When the server made the round, and how old its data are."""
    new: str
    """The characters of the devices with a block in this round: see Session.new."""

    def __init__(self, robot: Session, data: Mapping[str, Any], had: str) -> None:
        """Programs get rounds from loops over the client."""
        self.position, self.sonar, self.laser, self.misc = robot.position, robot.sonar, robot.laser, robot.misc
        self.gripper, self.ptz, self.vision, self.joystick = robot.gripper, robot.ptz, robot.vision, robot.joystick
        self.freshness, self.new = robot.freshness, robot.new
        self._robot, self._data, self._had = robot, data, had

    def data(self, device: str) -> Any:
        """Returns the data of a device by its name or letter: see Session.data."""
        return self._data.get(self._robot.character_of(device))

    def has(self, device: str) -> bool:
        """Reports whether a device had data, by its name or letter."""
        return self._robot.character_of(device) in self._had

    def is_new(self, device: str) -> bool:
        """Reports whether this round has a block of a device, by its name or letter. Without freshness mode
        (set_fresh) every round has one of each device that is read."""
        return self._robot.character_of(device) in self.new

    def __repr__(self) -> str:
        return f"<Round of {self.new!r}: {self.position}>"
