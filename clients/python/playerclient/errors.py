"""The errors of this package. Each one is a PlayerError."""

from __future__ import annotations

from typing import Dict, Mapping, NamedTuple


class PlayerError(Exception):
    """Any error of this package."""


class Reason(NamedTuple):
    """Why a device was refused."""

    why: str
    """A word of PROTOCOL 8.9.1: missing, right, hardware, used, ..."""
    text: str
    """The same for people."""


def enough(asked: str, granted: str) -> bool:
    """Reports whether an access includes what was asked for: r, followed by w in another
    request, is granted as a."""
    return granted == asked or (granted == "a" and asked in ("r", "w"))


class AccessRefused(PlayerError):
    """The server granted less than asked for. What it granted is in force."""

    def __init__(self, asked: str, granted: str, reasons: Mapping[str, Reason] = {}) -> None:
        """asked and granted are pairs of device and access, of equal length. reasons has those
        that the server knows, by device."""
        self.asked = asked
        self.granted = granted
        self.reasons: Dict[str, Reason] = {}
        differences = []
        for device, a, g in zip(asked[::2], asked[1::2], granted[1::2]):
            if enough(a, g):
                continue
            text = f"device {device} asked {a!r} granted {g!r}"
            if g == "e" and device in reasons:
                self.reasons[device] = reasons[device]
                text += ": " + reasons[device].text
            elif g == "e":
                text += ": the server's log has the reason"
            differences.append(text)
        super().__init__("access is not as requested: " + "; ".join(differences))


class TimedOut(PlayerError, TimeoutError):
    """The time limit of a call has passed. The connection is still usable: the next read
    completes a round that arrived in part."""


class ConnectionClosed(PlayerError, ConnectionError):
    """There is no connection: it was lost, closed, or not possible."""


class ProtocolError(PlayerError):
    """The server sent bytes that do not match the protocol. The connection is still usable:
    the next read continues after that block."""


class UsageError(PlayerError, ValueError):
    """The call is not possible in this state, or with these arguments. Nothing was sent."""


class SimulationRefused(PlayerError):
    """The simulated world cannot do that: there is no room, or no such robot or thing. Nothing
    was moved."""
