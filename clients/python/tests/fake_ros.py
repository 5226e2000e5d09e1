"""The part of ROS 2 that player_ros uses, for its tests: messages with the fields of their
definitions and no others, and an rclpy whose topics are lists."""

from __future__ import annotations

import sys
import threading
import time
import types
from collections.abc import Callable
from typing import Any

DEFINITIONS = {
    "builtin_interfaces/Time": "int sec, int nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp, str frame_id",
    "geometry_msgs/Vector3": "float x, float y, float z",
    "geometry_msgs/Point": "float x, float y, float z",
    "geometry_msgs/Quaternion": "float x, float y, float z, float w",
    "geometry_msgs/Pose": "geometry_msgs/Point position, geometry_msgs/Quaternion orientation",
    "geometry_msgs/PoseStamped": "std_msgs/Header header, geometry_msgs/Pose pose",
    "geometry_msgs/PoseWithCovariance": "geometry_msgs/Pose pose, list covariance",
    "geometry_msgs/Twist": "geometry_msgs/Vector3 linear, geometry_msgs/Vector3 angular",
    "geometry_msgs/TwistWithCovariance": "geometry_msgs/Twist twist, list covariance",
    "geometry_msgs/Transform": "geometry_msgs/Vector3 translation, geometry_msgs/Quaternion rotation",
    "geometry_msgs/TransformStamped": "std_msgs/Header header, str child_frame_id, geometry_msgs/Transform transform",
    "tf2_msgs/TFMessage": "list transforms",
    "nav_msgs/Odometry": "std_msgs/Header header, str child_frame_id, geometry_msgs/PoseWithCovariance pose,"
    " geometry_msgs/TwistWithCovariance twist",
    "sensor_msgs/LaserScan": "std_msgs/Header header, float angle_min, float angle_max, float angle_increment,"
    " float time_increment, float scan_time, float range_min, float range_max, list ranges, list intensities",
    "sensor_msgs/Range": "std_msgs/Header header, int radiation_type, float field_of_view, float min_range,"
    " float max_range, float range, float variance",
    "sensor_msgs/BatteryState": "std_msgs/Header header, float voltage, float temperature, float current,"
    " float charge, float capacity, float design_capacity, float percentage, int power_supply_status,"
    " int power_supply_health, int power_supply_technology, bool present, list cell_voltage,"
    " list cell_temperature, str location, str serial_number",
    "sensor_msgs/PointField": "str name, int offset, int datatype, int count",
    "sensor_msgs/PointCloud2": "std_msgs/Header header, int height, int width, list fields, bool is_bigendian,"
    " int point_step, int row_step, list data, bool is_dense",
    "sensor_msgs/JointState": "std_msgs/Header header, list name, list position, list velocity, list effort",
    "sensor_msgs/Imu": "std_msgs/Header header, geometry_msgs/Quaternion orientation, list orientation_covariance,"
    " geometry_msgs/Vector3 angular_velocity, list angular_velocity_covariance,"
    " geometry_msgs/Vector3 linear_acceleration, list linear_acceleration_covariance",
    "sensor_msgs/NavSatStatus": "int status, int service",
    "sensor_msgs/NavSatFix": "std_msgs/Header header, sensor_msgs/NavSatStatus status, float latitude, float longitude,"
    " float altitude, list position_covariance, int position_covariance_type",
    "diagnostic_msgs/KeyValue": "str key, str value",
    "diagnostic_msgs/DiagnosticStatus": "bytes level, str name, str message, str hardware_id, list values",
    "diagnostic_msgs/DiagnosticArray": "std_msgs/Header header, list status",
}

EXTRA = {
    "control_msgs/InterfaceValue": "list interface_names, list values",
    "control_msgs/DynamicInterfaceGroupValues": "std_msgs/Header header, list interface_groups, list interface_values",
}
"""Messages of a package that the list of ROS 2's own definitions does not have."""

PLAIN: dict[str, Callable[[], Any]] = {"int": int, "float": float, "str": str, "bool": bool, "bytes": bytes, "list": list}


def message(name: str, classes: dict[str, type]) -> type:
    """Makes the class of a message. A field of another type than the definition's is an error,
    as in rclpy."""
    fields = [f.split() for f in {**DEFINITIONS, **EXTRA}[name].split(", ") if f]

    def make(of: str) -> Any:
        return PLAIN[of]() if of in PLAIN else classes[of]()

    def init(self: Any, **values: Any) -> None:
        for of, field in fields:
            setattr(self, field, values.pop(field) if field in values else make(of))
        assert not values, f"{name} has no {list(values)}"

    def put(self: Any, field: str, value: Any) -> None:
        of = {f: of for of, f in fields}[field]
        want = PLAIN.get(of) or classes[of]
        assert isinstance(value, want), f"{name}.{field} is {value!r}, want {of}"  # type: ignore[arg-type]
        object.__setattr__(self, field, value)

    return type(name.split("/")[1], (), {"__slots__": [f for _, f in fields], "__init__": init, "__setattr__": put})


class Time:
    nanoseconds = property(lambda self: time.time_ns())


class Publisher:
    def __init__(self, qos: Any) -> None:
        self.qos, self.messages = qos, []  # type: Any, list[Any]

    def publish(self, message: Any) -> None:
        self.messages.append(message)


class Parameter:
    def __init__(self, value: Any) -> None:
        self.value = value


class Node:
    parameters: dict[str, Any] = {}  # of the next node

    def __init__(self, name: str) -> None:
        self.publishers: dict[str, Publisher] = {}
        self.callbacks: dict[str, Callable[[Any], None]] = {}
        self.services: dict[str, tuple[type, Callable[[Any, Any], Any]]] = {}
        self.warnings: list[str] = []

    def declare_parameter(self, name: str, default: Any) -> Parameter:
        return Parameter(self.parameters.get(name, default))

    def create_publisher(self, kind: type, topic: str, qos: Any) -> Publisher:
        return self.publishers.setdefault(topic, Publisher(qos))

    def create_subscription(self, kind: type, topic: str, callback: Callable[[Any], None], qos: Any) -> None:
        self.callbacks[topic] = callback

    def create_service(self, kind: type, name: str, callback: Callable[[Any, Any], Any], *, callback_group: Any) -> None:
        self.services[name] = kind, callback

    def call(self, name: str, data: bool | None = None) -> tuple[bool, str]:
        """Calls a service as a program does: with data it is a SetBool, without a Trigger."""
        kind, callback = self.services[name]
        request, response = kind.Request(), kind.Response()  # type: ignore[attr-defined]
        if data is not None:
            request.data = data
        assert callback(request, response) is response
        return response.success, response.message

    def get_clock(self) -> Any:
        return types.SimpleNamespace(now=Time)

    def get_logger(self) -> Any:
        return types.SimpleNamespace(warning=self.warnings.append)

    def destroy_node(self) -> None:
        pass


def install() -> None:
    """Makes rclpy and the packages of the messages importable."""
    classes: dict[str, type] = {}
    for name in (*DEFINITIONS, *EXTRA):
        classes[name] = message(name, classes)
        package, short = name.split("/")
        module = sys.modules.setdefault(f"{package}.msg", types.ModuleType(f"{package}.msg"))
        sys.modules.setdefault(package, types.ModuleType(package))
        setattr(module, short, classes[name])
    services = types.ModuleType("std_srvs.srv")
    for name, fields in (("SetBool", "bool data"), ("Trigger", "")):
        parts = {"Request": fields, "Response": "bool success, str message"}
        EXTRA.update({f"std_srvs/{part}": text for part, text in parts.items()})
        setattr(services, name, type(name, (), {part: message(f"std_srvs/{part}", classes) for part in parts}))
    stop = threading.Event()
    rclpy, node, qos = (types.ModuleType(n) for n in ("rclpy", "rclpy.node", "rclpy.qos"))
    groups, executors = types.ModuleType("rclpy.callback_groups"), types.ModuleType("rclpy.executors")
    groups.MutuallyExclusiveCallbackGroup = object  # type: ignore[attr-defined]
    executors.MultiThreadedExecutor = lambda threads: None  # type: ignore[attr-defined]
    node.Node = Node  # type: ignore[attr-defined]
    qos.QoSProfile = lambda **policies: types.SimpleNamespace(**policies)  # type: ignore[attr-defined]
    qos.DurabilityPolicy = types.SimpleNamespace(TRANSIENT_LOCAL="transient local")  # type: ignore[attr-defined]
    rclpy.init = lambda args=None: stop.clear()  # type: ignore[attr-defined]
    rclpy.spin = lambda node, executor: stop.wait()  # type: ignore[attr-defined]
    rclpy.try_shutdown = stop.set  # type: ignore[attr-defined]
    sys.modules.update({"rclpy": rclpy, "rclpy.node": node, "rclpy.qos": qos, "rclpy.callback_groups": groups})
    sys.modules.update({"rclpy.executors": executors, "std_srvs": types.ModuleType("std_srvs"), "std_srvs.srv": services})
