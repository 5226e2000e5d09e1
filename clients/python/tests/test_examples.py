"""The examples: their steering, and all of them against the real server."""

from __future__ import annotations

import ast
import subprocess
import sys
import unittest
from pathlib import Path
from typing import List

from examples import laser_wall, sonar_avoidance
from playerclient import PlayerClient

from .server import LIMIT, RealServer

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
        def scan(right: int, ahead: int, nearest: int) -> List[int]:
            ranges = 120 * [right + 100] + 121 * [ahead] + 120 * [5000]
            ranges[nearest] = right
            return ranges

        self.assertEqual(laser_wall.steer(scan(600, 5000, 0)), (250, 0))
        self.assertEqual(laser_wall.steer(scan(700, 5000, 0)), (250, -5))
        self.assertEqual(laser_wall.steer(scan(600, 5000, 20)), (250, 8))
        self.assertEqual(laser_wall.steer(scan(600, 500, 0)), (0, 40))
        self.assertEqual(laser_wall.steer(scan(4000, 5000, 0)), (125, -20))


class Python39(unittest.TestCase):
    def test_syntax(self) -> None:
        files = [*FOLDER.glob("*.py"), *FOLDER.glob("*/*.py")]
        self.assertGreater(len(files), 15)
        for file in files:
            ast.parse(file.read_text(), str(file), feature_version=(3, 9))


class Real(unittest.TestCase):
    server: RealServer

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = RealServer()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.close()

    def run_example(self, name: str, rounds: int) -> str:
        command = [sys.executable, "-m", "examples." + name, f"localhost:{self.server.port}", "-n", str(rounds)]
        return subprocess.run(command, cwd=FOLDER, check=True, capture_output=True, text=True, timeout=LIMIT).stdout

    def test_hello(self) -> None:
        self.assertIn("sonar (mm)", self.run_example("hello", 10))

    def test_watch(self) -> None:
        seen = self.run_example("watch", 10)
        for text in ("Position(", "sonar [", "laser ", "Misc(", "Gripper(", "PTZ(", "vision: "):
            self.assertIn(text, seen)

    def test_driving(self) -> None:
        for name in ("sonar_avoidance", "laser_wall"):
            with PlayerClient("localhost", self.server.port) as robot:
                robot.request("pr", LIMIT)
                robot.read(LIMIT)
                start = robot.position
                self.run_example(name, 10)
                for _ in range(100):  # the first rounds waited in the socket
                    robot.read(LIMIT)
                    if robot.position[1:4] != start[1:4]:
                        break
                self.assertNotEqual(robot.position[1:4], start[1:4], name)

    def test_freshness(self) -> None:
        with PlayerClient("localhost", self.server.port) as robot:
            robot.request("yrsrpa", LIMIT)
            robot.change_motor_state(True)
            robot.set_frequency(100)
            robot.set_fresh(True)
            for _ in range(5):
                robot.read(LIMIT)
                self.assertEqual(robot.new, "psy")
                age = robot.age_us("s")
                self.assertTrue(age is not None and 0 <= age < 1_000_000, age)


if __name__ == "__main__":
    unittest.main()
