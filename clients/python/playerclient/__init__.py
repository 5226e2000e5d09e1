"""A client of the Player robot device server, version 0.7.4a and its additions.

PlayerClient blocks, AsyncPlayerClient is for asyncio, and Session is their common core without
input and output. Simulation makes experiments in a simulated world. See README.md, and
docs/PROTOCOL.md for the protocol.
"""

from .aio import AsyncPlayerClient
from .client import PlayerClient
from .data import (
    ALL_JOINTS,
    GPS,
    IMU,
    IO,
    NOTHING_IN_RANGE,
    PTZ,
    UNKNOWN_RANGE,
    Blob,
    Channel,
    Device,
    Fix,
    Freshness,
    Gripper,
    Joint,
    Joystick,
    Misc,
    Part,
    Position,
    Ranger,
    Rays,
    Servo,
    Vision,
)
from .errors import (
    AccessRefused,
    ConnectionClosed,
    DevicesMoved,
    NoDevice,
    PlayerError,
    ProtocolError,
    Reason,
    SimulationRefused,
    TimedOut,
    UsageError,
)
from .session import DataMode, Event, GripperCommand, Session, VelocityMode
from .simulation import Mover, Sighting, Simulation, SimulationState

__all__ = [
    "AccessRefused",
    "ALL_JOINTS",
    "AsyncPlayerClient",
    "Blob",
    "Channel",
    "ConnectionClosed",
    "DataMode",
    "Device",
    "DevicesMoved",
    "Event",
    "Fix",
    "Freshness",
    "GPS",
    "Gripper",
    "GripperCommand",
    "IMU",
    "IO",
    "Joint",
    "Joystick",
    "Misc",
    "Mover",
    "NoDevice",
    "NOTHING_IN_RANGE",
    "Part",
    "PlayerClient",
    "PlayerError",
    "Position",
    "ProtocolError",
    "PTZ",
    "Ranger",
    "Rays",
    "Reason",
    "Servo",
    "Session",
    "Sighting",
    "Simulation",
    "SimulationRefused",
    "SimulationState",
    "TimedOut",
    "UNKNOWN_RANGE",
    "UsageError",
    "VelocityMode",
    "Vision",
]
