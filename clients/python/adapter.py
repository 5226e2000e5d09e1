"""The adapter of the conformance suite: one JSON request per line on standard input, one answer
per line on standard output (docs/CLIENTS.md). With the argument asyncio it has that client."""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import playerclient as pc
from playerclient import data as pc_data

Answer = dict[str, Any]


class AsyncFace:
    """Makes the asyncio client look like the blocking one, so that both have the same tests."""

    def __init__(self, *arguments: Any) -> None:
        self.__dict__.update(_loop=asyncio.new_event_loop(), _robot=pc.AsyncPlayerClient(*arguments))

    def _run(self, wait: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(wait)

    def __enter__(self) -> AsyncFace:
        self._run(self._robot.__aenter__())
        return self

    def __exit__(self, *_: Any) -> None:
        self._run(self._robot.__aexit__(None, None, None))
        self.end()

    def close(self) -> None:
        self._robot.close()
        self._run(self._robot.wait_closed())

    def end(self) -> None:
        self._run(asyncio.sleep(0))  # the transport closes in the next round of the loop
        self._loop.close()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._robot, name)
        if not asyncio.iscoroutinefunction(found):
            return found
        return lambda *arguments, **named: self._run(found(*arguments, **named))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._robot, name, value)


FIELDS: dict[str, Callable[[Any], Answer]] = {
    "p": lambda r: dict(r.position._asdict()),
    "s": lambda r: {"ranges": list(r.sonar)},
    "l": lambda r: {"ranges": list(r.laser)},
    "m": lambda r: {"front": r.misc.front_bumpers, "rear": r.misc.rear_bumpers, "battery": r.misc.battery,
                    "voltage": r.misc.voltage},
    "g": lambda r: {"state": r.gripper.state, "beams": r.gripper.beams},
    "z": lambda r: dict(r.ptz._asdict()),
    "v": lambda r: {
        "channels": [
            [{"color": channel, **blob._asdict()} for blob in blobs] for channel, blobs in enumerate(r.vision.channels)
        ]
    },
    "j": lambda r: {"buttons": r.joystick.buttons, "axes": list(r.joystick.axes)},
    "y": lambda r: {"time": r.freshness.time, "ages": list(r.freshness.ages)},
}

def number(value: int | None, unknown: int = pc_data.UNKNOWN) -> int:
    """Returns what the protocol has for a value that may be unknown."""
    return unknown if value is None else value


def of_goto(goto: pc.Goto) -> Answer:
    others = {"heading_deg": pc_data.ANY_HEADING, "distance_mm": pc_data.UNKNOWN_AMOUNT}
    return {field: number(value, others.get(field, pc_data.UNKNOWN)) for field, value in goto._asdict().items()}


AMOUNTS = {"horizontal_mm", "vertical_mm", "speed_mm_per_s", "course_mdeg"}


def of_gps(gps: pc.GPS) -> Answer:
    others = {"fix": 255, "satellites": 255, "time_ms": 0, **dict.fromkeys(AMOUNTS, pc_data.UNKNOWN_AMOUNT)}
    return {field: number(value, others.get(field, pc_data.UNKNOWN)) for field, value in gps._asdict().items()}


INTERFACES: dict[str, Callable[[Any], Answer]] = {
    "laser": lambda ranges: {"ranges": list(ranges)},
    "ranger": lambda ranger: {"unit_mm": ranger.unit_mm, "ranges": list(ranger.ranges)},
    "imu": lambda imu: {field: number(value) for field, value in imu._asdict().items()},
    "gps": of_gps,
    "goto": of_goto,
    "io": lambda io: {"values": list(map(number, io.values))},
    "servo": lambda servo: {
        "joints": [{"position": number(j.position), "goal": number(j.goal), "state": j.state} for j in servo.joints]
    },
}

COMMANDS = {"p": "set_speed", "z": "set_ptz", "g": "set_gripper"}

CONFIGURATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "frequency": lambda robot, value: robot.set_frequency(value),
    "lifetime": lambda robot, value: robot.set_command_lifetime(value / 1000),
    "mode": lambda robot, value: robot.set_data_mode(value),
    "data": lambda robot, _: robot.request_data(),
    "fresh": lambda robot, value: robot.set_fresh(bool(value)),
    "motors": lambda robot, value: robot.change_motor_state(bool(value)),
    "velocity": lambda robot, value: robot.change_velocity_control(value),
    "name": lambda robot, value: robot.set_name(value),
    "stop": lambda robot, value: robot.emergency_stop(bool(value)),
    "reset_odometry": lambda robot, _: robot.reset_position(),
}

KINDS = [
    (pc.AccessRefused, "refused"),
    (pc.SimulationRefused, "refused"),
    (pc.TimedOut, "timeout"),
    (pc.ConnectionClosed, "closed"),
    (pc.ProtocolError, "protocol"),
]


def tls_of(r: Answer) -> ssl.SSLContext | None:
    if "authority" not in r:
        return None
    tls = ssl.create_default_context(cafile=r["authority"])
    if "certificate" in r:
        tls.load_cert_chain(r["certificate"], r["key"])
    return tls


def simulate(r: Answer) -> Answer:
    world = pc.Simulation(r["host"], r["port"], tls_of(r), r["timeout_ms"] / 1000)
    if "order" not in r:
        state = world.state()
    else:
        order = dict(r["order"])
        if "move" in order:
            order["move"] = {m["name"]: (m["x"], m["y"], m["heading"]) for m in order["move"]}
        state = world.order(**order)
    return {**state._asdict(), "movers": [{**mover._asdict(), "sees": [s._asdict() for s in mover.sees]} for mover in state.movers]}


def command(robot: Any, device: str, values: list[int]) -> None:
    interface = device.split(":")[0]
    if interface == "io":
        robot.set_output(device, *values)
    elif interface == "servo":
        joint, goal, speed = values
        robot.move_joint(device, joint, None if goal == pc_data.UNKNOWN else goal, speed)
    elif interface == "goto" and values[0] == pc_data.UNKNOWN:
        robot.stop_goal(device)
    elif interface == "goto":
        x, y, heading, speed, turn_rate, tolerance, radius, tag = values
        robot.set_goal(
            device, x, y, None if heading == pc_data.ANY_HEADING else heading, speed_mm_per_s=speed,
            turn_rate_deg_per_s=turn_rate, tolerance_mm=tolerance, radius_mm=radius, tag=tag,
        )  # fmt: skip
    else:
        getattr(robot, COMMANDS[device])(*values)


def execute(robot: Any, r: Answer) -> Answer:
    op = r["op"]
    timeout = r["timeout_ms"] / 1000 if "timeout_ms" in r else None
    if op == "connect":
        robot.tls, robot.server_name = tls_of(r), r.get("server")
        robot.connect(r["host"], r["port"], timeout)
    elif op == "reconnect":
        robot.reconnect(timeout)
    elif op == "request":
        return {"granted": robot.request(r["pairs"], timeout)}
    elif op == "read":
        robot.read(timeout)
        return {"new": robot.new}
    elif op == "get":
        device = r["device"]
        data: Answer | None = None
        if robot.has(device):
            interface = device.split(":")[0]
            if interface in INTERFACES:
                data = INTERFACES[interface](robot.data(device))
            elif device in FIELDS:
                data = FIELDS[device](robot)
        return {"size": len(robot.raw(device) or b""), "data": data, "age_us": robot.age_us(device)}
    elif op == "command":
        command(robot, r["device"], r["values"])
    elif op == "config":
        CONFIGURATIONS[r["name"]](robot, r.get("text", r.get("value", 0)))
    elif op == "simulation":
        return {"state": simulate(r)}
    elif op == "geometry":
        return {"parts": [list(part) for part in robot.geometry(timeout)]}
    elif op == "devices":
        return {"devices": [[d.name, ord(d.code)] for d in robot.devices(timeout)]}
    elif op == "open":
        return {"code": ord(robot.open(r["name"], r["access"], timeout))}
    elif op == "rays":
        return {"rays": [[value or 0 for value in rays] for rays in robot.rays(timeout)]}
    elif op == "channels":
        found = robot.channels(timeout)
        return {"channels": [[*c[:3], c.unit or "-", number(c.min), number(c.max), c.name] for c in found]}
    elif op == "colors":
        return {"colors": [list(color) for color in robot.colors(timeout)]}
    elif op == "close":
        robot.close()
    else:
        raise pc.UsageError(f"unknown op {op!r}")
    return {}


def answer(robot: Any, line: str) -> Answer:
    try:
        return {"ok": True, **execute(robot, json.loads(line))}
    except (pc.PlayerError, LookupError, TypeError, ValueError) as e:
        kind = next((kind for error, kind in KINDS if isinstance(e, error)), "usage")
        granted: Answer = {}
        if isinstance(e, pc.AccessRefused):
            granted = {"granted": e.granted, "why": {device: " ".join(reason) for device, reason in e.reasons.items()}}
        return {"ok": False, "error": kind, "text": str(e), **granted}


def main() -> None:
    robot: Any = AsyncFace() if sys.argv[1:] == ["asyncio"] else pc.PlayerClient()
    for line in sys.stdin:
        print(json.dumps(answer(robot, line)), flush=True)
    robot.close()


if __name__ == "__main__":
    main()
