"""The errors of this package. Each one is a PlayerError."""

from __future__ import annotations


class PlayerError(Exception):
    """Any error of this package."""


class AccessRefused(PlayerError):
    """The server granted other access than asked for. What it granted is in force.

    A device that was opened with r and then with w is granted a, which is also
    reported here; `enough` is true then.
    """

    def __init__(self, asked: str, granted: str) -> None:
        """asked and granted are pairs of device and access, of equal length."""
        self.asked = asked
        self.granted = granted
        differences = [
            f"device {device} asked {a!r} granted {g!r}"
            for device, a, g in zip(asked[::2], asked[1::2], granted[1::2])
            if a != g
        ]
        super().__init__("access is not as requested: " + ", ".join(differences))

    @property
    def enough(self) -> bool:
        """Reports whether every device was granted at least the access asked for."""
        return all(
            g == a or (g == "a" and a in "rw") for a, g in zip(self.asked[1::2], self.granted[1::2])
        )


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
