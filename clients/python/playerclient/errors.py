"""The errors of this package. Each one is a PlayerError."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .data import Goto


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
    """The server granted less than asked for. The granted access is in force."""

    def __init__(
        self, asked: str, granted: str, reasons: Mapping[str, Reason] = {}, names: Mapping[str, str] = {}
    ) -> None:
        """asked and granted are pairs of device and access, of equal length. reasons has those
        that the server knows, by device: its letter, or its name if it has none. names has the
        names of such devices, by their characters in the pairs."""
        self.asked = asked
        self.granted = granted
        self.reasons: dict[str, Reason] = {}
        differences = []
        for device, a, g in zip(asked[::2], asked[1::2], granted[1::2]):
            if enough(a, g):
                continue
            name = names.get(device, device)
            text = f"device {name} asked {a!r} granted {g!r}"
            if g == "e" and name in reasons:
                self.reasons[name] = reasons[name]
                text += ": " + reasons[name].text
            elif g == "e":
                text += ": the server's log has the reason"
            differences.append(text)
        super().__init__("access is not as requested: " + "; ".join(differences))


class NoDevice(AccessRefused):
    """The robot has no device of this name. Nothing was requested; asked and granted are empty."""

    def __init__(self, name: str, there: Sequence[str] | None) -> None:
        """name is for example laser:1. there has the names of the devices that the server lists; None: it is an older
        one, whose devices all have letters."""
        super().__init__("", "")
        text = "this server has only the devices of 0.7.4a"
        if there is not None:
            text = "the robot has " + (", ".join(there) or "no device for this client")
        if name.startswith("goto:"):
            text += '; a server has goto when it is started with -goto, or with a driver "goto" (docs/GOTO.md)'
        self.name = name
        self.reasons = {name: Reason("missing", text)}
        self.args = (f"no such device: {name}: {text}",)


class DevicesMoved(AccessRefused):
    """The server was started anew with other devices: a byte means another device than before. The connection stands,
    and no device is open; asked and granted are empty. Open them again by their names."""

    def __init__(self, moved: Sequence[str]) -> None:
        """moved has the names of the devices that have lost their bytes."""
        super().__init__("", "")
        text = "the server was started anew with other devices: open them again by their names"
        self.reasons = {name: Reason("moved", text) for name in moved}
        self.args = (text,)


class GoalError(PlayerError):
    """The robot has given up the goal of go_to, for example because it has found no way. It stands still."""

    def __init__(self, text: str, data: Goto) -> None:
        """data are the last ones of the goto device: data.reason is a GotoReason."""
        super().__init__(text)
        self.data = data


class GoalNotTaken(GoalError):
    """The server has dropped the goal of go_to: another client has control, or the emergency stop is active."""


class GoalReplaced(GoalError):
    """Another client has given the goto device another goal, to which the robot drives."""


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
