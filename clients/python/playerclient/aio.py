"""The asyncio face: a Session on a transport."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import cast

from .client import (
    CONNECT_TIMEOUT, FIRST_PAUSE, GOAL_TIMEOUT, LONGEST_PAUSE, NOT_CONNECTED, READ_TIMEOUT, RECONNECT_TIMEOUT,
    REQUEST_TIMEOUT, SEND_TIMEOUT, _Addressed, deadline_after, seconds_left,
)  # fmt: skip
from .data import Channel, Color, Device, Goto, Part, Rays
from .devices import Round
from .errors import AccessRefused, ConnectionClosed, DevicesMoved, ProtocolError, TimedOut
from .session import _Drive, Event

UNREAD_LIMIT = 65536
"""Bytes received and not read yet, above which the link stops receiving."""
UNSENT_LIMIT = 65536
"""Bytes of commands that the network has not taken: thousands. A link with more is lost."""


class AsyncPlayerClient(_Addressed):
    """PlayerClient for asyncio. Waits are coroutines, and commands are sent at once:

        async with AsyncPlayerClient("localhost", 6665) as robot:
            robot.set_command_lifetime(0.5)              # if this program hangs, the robot stops after 0.5 s
            await robot.request(sonar="r", position="w")
            async for data in robot:
                robot.set_speed(100, 20 if data.sonar[3] < 500 else 0)

    One task waits at a time. A wait that is cancelled loses nothing: the next read completes
    the round.
    """

    _link: _Link | None = None
    _closing: _Link | None = None  # the latest one that was closed

    async def connect(
        self, host: str | None = None, port: int | None = None, timeout: float | None = CONNECT_TIMEOUT
    ) -> None:
        """Connects to the server: see PlayerClient.connect."""
        self.close()
        self._address(host, port)
        await self._open(timeout)

    async def _open(self, timeout: float | None) -> None:
        link, connection, deadline = _Link(), None, deadline_after(timeout)
        loop = asyncio.get_running_loop()
        try:
            connection = await _reach(self.host, self.port, deadline)
            name = (self.server_name or self.host) if self.tls else None
            await asyncio.wait_for(
                loop.create_connection(lambda: link, sock=connection, ssl=self.tls, server_hostname=name), seconds_left(deadline)
            )
            self._link = link
        except (asyncio.TimeoutError, TimeoutError):
            raise TimedOut(f"{self.host}:{self.port} did not answer in {timeout} s") from None
        except NOT_CONNECTED as e:
            raise ConnectionClosed(f"{self.host}:{self.port}: {e}") from e
        finally:
            if self._link is not link:
                link.abort()
                if connection is not None:
                    connection.close()
        self._reset()

    def close(self) -> None:
        """Closes the connection when the commands have been sent, which takes a round of the loop:
        wait_closed. The server then stops the wheels if this client had write access to them."""
        if self._link is not None:
            self._link.close()
            self._closing, self._link = self._link, None

    async def wait_closed(self) -> None:
        """Waits after close until the connection has ended. Bytes that the network does not take within
        some seconds are given up."""
        if self._closing is not None:
            await self._closing.ended(SEND_TIMEOUT)
            self._closing = None

    async def __aenter__(self) -> AsyncPlayerClient:
        if self._link is None:
            await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        await self.wait_closed()

    async def request(
        self, pairs: str | Mapping[str, str] = "", timeout: float | None = REQUEST_TIMEOUT, **devices: str
    ) -> str:
        """Asks for devices, waits for the server's reply and returns the granted pairs: see
        PlayerClient.request."""
        deadline = deadline_after(timeout)
        named = dict(devices) if isinstance(pairs, str) else {**pairs, **devices}
        if not self.knows(named):
            await self.devices(timeout)
        asked = (pairs if isinstance(pairs, str) else "") + self.pairs_of(named)
        self.start_request(asked)
        await self._wait(Event.REPLY, seconds_left(deadline))
        try:
            if self.explain(asked):
                await self._wait(Event.REPLY, seconds_left(deadline))
        except (TimedOut, ConnectionClosed):
            pass  # the refusal stands, without reasons
        return self.finish_request(asked, {self.character_of(name): name for name in named})

    async def geometry(self, timeout: float | None = REQUEST_TIMEOUT) -> list[Part]:
        """Returns where the parts of the robot are: see PlayerClient.geometry."""
        self.start_question("g")
        await self._wait(Event.REPLY, timeout)
        return self.finish_geometry()

    async def devices(self, timeout: float | None = REQUEST_TIMEOUT) -> list[Device]:
        """Returns the devices of the robot: see PlayerClient.devices."""
        self.start_question("d")
        await self._wait(Event.REPLY, timeout)
        return self.finish_devices()

    async def open(self, name: str, access: str = "r", timeout: float | None = REQUEST_TIMEOUT) -> str:
        """Opens a device by its name: see PlayerClient.open."""
        deadline = deadline_after(timeout)
        if not self.is_listed(name):
            await self.devices(timeout)
        code = self.code_of(name)
        await self.request(code + access, seconds_left(deadline))
        return code

    async def rays(self, timeout: float | None = REQUEST_TIMEOUT) -> list[Rays]:
        """Returns where the readings of lasers, sonars and rangers look: see PlayerClient.rays."""
        self.start_question("r")
        await self._wait(Event.REPLY, timeout)
        return self.finish_rays()

    async def channels(self, timeout: float | None = REQUEST_TIMEOUT) -> list[Channel]:
        """Returns what the inputs, outputs and joints are: see PlayerClient.channels."""
        self.start_question("i")
        await self._wait(Event.REPLY, timeout)
        return self.finish_channels()

    async def colors(self, timeout: float | None = REQUEST_TIMEOUT) -> list[Color]:
        """Returns the colours of the channels of vision: see PlayerClient.colors."""
        self.start_question("v")
        await self._wait(Event.REPLY, timeout)
        return self.finish_colors()

    async def read(self, timeout: float | None = READ_TIMEOUT) -> None:
        """Waits for one whole round of data: see PlayerClient.read."""
        self.check_readable()
        await self._wait(Event.ROUND, timeout)

    async def rounds(self, timeout: float | None = READ_TIMEOUT) -> AsyncIterator[Round]:
        """Returns rounds of data for a loop by async for: see PlayerClient.rounds."""
        while True:
            if self.awaits_requests:
                self.request_data()
            await self.read(timeout)
            yield self.round()
            if self._link is None:
                return

    def __aiter__(self) -> AsyncIterator[Round]:
        return self.rounds()

    async def go_to(
        self,
        x_mm: float,
        y_mm: float,
        heading_deg: int | None = None,
        *,
        device: str = "goto",
        speed_mm_per_s: int = 0,
        turn_rate_deg_per_s: int = 0,
        tolerance_mm: int = 0,
        radius_mm: int = 0,
        timeout: float | None = GOAL_TIMEOUT,
        each: Callable[[Round], object] | None = None,
    ) -> Goto:
        """Drives to a point around obstacles, and returns when the robot has arrived: see PlayerClient.go_to. The robot
        stops if the task is cancelled."""
        deadline = deadline_after(timeout)
        limits = {
            "speed_mm_per_s": speed_mm_per_s, "turn_rate_deg_per_s": turn_rate_deg_per_s, "tolerance_mm": tolerance_mm,
            "radius_mm": radius_mm,
        }  # fmt: skip
        if not self.is_listed(device) or self.access(device) != "a":
            await self.request({device: "a"}, seconds_left(deadline, REQUEST_TIMEOUT))
        drive = _Drive(self, device, x_mm, y_mm, heading_deg, limits)
        try:
            while True:
                drive.command()
                await self.read(seconds_left(deadline, READ_TIMEOUT))
                if each is not None:
                    each(self.round())
                arrived = drive.arrived()
                if arrived is not None:
                    return arrived
        except BaseException as why:
            drive.abandon(why)
            raise

    async def reconnect(self, timeout: float | None = RECONNECT_TIMEOUT) -> None:
        """Connects again and restores what this client had: see PlayerClient.reconnect."""
        deadline = deadline_after(timeout)
        pause = FIRST_PAUSE
        wanted = dict(self._wanted)
        why: Exception | None = None  # of the last attempt that the time limit has not cut short
        while True:
            self.close()
            try:
                await self._open(seconds_left(deadline, CONNECT_TIMEOUT))
                self._restore_settings()
                if self._listed is not None:
                    await self.devices(seconds_left(deadline, REQUEST_TIMEOUT))
                    self._check_same()
                if self._wanted:
                    await self.request(self._wanted_pairs(), seconds_left(deadline, REQUEST_TIMEOUT))
                self._restore_freshness()
                return
            except DevicesMoved:
                raise
            except AccessRefused:
                self._wanted = wanted  # a device that is refused now is requested again next time
                self._restore_freshness()
                raise
            except (ConnectionClosed, TimedOut) as error:
                left = seconds_left(deadline)
                if why is None or left is None or left > 0:
                    why = error
                if left is not None and left <= pause:
                    raise why from None
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _wait(self, wanted: Event, timeout: float | None) -> None:
        deadline = deadline_after(timeout)
        while True:
            try:
                event = self.next_event()
            except ProtocolError:
                if wanted is Event.REPLY:
                    continue  # has is false for that block
                raise
            if event is wanted:
                return
            if event is None:
                link = self._connected()
                self.receive(await link.received(seconds_left(deadline)))

    def _transmit(self, message: bytes) -> None:
        link = self._connected()
        try:
            link.send(message)
        except ConnectionClosed:
            self.close()
            raise

    def _connected(self) -> _Link:
        if self._link is None:
            raise ConnectionClosed("not connected")
        return self._link


async def _reach(host: str, port: int, deadline: float | None) -> socket.socket:
    """Connects to the first address of a host that answers, as client._reach does."""
    loop = asyncio.get_running_loop()
    addresses = await asyncio.wait_for(loop.getaddrinfo(host, port, type=socket.SOCK_STREAM), seconds_left(deadline))
    for others, (family, kind, protocol, _, address) in zip(reversed(range(len(addresses))), addresses):
        connection = socket.socket(family, kind, protocol)
        try:
            connection.setblocking(False)
            left = seconds_left(deadline)
            await asyncio.wait_for(loop.sock_connect(connection, address), None if left is None else left / (others + 1))
            return connection
        except BaseException as e:
            connection.close()
            if not others or not isinstance(e, (OSError, asyncio.TimeoutError)):
                raise
    raise OSError("the host has no address")


class _Link(asyncio.Protocol):
    """The transport's other end. asyncio's StreamReader can lose bytes when a wait with a time
    limit is cancelled before Python 3.12; this one keeps them until they are returned."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._unread = bytearray()
        self._paused = False
        self._ended: str | None = None  # why the connection ended
        self._waiter: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # asyncio sets TCP_NODELAY

    def data_received(self, data: bytes) -> None:
        self._unread += data
        if len(self._unread) > UNREAD_LIMIT and self._transport and not self._paused:
            self._transport.pause_reading()
            self._paused = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = str(exc) if exc else "the server closed the connection"
        self._wake()

    def _wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    async def _wait(self, timeout: float | None) -> bool:
        """Waits for _wake, and reports whether it came in time. Several may wait: one reads, and another closes."""
        if self._waiter is None or self._waiter.done():
            self._waiter = asyncio.get_running_loop().create_future()
        return bool((await asyncio.wait({self._waiter}, timeout=timeout))[0])

    async def received(self, timeout: float | None) -> bytes:
        """Waits for bytes and returns them."""
        if not self._unread and self._ended is None:
            await self._wait(timeout)
        if self._unread:
            received = bytes(self._unread)
            self._unread.clear()
            if self._paused and self._transport:
                self._transport.resume_reading()
                self._paused = False
            return received
        if self._ended is not None:
            raise ConnectionClosed(self._ended)
        raise TimedOut("nothing more arrived in time")

    def send(self, message: bytes) -> None:
        if self._ended is not None or self._transport is None:
            raise ConnectionClosed(self._ended or "not connected")
        if self._transport.get_write_buffer_size() > UNSENT_LIMIT:
            self._transport.abort()
            raise ConnectionClosed("cannot send: the network takes nothing")
        self._transport.write(message)

    def close(self) -> None:
        if self._transport:
            self._transport.close()

    def abort(self) -> None:
        if self._transport:
            self._transport.abort()

    async def ended(self, timeout: float) -> None:
        """Waits for the end of a link that is closed, and ends it itself if that takes too long."""
        while self._ended is None:
            if not await self._wait(timeout):
                self.abort()
