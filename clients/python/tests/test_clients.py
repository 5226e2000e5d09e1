"""The blocking and the asyncio face against scripted servers: the same tests for both. The cases of
clients/conformance run with both as well."""

from __future__ import annotations

import asyncio
import gc
import inspect
import math
import socket
import ssl
import threading
import unittest
import unittest.mock
import warnings
from typing import Any

from adapter import AsyncFace
from playerclient import (
    AccessRefused, AsyncPlayerClient, ConnectionClosed, DataMode, DevicesMoved, GoalError, GoalNotTaken, GoalReplaced, Goto,
    GotoReason, GotoState, NoDevice, PlayerClient, TimedOut, UsageError,
)  # fmt: skip

from .blocks import DEVICES, POSITION, SONAR, block, reply
from .server import LIMIT, Script, expect, expect_end, take

P, S = block("p", POSITION), block("s", SONAR)
SHORT = 0.02
"""Seconds, of waits that must time out."""


def asked(pairs: str) -> bytes:
    return b"dr" + len(pairs).to_bytes(2, "big") + pairs.encode("latin-1")


def grant(connection: socket.socket, pairs: str) -> None:
    expect(connection, asked(pairs))
    connection.sendall(reply(pairs))


class Faces(unittest.TestCase):
    make: Any = PlayerClient

    def test_no_connection(self) -> None:
        robot = self.make("127.0.0.1", 1)
        self.assertRaises(ConnectionClosed, robot.connect, timeout=LIMIT)
        self.assertRaises(ConnectionClosed, robot.connect, port=99999, timeout=LIMIT)
        self.assertRaises(ConnectionClosed, robot.connect, "", 1, LIMIT)
        self.assertRaises(ConnectionClosed, robot.connect, "..", 1, LIMIT)
        self.assertRaises(ConnectionClosed, robot.connect, "127.0.0.1", 1, math.inf)
        self.assertRaises(UsageError, robot.connect, "127.0.0.1", 1, math.nan)
        self.assertRaises(ConnectionClosed, robot.request, "sr", LIMIT)
        self.assertRaises(ConnectionClosed, robot.set_frequency, 10)
        if isinstance(robot, AsyncFace):
            robot.end()

    # A host whose first address does not answer is reached at the next one.
    def test_addresses(self) -> None:
        silent, answering = socket.socket(), socket.socket()
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]
        answering.bind(("127.0.0.2", port))
        for s in (silent, answering):
            s.listen(0)
            self.addCleanup(s.close)
        with self.assertRaises(OSError):  # until the queue is full
            for _ in range(8):
                filler = socket.create_connection(("127.0.0.1", port), 1)
                self.addCleanup(filler.close)
        found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", (address, port)) for address in ("127.0.0.1", "127.0.0.2")]
        robot = self.make("host", port)
        with unittest.mock.patch("socket.getaddrinfo", return_value=found):
            robot.connect(timeout=3)
        robot.close()
        if isinstance(robot, AsyncFace):
            robot.end()

    # A server without TLS, and one that says nothing: nothing of the attempt is left.
    def test_no_tls(self) -> None:
        step = threading.Event()
        script = Script(lambda connection: connection.sendall(P), lambda _: (step.wait(LIMIT), None)[1])
        robot = self.make("127.0.0.1", script.port, ssl.create_default_context())
        gc.collect()
        with warnings.catch_warnings(record=True) as left:
            warnings.simplefilter("always")
            self.assertRaises(ConnectionClosed, robot.connect, timeout=LIMIT)
            self.assertRaises(TimedOut, robot.connect, timeout=SHORT)
            gc.collect()
        self.assertEqual([str(w.message) for w in left], [])
        step.set()
        script.done()
        if isinstance(robot, AsyncFace):
            robot.end()

    def test_lost_while_it_connects_again(self) -> None:
        def second(connection: socket.socket) -> None:
            grant(connection, "pr")
            connection.sendall(P)
            expect_end(connection)

        script = Script(lambda c: grant(c, "pr"), lambda c: expect(c, asked("pr")), second)
        with self.make("127.0.0.1", script.port) as robot:
            robot.request("pr", LIMIT)
            self.assertRaises(ConnectionClosed, robot.read, LIMIT)
            robot.reconnect(LIMIT)
            robot.read(LIMIT)
            self.assertEqual(robot.new, "p")
            self.assertRaises(TimedOut, robot.read, 0)
        script.done()

    # The devices are listed again, before they are requested.
    def test_devices_of_a_new_server(self) -> None:
        def listed(connection: socket.socket, devices: bytes) -> None:
            expect(connection, b"xy\0\2qd" + asked(""))
            connection.sendall(block("Y", devices) + reply(""))

        def first(connection: socket.socket) -> None:
            listed(connection, DEVICES)
            grant(connection, "\x82r")

        def moved(connection: socket.socket) -> None:
            listed(connection, b"d\n130 laser 1 urg\n131 imu 0 a driver")
            grant(connection, "\x83r")

        def last(connection: socket.socket) -> None:
            moved(connection)
            expect_end(connection)

        script = Script(first, first, moved, last)
        with self.make("127.0.0.1", script.port) as robot:
            self.assertEqual(robot.open("imu", "r", LIMIT), "\x82")
            self.assertRaises(ConnectionClosed, robot.read, LIMIT)
            robot.reconnect(LIMIT)
            self.assertEqual(robot.access("imu"), "r")
            self.assertRaises(ConnectionClosed, robot.read, LIMIT)
            with self.assertRaises(DevicesMoved) as caught:
                robot.reconnect(LIMIT)
            self.assertEqual(list(caught.exception.reasons), ["imu:0", "servo:0"])
            self.assertRaises(UsageError, robot.read, LIMIT)
            self.assertEqual(robot.open("imu", "r", LIMIT), "\x83")  # the new list is known
            self.assertRaises(ConnectionClosed, robot.read, LIMIT)
            robot.reconnect(LIMIT)  # devices that it had before are not requested
        script.done()

    # The server itself is in no list.
    def test_open_freshness(self) -> None:
        script = Script(lambda connection: grant(connection, "yr"))
        with self.make("127.0.0.1", script.port) as robot:
            self.assertEqual(robot.open("freshness", "r", LIMIT), "y")
        script.done()

    # The manual's devices by name cost no question, and refusals have the caller's names.
    def test_by_name(self) -> None:
        def serve(connection: socket.socket) -> None:
            grant(connection, "srpw")
            expect(connection, asked("gr"))
            connection.sendall(reply("ge"))
            expect(connection, b"xy\0\2qe" + asked(""))
            connection.sendall(block("Y", b"e\ng missing no gripper") + reply(""))
            expect(connection, b"xy\0\2qd" + asked(""))
            connection.sendall(block("Y", DEVICES) + reply(""))
            grant(connection, "\x82rlr\x80r")
            expect(connection, b"xy\0\2qd" + asked(""))
            connection.sendall(block("Y", DEVICES) + reply(""))
            expect_end(connection)

        script = Script(serve)
        with self.make("127.0.0.1", script.port) as robot:
            self.assertEqual(robot.request(timeout=LIMIT, sonar="r", position="write"), "srpw")
            self.assertTrue(robot.access("sonar") == robot.access("s") == "r")
            self.assertRaises(UsageError, robot.request, sonar="x")
            self.assertRaises(UsageError, robot.request, {"sonar:x": "r"})
            with self.assertRaisesRegex(AccessRefused, "device gripper asked 'r' granted 'e': no gripper") as caught:
                robot.request(gripper="r")
            self.assertEqual(caught.exception.reasons, {"gripper": ("missing", "no gripper")})
            self.assertEqual(robot.request({"imu": "r", "laser": "r"}, LIMIT, **{"laser:1": "r"}), "\x82rlr\x80r")
            self.assertEqual([laser.access for laser in robot.lasers], ["r", "r"])
            self.assertRaises(NoDevice, robot.request, gps="r")
        script.done()

    def test_colors(self) -> None:
        def serve(connection: socket.socket) -> None:
            expect(connection, b"xy\0\2qv" + asked(""))
            connection.sendall(block("Y", b"v\nv 2 0000ff") + reply(""))

        script = Script(serve)
        with self.make("127.0.0.1", script.port) as robot:
            self.assertEqual(robot.colors(LIMIT), [("v", 2, 0x0000FF)])
        script.done()

    # Nothing waits for ever unless it is asked to.
    def test_limits(self) -> None:
        limited = 0
        for client in (PlayerClient, AsyncPlayerClient):
            for name, method in inspect.getmembers(client, inspect.isfunction):
                timeout = inspect.signature(method).parameters.get("timeout")
                if timeout is not None and not name.startswith("_"):
                    limited += 1
                    self.assertLess(timeout.default, 1000, name)
        self.assertGreater(limited, 20)

    def goal(self, *answers: str, **arguments: Any) -> Goto:
        """Drives to (1000, -500) mm. The server answers commands with these data, in which TAG is the tag of the first."""

        def serve(connection: socket.socket) -> None:
            expect(connection, b"xy\0\2qd" + asked(""))
            connection.sendall(block("Y", b"d\n132 goto 0 goto") + reply(""))
            grant(connection, "\x84a")
            tag = b""
            for answer in answers:
                command = take(connection, 24)
                self.assertEqual(command[:14].hex(), "63840014000003e8fffffe0cffff")
                tag = tag or command[-2:]
                self.assertEqual(command[-2:], tag)
                connection.sendall(block("\x84", bytes.fromhex(answer.replace("TAG", tag.hex()))))
            rest = take(connection, 10000).hex()
            stop = "6384001480000000" + 32 * "0"
            self.assertEqual(rest.endswith(stop), not ended, rest)  # the robot is stopped unless the goal has ended

        ended = arguments.pop("ended", False)
        script = Script(serve)
        try:
            with self.make("127.0.0.1", script.port) as robot:
                result: Goto = robot.go_to(1000, -500, **{"timeout": LIMIT, **arguments})
                return result
        finally:
            script.done()

    def test_go_to(self) -> None:
        end = " 000003e8 fffffe0c ffff 00000064"
        earlier, drives, arrived = "0400 0000 00000000 00000000 ffff 00000000", "0100 TAG" + end, "0200 TAG" + end
        self.assertEqual(self.goal(earlier, drives, drives, arrived, ended=True)[::3], (GotoState.ARRIVED, 1000, 100))
        with self.assertRaisesRegex(GoalError, "no way") as caught:
            self.goal(drives, "0406 TAG" + end, ended=True)
        self.assertEqual(caught.exception.data.reason, GotoReason.NO_WAY)
        self.assertRaises(GoalReplaced, self.goal, drives, "0100 0000 00000000 00000000 ffff 00000000", ended=True)
        with unittest.mock.patch("playerclient.session._TAKE_LIMIT", -1):
            self.assertRaises(GoalNotTaken, self.goal, earlier)
        with unittest.mock.patch("playerclient.client.READ_TIMEOUT", SHORT), unittest.mock.patch("playerclient.aio.READ_TIMEOUT", SHORT):
            self.assertRaises(TimedOut, self.goal, drives)
        rounds: list[Any] = []

        def each(data: Any) -> None:
            rounds.append(data)
            1 // (2 - len(rounds))

        with self.assertRaises(ZeroDivisionError):
            self.goal(drives, drives, each=each)
        self.assertEqual([data.data("goto").distance_mm for data in rounds], [100, 100])

    def test_reconnect_in_vain(self) -> None:
        script = Script(lambda connection: grant(connection, "sr"))
        with self.make("127.0.0.1", script.port) as robot:
            robot.request("sr", LIMIT)
            script.done()  # no server listens now
            self.assertRaises(ConnectionClosed, robot.read, LIMIT)
            self.assertRaises(ConnectionClosed, robot.reconnect, 1)  # refused at once, but on a busy computer
            self.assertRaises(ConnectionClosed, robot.reconnect, 1)


class Loops(unittest.TestCase):
    """for and async for."""

    def test_continuous(self) -> None:
        def serve(connection: socket.socket) -> None:
            grant(connection, "srpr")
            connection.sendall(S + P + S + P)
            expect_end(connection)

        script = Script(serve, serve)
        found: list[Any] = []
        with PlayerClient("127.0.0.1", script.port) as robot:
            robot.request("srpr")
            for data in robot:
                found.append(data)
                if len(found) == 2:
                    robot.close()

        async def run() -> None:
            async with AsyncPlayerClient("127.0.0.1", script.port) as robot:
                await robot.request("srpr")
                async for data in robot:
                    found.append(data)
                    if len(found) == 4:
                        robot.close()

        asyncio.run(run())
        script.done()
        self.assertEqual([(data.sonar[0], data.position.x) for data in found], 4 * [(1000, 1111)])

    def test_request_reply(self) -> None:
        def serve(connection: socket.socket) -> None:
            expect(connection, b"xy\0\2r\1")
            grant(connection, "pr")
            for _ in range(3):
                expect(connection, b"xy\0\1d")
                connection.sendall(P)
            expect(connection, b"xy\0\1d")

        script = Script(serve, serve)
        rounds = 0
        with PlayerClient("127.0.0.1", script.port) as robot:
            robot.set_data_mode(DataMode.REQUEST_REPLY)
            robot.request("pr")
            with self.assertRaises(ConnectionClosed):
                for _ in robot:
                    rounds += 1

        async def run() -> None:
            nonlocal rounds
            async with AsyncPlayerClient("127.0.0.1", script.port) as robot:
                robot.set_data_mode(DataMode.REQUEST_REPLY)
                await robot.request("pr")
                with self.assertRaises(ConnectionClosed):
                    async for _ in robot:
                        rounds += 1

        asyncio.run(run())
        script.done()
        self.assertEqual(rounds, 6)

    def test_limit(self) -> None:
        def serve(connection: socket.socket) -> None:
            grant(connection, "pr")
            expect_end(connection)

        script = Script(serve)
        with PlayerClient("127.0.0.1", script.port) as robot:
            robot.request("pr")
            with self.assertRaises(TimedOut):
                next(robot.rounds(timeout=SHORT))
        script.done()


class AsyncFaces(Faces):
    make: Any = AsyncFace

    def test_cancelled_read_loses_nothing(self) -> None:
        step = threading.Event()

        def serve(connection: socket.socket) -> None:
            grant(connection, "srpr")
            connection.sendall(S + P[:9])
            step.wait(LIMIT)
            connection.sendall(P[9:])
            expect_end(connection)

        script = Script(serve)

        async def run() -> None:
            async with AsyncPlayerClient("127.0.0.1", script.port) as robot:
                await robot.request("srpr", LIMIT)
                reading = asyncio.ensure_future(robot.read())
                while not robot.has("s"):
                    await asyncio.sleep(0.001)
                reading.cancel()
                await asyncio.wait({reading})
                self.assertTrue(reading.cancelled())
                step.set()
                await robot.read(LIMIT)
                self.assertEqual(robot.new, "ps")

        asyncio.run(run())
        script.done()

    def test_the_end_is_awaited(self) -> None:
        script = Script(expect_end, expect_end)

        async def run() -> None:
            robot = AsyncPlayerClient("127.0.0.1", script.port)
            transport: Any
            async with robot:
                transport = robot._link and robot._link._transport
            self.assertEqual(transport.get_extra_info("socket").fileno(), -1)
            await robot.connect()
            transport = robot._link and robot._link._transport
            robot.close()
            await robot.wait_closed()
            self.assertEqual(transport.get_extra_info("socket").fileno(), -1)
            await robot.wait_closed()

        asyncio.run(run())
        script.done()

    def test_a_read_ends_with_the_connection(self) -> None:
        def serve(connection: socket.socket) -> None:
            grant(connection, "sr")
            expect_end(connection)

        script = Script(serve)

        async def run() -> None:
            async with AsyncPlayerClient("127.0.0.1", script.port) as robot:
                await robot.request("sr")
                reading = asyncio.ensure_future(robot.read())
                await asyncio.sleep(0)
            with self.assertRaises(ConnectionClosed):
                await asyncio.wait_for(reading, LIMIT)

        asyncio.run(run())
        script.done()

    def test_unread_data_is_bounded(self) -> None:
        def serve(connection: socket.socket) -> None:
            grant(connection, "sr")
            connection.settimeout(0.3)
            with self.assertRaises(socket.timeout):
                while True:
                    connection.sendall(1000 * S)

        script = Script(serve)

        async def run() -> None:
            async with AsyncPlayerClient("127.0.0.1", script.port) as robot:
                await robot.request("sr", LIMIT)
                await asyncio.get_running_loop().run_in_executor(None, script.done)
                for _ in range(1000):
                    await robot.read(LIMIT)

        asyncio.run(run())


if __name__ == "__main__":
    unittest.main()
