"""A node of ROS 2 for robots of a Player server, in one file: rclpy and playerclient.

    python3 player_ros.py --ros-args -p host:=robot.local
    python3 player_ros.py --ros-args -p robots:="['r1=robot1:6665', 'r2=robot2:6665']"

It publishes scan, sonar/range_0 to sonar/range_15, odom, tf, tf_static, battery_state and diagnostics, and data of
rangers, IMUs, GPS receivers, inputs, outputs, joints and goals (parameter names). It drives by cmd_vel, and around
obstacles by goal_pose, and commands outputs and joints. Commands to the wheels have a lifetime: the robot stops unless they are repeated, also when this node hangs.
Services switch the power of motors, reset, and stop in an emergency. docs/ROS.md describes topics, services and
parameters.
"""

from __future__ import annotations

import json
import math
import queue
import random
import re
import ssl
import struct
import threading
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import rclpy
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import PoseStamped, TransformStamped, Twist
from nav_msgs.msg import Odometry
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import BatteryState, Imu, JointState, LaserScan, NavSatFix, PointCloud2, PointField, Range
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage

from playerclient import AccessRefused, NoDevice, PlayerClient, Ranger
from playerclient.data import NOTHING_IN_RANGE, Channel, Fix, GotoReason, GotoState, Rays

READ_LIMIT = 5.0
"""Seconds without a round of data after which the connection is made anew."""
RETRY_PERIOD = 2.0
"""Seconds between attempts to connect."""
DIAGNOSTICS_PERIOD = 1.0
"""Seconds."""
STATUS_LIMIT = 1.0
"""Seconds that the server may take to answer for its status."""
SERVICE_LIMIT = 5.0
"""Seconds that the server may take to carry out a service; then the service fails."""

NO_ECHO, LASER_MAX = 8.183, 8.191
"""Metres: the range of an LMS 200 and the simulator when they see nothing (docs/devices/sicklms200.md)."""
FARTHEST = 65.535
"""Metres: the largest reading of the protocol."""
SONAR_MIN, SONAR_MAX = 0.1, 5.0
"""Metres: a Pioneer's sonar measures nothing nearer, and has no echo from further away."""
VARIANCE, TURN_VARIANCE, UNKNOWN = 1e-2, 3e-2, 1e6
"""m2, rad2: orders of magnitude for two wheels on a floor; planners refuse zero."""

MAX_BEAMS = 64
"""Readings of a ranger up to which each has a topic and a frame of its own; more are points."""
TABLE: list[tuple[str, str, str, str, bool]] = [
    ("position", "odom", "nav_msgs/msg/Odometry", "odom", False),
    ("position", "cmd_vel", "geometry_msgs/msg/Twist", "", True),
    ("laser", "scan", "sensor_msgs/msg/LaserScan", "laser", False),
    ("sonar", "sonar/range_#", "sensor_msgs/msg/Range", "sonar_#", False),
    ("ranger", "ranger/scan", "sensor_msgs/msg/LaserScan", "ranger", False),
    ("ranger", "ranger/range_#", "sensor_msgs/msg/Range", "ranger_#", False),
    ("ranger", "ranger/points", "sensor_msgs/msg/PointCloud2", "base_link", False),
    ("misc", "battery_state", "sensor_msgs/msg/BatteryState", "", False),
    ("imu", "imu", "sensor_msgs/msg/Imu", "imu", False),
    ("gps", "fix", "sensor_msgs/msg/NavSatFix", "gps", False),
    ("io", "io/states", "control_msgs/msg/DynamicInterfaceGroupValues", "", False),
    ("io", "io/commands", "control_msgs/msg/DynamicInterfaceGroupValues", "", True),
    ("servo", "joint_states", "sensor_msgs/msg/JointState", "", False),
    ("servo", "joint_commands", "sensor_msgs/msg/JointState", "", True),
    ("goto", "goal_status", "diagnostic_msgs/msg/DiagnosticStatus", "", False),
    ("goto", "goal_pose", "geometry_msgs/msg/PoseStamped", "odom", True),
]
"""Interface, topic, type, frame, whether it has commands: rows of the table in formats/ros/table.go, which a test compares.
A # is the number of a reading."""

Action = Callable[[PlayerClient, str, bool], None]
"""Carries out a service on a device that is open for writing. A Trigger gives False."""


def power(robot: PlayerClient, device: str, on: bool) -> None:
    robot.configure(device, b"m" + bytes([on]))


def reset(robot: PlayerClient, device: str, on: bool) -> None:
    robot.configure(device, b"R")


def stop_joints(robot: PlayerClient, device: str, on: bool) -> None:
    robot.stop_joints(device)


def end_goal(robot: PlayerClient, device: str) -> None:
    """Ends the goal of this client, and not the goal of another one: a client with a lifetime yields."""
    robot.set_command_lifetime(60)
    robot.stop_goal(device)
    robot.set_command_lifetime(0)


SERVICES: list[tuple[str, str, Any, Action]] = [
    ("position", "motors", SetBool, power),
    ("position", "reset_odometry", Trigger, reset),
    ("io", "io/reset", Trigger, reset),
    ("servo", "servo/home", Trigger, reset),
    ("servo", "servo/power", SetBool, power),
    ("servo", "servo/stop", Trigger, stop_joints),
]
"""Interface, name, type, and the action on a device. Each robot has emergency_stop and release as well. rosbridge has the
same services (visitors/service.go), which a test compares."""

PER_UNIT = {"mdeg": 180e3 / math.pi, "deg": 180 / math.pi, "um": 1e6, "mm": 1e3, "mV": 1e3, "mA": 1e3, "ms": 1e3}
"""How many of a unit of PROTOCOL 8.9.7 are a radian, metre, volt, ampere or second. Other values stay as they are."""

RING = [
    (0.069, 0.136, 90), (0.114, 0.119, 50), (0.148, 0.078, 30), (0.166, 0.027, 10),
    (0.166, -0.027, -10), (0.148, -0.078, -30), (0.114, -0.119, -50), (0.069, -0.136, -90),
    (-0.157, -0.136, -90), (-0.203, -0.119, -130), (-0.237, -0.078, -150), (-0.255, -0.027, -170),
    (-0.255, 0.027, 170), (-0.237, 0.078, 150), (-0.203, 0.119, 130), (-0.157, 0.136, 90),
]  # fmt: skip
"""The sonars of a Pioneer 2, by their numbers: metres forward and left, degrees."""
LASER = (0.08, 0.0, 0.0)
"""The laser of a Pioneer 2: metres forward and left, degrees."""


def stamp(nanoseconds: int) -> Time:
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def covariance() -> list[float]:
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


def topic_of(name: str, index: int, number: int = 0) -> str:
    """Returns a name of TABLE for the device with an index and the reading with a number: ranger_1/range_4."""
    if index:
        first, slash, rest = name.partition("/")
        name = f"{first}_{index}{slash}{rest}"
    return name.replace("#", str(number))


def form_of(rays: Sequence[Rays], readings: int) -> str:
    """Returns what the readings of a ranger are published as: scan, range, points, or an empty string if it is not known
    where they look."""
    if not rays or any(r.first + r.readings > readings for r in rays):
        return ""
    if len(rays) <= MAX_BEAMS and all(r.readings == 1 for r in rays):
        return "range"
    return "scan" if len(rays) == 1 and rays[0].step_deg != 0 else "points"


def middle(r: Rays) -> tuple[float, float, float]:
    """Returns the point that rays look from, in metres, with the direction of the middle one in degrees."""
    return r.x_mm / 1000, r.y_mm / 1000, math.remainder(r.heading_deg + r.step_deg * (r.readings - 1) / 2, 360)


def ranger_range(data: Ranger, number: int) -> float:
    """Returns a reading of a ranger in metres (REP 117)."""
    units = data.ranges[number]
    if units == NOTHING_IN_RANGE:
        return math.inf
    return math.nan if units > NOTHING_IN_RANGE else units * data.unit_mm / 1000


def channel_name(device: str, number: int, described: dict[int, Channel]) -> str:
    """Returns the name of a channel or a joint: the name of its description, or for example io_0, servo1_2."""
    c = described.get(number)
    interface, _, index = device.partition(":")
    return c.name if c and c.name else f"{interface}{index if index != '0' else ''}_{number}"


def si(value: int | None, c: Channel | None) -> float:
    """Returns a value in SI units; NaN: not known."""
    return math.nan if value is None else value / PER_UNIT.get((c.unit if c else None) or "", 1)


def whole(value: float, c: Channel | None) -> int:
    """Returns a value of ROS in the unit of its channel, within 32 bits."""
    return within(value * PER_UNIT.get((c.unit if c else None) or "", 1))


def within(value: float) -> int:
    """Returns a value rounded, within 32 bits."""
    limit = 2**31 - 1
    return round(max(-limit, min(limit, value)))


def label(of: type[IntEnum], number: int) -> str:
    """Returns a state or a reason in words, or its number if this program does not know it."""
    return of(number).name.lower().replace("_", " ") if number in list(of) else str(number)


@dataclass(frozen=True)
class Source:
    """A device that is opened by its name."""

    name: str
    """For example io:0."""
    interface: str
    """For example io."""
    index: int
    """Its number among the devices of the interface."""
    rays: list[Rays]
    """Where its readings look, of a ranger."""
    channels: dict[int, Channel]
    """Descriptions of its inputs, outputs and joints, by their numbers."""
    place: tuple[float, float, float]
    """Of an IMU or a GPS receiver: metres ahead and to the left of the centre, and degrees, if the server knows it."""

    def number(self, name: str) -> int | None:
        """Returns the number of the channel with a name, None if there is none."""
        numbers: list[int] = [*self.channels, *range(128)]
        for n in numbers:
            if channel_name(self.name, n, self.channels) == name:
                return n
        return None


class Order:
    """A command or the action of a service, which waits for the thread that sends it."""

    def __init__(self, device: str, run: Callable[[PlayerClient], None]) -> None:
        self.device, self.run = device, run
        self.answer: queue.Queue[str] = queue.Queue(1)
        """Why it was not carried out; an empty string: it was."""

    def send(self, robot: PlayerClient) -> None:
        if not robot.is_listed(self.device) or robot.access(self.device) != "w":
            robot.open(self.device, "w")
        self.run(robot)


class Robot:
    """One robot: a thread that reads and publishes, one that drives, and one for services and other commands."""

    def __init__(self, node: PlayerNode, name: str, host: str, port: int) -> None:
        self.node, self.host, self.port = node, host, port
        self.name = name or f"{host}:{port}"
        self.space = name + "/" if name else ""  # of topics and frames
        self.state: tuple[int, str] = (2, "not connected yet")  # of diagnostics: level, text
        self.ages: dict[str, int | None] = {}
        self.goals: dict[str, tuple[Source, int]] = {}  # given since the last cmd_vel, with tags, by the name of the device
        self.speeds: queue.Queue[tuple[int, int, float]] = queue.Queue(1)  # mm/s, deg/s, when it came
        self.ended = threading.Event()
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.publishers: dict[str, Any] = {}  # of devices by name, by topic
        self.sources: dict[str, Source] = {}  # by the character of the device
        self.orders: queue.Queue[Order | None] = queue.Queue(16)
        self.calls, self.stops = MutuallyExclusiveCallbackGroup(), MutuallyExclusiveCallbackGroup()  # no call delays a stop
        self.scan = self.publish(LaserScan, "scan")
        self.sonars = [self.publish(Range, topic_of("sonar/range_#", 0, i)) for i in range(len(RING))]
        self.odom = self.publish(Odometry, "odom")
        self.battery = self.publish(BatteryState, "battery_state")
        self.tf = node.create_publisher(TFMessage, "/tf", 10)
        self.static = node.create_publisher(TFMessage, "/tf_static", latched)
        node.create_subscription(Twist, self.space + "cmd_vel", self.command, 10)
        self.serve("position", 0)
        for service, on in ("emergency_stop", True), ("release", False):
            node.create_service(Trigger, self.space + service, lambda _, r, on=on: self.emergency_stop(on, r), callback_group=self.stops)
        self.threads = [threading.Thread(target=self.forever, args=(work,), daemon=True) for work in (self.read, self.drive, self.order)]
        for t in self.threads:
            t.start()

    def end(self) -> None:
        self.ended.set()
        self.command(None)
        try:
            self.orders.put_nowait(None)
        except queue.Full:
            pass  # the thread sees that it has ended with the next one
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
            self.open(robot)
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
                for device in filter(robot.has, robot.new):
                    at = stamp(now - (robot.age_us(device) or 0) * 1000)
                    if device in self.sources:
                        self.send(self.sources[device], robot.data(device), at)
                    elif send := {"p": self.position, "l": self.laser, "s": self.sonar, "m": self.misc}.get(device):
                        send(robot, at)

    def place(self, robot: PlayerClient) -> None:
        """Publishes the frames that do not move."""
        now = stamp(self.node.get_clock().now().nanoseconds)
        base = self.frame("base")
        frames = [transform(now, base, self.frame("laser"), *self.node.value("laser_pose"))]
        frames += [transform(now, base, f"{self.space}sonar_{i}", *place) for i, place in enumerate(RING)]
        for s in self.sources.values():
            name = self.frame_of(s)
            if s.interface in ("imu", "gps"):
                frames.append(transform(now, base, name, *s.place))
            form = form_of(s.rays, 2**16)
            if form == "scan":
                frames.append(transform(now, base, name, *middle(s.rays[0])))
            elif form == "range":
                frames += [transform(now, base, f"{name}_{r.first}", *middle(r)) for r in s.rays]
            elif s.interface == "laser" and s.index:  # its place is not known
                frames.append(transform(now, base, name, *LASER))
            elif s.interface == "sonar" and s.index:
                frames += [transform(now, base, f"{name}_{i}", *place) for i, place in enumerate(RING)]
        self.static.publish(TFMessage(transforms=frames))

    def frame(self, which: str) -> str:
        return f"{self.space}{self.node.value(which + '_frame')}"

    def open(self, robot: PlayerClient) -> None:
        """Opens the devices that the parameter names lists, and asks what they are."""
        found: dict[str, tuple[str, str, int]] = {}
        names: list[str] = self.node.value("names")
        for name in filter(None, names):
            try:
                code = robot.open(name)
            except Exception as e:  # refused, or not there: the others are read
                self.node.get_logger().warning(f"{self.name}: {name}: {e}")
                continue
            interface, _, number = name.partition(":")
            found[code] = (f"{interface}:{int(number or 0)}", interface, int(number or 0))
        if not found:
            return
        rays, channels = robot.rays(), robot.channels()
        places = {p.device: (p.x / 1000, p.y / 1000, p.heading) for p in robot.geometry()}
        for code, (name, interface, index) in found.items():
            described = {c.number: c for c in channels if c.device == name}
            looks = [r for r in rays if r.device == name]
            self.sources[code] = s = Source(name, interface, index, looks, described, places.get(name, (0.0, 0.0, 0.0)))
            self.listen(s)

    def frame_of(self, s: Source) -> str:
        return f"{self.space}{s.interface}{s.index or ''}"

    def publish(self, kind: type, topic: str) -> Any:
        """Returns a new publisher of a topic of this robot."""
        return self.node.create_publisher(kind, self.space + topic, 10)

    def publisher(self, kind: type, topic: str) -> Any:
        if topic not in self.publishers:
            self.publishers[topic] = self.publish(kind, topic)
        return self.publishers[topic]

    def serve(self, interface: str, index: int) -> None:
        """Offers the services of a device."""
        for of, name, kind, action in SERVICES:
            if of == interface:
                topic = self.space + topic_of(name, index)
                self.node.create_service(kind, topic, self.service(f"{interface}:{index}", action), callback_group=self.calls)

    def service(self, device: str, action: Action) -> Callable[[Any, Any], Any]:
        """Returns what a service calls with a request and a response."""

        def call(request: Any, response: Any) -> Any:
            def run(robot: PlayerClient) -> None:
                action(robot, device, getattr(request, "data", False))
                robot.request("", SERVICE_LIMIT)  # its reply: the server has taken the action

            return self.call(Order(device, run), response)

        return call

    def listen(self, s: Source) -> None:
        """Subscribes to the commands of a device and offers its services, once."""
        kinds: dict[str, tuple[str, Callable[[], Any], Callable[[Source, Any], None]]] = {
            "io": ("io/commands", group_type, self.set_outputs),
            "servo": ("joint_commands", lambda: JointState, self.move_joints),
            "goto": ("goal_pose", lambda: PoseStamped, self.set_goal),
        }
        if s.interface not in kinds:
            return
        name, kind, take = kinds[s.interface]
        topic = topic_of(name, s.index)
        if topic in self.publishers:
            return
        self.publishers[topic] = None
        self.node.create_subscription(kind(), self.space + topic, lambda m: take(s, m), 10)
        self.serve(s.interface, s.index)

    def send(self, s: Source, data: Any, at: Time) -> None:
        """Publishes data of a device that was opened by its name."""
        convert = {
            "ranger": self.ranger, "imu": self.imu, "gps": self.gps, "io": self.io, "servo": self.servo, "goto": self.goto,
            "laser": self.further_laser, "sonar": self.further_sonar, "misc": self.further_misc,
        }.get(s.interface)  # fmt: skip
        if convert is not None:
            convert(s, data, at)

    def ranger(self, s: Source, data: Any, at: Time) -> None:
        form, most = form_of(s.rays, len(data.ranges)), 65533 * data.unit_mm / 1000
        frame = self.frame_of(s)
        if form == "scan":
            r, m = s.rays[0], LaserScan()
            step = math.radians(abs(r.step_deg))
            ranges = [ranger_range(data, r.first + i) for i in range(r.readings)]
            m.header.stamp, m.header.frame_id = at, frame
            m.angle_min, m.angle_max, m.angle_increment = -step * (r.readings - 1) / 2, step * (r.readings - 1) / 2, step
            m.range_min, m.range_max = (r.near_mm or 0) / 1000, r.far_mm / 1000 if r.far_mm else most
            m.ranges = ranges if r.step_deg > 0 else ranges[::-1]
            self.publisher(LaserScan, topic_of("ranger/scan", s.index)).publish(m)
        elif form == "range":
            for r in s.rays:
                one = Range()
                one.header.stamp, one.header.frame_id = at, f"{frame}_{r.first}"
                one.radiation_type, one.field_of_view = 0 if r.cone_deg else 1, math.radians(r.cone_deg)
                one.min_range, one.max_range = (r.near_mm or 0) / 1000, r.far_mm / 1000 if r.far_mm else most
                one.range = ranger_range(data, r.first)
                self.publisher(Range, topic_of("ranger/range_#", s.index, r.first)).publish(one)
        elif form == "points":
            cloud, points = PointCloud2(), []
            for r in s.rays:
                for i in range(r.readings):
                    metres, direction = ranger_range(data, r.first + i), math.radians(r.heading_deg + r.step_deg * i)
                    if math.isfinite(metres):
                        x, y = r.x_mm / 1000 + metres * math.cos(direction), r.y_mm / 1000 + metres * math.sin(direction)
                        points.append(struct.pack("<3f", x, y, 0.0))
            cloud.header.stamp, cloud.header.frame_id = at, self.frame("base")
            cloud.height, cloud.width, cloud.point_step, cloud.row_step = 1, len(points), 12, 12 * len(points)
            cloud.fields = [PointField(name=name, offset=4 * i, datatype=7, count=1) for i, name in enumerate("xyz")]
            cloud.is_dense, cloud.data = True, list(b"".join(points))
            self.publisher(PointCloud2, topic_of("ranger/points", s.index)).publish(cloud)

    def imu(self, s: Source, d: Any, at: Time) -> None:
        m = Imu()
        m.header.stamp, m.header.frame_id = at, self.frame_of(s)
        sides = [[d.roll_mdeg, d.pitch_mdeg, d.yaw_mdeg], [d.roll_rate_mdeg_per_s, d.pitch_rate_mdeg_per_s, d.yaw_rate_mdeg_per_s],
                 [d.x_mm_per_s2, d.y_mm_per_s2, d.z_mm_per_s2]]  # fmt: skip
        roll, pitch, yaw = (math.radians((v or 0) / 1000) / 2 for v in sides[0])
        rs, rc, ps, pc, ys, yc = math.sin(roll), math.cos(roll), math.sin(pitch), math.cos(pitch), math.sin(yaw), math.cos(yaw)
        q, w, a = m.orientation, m.angular_velocity, m.linear_acceleration
        q.x, q.y, q.z, q.w = rs * pc * yc - rc * ps * ys, rc * ps * yc + rs * pc * ys, rc * pc * ys - rs * ps * yc, rc * pc * yc + rs * ps * ys
        w.x, w.y, w.z = (math.radians((v or 0) / 1000) for v in sides[1])
        a.x, a.y, a.z = ((v or 0) / 1000 for v in sides[2])
        unknown = [[-1.0 if all(v is None for v in side) else 0.0, *[0.0] * 8] for side in sides]
        m.orientation_covariance, m.angular_velocity_covariance, m.linear_acceleration_covariance = unknown
        self.publisher(Imu, topic_of("imu", s.index)).publish(m)

    def gps(self, s: Source, d: Any, at: Time) -> None:
        if not d.has_place:
            return
        m = NavSatFix()
        m.header.stamp, m.header.frame_id = at, self.frame_of(s)
        m.status.status, m.status.service = 2 if d.fix in (Fix.DGPS, Fix.FLOAT, Fix.RTK) else 0, 1
        m.latitude, m.longitude, m.altitude = d.latitude_e7 / 1e7, d.longitude_e7 / 1e7, (d.height_mm or 0) / 1000
        m.position_covariance = [0.0] * 9
        if d.horizontal_mm is not None and d.vertical_mm is not None:
            flat = (d.horizontal_mm / 1000) ** 2 / 2
            m.position_covariance[::4] = [flat, flat, (d.vertical_mm / 1000) ** 2]
            m.position_covariance_type = 2
        self.publisher(NavSatFix, topic_of("fix", s.index)).publish(m)

    def io(self, s: Source, d: Any, at: Time) -> None:
        m = group_type()()
        m.header.stamp = at
        m.interface_groups = [topic_of("io", s.index)]
        value = value_type()()
        value.interface_names = [channel_name(s.name, i, s.channels) for i in range(len(d.values))]
        value.values = [si(v, s.channels.get(i)) for i, v in enumerate(d.values)]
        m.interface_values = [value]
        self.publisher(group_type(), topic_of("io/states", s.index)).publish(m)

    def servo(self, s: Source, d: Any, at: Time) -> None:
        m = JointState()
        m.header.stamp = at
        m.name = [channel_name(s.name, i, s.channels) for i in range(len(d.joints))]
        m.position = [si(j.position, s.channels.get(i)) for i, j in enumerate(d.joints)]
        self.publisher(JointState, topic_of("joint_states", s.index)).publish(m)

    def goto(self, s: Source, d: Any, at: Time) -> None:
        m = DiagnosticStatus(name="goto", message=label(GotoState, d.state))
        if d.state == GotoState.STOPPED:
            m.message += ": " + label(GotoReason, d.reason)
        m.level = {GotoState.BLOCKED: b"\x01", GotoState.STOPPED: b"\x02"}.get(d.state, b"\x00")
        values = (("distance", d.distance_mm), ("x", d.x_mm), ("y", d.y_mm))  # the distance of a refused goal is not known
        m.values = [KeyValue(key=k, value=f"{v / 1000:.3f}") for k, v in values if v is not None]
        self.publisher(DiagnosticStatus, topic_of("goal_status", s.index)).publish(m)

    def set_goal(self, s: Source, m: Any) -> None:
        """Takes a message on goal_pose: a rotation of zeros is any heading. Each message is a new goal, also of the place
        of one that has ended."""
        p, q, frame = m.pose.position, m.pose.orientation, m.header.frame_id.lstrip("/")
        own = self.frame("odom")
        if frame not in ("", self.node.value("odom_frame"), own):
            self.node.get_logger().warning(
                f"{self.name}: the goal is in the frame {frame!r}: transform it to {own}, in which the robot drives"
            )
            return
        if not all(math.isfinite(v) for v in (p.x, p.y, q.x, q.y, q.z, q.w)):
            self.node.get_logger().warning(f"{self.name}: the goal is not finite")
            return
        x, y = within(p.x * 1000), within(p.y * 1000)
        norm = math.hypot(q.x, q.y, q.z, q.w) or 1.0
        qx, qy, qz, qw = q.x / norm, q.y / norm, q.z / norm, q.w / norm  # the squares of large numbers overflow
        yaw = math.degrees(math.atan2(2 * (qw * qz + qx * qy), qw**2 + qx**2 - qy**2 - qz**2))
        heading = round(yaw) % 360 if any((q.x, q.y, q.z, q.w)) else None

        tag = random.randrange(2**16)

        def go(robot: PlayerClient) -> None:
            if self.goals.get(s.name) == (s, tag):  # else a cmd_vel or another goal has come while the device started
                robot.change_motor_state(True)
                robot.set_goal(s.name, x, y, heading, tag=tag)

        self.goals[s.name] = s, tag
        self.give(s, go)

    def set_outputs(self, s: Source, m: Any) -> None:
        """Takes a message on io/commands."""
        for group in m.interface_values:
            for name, value in zip(group.interface_names, group.values):
                number = s.number(name)
                if number is None or not math.isfinite(value):
                    self.node.get_logger().warning(f"{self.name}: {s.name} has no output {name!r}, or its value is not finite")
                    continue
                amount = whole(value, s.channels.get(number))
                self.give(s, lambda robot, n=number, v=amount: robot.set_output(s.name, n, v))  # type: ignore[misc]

    def move_joints(self, s: Source, m: Any) -> None:
        """Takes a message on joint_commands: a position that is missing or NaN stops its joint."""
        for i, name in enumerate(m.name):
            number = s.number(name)
            if number is None:
                self.node.get_logger().warning(f"{self.name}: {s.name} has no joint {name!r}")
                continue
            about = s.channels.get(number)
            goal = whole(m.position[i], about) if i < len(m.position) and math.isfinite(m.position[i]) else None
            fast = abs(m.velocity[i]) if i < len(m.velocity) and math.isfinite(m.velocity[i]) else 0.0
            speed = max(1, whole(fast, about)) if fast else 0
            self.give(s, lambda robot, n=number, g=goal, v=speed: robot.move_joint(s.name, n, g, v))  # type: ignore[misc]

    def give(self, s: Source, run: Callable[[PlayerClient], None]) -> bool:
        """Queues a command, and returns whether there was room."""
        try:
            self.orders.put_nowait(Order(s.name, run))
        except queue.Full:
            self.node.get_logger().warning(f"{self.name}: too many commands wait for {s.name} to start")
            return False
        return True

    def call(self, order: Order, response: Any) -> Any:
        """Carries out the action of a service. The response has success if the server has taken it, or the reason."""
        try:
            self.orders.put_nowait(order)
            response.message = order.answer.get(timeout=SERVICE_LIMIT)
        except queue.Full:
            response.message = f"too many commands wait for {order.device} to start"
        except queue.Empty:
            response.message = f"the server has not answered for {SERVICE_LIMIT:g} s"
        response.success = not response.message
        return response

    def emergency_stop(self, on: bool, response: Any) -> Any:
        """Stops the robot or releases it, on a connection of its own: no command delays it. The right to write is
        checked by asking for the wheels, if the node reads them: a server without such a right ignores a stop."""
        try:
            with self.client("stops") as robot:
                robot.emergency_stop(on)
                robot.request("pw" if "p" in self.node.value("devices") else "", SERVICE_LIMIT)
            response.success = True
        except AccessRefused as e:
            response.success = all(r.why != "right" for r in e.reasons.values())
            response.message = "" if response.success else str(e)
        except Exception as e:  # of any kind: without a response the caller would wait for ever
            response.success, response.message = False, str(e)
        return response

    def order(self) -> None:
        """Connects at the first service or command to outputs or joints, and sends them until end. At the end of the
        connection the server stops the joints that this node moves."""
        next = self.orders.get()
        try:
            if next is None or self.ended.is_set():
                return
            with self.client("commands") as robot:
                while next is not None and not self.ended.is_set():
                    try:
                        next.send(robot)
                        next.answer.put_nowait("")
                    except (AccessRefused, NoDevice) as e:  # the connection is good, and other devices are moved by it
                        next.answer.put_nowait(str(e))
                        self.node.get_logger().warning(f"{self.name}: {next.device}: {e}")
                    next = self.orders.get()
        except Exception as e:
            if next is not None:
                next.answer.put_nowait(str(e))
            raise

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
        self.scan.publish(self.scan_of(robot.laser, self.frame("laser"), at))

    def further_laser(self, s: Source, data: Sequence[int], at: Time) -> None:
        self.publisher(LaserScan, topic_of("scan", s.index)).publish(self.scan_of(data, self.frame_of(s), at))

    def scan_of(self, data: Sequence[int], frame: str, at: Time) -> LaserScan:
        m, reach = LaserScan(), self.node.value("reach")
        m.header.stamp, m.header.frame_id = at, frame
        m.angle_min, m.angle_max, m.angle_increment = -math.pi / 2, math.pi / 2, math.pi / 360
        m.ranges = [reading(mm / 1000, reach) for mm in data]
        m.range_min = 0.02
        m.range_max = reach or (FARTHEST if max(data) / 1000 > LASER_MAX else NO_ECHO)
        return m

    def sonar(self, robot: PlayerClient, at: Time) -> None:
        for i, mm in enumerate(robot.sonar):
            self.sonars[i].publish(self.echo(mm, f"{self.space}sonar_{i}", at))

    def further_sonar(self, s: Source, data: Sequence[int], at: Time) -> None:
        for i, mm in enumerate(data):
            self.publisher(Range, topic_of("sonar/range_#", s.index, i)).publish(self.echo(mm, f"{self.frame_of(s)}_{i}", at))

    def echo(self, mm: int, frame: str, at: Time) -> Range:
        m = Range()
        m.header.stamp, m.header.frame_id = at, frame
        m.field_of_view, m.min_range, m.max_range = math.radians(15), SONAR_MIN, SONAR_MAX
        m.range = sonar_range(mm)
        return m

    def misc(self, robot: PlayerClient, at: Time) -> None:
        self.battery.publish(self.charge(robot.misc, at))

    def further_misc(self, s: Source, data: Any, at: Time) -> None:
        self.publisher(BatteryState, topic_of("battery_state", s.index)).publish(self.charge(data, at))

    def charge(self, data: Any, at: Time) -> BatteryState:
        m = BatteryState()
        m.header.stamp, m.present, m.voltage = at, True, data.battery / 10
        m.temperature = m.current = m.charge = m.capacity = m.design_capacity = m.percentage = math.nan
        return m

    def command(self, twist: Twist | None) -> None:
        """Hands the newest command to the thread that drives. None: it ends."""
        speed = turn = 0
        if twist is not None:
            if not (math.isfinite(twist.linear.x) and math.isfinite(twist.angular.z)):
                self.node.get_logger().warning(f"{self.name}: cmd_vel is not finite")
                return
            speed, turn = (
                max(-32767, min(32767, round(v))) for v in (twist.linear.x * 1000, math.degrees(twist.angular.z))
            )
        if twist is not None:
            for s, _ in list(self.goals.values()):  # other commands than zeros end the goal by themselves (PROTOCOL 5.5)
                if speed or turn or self.give(s, lambda robot, s=s: end_goal(robot, s.name)):  # type: ignore[misc]
                    del self.goals[s.name]
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


def group_type() -> Any:
    """Returns the message of io devices. Its package, control_msgs, is needed only for them."""
    from control_msgs.msg import DynamicInterfaceGroupValues

    return DynamicInterfaceGroupValues


def value_type() -> Any:
    from control_msgs.msg import InterfaceValue

    return InterfaceValue


def ros_name(name: str) -> str:
    """Returns what the server calls a robot in topics (docs/ROS.md): ROS has ASCII letters, digits
    and single underscores, and hides names that begin with an underscore."""
    legal = "_".join(re.findall("[A-Za-z0-9]+", name))
    return legal if legal[:1].isalpha() else "_".join(filter(None, ("robot", legal)))


class PlayerNode(Node):
    """The node: parameters, robots, diagnostics."""

    DEFAULTS: dict[str, Any] = {
        "host": "localhost", "port": 6665,  # of one robot
        "robots": [""],  # of several: NAME=HOST:PORT
        "devices": "pslm", "rate": 10,  # Hz
        "names": [""],  # further devices: ranger:0, imu, gps, io, servo
        "command_lifetime": 0.5,  # seconds
        "reach": 0.0,  # metres from which on the laser sees nothing; 0: as of an LMS 200
        "laser_pose": [*LASER],  # metres, metres, degrees
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
        self.tls: ssl.SSLContext | None = None
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
    def parse(text: str) -> tuple[str, str, int]:
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


def main(args: list[str] | None = None) -> None:
    rclpy.init(args=args)
    node = PlayerNode()
    try:
        rclpy.spin(node, MultiThreadedExecutor(1 + 2 * len(node.robots)))  # topics, and the calls and stops of each robot
    except KeyboardInterrupt:
        pass
    finally:
        node.end()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
