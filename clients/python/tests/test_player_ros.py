"""The node of ROS 2 against the real server, with a fake of the rclpy that it uses."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import socket
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from typing import Any
from unittest import mock

from playerclient import GotoState, PlayerClient, Rays

from . import fake_ros
from .blocks import POSITION, block, reply
from .server import LIMIT, RealServer, Script, certify, expect, expect_end, free_port

fake_ros.install()

import player_ros  # noqa: E402  after the fake
from geometry_msgs.msg import PoseStamped, Twist  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402


def until(what: str, done: Callable[[], Any]) -> None:
    limit = time.monotonic() + LIMIT
    while not done():
        if time.monotonic() > limit:
            raise AssertionError(f"waited in vain: {what}")
        time.sleep(0.01)


def twist(x: float, z: float) -> Any:
    t = Twist()
    t.linear.x, t.angular.z = x, z
    return t


def pose(x: float, y: float, frame: str = "odom", z: float = 0.0, w: float = 0.0) -> Any:
    p = PoseStamped()
    p.header.frame_id, p.pose.position.x, p.pose.position.y = frame, x, y
    p.pose.orientation.z, p.pose.orientation.w = z, w
    return p


class Pure(unittest.TestCase):
    def test_reading(self) -> None:
        for metres, reach, want in [(0.5, 0, 0.5), (8.182, 0, 8.182), (8.183, 0, math.inf), (8.191, 0, math.inf), (12.0, 0, 12.0), (12.0, 12, math.inf), (11.9, 12, 11.9)]:
            self.assertEqual(player_ros.reading(metres, reach), want)

    def test_sonar_range(self) -> None:
        self.assertTrue(math.isnan(player_ros.sonar_range(0)))
        for mm, want in [(50, -math.inf), (100, 0.1), (4999, 4.999), (5000, math.inf)]:
            self.assertEqual(player_ros.sonar_range(mm), want)

    # Readings of rangers are a scan, single beams or points, as in formats/ros.
    def test_ranger(self) -> None:
        def rays(first: int, count: int, step: float) -> Rays:
            return Rays("ranger:0", first, count, 0, 0, 0, step, None, None, 0)

        cases: list[tuple[int, list[Rays], str]] = [
            (3, [rays(0, 3, 1)], "scan"), (2, [rays(0, 3, 1)], ""), (3, [], ""), (2, [rays(0, 1, 0), rays(1, 1, 0)], "range"),
            (3, [rays(0, 2, 1), rays(2, 1, 0)], "points"), (65, [rays(i, 1, 0) for i in range(65)], "points"),
        ]  # fmt: skip
        for readings, list_, want in cases:
            self.assertEqual(player_ros.form_of(list_, readings), want)
        topics = [player_ros.topic_of("ranger/range_#", 1, 4), player_ros.topic_of("scan", 2), player_ros.topic_of("io/states", 0)]
        self.assertEqual(topics, ["ranger_1/range_4", "scan_2", "io/states"])

    def test_covariance(self) -> None:
        c = player_ros.covariance()
        self.assertEqual((len(c), c[0], c[7], c[14], c[35], sum(v != 0 for v in c)), (36, 0.01, 0.01, 1e6, 0.03, 6))

    def test_robots(self) -> None:
        self.assertEqual(player_ros.PlayerNode.parse("r1=robot:6665"), ("r1", "robot", 6665))
        for text, legal in ("robot-1=robot:6665", "robot_1=robot:6665"), ("3pi=r:1", "robot_3pi=r:1"), ("R__2_=r:1", "R_2=r:1"), ("日=r:1", "robot=r:1"):
            with self.assertRaisesRegex(ValueError, "write " + legal + "$"):
                player_ros.PlayerNode.parse(text)
        for text in ("robot", "=robot:6665", "r1=robot", "r1=robot:x"):
            with self.assertRaises(ValueError):
                player_ros.PlayerNode.parse(text)

    def test_parameters(self) -> None:
        for name, value in (("rate", 0), ("command_lifetime", math.nan), ("port", 70000)):
            fake_ros.Node.parameters = {name: value}
            with self.assertRaisesRegex(ValueError, f"the parameter {name} is"):
                player_ros.PlayerNode()

    # The address of the status may belong to another server.
    def test_foreign_status(self) -> None:
        def serve(body: bytes) -> Callable[[socket.socket], None]:
            def answer(connection: socket.socket) -> None:
                connection.recv(4096)
                connection.sendall(body)

            return answer

        head = b"HTTP/1.0 200 OK\r\n\r\n"
        bodies = [b"PLAYER\r\n", head + b"[]", head + b'{"robots": [7]}', head + b'{"robots": [{"devices": {"laser": "ready"}}]}', head + b"\xff"]
        script = Script(*map(serve, bodies))
        fake_ros.Node.parameters = {"port": 1, "status": f"http://127.0.0.1:{script.port}"}
        node = player_ros.PlayerNode()
        node.ended.set()  # the test asks, not the thread
        node.diagnosing.join(LIMIT)
        for body in bodies:
            self.assertEqual(node.ask().level, b"\x02", body)
        node.end()
        script.done()

    # An older server has no device y, and no ages.
    def test_older_server(self) -> None:
        def serve(connection: socket.socket) -> None:
            expect(connection, bytes.fromhex("7879000C 77") + b"ros sensors" + b"dr\0\4yrpr")
            connection.sendall(reply("yepr"))
            expect(connection, bytes.fromhex("78790002 7165 64720000"))
            connection.sendall(reply("") + block("p", POSITION))
            expect(connection, bytes.fromhex("78790003 66000A"))
            published.wait(LIMIT)

        published, script = threading.Event(), Script(serve)
        fake_ros.Node.parameters = {"port": script.port, "host": "127.0.0.1", "devices": "p"}
        node = player_ros.PlayerNode()
        until("a position", lambda: node.publishers["odom"].messages)
        published.set()
        script.done()
        node.end()


    # Each service sends its bytes and answers when the server has taken them. A stop has a connection of its own.
    def test_services(self) -> None:
        name, taken = "7879 000D 77" + b"ros commands".hex(), "6472 0000"

        def stop(on: str, granted: str) -> Callable[[socket.socket], None]:
            def serve(connection: socket.socket) -> None:
                expect(connection, bytes.fromhex("7879 000A 77" + b"ros stops".hex() + "7879 0002 65" + on + "6472 0002 7077"))
                connection.sendall(reply(granted))
                if granted != "pw":
                    expect(connection, bytes.fromhex("7879 0002 7165" + taken))
                    connection.sendall(block("Y", b"e\np right only to read") + reply(""))
                expect_end(connection)

            return serve

        def commands(connection: socket.socket) -> None:
            expect(connection, bytes.fromhex(name + "7879 0002 7164" + taken))
            connection.sendall(block("Y", b"d\n112 position 0 p\n131 servo 1 arm\n132 io 0 board") + reply(""))
            for pairs, actions in (
                (b"pw", ["7870 0002 6D01", "7870 0002 6D00", "7870 0001 52"]),
                (b"\x83w", ["7883 0002 6D01", "7883 0001 52", "6383 0009 FF 80000000 00000000"]),
                (b"\x84w", ["7884 0001 52"]),
            ):
                expect(connection, bytes.fromhex("6472 0002") + pairs)
                connection.sendall(reply(pairs.decode("latin-1")))
                for action in actions:
                    expect(connection, bytes.fromhex(action + taken))
                    connection.sendall(reply(""))
            expect(connection, bytes.fromhex("7879 0002 7164" + taken))
            connection.sendall(block("Y", b"d\n112 position 0 p") + reply(""))
            expect_end(connection)

        script = Script(stop("01", "pw"), stop("00", "pw"), stop("01", "pe"), commands)
        fake_ros.Node.parameters = {"port": script.port, "host": "127.0.0.1"}
        with mock.patch.object(player_ros.Robot, "read", lambda robot: robot.ended.wait()):
            node = player_ros.PlayerNode()
        node.robots[0].serve("servo", 1)
        node.robots[0].serve("io", 0)
        node.robots[0].serve("io", 7)
        self.assertEqual([node.call("emergency_stop"), node.call("release")], [(True, "")] * 2)
        ok, why = node.call("emergency_stop")
        self.assertTrue(not ok and "only to read" in why, why)
        calls: list[tuple[str, bool | None]] = [("motors", True), ("motors", False), ("reset_odometry", None), ("servo_1/power", True)]
        for service, on in [*calls, ("servo_1/home", None), ("servo_1/stop", None), ("io/reset", None)]:
            self.assertEqual(node.call(service, on), (True, ""), service)
        ok, why = node.call("io_7/reset")
        self.assertTrue(not ok and "io:7" in why, why)
        self.assertIn("io:7", node.warnings[-1])
        node.end()
        script.done()
        ok, why = node.call("emergency_stop")
        self.assertTrue(not ok and why, why)

    # Without a connection a service answers with the reason.
    def test_unreachable(self) -> None:
        fake_ros.Node.parameters = {"port": 1, "host": "127.0.0.1"}
        node = player_ros.PlayerNode()
        for service, on in ("motors", True), ("emergency_stop", None):
            ok, why = node.call(service, on)
            self.assertTrue(not ok and "127.0.0.1" in why, why)
        node.end()

    # A goal that waits for its device to start is not given after a cmd_vel or a newer goal.
    def test_goal_that_waits(self) -> None:
        fake_ros.Node.parameters = {"port": 1, "host": "127.0.0.1"}
        with contextlib.ExitStack() as idle:
            for work in "read", "drive", "order":
                idle.enter_context(mock.patch.object(player_ros.Robot, work, lambda robot: robot.ended.wait()))
            node = player_ros.PlayerNode()
        robot = node.robots[0]
        goto = player_ros.Source("goto:0", "goto", 0, [], {}, (0.0, 0.0, 0.0))
        end = [mock.call.set_command_lifetime(60), mock.call.stop_goal("goto:0"), mock.call.set_command_lifetime(0)]
        cases: list[tuple[list[float], list[Any]]] = [
            ([], [mock.call.change_motor_state(True), mock.call.set_goal("goto:0", 1000, 0, 90, tag=mock.ANY)]),
            ([0.2], []), ([0.2, 0.0], []), ([0.0], end),
        ]  # fmt: skip
        for speeds, want in cases:
            robot.set_goal(goto, pose(-1.0, 0.0))
            robot.set_goal(goto, pose(1.0, 0.0, z=1e200, w=1e200))
            for speed in speeds:
                node.callbacks["cmd_vel"](twist(speed, 0.0))
            sent = mock.Mock()
            while not robot.orders.empty():
                order = robot.orders.get()
                assert order is not None
                order.run(sent)
            self.assertEqual(sent.mock_calls, want, speeds)
        node.end()


class Real(unittest.TestCase):
    server: RealServer

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = RealServer()

    @classmethod
    def tearDownClass(cls) -> None:
        cls.server.close()

    def node(self, **parameters: Any) -> player_ros.PlayerNode:
        fake_ros.Node.parameters = parameters
        node = player_ros.PlayerNode()
        self.addCleanup(node.end)
        return node

    def last(self, node: player_ros.PlayerNode, topic: str) -> Any:
        published: dict[str, fake_ros.Publisher] = node.publishers
        until(f"a message on {topic}", lambda: topic in published and published[topic].messages)
        return published[topic].messages[-1]

    def test_sensors(self) -> None:
        node = self.node(port=self.server.port)
        scan = self.last(node, "scan")
        self.assertEqual((scan.header.frame_id, len(scan.ranges)), ("laser", 361))
        self.assertAlmostEqual(scan.angle_min + 360 * scan.angle_increment, scan.angle_max)
        self.assertTrue(all(0 < r <= scan.range_max or r == math.inf for r in scan.ranges))
        self.assertLess(abs(time.time() - scan.header.stamp.sec), LIMIT)
        odom = self.last(node, "odom")
        self.assertEqual((odom.header.frame_id, odom.child_frame_id, odom.pose.covariance[35]), ("odom", "base_link", 0.03))
        self.assertGreater(self.last(node, "battery_state").voltage, 5)
        self.assertEqual(self.last(node, "sonar/range_15").header.frame_id, "sonar_15")
        static = node.publishers["/tf_static"]
        self.assertEqual(static.qos.durability, "transient local")
        self.assertEqual([t.child_frame_id for t in self.last(node, "/tf_static").transforms], ["laser", *(f"sonar_{i}" for i in range(16))])
        tf = self.last(node, "/tf").transforms[0]
        self.assertEqual((tf.header.frame_id, tf.child_frame_id), ("odom", "base_link"))
        until("diagnostics", lambda: self.last(node, "/diagnostics").status[0].message == "connected")
        ages = {v.key: v.value for v in self.last(node, "/diagnostics").status[0].values}
        self.assertEqual(list(ages), [f"age of {d}, ms" for d in "pslm"])
        self.assertTrue(all(0 <= int(age) < LIMIT * 1000 for age in ages.values()), ages)

    # Rangers, IMUs, GPS receivers, inputs, outputs and joints, and commands to them.
    def test_names(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/robot.cfg", "w") as f:
                f.write('driver ( name "testpattern" provides ["ranger:0" "imu:0" "gps:0" "io:0" "servo:0"] pose [0.1 -0.2 90] )')
            server = RealServer(f"{folder}/robot.cfg")
            self.addCleanup(server.close)
            names = ["ranger", "imu", "gps", "io", "servo", "laser:7"]
            node = self.node(port=server.port, devices="", names=names)
            scan = self.last(node, "ranger/scan")
            self.assertEqual((scan.header.frame_id, scan.ranges[0], scan.angle_min), ("ranger", 2.0, -scan.angle_max))
            self.assertAlmostEqual(self.last(node, "imu").linear_acceleration.z, 9.8, 1)
            self.assertAlmostEqual(self.last(node, "fix").latitude, 34.0205, 4)
            frames = {t.child_frame_id: t.transform for t in self.last(node, "/tf_static").transforms}
            self.assertTrue({"ranger", "imu", "gps"} <= set(frames), frames)
            at = frames["imu"].translation
            self.assertEqual((at.x, at.y, round(frames["gps"].rotation.z, 4)), (0.1, -0.2, 0.7071))
            self.assertTrue(any("laser:7" in w for w in node.warnings), node.warnings)

            def lamp() -> float:
                value = self.last(node, "io/states").interface_values[0]
                return float(dict(zip(value.interface_names, value.values))["Lamp"])

            self.assertEqual(lamp(), 0)
            value = player_ros.value_type()(interface_names=["Lamp", "none"], values=[1.0, 1.0])
            node.callbacks["io/commands"](player_ros.group_type()(interface_values=[value]))
            until("the lamp", lambda: lamp() == 1)
            self.assertIn("'none'", node.warnings[-1])
            node.callbacks["joint_commands"](JointState(name=["Elbow", "Knee"], position=[math.pi / 2, 1.0]))
            until("the elbow", lambda: abs(self.last(node, "joint_states").position[1] - math.pi / 2) < 1e-9)
            self.assertEqual(self.last(node, "joint_states").name, ["Shoulder", "Elbow"])
            self.assertEqual([node.call("io/reset"), node.call("servo/stop")], [(True, "")] * 2)

    # A goal in the frame of the odometry is driven to, and a cmd_vel of zeros ends it.
    def test_goal(self) -> None:
        server = RealServer("-stage", "room", "-goto")
        self.addCleanup(server.close)
        node = self.node(port=server.port, names=["goto"])

        def status() -> tuple[bytes, str]:
            m = self.last(node, "goal_status")
            return m.level, m.message

        self.assertEqual(status(), (b"\x00", "idle"))
        for frame, x, why in ("map", 1.0, "'map': transform it to odom"), ("odom", math.inf, "not finite"):
            node.callbacks["goal_pose"](pose(x, 0.0, frame))
            self.assertIn(why, node.warnings[-1])
        node.callbacks["goal_pose"](pose(0.5, -0.25, z=math.sqrt(0.5), w=math.sqrt(0.5)))
        until("the robot arrives", lambda: status() == (b"\x00", "arrived"))
        values = {v.key: v.value for v in self.last(node, "goal_status").values}
        self.assertEqual((values["x"], values["y"]), ("0.500", "-0.250"))
        self.assertLess(float(values["distance"]), 0.2)
        q = self.last(node, "odom").pose.pose.orientation
        self.assertAlmostEqual(math.degrees(2 * math.atan2(q.z, q.w)), 90, delta=10)
        node.callbacks["goal_pose"](pose(-1.5, 0.0, ""))
        until("the robot drives on", lambda: status() == (b"\x00", "driving"))
        node.callbacks["cmd_vel"](twist(0.0, 0.0))
        until("the goal ends", lambda: status() == (b"\x02", "stopped: command"))
        node.callbacks["goal_pose"](pose(1e6, 0.0))
        until("a goal that is too far is refused", lambda: status() == (b"\x02", "stopped: refused"))
        self.assertEqual([v.key for v in self.last(node, "goal_status").values], ["x", "y"])  # its distance is not known
        self.assertLess(node.robots[0].state[0], 2, node.robots[0].state)  # it reads on
        # Zeros from the node end its own goal alone.
        with PlayerClient("127.0.0.1", server.port) as other:
            other.open("goto", "a")
            other.set_goal("goto", -1500, 0, tag=7)
            node.callbacks["cmd_vel"](twist(0.0, 0.0))
            until("the node has forgotten its goal", lambda: not node.robots[0].goals)
            self.assertEqual(node.call("motors", True), (True, ""))  # is carried out after the end of the goal
            other.request("")
            other.read()
            goal = other.goto.data
            self.assertEqual((goal.tag, goal.state), (7, GotoState.DRIVING))

    # Further devices of the old kinds have the topics and frames of their index, and the first ones are read once.
    def test_further(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/robot.cfg", "w") as f:
                f.write('driver ( name "testpattern" provides ["position:0" "laser:0"] )\n')
                f.write('driver ( name "testpattern" provides ["laser:1" "sonar:1" "misc:1"] )\n')
                f.write('driver ( name "testpattern" provides ["laser:2"] pose [-0.25 0.1 180] )\n')
            server = RealServer(f"{folder}/robot.cfg")
            self.addCleanup(server.close)
            node = self.node(port=server.port, devices="pl", names=["laser:0", "laser:1", "laser:2", "sonar:1", "misc:1"])
            scan, again = self.last(node, "scan"), self.last(node, "scan_1")
            self.assertEqual((scan.header.frame_id, again.header.frame_id, again.ranges), ("laser", "laser1", scan.ranges))
            self.assertEqual(self.last(node, "sonar_1/range_15").header.frame_id, "sonar1_15")
            self.assertGreater(self.last(node, "battery_state_1").voltage, 5)
            transforms = self.last(node, "/tf_static").transforms
            frames = {t.child_frame_id: t.transform for t in transforms}
            self.assertEqual(len(frames), len(transforms))  # each once
            at = [(i.translation.x, i.translation.y, i.rotation.z) for i in (frames["laser1"], frames["laser2"])]
            self.assertEqual(at, [(0.08, 0.0, 0.0), (-0.25, 0.1, 1.0)])
            self.assertEqual(frames["sonar1_15"].translation.x, -0.157)
            stamps = [(m.header.stamp.sec, m.header.stamp.nanosec) for m in node.publishers["scan"].messages]
            self.assertEqual(sorted(set(stamps)), stamps)

    # The power of the motors, the odometry and the emergency stop, in the simulation.
    def test_real_services(self) -> None:
        node = self.node(port=self.server.port)

        def odom() -> Any:
            return self.last(node, "odom")

        def drives() -> bool:
            node.callbacks["cmd_vel"](twist(0.2, 0.0))
            return bool(odom().twist.twist.linear.x == 0.2)

        until("the robot drives", drives)
        self.assertEqual(node.call("emergency_stop"), (True, ""))
        until("the robot stops", lambda: not drives())
        self.assertEqual(node.call("release"), (True, ""))
        until("the robot drives again", drives)
        self.assertEqual(node.call("motors", False), (True, ""))
        until("the robot stops without power", lambda: not drives())
        self.assertEqual(node.call("motors", True), (True, ""))
        until("the robot drives with power", drives)
        until("the robot stops without commands", lambda: odom().twist.twist.linear.x == 0)
        self.assertNotEqual(odom().pose.pose.position.x, 0)
        self.assertEqual(node.call("reset_odometry"), (True, ""))
        until("the odometry is 0", lambda: odom().pose.pose.position.x == 0)

    # A command that is not repeated ends, and the robot moves as commanded until then.
    def test_drive(self) -> None:
        node = self.node(port=self.server.port, command_lifetime=0.3)
        self.last(node, "odom")
        limit = time.monotonic() + LIMIT
        while self.last(node, "odom").twist.twist.linear.x != 0.2:
            self.assertLess(time.monotonic(), limit)
            node.callbacks["cmd_vel"](twist(0.2, 0.0))
            time.sleep(0.05)
        until("a stop without commands", lambda: self.last(node, "odom").twist.twist.linear.x == 0)
        node.callbacks["cmd_vel"](twist(math.nan, 0.0))
        self.assertIn("not finite", node.warnings[-1])

    # At its end a node stops its own robot, and no other client's.
    def test_end(self) -> None:
        node = self.node(port=self.server.port, command_lifetime=60.0)
        with PlayerClient("localhost", self.server.port) as other:
            other.request("pa")

            def moves(speed: int) -> bool:
                other.read(LIMIT)
                return other.position.speed == speed

            node.callbacks["cmd_vel"](twist(0.1, 0.0))
            until("the node drives", lambda: moves(100))
            other.set_speed(0, 20)
            until("the other drives", lambda: moves(0) and other.position.turnrate == 20)
            node.end()
            other.request("")
            other.read(LIMIT)
            self.assertEqual(other.position.turnrate, 20)

    def test_several(self) -> None:
        node = self.node(robots=[f"a=localhost:{self.server.port}", f"b=localhost:{self.server.port}"], devices="p")
        for name in "ab":
            self.assertEqual(self.last(node, f"{name}/odom").header.frame_id, f"{name}/odom")
        self.assertIn("b/cmd_vel", node.callbacks)

    # A server that goes and comes back is read again; a fault is said once.
    def test_reconnect(self) -> None:
        node = self.node(port=1)
        until("a warning", lambda: node.warnings)
        until("diagnostics", lambda: self.last(node, "/diagnostics").status[0].level == b"\x02")
        self.assertEqual(len(node.warnings), 1)

    # With TLS, the connection and the questions for the status are encrypted, and the robot's
    # server knows the node by its certificate.
    def test_tls(self) -> None:
        if not shutil.which("openssl") and "CI" not in os.environ:
            raise unittest.SkipTest("no openssl")
        with tempfile.TemporaryDirectory() as folder:
            certify(folder)
            port, page = free_port(), free_port()
            server = RealServer(
                "-stage", "simulation/worlds/room.world", "-tls", f"127.0.0.1:{port}", "-tls-cert", f"{folder}/robot.pem", "-tls-key", f"{folder}/robot.key",
                "-tls-clients", f"{folder}/authority.pem", http=f"127.0.0.1:{page}",
            )  # fmt: skip
            self.addCleanup(server.close)
            node = self.node(
                port=port, status=f"https://localhost:{page}",
                tls_ca=f"{folder}/authority.pem", tls_cert=f"{folder}/ada.pem", tls_key=f"{folder}/ada.key",
            )  # fmt: skip
            self.last(node, "scan")

            def states() -> dict[str, str]:
                status = self.last(node, "/diagnostics").status[-1]
                return {v.key: v.value for v in status.values} if status.name == "player server" else {}

            until("the states of the devices", lambda: states().get(f"{server.port} laser") == "ready")


if __name__ == "__main__":
    unittest.main()
