"""The blocking face: a Session on a socket."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType

from .data import Channel, Color, Device, Goto, Part, Rays
from .devices import Round
from .errors import AccessRefused, ConnectionClosed, DevicesMoved, ProtocolError, TimedOut, UsageError
from .session import _Drive, Event, Session

CONNECT_TIMEOUT = 10.0
"""Seconds. A poor wireless link needs less than one."""
REQUEST_TIMEOUT = 60.0
"""Seconds. A laser whose line speed must be found takes more than ten to start."""
READ_TIMEOUT = 10.0
"""Seconds. Rounds come at least once in one, unless only new data are asked for (set_fresh)."""
RECONNECT_TIMEOUT = 60.0
"""Seconds. A small computer needs less than one minute to start anew."""
GOAL_TIMEOUT = 600.0
"""Seconds. Tours through a building take some minutes."""
SEND_TIMEOUT = 5.0
"""Seconds that a command may wait. A network that takes nothing for so long is lost; the server
stops the wheels after 2 s (PROTOCOL 9.1)."""
RECEIVE_SIZE = 65536
"""Bytes taken from the socket at once: rounds of some kilobytes come whole."""
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0
"""Seconds between attempts of reconnect, doubled each time."""


class _Addressed(Session):
    """A Session with the address of its server, for the blocking and the asyncio client."""

    def __init__(
        self,
        host: str = "localhost",
        port: int = 6665,
        tls: ssl.SSLContext | None = None,
        server_name: str | None = None,
    ) -> None:
        """Does not connect: see connect. With tls it is a connection by TLS. server_name is in the
        server's certificate, by default host."""
        super().__init__(self._transmit)
        self.host = host
        self.port = port
        self.tls = tls
        self.server_name = server_name

    def _transmit(self, message: bytes) -> None:
        raise NotImplementedError

    def _address(self, host: str | None, port: int | None) -> None:
        """Chooses the server, by default the one before, and forgets what that one granted."""
        self.host = self.host if host is None else host
        self.port = self.port if port is None else port
        self._forget()


class PlayerClient(_Addressed):
    """A connection to a Player server, for one thread:

        with PlayerClient("localhost", 6665) as robot:   # connects
            robot.set_command_lifetime(0.5)              # if this program hangs, the robot stops after 0.5 s
            robot.request(sonar="r", position="w")       # read the sonars, write the wheels
            for data in robot:                           # ten times a second
                turn = 20 if data.sonar[3] < 500 else 0
                robot.set_speed(100, turn)               # mm/s, deg/s

    Every wait has a time limit in seconds, also without an argument; only None waits for ever. The time
    that the system takes to look up a host's name is not counted. When the connection ends, also because the program
    does, the server stops the wheels.
    """

    _socket: socket.socket | None = None

    def connect(
        self, host: str | None = None, port: int | None = None, timeout: float | None = CONNECT_TIMEOUT
    ) -> None:
        """Connects to the server, by default at the attributes host and port. An earlier connection is closed. Raises
        ConnectionClosed if nothing answers there, TimedOut if nothing does in time."""
        self.close()
        self._address(host, port)
        self._open(timeout)

    def _open(self, timeout: float | None) -> None:
        deadline = deadline_after(timeout)
        connection: socket.socket | None = None
        try:
            connection = _reach(self.host, self.port, deadline)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # send commands at once
            if self.tls is not None:
                connection.settimeout(seconds_left(deadline))
                connection = self.tls.wrap_socket(connection, server_hostname=self.server_name or self.host)
            self._socket = connection
        except (socket.timeout, TimeoutError, BlockingIOError, ssl.SSLWantReadError):
            raise TimedOut(f"{self.host}:{self.port} did not answer in {timeout} s") from None
        except NOT_CONNECTED as e:
            raise ConnectionClosed(f"{self.host}:{self.port}: {e}") from e
        finally:
            if connection is not None and connection is not self._socket:
                connection.close()
        self._reset()

    def close(self) -> None:
        """Closes the connection. The server then stops the wheels if this client had write
        access to them."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def __enter__(self) -> PlayerClient:
        if self._socket is None:
            self.connect()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def request(
        self, pairs: str | Mapping[str, str] = "", timeout: float | None = REQUEST_TIMEOUT, **devices: str
    ) -> str:
        """Asks for devices, waits for the server's reply and returns the granted pairs. Devices have names, and access
        to each is r or read, w or write, a or all, c or close:

            robot.request(sonar="r", position="w", imu="r")
            robot.request({"laser:1": "r"})             # the second laser
            robot.request("srpw")                       # the manual's letters: a device and an access each

        Starting a device can take seconds. The wheels stand until the first command. To close position, or to give up
        writing it, stops the wheels if this client has commanded them.

        Raises AccessRefused if the server granted less, with its reasons; NoDevice if the robot has no such device;
        UsageError if a device or an access is none. A device that is read and then opened with w is granted a. Rounds
        that arrive meanwhile update the attributes and are not returned by read again. After TimedOut the server
        still answers the request; the next read or request takes its reply.
        """
        deadline = deadline_after(timeout)
        named = dict(devices) if isinstance(pairs, str) else {**pairs, **devices}
        if not self.knows(named):
            self.devices(timeout)
        asked = (pairs if isinstance(pairs, str) else "") + self.pairs_of(named)
        self.start_request(asked)
        self._wait(Event.REPLY, seconds_left(deadline))
        try:
            if self.explain(asked):
                self._wait(Event.REPLY, seconds_left(deadline))
        except (TimedOut, ConnectionClosed):
            pass  # the refusal stands, without reasons
        return self.finish_request(asked, {self.character_of(name): name for name in named})

    def geometry(self, timeout: float | None = REQUEST_TIMEOUT) -> list[Part]:
        """Returns the places and the sizes of the parts of the robot, as far as the server
        knows them (PROTOCOL 8.9.3); a device that is open is known best. A server without such
        answers has no parts."""
        self.start_question("g")
        self._wait(Event.REPLY, timeout)
        return self.finish_geometry()

    def devices(self, timeout: float | None = REQUEST_TIMEOUT) -> list[Device]:
        """Returns the devices of the robot (PROTOCOL 8.9.5). From then on every method takes their names, and
        answers and refusals also have those without letters. The list is empty if the server is an older one, whose
        devices all have letters, or if this client may neither read nor write."""
        self.start_question("d")
        self._wait(Event.REPLY, timeout)
        return self.finish_devices()

    def open(self, name: str, access: str = "r", timeout: float | None = REQUEST_TIMEOUT) -> str:
        """Opens a device by its name, for example "laser:1" or "imu", which means imu:0: access is r, w or a. From
        then on every method takes the name. It returns the character that stands for the device in request and in
        `new`.

        It asks the server which devices there are unless it knows the name already. Of an older server, it opens
        devices by their letters. Raises NoDevice if the robot has no such device, UsageError if name cannot be one,
        and the errors of request."""
        deadline = deadline_after(timeout)
        if not self.is_listed(name):
            self.devices(timeout)
        code = self.code_of(name)
        self.request(code + access, seconds_left(deadline))
        return code

    def rays(self, timeout: float | None = REQUEST_TIMEOUT) -> list[Rays]:
        """Returns where the readings of lasers, sonars and rangers look from and to, as far as the server knows it
        (PROTOCOL 8.9.6). Open the devices first: a driver may learn it then. An older server knows none."""
        self.start_question("r")
        self._wait(Event.REPLY, timeout)
        return self.finish_rays()

    def channels(self, timeout: float | None = REQUEST_TIMEOUT) -> list[Channel]:
        """Returns what the inputs, outputs and joints of the robot are (PROTOCOL 8.9.7). Call devices, or open one of
        them by its name, before: they have no letters. An older server knows none."""
        self.start_question("i")
        self._wait(Event.REPLY, timeout)
        return self.finish_channels()

    def colors(self, timeout: float | None = REQUEST_TIMEOUT) -> list[Color]:
        """Returns the colours of the channels of vision (PROTOCOL 8.9.8), as far as the server knows them. An older
        server knows none."""
        self.start_question("v")
        self._wait(Event.REPLY, timeout)
        return self.finish_colors()

    def read(self, timeout: float | None = READ_TIMEOUT) -> None:
        """Waits for one whole round of data: a block of each device open for reading. In
        continuous mode rounds come at the server's frequency (set_frequency), in request/reply
        mode after request_data. In freshness mode (set_fresh) a round has only new data.

        Raises TimedOut if none is complete in time: the connection is still usable, and the robot goes on as it was
        commanded. Raises ConnectionClosed if the connection has ended: the server has stopped the wheels. Raises
        ProtocolError for data that are none, UsageError if nothing is open for reading."""
        self.check_readable()
        self._wait(Event.ROUND, timeout)

    def rounds(self, timeout: float | None = READ_TIMEOUT) -> Iterator[Round]:
        """Returns rounds of data for a loop, with a time limit for each. It ends when the loop calls close; any other
        end is an error of read. In request/reply mode it asks for each of them. A loop over the client itself
        is the same with the default limit."""
        while True:
            if self.awaits_requests:
                self.request_data()
            self.read(timeout)
            yield self.round()
            if self._socket is None:
                return

    def __iter__(self) -> Iterator[Round]:
        return self.rounds()

    def go_to(
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
        """Drives to a point around obstacles, and returns when the robot has arrived: mm in the frame of the odometry,
        and the heading at the end, deg, None for any. The other numbers are as for set_goal. It opens the goto
        device unless it is open, and reads rounds meanwhile: each is called with every one, and its error ends the
        drive. The command is repeated, so that a lifetime (set_command_lifetime) may be as short as some rounds.

        Raises GoalError if the robot has given up, after two minutes without a way; GoalNotTaken and
        GoalReplaced because of other clients; TimedOut; NoDevice if the server has no goto device; and the errors of
        request and read. After any error but GoalReplaced the robot is stopped."""
        deadline = deadline_after(timeout)
        limits = {
            "speed_mm_per_s": speed_mm_per_s, "turn_rate_deg_per_s": turn_rate_deg_per_s, "tolerance_mm": tolerance_mm,
            "radius_mm": radius_mm,
        }  # fmt: skip
        if not self.is_listed(device) or self.access(device) != "a":
            self.request({device: "a"}, seconds_left(deadline, REQUEST_TIMEOUT))
        drive = _Drive(self, device, x_mm, y_mm, heading_deg, limits)
        try:
            while True:
                drive.command()
                self.read(seconds_left(deadline, READ_TIMEOUT))
                if each is not None:
                    each(self.round())
                arrived = drive.arrived()
                if arrived is not None:
                    return arrived
        except BaseException as why:
            drive.abandon(why)
            raise

    def reconnect(self, timeout: float | None = RECONNECT_TIMEOUT) -> None:
        """Connects again after ConnectionClosed, and restores what this client had: name, access to devices,
        frequency, command lifetime, data mode and freshness mode. It tries until it succeeds or the time limit has
        passed. If the server has listed its devices before, it is asked for them again, and DevicesMoved is raised if
        one of their bytes means another device now. Data and ages start anew; motor power, odometry and velocity
        control belong to the robot and are not touched."""
        deadline = deadline_after(timeout)
        pause = FIRST_PAUSE
        wanted = dict(self._wanted)
        why: Exception | None = None  # of the last attempt that the time limit has not cut short
        while True:
            self.close()
            try:
                self._open(seconds_left(deadline, CONNECT_TIMEOUT))
                self._restore_settings()
                if self._listed is not None:
                    self.devices(seconds_left(deadline, REQUEST_TIMEOUT))
                    self._check_same()
                if self._wanted:
                    self.request(self._wanted_pairs(), seconds_left(deadline, REQUEST_TIMEOUT))
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
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _wait(self, wanted: Event, timeout: float | None) -> None:
        """Receives until an event. The others are complete then, but not returned."""
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
                self._receive(deadline)

    def _receive(self, deadline: float | None) -> None:
        connection = self._connected()
        left = seconds_left(deadline)
        try:
            connection.settimeout(left)  # 0 takes only what is there
            received = connection.recv(RECEIVE_SIZE)
        except (socket.timeout, TimeoutError, BlockingIOError, ssl.SSLWantReadError):
            raise TimedOut("nothing more arrived in time") from None
        except OSError as e:
            self.close()
            raise ConnectionClosed(str(e)) from e
        if not received:
            self.close()
            raise ConnectionClosed("the server closed the connection")
        self.receive(received)

    def _transmit(self, message: bytes) -> None:
        connection = self._connected()
        try:
            connection.settimeout(SEND_TIMEOUT)
            connection.sendall(message)
        except OSError as e:  # also a timeout: a part of the message may have been sent
            self.close()
            raise ConnectionClosed(f"cannot send: {e}") from e

    def _connected(self) -> socket.socket:
        if self._socket is None:
            raise ConnectionClosed("not connected")
        return self._socket


NOT_CONNECTED = (OSError, OverflowError, ValueError)
"""The errors of the standard library if it cannot connect: OverflowError and ValueError are of a port
or a host that cannot be one."""


def _reach(host: str, port: int, deadline: float | None) -> socket.socket:
    """Connects to the first address of a host that answers. Each gets an equal part of the time that
    is left; create_connection gives all of it to each."""
    addresses = socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)
    for others, (family, kind, protocol, _, address) in zip(reversed(range(len(addresses))), addresses):
        connection = socket.socket(family, kind, protocol)
        try:
            left = seconds_left(deadline)
            connection.settimeout(None if left is None else left / (others + 1))
            connection.connect(address)
            return connection
        except BaseException as e:
            connection.close()
            if not others or not isinstance(e, OSError):
                raise
    raise OSError("the host has no address")


LONGEST = 1e9
"""Seconds. More is for ever: the system's clocks do not count so far."""


def deadline_after(timeout: float | None) -> float | None:
    if timeout is None or timeout > LONGEST:
        return None
    if timeout != timeout:
        raise UsageError("a timeout is not a number")
    return time.monotonic() + timeout


def seconds_left(deadline: float | None, most: float | None = None) -> float | None:
    if deadline is None:
        return most
    left = max(0.0, deadline - time.monotonic())
    return left if most is None else min(left, most)
