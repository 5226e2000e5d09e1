"""A node of ROS 2 for robots of a Player server, in one file: rclpy and playerclient.

    python3 player_ros.py --ros-args -p host:=robot.local
    python3 player_ros.py --ros-args -p robots:="['r1=robot1:6665', 'r2=robot2:6665']"

It publishes scan, sonar/0 to sonar/15, odom, tf, tf_static, battery_state and diagnostics, and
drives by cmd_vel. Commands have a lifetime: the robot stops unless they are repeated, also when
this node hangs. docs/ROS.md describes topics and parameters.
"""

from __future__ import annotations

import json
import math
import queue
import re
import ssl
import threading
import time
import urllib.request
from typing import Any, Dict, List, Optional, Tuple

import rclpy
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import TransformStamped, Twist
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import BatteryState, LaserScan, Range
from tf2_msgs.msg import TFMessage

from playerclient import AccessRefused, PlayerClient

READ_LIMIT = 5.0
"""Seconds without a round of data after which the connection is made anew."""
RETRY_PERIOD = 2.0
"""Seconds between attempts to connect."""
DIAGNOSTICS_PERIOD = 1.0
"""Seconds."""
STATUS_LIMIT = 1.0
"""Seconds that the server may take to answer for its status."""

NO_ECHO, LASER_MAX = 8.183, 8.191
"""Metres: what an LMS 200 and the simulator read when they see nothing (docs/DEVICES.md)."""
FARTHEST = 65.535
"""Metres: the largest reading of the protocol."""
SONAR_MIN, SONAR_MAX = 0.1, 5.0
"""Metres: a Pioneer's sonar measures nothing nearer, and has no echo from further away."""
VARIANCE, TURN_VARIANCE, UNKNOWN = 1e-2, 3e-2, 1e6
"""m2, rad2: orders of magnitude for two wheels on a floor; planners refuse zero."""

RING = [
    (0.069, 0.136, 90), (0.114, 0.119, 50), (0.148, 0.078, 30), (0.166, 0.027, 10),
    (0.166, -0.027, -10), (0.148, -0.078, -30), (0.114, -0.119, -50), (0.069, -0.136, -90),
    (-0.157, -0.136, -90), (-0.203, -0.119, -130), (-0.237, -0.078, -150), (-0.255, -0.027, -170),
    (-0.255, 0.027, 170), (-0.237, 0.078, 150), (-0.203, 0.119, 130), (-0.157, 0.136, 90),
]  # fmt: skip
"""The sonars of a Pioneer 2, by their numbers: metres forward and left, degrees."""


def stamp(nanoseconds: int) -> Time:
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def covariance() -> List[float]:
    matrix = [0.0] * 36
    matrix[::7] = [VARIANCE, VARIANCE, UNKNOWN, UNKNOWN, UNKNOWN, TURN_VARIANCE]
    return matrix


def transform(at: Time, parent: str, child: str, x: float, y: float, degrees: float) -> TransformStamped:
    t = TransformStamped()
    t.header.stamp, t.header.frame_id, t.child_frame_id = at, parent, child
    t.transform.translation.x, t.transform.translation.y = x, y
    t.transform.rotation.z, t.transform.rotation.w = math.sin(math.radians(degrees) / 2), math.cos(math.radians(degrees) / 2)
    return t


def reading(metres: float, reach: float) -> float:
    """Returns a reading of a laser; infinite if it means that nothing was seen. reach is the
    reading from which on that is so, 0: as of an LMS 200."""
    nothing = metres >= reach if reach else NO_ECHO <= metres <= LASER_MAX
    return math.inf if nothing else metres


def sonar_range(mm: int) -> float:
    """Returns a reading in metres (REP 117): NaN has not fired yet, -inf is too near."""
    metres = mm / 1000
    return math.nan if mm == 0 else -math.inf if metres < SONAR_MIN else math.inf if metres >= SONAR_MAX else metres


class Robot:
    """One robot: a thread that reads and publishes, and one that drives."""

    def __init__(self, node: "PlayerNode", name: str, host: str, port: int) -> None:
        self.node, self.host, self.port = node, host, port
        self.name = name or f"{host}:{port}"
        self.space = name + "/" if name else ""  # of topics and frames
        self.state: Tuple[int, str] = (2, "not connected yet")  # of diagnostics: level, text
        self.ages: Dict[str, Optional[int]] = {}
        self.speeds: "queue.Queue[Tuple[int, int, float]]" = queue.Queue(1)  # mm/s, deg/s, when it came
        self.ended = threading.Event()
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        publish = lambda kind, topic, qos=10: node.create_publisher(kind, self.space + topic, qos)
        self.scan = publish(LaserScan, "scan")
        self.sonars = [publish(Range, f"sonar/{i}") for i in range(len(RING))]
        self.odom = publish(Odometry, "odom")
        self.battery = publish(BatteryState, "battery_state")
        self.tf = node.create_publisher(TFMessage, "/tf", 10)
        self.static = node.create_publisher(TFMessage, "/tf_static", latched)
        node.create_subscription(Twist, self.space + "cmd_vel", self.command, 10)
        self.threads = [threading.Thread(target=self.forever, args=(work,), daemon=True) for work in (self.read, self.drive)]
        for t in self.threads:
            t.start()

    def end(self) -> None:
        self.ended.set()
        self.command(None)
        for t in self.threads:
            t.join(READ_LIMIT)

    def forever(self, work: Any) -> None:
        """Works, and connects again when the connection is lost, until end."""
        said = ""
        while not self.ended.is_set():
            try:
                work()
            except Exception as e:  # of any kind: without its thread the robot would be silent for ever
                self.state = (2, str(e))
                if str(e) != said:  # each reason once
                    said = str(e)
                    self.node.get_logger().warning(f"{self.name}: {e}")
                self.ended.wait(RETRY_PERIOD)

    def client(self, does: str) -> PlayerClient:
        robot = PlayerClient(self.host, self.port, self.node.tls)
        robot.connect()
        robot.set_name(f"ros {does}")
        return robot

    def read(self) -> None:
        """Publishes what the robot senses."""
        devices = self.node.value("devices")
        with self.client("sensors") as robot:
            try:
                robot.request("yr" + "".join(d + "r" for d in devices))
            except AccessRefused as e:
                self.node.get_logger().warning(f"{self.name}: {e}")
            robot.set_frequency(self.node.value("rate"))
            if robot.access("y") == "r":  # an older server has no ages
                robot.set_fresh(True)
            self.place(robot)
            self.state = (0, "connected")
            while not self.ended.is_set():
                robot.read(READ_LIMIT)
                self.ages = {d: robot.age_us(d) for d in devices}
                if robot.has("p"):
                    self.state = (1, "the wheels are stalled") if robot.position.stall else (0, "connected")
                now = self.node.get_clock().now().nanoseconds
                for device in robot.new:
                    send = {"p": self.position, "l": self.laser, "s": self.sonar, "m": self.misc}.get(device)
                    if send and robot.has(device):
                        send(robot, stamp(now - (robot.age_us(device) or 0) * 1000))

    def place(self, robot: PlayerClient) -> None:
        """Publishes the frames that do not move."""
        now = stamp(self.node.get_clock().now().nanoseconds)
        base = self.frame("base")
        frames = [transform(now, base, self.frame("laser"), *self.node.value("laser_pose"))]
        frames += [transform(now, base, f"{self.space}sonar_{i}", *place) for i, place in enumerate(RING)]
        self.static.publish(TFMessage(transforms=frames))

    def frame(self, which: str) -> str:
        return self.space + self.node.value(which + "_frame")

    def position(self, robot: PlayerClient, at: Time) -> None:
        p = robot.position
        t = transform(at, self.frame("odom"), self.frame("base"), p.x / 1000, p.y / 1000, p.heading)
        m = Odometry()
        m.header, m.child_frame_id = t.header, t.child_frame_id
        m.pose.pose.position.x, m.pose.pose.position.y = p.x / 1000, p.y / 1000
        m.pose.pose.orientation = t.transform.rotation
        m.twist.twist.linear.x, m.twist.twist.angular.z = p.speed / 1000, math.radians(p.turnrate)
        m.pose.covariance = m.twist.covariance = covariance()
        self.odom.publish(m)
        if self.node.value("publish_tf"):
            self.tf.publish(TFMessage(transforms=[t]))

    def laser(self, robot: PlayerClient, at: Time) -> None:
        m, reach = LaserScan(), self.node.value("reach")
        m.header.stamp, m.header.frame_id = at, self.frame("laser")
        m.angle_min, m.angle_max, m.angle_increment = -math.pi / 2, math.pi / 2, math.pi / 360
        m.ranges = [reading(mm / 1000, reach) for mm in robot.laser]
        m.range_min = 0.02
        m.range_max = reach or (FARTHEST if max(robot.laser) / 1000 > LASER_MAX else NO_ECHO)
        self.scan.publish(m)

    def sonar(self, robot: PlayerClient, at: Time) -> None:
        for i, mm in enumerate(robot.sonar):
            m = Range()
            m.header.stamp, m.header.frame_id = at, f"{self.space}sonar_{i}"
            m.field_of_view, m.min_range, m.max_range = math.radians(15), SONAR_MIN, SONAR_MAX
            m.range = sonar_range(mm)
            self.sonars[i].publish(m)

    def misc(self, robot: PlayerClient, at: Time) -> None:
        m = BatteryState()
        m.header.stamp, m.present, m.voltage = at, True, robot.misc.battery / 10
        m.temperature = m.current = m.charge = m.capacity = m.design_capacity = m.percentage = math.nan
        self.battery.publish(m)

    def command(self, twist: Optional[Twist]) -> None:
        """Hands the newest command to the thread that drives. None: it ends."""
        speed = turn = 0
        if twist is not None:
            if not (math.isfinite(twist.linear.x) and math.isfinite(twist.angular.z)):
                self.node.get_logger().warning(f"{self.name}: cmd_vel is not finite")
                return
            limit = lambda v: max(-32767, min(32767, round(v)))
            speed, turn = limit(twist.linear.x * 1000), limit(math.degrees(twist.angular.z))
        try:
            self.speeds.get_nowait()  # an older one
        except queue.Empty:
            pass
        self.speeds.put_nowait((speed, turn, time.monotonic()))

    def drive(self) -> None:
        """Connects at the first command, and drives until end. At the end of the connection
        the server stops what this node drives, and no other client's robot."""
        speed, turn, came = self.speeds.get()
        if self.ended.is_set():
            return
        lifetime = self.node.value("command_lifetime")
        with self.client("drives") as robot:
            robot.set_command_lifetime(lifetime)
            robot.request("pw")
            robot.change_motor_state(True)
            while not self.ended.is_set():
                if time.monotonic() - came < lifetime:  # else it waited for the wheels to start
                    robot.set_speed(speed, turn)
                speed, turn, came = self.speeds.get()
            robot.set_speed(0, 0)

    def diagnose(self) -> DiagnosticStatus:
        level, text = self.state
        s = DiagnosticStatus(name=f"player {self.name}", hardware_id=f"{self.host}:{self.port}", message=text)
        s.level = bytes([level])
        s.values = [KeyValue(key=f"age of {d}, ms", value="no data" if age is None else str(age // 1000)) for d, age in self.ages.items()]
        return s


def ros_name(name: str) -> str:
    """Returns what the server calls a robot in topics (docs/ROS.md): ROS has ASCII letters, digits
    and single underscores, and hides names that begin with an underscore."""
    legal = "_".join(re.findall("[A-Za-z0-9]+", name))
    return legal if legal[:1].isalpha() else "_".join(filter(None, ("robot", legal)))


class PlayerNode(Node):
    """The node: parameters, robots, diagnostics."""

    DEFAULTS: Dict[str, Any] = {
        "host": "localhost", "port": 6665,  # of one robot
        "robots": [""],  # of several: NAME=HOST:PORT
        "devices": "pslm", "rate": 10,  # Hz
        "command_lifetime": 0.5,  # seconds
        "reach": 0.0,  # metres from which on the laser sees nothing; 0: as of an LMS 200
        "laser_pose": [0.08, 0.0, 0.0],  # metres, metres, degrees
        "odom_frame": "odom", "base_frame": "base_link", "laser_frame": "laser", "publish_tf": True,
        "tls_ca": "", "tls_cert": "", "tls_key": "",  # files; tls_ca turns TLS on
        "status": "",  # address of the dashboard, as http://robot:8080: diagnostics have its /status
    }  # fmt: skip

    def __init__(self) -> None:
        super().__init__("player")
        self._values = {name: self.declare_parameter(name, default).value for name, default in self.DEFAULTS.items()}
        for name, least, most in (("rate", 1, 65535), ("command_lifetime", 0.001, 60), ("port", 1, 65535)):
            if not least <= self.value(name) <= most:
                raise ValueError(f"the parameter {name} is {self.value(name)}, want {least} to {most}")
        self.tls: Optional[ssl.SSLContext] = None
        if self.value("tls_ca"):
            self.tls = ssl.create_default_context(cafile=self.value("tls_ca"))
            if self.value("tls_cert"):
                self.tls.load_cert_chain(self.value("tls_cert"), self.value("tls_key") or None)
        named = [r for r in self.value("robots") if r]
        robots = [self.parse(r) for r in named] or [("", self.value("host"), self.value("port"))]
        self.robots = [Robot(self, *r) for r in robots]
        self.diagnostics = self.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self.ended = threading.Event()
        self.diagnosing = threading.Thread(target=self.diagnose, daemon=True)  # not in the executor: it asks by HTTP
        self.diagnosing.start()

    def value(self, name: str) -> Any:
        return self._values[name]

    @staticmethod
    def parse(text: str) -> Tuple[str, str, int]:
        name, _, address = text.partition("=")
        host, _, port = address.rpartition(":")
        if not (name and host and port.isdigit()):
            raise ValueError(f"the parameter robots has {text!r}, want NAME=HOST:PORT")
        if name != ros_name(name):
            raise ValueError(f"the parameter robots has {text!r}: ROS does not take this name, write {ros_name(name)}={address}")
        return name, host, int(port)

    def diagnose(self) -> None:
        while not self.ended.wait(DIAGNOSTICS_PERIOD):
            m = DiagnosticArray(status=[r.diagnose() for r in self.robots])
            m.header.stamp = stamp(self.get_clock().now().nanoseconds)
            if self.value("status"):
                m.status.append(self.ask())
            self.diagnostics.publish(m)

    def ask(self) -> DiagnosticStatus:
        """Returns what the server says of its health."""
        s = DiagnosticStatus(name="player server", hardware_id=self.value("status"))
        try:
            with urllib.request.urlopen(self.value("status") + "/status", timeout=STATUS_LIMIT, context=self.tls) as reply:
                status = json.load(reply)
            states = {f"{r.get('port')} {d}": str(v.get("state")) for r in status.get("robots", []) for d, v in r.get("devices", {}).items()}
            s.level = b"\x02" if "failed" in states.values() else b"\x00"
            s.message = f"{len(status.get('robots', []))} robots"
            s.values = [KeyValue(key=k, value=v) for k, v in states.items()]
        except Exception as e:  # of HTTP, of JSON, or of another server that has all of these
            s.level, s.message = b"\x02", f"it does not answer: {e}"
        return s

    def end(self) -> None:
        self.ended.set()
        for r in self.robots:
            r.end()
        self.diagnosing.join(DIAGNOSTICS_PERIOD + STATUS_LIMIT)
        self.destroy_node()


def main(args: Optional[List[str]] = None) -> None:
    rclpy.init(args=args)
    node = PlayerNode()
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass
    finally:
        node.end()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
