"""The examples: their steering, and tests of Python alone against the real server."""

from __future__ import annotations

import ast
import asyncio
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

from examples import laser_wall, sonar_avoidance
from playerclient import AsyncPlayerClient, ConnectionClosed, PlayerClient, Position, TimedOut

from .server import LIMIT, REPOSITORY, RealServer, certify, free_port
from .test_checks import programs_of

FOLDER = Path(__file__).parents[1]


class Steering(unittest.TestCase):
    def test_sonar_avoidance(self) -> None:
        far = [5000] * 16
        self.assertEqual(sonar_avoidance.steer(far), (300, 0))
        wall_left = [5000, 450, 600, *far[3:]]
        self.assertEqual(sonar_avoidance.steer(wall_left), (200, -100))
        self.assertEqual(sonar_avoidance.steer([150] * 16), (-100, 0))
        self.assertEqual(sonar_avoidance.steer([0] * 16), (0, 0))

    def test_laser_wall(self) -> None:
        def scan(right: int, ahead: int, nearest: int) -> list[int]:
            ranges = 120 * [right + 100] + 121 * [ahead] + 120 * [5000]
            ranges[nearest] = right
            return ranges

        self.assertEqual(laser_wall.steer(scan(600, 5000, 0)), (250, 0))
        self.assertEqual(laser_wall.steer(scan(700, 5000, 0)), (250, -5))
        self.assertEqual(laser_wall.steer(scan(600, 5000, 20)), (250, 8))
        self.assertEqual(laser_wall.steer(scan(600, 500, 0)), (0, 40))
        self.assertEqual(laser_wall.steer(scan(4000, 5000, 0)), (125, -20))


class FirstPrograms(unittest.TestCase):
    """The programs of the pages drive until they end."""

    def test_drive(self) -> None:
        server = RealServer()
        self.addCleanup(server.close)
        for page in (REPOSITORY, FOLDER):
            program = programs_of(page / "README.md")[0]
            self.assertIn("set_command_lifetime", program)
            running = subprocess.Popen(
                [sys.executable, "-c", program.replace("6665", str(server.port))], env={**os.environ, "PYTHONPATH": str(FOLDER)}
            )
            with PlayerClient("localhost", server.port) as robot:
                robot.request(position="r")
                try:
                    self.wait_for(robot, lambda now: now.speed > 0)
                finally:
                    running.kill()
                    running.wait(LIMIT)
                self.wait_for(robot, lambda now: now.speed == 0)

    def wait_for(self, robot: PlayerClient, done: Callable[[Position], bool]) -> None:
        for _ in range(300):
            robot.read()
            if done(robot.position):
                return
        self.fail(f"waited in vain: {robot.position}")


class Trials(unittest.TestCase):
    def test_again(self) -> None:
        page = free_port()
        server = RealServer("-stage", "examples/tune/tune.world", http=f"127.0.0.1:{page}")
        self.addCleanup(server.close)
        command = [sys.executable, "-m", "examples.trials", "-n", "3"]
        command += ["-robot", f"127.0.0.1:{server.port}", "-world", f"127.0.0.1:{page}"]
        first, again = (
            subprocess.run(command, cwd=FOLDER, check=True, capture_output=True, text=True, timeout=LIMIT).stdout
            for _ in range(2)
        )
        self.assertRegex(first, r"(trial \d: \d+\.\d\d m\n){3}mean \d\.\d\d m, worst")
        self.assertEqual(first, again)


class Python39(unittest.TestCase):
    def test_syntax(self) -> None:
        files = [*FOLDER.glob("*.py"), *FOLDER.glob("*/*.py")]
        self.assertGreater(len(files), 15)
        for file in files:
            ast.parse(file.read_text(), str(file), feature_version=(3, 9))


class TLS(unittest.TestCase):
    """The example of the README, against the real server."""

    def test_readme(self) -> None:
        if not shutil.which("openssl") and "CI" not in os.environ:
            raise unittest.SkipTest("no openssl")
        with tempfile.TemporaryDirectory() as folder:
            certify(folder)
            port = free_port()
            server = RealServer(
                "-stage", "simulation/worlds/room.world", "-tls", f"127.0.0.1:{port}", "-tls-cert", f"{folder}/robot.pem",
                "-tls-key", f"{folder}/robot.key", "-tls-clients", f"{folder}/authority.pem",
            )  # fmt: skip
            self.addCleanup(server.close)
            example = programs_of(FOLDER / "README.md")[1]
            self.assertIn("load_cert_chain", example)
            example = example.replace("7665", str(port)) + '    print("sonar", robot.sonar[3])\n'
            command = [sys.executable, "-c", example]
            environment = {**os.environ, "PYTHONPATH": str(FOLDER)}
            seen = subprocess.run(
                command, cwd=folder, env=environment, check=True, capture_output=True, text=True, timeout=LIMIT
            ).stdout
            self.assertRegex(seen, r"^sonar [1-9]\d+$")

            context = ssl.create_default_context(cafile=f"{folder}/authority.pem")
            with PlayerClient("localhost", port, context) as stranger, self.assertRaises(ConnectionClosed):
                stranger.request("sr", LIMIT)
            with self.assertRaises(ConnectionClosed):  # a server that is not trusted
                PlayerClient("localhost", port, ssl.create_default_context()).connect()
            context.load_cert_chain(f"{folder}/ada.pem", f"{folder}/ada.key")
            context.verify_flags |= ssl.VERIFY_X509_STRICT  # as Python has it from 3.13 on
            with PlayerClient("localhost", port, context) as robot:
                robot.request("sr", LIMIT)
                robot.read(LIMIT)
                with self.assertRaises(TimedOut):
                    for _ in range(100):
                        robot.read(0)
                robot.read(LIMIT)
            asyncio.run(self.asynchronous(port, context))

    async def asynchronous(self, port: int, context: ssl.SSLContext) -> None:
        async with AsyncPlayerClient("localhost", port, context) as robot:
            await robot.request("srpa", LIMIT)
            for _ in range(3):
                await robot.read(LIMIT)
                robot.set_speed(0, 10)
            self.assertGreater(robot.sonar[3], 0)


if __name__ == "__main__":
    unittest.main()
