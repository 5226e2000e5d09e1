"""Experiments in a simulated world: its true state, read and changed."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from .client import NOT_CONNECTED
from .errors import ConnectionClosed, PlayerError, ProtocolError, SimulationRefused, TimedOut

LIMIT = 60.0
"""Seconds. A thousand steps of a crowd take some."""


class Sighting(NamedTuple):
    """A fiducial that a robot's fiducial finder sees."""

    name: str
    """The name of the robot or thing that has it."""
    id: int
    """Its fiducial_return; 0: too far away to be identified."""
    range: float
    """m, from the finder."""
    bearing: float
    """deg, counterclockwise from the direction of the finder."""


class Mover(NamedTuple):
    """A robot, or a thing that can move."""

    name: str
    """Its name in the world."""
    robot: bool
    """True of a robot, False of a thing."""
    x: float
    """m, in the frame of the world."""
    y: float
    """m, in the frame of the world."""
    heading: float
    """deg, counterclockwise from the x axis."""
    sees: tuple[Sighting, ...] = ()
    """The fiducials that the robot's finder sees."""


class SimulationState(NamedTuple):
    """The true state of a world."""

    time: float
    """Simulated seconds."""
    speed: float
    """Simulated seconds a second; 0: as fast as possible."""
    paused: bool
    """Reports whether the world waits."""
    finished: bool
    """Reports whether quit_time has passed."""
    seed: int
    """The seed of its noise."""
    movers: list[Mover]
    """Robots, then things."""

    def mover(self, name: str) -> Mover:
        """The robot or thing of a name. KeyError: there is none."""
        for mover in self.movers:
            if mover.name == name:
                return mover
        raise KeyError(name)


class Simulation:
    """The world of a simulation (docs/STAGE.md), on the address of the dashboard:

        world = Simulation("localhost", 8080)
        world.order(seed=7, move={"r0": (1, 0.5, 90)})
        print(world.state().mover("r0").x)

    It needs the right to read, and for order the right to write. With tls it asks by https. A
    world in step changes between two of its steps: right before its client requests the next
    data. Each call connects anew, so an object may be used by several threads, and by
    asyncio.to_thread.
    """

    def __init__(
        self,
        host: str = "localhost",
        port: int = 8080,
        tls: ssl.SSLContext | None = None,
        timeout: float | None = LIMIT,
    ) -> None:
        """Does not connect yet. timeout is for each call, in seconds."""
        self.host = host
        self.port = port
        self.tls = tls
        self.timeout = timeout

    def state(self) -> SimulationState:
        """Returns the state of the world. Raises TimedOut, ConnectionClosed, or PlayerError if there is no simulation."""
        return self._ask("GET", "")

    def order(
        self,
        *,
        reset: bool = False,
        seed: int | None = None,
        move: Mapping[str, tuple[float, float, float]] | None = None,
        speed: float | None = None,
        pause: bool | None = None,
        step: int = 0,
    ) -> SimulationState:
        """Changes the world, in the order of the arguments and without another order in
        between, and returns the state afterwards.

        reset: all is as at the start, also the time; clients stay connected. seed: the same with
        another seed. move: robots and things by name, each to (x, y, heading) in m and deg: all
        of them or, without room, none. speed: 0 to 1000 simulated seconds a second, 0 as fast
        as possible. step: 0 to 1000 steps of 10 ms, also while the world is paused.

        Raises SimulationRefused if it is not possible.
        """
        order: dict[str, Any] = {"reset": reset, "step": step}
        if seed is not None:
            order["seed"] = seed
        if move is not None:
            order["move"] = [{"name": name, "x": x, "y": y, "heading": h} for name, (x, y, h) in move.items()]
        if speed is not None:
            order["speed"] = speed
        if pause is not None:
            order["pause"] = pause
        return self._ask("POST", "?order=" + quote(json.dumps(order, separators=(",", ":"))))

    def _ask(self, method: str, query: str) -> SimulationState:
        connection: http.client.HTTPConnection | None = None
        try:
            if self.tls is None:
                connection = http.client.HTTPConnection(self.host, self.port, timeout=self.timeout)
            else:
                connection = http.client.HTTPSConnection(self.host, self.port, timeout=self.timeout, context=self.tls)
            connection.request(method, "/simulation" + query)
            response = connection.getresponse()
            text = response.read().decode(errors="replace")
            reason = "".join(c if c.isprintable() else "?" for c in text.strip())  # people see it on terminals
        except (socket.timeout, TimeoutError):
            raise TimedOut(f"{self.host}:{self.port} did not answer in {self.timeout} s") from None
        except (*NOT_CONNECTED, http.client.HTTPException) as e:
            raise ConnectionClosed(f"{self.host}:{self.port}: {e}") from e
        finally:
            if connection is not None:
                connection.close()
        if response.status in (400, 409):
            raise SimulationRefused(reason)
        if response.status == 404:
            raise PlayerError(f"{self.host}:{self.port} serves no simulation: start the server with -stage and -http")
        if response.status == 403:
            raise PlayerError(f"{self.host}:{self.port}: {response.status} {reason}")
        if response.status != 200:
            raise ProtocolError(f"{self.host}:{self.port}: {response.status} {reason}")
        try:
            state = json.loads(text)
            movers = [
                Mover(
                    sees=tuple(Sighting(**{field: s[field] for field in Sighting._fields}) for s in mover.get("sees", [])),
                    **{field: mover[field] for field in Mover._fields[:-1]},
                )
                for mover in state["movers"]
            ]
            return SimulationState(movers=movers, **{field: state[field] for field in SimulationState._fields[:-1]})
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
            raise ProtocolError(f"{self.host}:{self.port} is no dashboard of Player") from None
