"""A client of the Player robot device server, version 0.7.4a and its additions.

PlayerClient blocks, AsyncPlayerClient is for asyncio, and Session is their common core without
input and output. Simulation makes experiments in a simulated world. See README.md, and
docs/PROTOCOL.md for the protocol.
"""

from .aio import AsyncPlayerClient
from .client import PlayerClient
from .data import Blob, Freshness, Gripper, Joystick, Misc, Part, Position, PTZ, Vision
from .errors import (
    AccessRefused,
    ConnectionClosed,
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
    "AsyncPlayerClient",
    "Blob",
    "ConnectionClosed",
    "DataMode",
    "Event",
    "Freshness",
    "Gripper",
    "GripperCommand",
    "Joystick",
    "Misc",
    "Mover",
    "Part",
    "PlayerClient",
    "PlayerError",
    "Position",
    "ProtocolError",
    "PTZ",
    "Reason",
    "Session",
    "Sighting",
    "Simulation",
    "SimulationRefused",
    "SimulationState",
    "TimedOut",
    "UsageError",
    "VelocityMode",
    "Vision",
]
