"""The core, from inside: parts that the cases of clients/conformance do not reach."""

from __future__ import annotations

import math
import unittest
from pathlib import Path
from typing import Any

from playerclient import (
    GPS, IMU, IO, AccessRefused, Event, Joint, Mover, NoDevice, ProtocolError, Ranger, Session, SimulationState,
    UsageError, compact,
)  # fmt: skip
from playerclient.data import decode_gps, decode_imu, decode_io, decode_servo

from .blocks import DEVICES, NO_BLOBS, SONAR, block, reply

GOLDEN = Path(__file__).parents[3] / "codec" / "compact" / "testdata" / "golden.txt"
INTERFACES = {
    "p": "position", "s": "sonar", "l": "laser", "v": "vision", "z": "ptz", "j": "joystick", "y": "freshness", "R": "ranger",
}  # fmt: skip


def events(session: Session, *pieces: bytes) -> list[str]:
    """Returns the new devices of each round, and the text of each reply."""
    found: list[str] = []
    for piece in pieces:
        session.receive(piece)
        while True:
            event = session.next_event()
            if event is None:
                break
            found.append(session.new if event is Event.ROUND else "reply")
    return found


def opened(pairs: str) -> Session:
    """Returns a session whose request was granted."""
    session = Session(lambda _: None)
    session.start_request(pairs)
    session.receive(reply(pairs))
    assert session.next_event() is Event.REPLY
    return session


class Parsing(unittest.TestCase):
    def test_no_data_yet(self) -> None:
        session = opened("srvr")
        self.assertEqual(events(session, block("s", b"") + block("v", NO_BLOBS)), ["sv"])
        self.assertFalse(session.has("s"))
        self.assertTrue(session.has("v"))
        self.assertEqual(session.vision.active_channels, [])
        self.assertEqual(list(session.sonar), [0] * 16)
        self.assertIsNone(session.raw("p"))

    def test_large_blocks(self) -> None:
        session = opened("Xr")
        self.assertEqual(events(session, block("X", bytes(65535))), ["X"])
        self.assertEqual(session.raw("X"), bytes(65535))
        for _ in range(1000):  # memory is bounded: bytes that were used are dropped
            events(session, block("X", b"12")[:4], block("X", b"12")[4:])
        self.assertLess(len(session._buffer), 10)  # pyright: ignore[reportPrivateUsage]

    def test_gripper_bits(self) -> None:
        gripper = opened("gr").gripper._replace(state=0b10000001, beams=0b00100100)
        self.assertTrue(gripper.paddles_open and gripper.lift_error and gripper.outer_beam_obstructed and gripper.right_paddle_open)
        self.assertFalse(gripper.paddles_closed or gripper.lift_up or gripper.inner_beam_obstructed or gripper.grip_limit_reached)


class Requests(unittest.TestCase):
    def test_refused(self) -> None:
        session = Session(lambda _: None)
        session.start_request("srlrpa")
        session.receive(reply("srlepa"))
        session.next_event()
        with self.assertRaises(AccessRefused) as caught:
            session.finish_request("srlrpa")
        self.assertEqual(caught.exception.granted, "srlepa")
        self.assertEqual(str(caught.exception), "access is not as requested: device l asked 'r' granted 'e': the server's log has the reason")
        self.assertEqual([session.access(device) for device in "slpz"], ["r", "e", "a", ""])

    def test_reasons(self) -> None:
        sent: list[bytes] = []
        session = Session(sent.append)
        session.start_request("srlr")
        session.receive(reply("sele"))
        session.next_event()
        self.assertTrue(session.explain("srlr"))
        self.assertEqual(b"".join(sent[1:]), b"xy\0\2qedr\0\0")
        self.assertEqual(events(session, block("Y", b"e\ns off it is off\n\nl\nll x y") + reply("")), ["reply"])
        with self.assertRaises(AccessRefused) as caught:
            session.finish_request("srlr")
        self.assertEqual(caught.exception.reasons, {"s": ("off", "it is off")})
        self.assertIn("device s asked 'r' granted 'e': it is off; device l", str(caught.exception))

    def test_nothing_to_read(self) -> None:
        session = Session(lambda _: None)
        self.assertRaises(UsageError, session.check_readable)
        session.start_request("sr")  # its reply may still come
        session.check_readable()
        events(session, reply("se"))
        self.assertRaises(UsageError, session.check_readable)


class Unknown(unittest.TestCase):
    """A value that the hardware does not measure is None."""

    def test_none(self) -> None:
        self.assertEqual(decode_imu(b"\x80\0\0\0" * 9), IMU())
        self.assertEqual(decode_imu(bytes(36)), IMU._make([0] * 9))
        unknown = b"\x80\0\0\0"
        self.assertEqual(decode_gps(b"\xff\xff" + 3 * unknown + 8 * b"\xff" + bytes(8) + 8 * b"\xff"), GPS())
        self.assertFalse(GPS().has_place or GPS(fix=0, latitude_e7=1, longitude_e7=1).has_place)
        self.assertTrue(GPS(fix=1, latitude_e7=0, longitude_e7=0).has_place)
        self.assertEqual(decode_io(unknown + bytes(4)), IO([None, 0]))
        joints = decode_servo(unknown + bytes(4) + b"\x8a" + bytes(4) + unknown + b"\x0f").joints
        self.assertEqual(joints, [Joint(None, 0, 0x8A), Joint(0, None, 0x0F)])
        known, unsure = joints
        self.assertEqual((known.moving, known.powered, known.at_limit, known.failed), (False, True, False, True))
        self.assertEqual((unsure.moving, unsure.powered, unsure.at_limit, unsure.failed), (None,) * 4)

    def test_readings(self) -> None:
        ranger = Ranger(10, (0, 0xFFFD, 0xFFFE, 0xFFFF))
        self.assertEqual([ranger.mm(i) for i in range(4)], [0, 655330, None, None])


class Named(unittest.TestCase):
    """Devices without letters."""

    def setUp(self) -> None:
        self.sent: list[bytes] = []
        self.session: Any = Session(self.sent.append)
        self.list(DEVICES)

    def list(self, answer: bytes) -> None:
        self.session.start_question("d")
        self.assertEqual(events(self.session, (block("Y", answer) if answer else b"") + reply("")), ["reply"])
        self.session.finish_devices()
        self.sent.clear()

    def test_names(self) -> None:
        session = self.session
        session.start_request("\x82r\x83a")
        events(session, reply("\x82r\x83a"), block("\x82", bytes(35) + b"\1"))
        self.assertTrue(session.has("imu") and session.has("imu:0") and session.has("\x82"))
        self.assertEqual(session.data("imu").z_mm_per_s2, 1)
        self.assertEqual((session.access("servo"), session.access("laser:1")), ("a", ""))
        self.sent.clear()
        session.move_joint("servo", 1, None, 7)
        session.configure("laser:1", b"s")
        self.assertEqual(self.sent, [b"c\x83\0\x09\1\x80\0\0\0\0\0\0\7", b"x\x80\0\1s"])
        for call in (
            lambda: session.move_joint("servo", 256, 0),
            lambda: session.move_joint("servo", 0, 2**31),
            lambda: session.move_joint("servo", 0, 0, -1),
            lambda: session.move_joint("servo", 0, 0.5),
            lambda: session.set_output("io", 0, 1),
            lambda: session.has("gps"),
            lambda: session.is_listed("imu:"),
            lambda: session.is_listed(":1"),
            lambda: session.is_listed("imu:-1"),
        ):
            self.assertRaises(UsageError, call)

    # As objects, they have their data, and send the same commands.
    def test_objects(self) -> None:
        session = self.session
        pairs = session.pairs_of({"laser:1": "r", "servo": "all", "laser": "read", "position": "w"})
        self.assertEqual(pairs, "\x80r\x83alrpw")
        session.start_request(pairs)
        events(session, reply(pairs), block("\x80", bytes(720) + b"\0\7"))
        self.assertEqual([laser.name for laser in session.lasers], ["laser:0", "laser:1"])
        front, rear = session.lasers
        self.assertEqual((rear.ranges_mm[360], rear.has_data, rear.is_new, rear.access), (7, True, True, "r"))
        self.assertEqual((front.ranges_mm[360], front.has_data, front.is_new, front.age_us), (0, False, False, None))
        self.assertEqual((session.imu.data, session.imu.access), (IMU(), ""))
        self.assertEqual((len(session.lasers), len(session.gotos), len(session.sonars)), (2, 0, 0))
        self.sent.clear()
        session.servo.move(1, None, 7)
        session.servo.stop()
        self.assertEqual(self.sent, [b"c\x83\0\x09\1\x80\0\0\0\0\0\0\7", b"c\x83\0\x09\xff\x80\0\0\0\0\0\0\0"])
        self.assertRaises(NoDevice, lambda: session.lasers[2])
        self.assertRaises(UsageError, session.pairs_of, {"laser": "x"})
        with self.assertRaisesRegex(NoDevice, "started with -goto"):
            session.goto.stop()

    # A round keeps its data, whatever comes after it.
    def test_rounds(self) -> None:
        session = self.session
        pairs = "sr\x82r"
        session.start_request(pairs)
        events(session, reply(pairs), block("s", SONAR), block("\x82", bytes(36)))
        first = session.round()
        events(session, block("s", bytes(32)), block("\x82", b""))
        second = session.round()
        self.assertEqual((first.sonar[0], second.sonar[0], first.new), (1000, 0, "s\x82"))
        self.assertEqual((first.has("imu"), second.has("imu")), (True, False))
        self.assertEqual((first.is_new("sonar"), first.is_new("s"), first.is_new("laser")), (True, True, False))
        self.assertEqual((first.data("imu"), first.data("laser:1")), (IMU._make([0] * 9), None))
        self.assertRaises(UsageError, first.has, "gps")

    def test_goal(self) -> None:
        session = self.session
        self.list(DEVICES + b"\n132 goto 0 goto")
        session.start_request("\x84a")
        events(session, reply("\x84a"))
        self.sent.clear()
        session.goto.set_goal(4500.4, -1200, 90, speed_mm_per_s=1, turn_rate_deg_per_s=2, tolerance_mm=3, radius_mm=4, tag=65535)
        session.set_goal("goto", 0, 0)
        session.goto.stop()
        self.assertEqual(
            [m.hex() for m in self.sent],
            ["63840014 00001194 fffffb50 005a 0001 0002 0003 0004 ffff".replace(" ", ""), "63840014" + 16 * "0" + "ffff" + 20 * "0",
             "63840014 80000000".replace(" ", "") + 32 * "0"],
        )  # fmt: skip
        for call in (
            lambda: session.set_goal("goto", math.nan, 0),
            lambda: session.set_goal("goto", math.inf, 0),
            lambda: session.set_goal("goto", -(2**31), 0),
            lambda: session.set_goal("goto", 0, 2**31),
            lambda: session.set_goal("goto", 0, 0, -1),
            lambda: session.set_goal("goto", 0, 0, tag=65536),
            lambda: session.set_goal("servo", 0, 0),
        ):
            self.assertRaises(UsageError, call)
        self.assertRaises(ProtocolError, events, session, block("\x84", bytes(17)))
        events(session, block("\x84", bytes.fromhex("0203 0007 00001194 FFFFFB50 005A 00000064")))
        self.assertEqual(session.goto.data, (2, 3, 7, 4500, -1200, 90, 100))
        events(session, block("\x84", bytes.fromhex("0000 0000 80000000 80000000 FFFF FFFFFFFF")))
        self.assertEqual(session.goto.data, (0, 0, 0, None, None, None, None))

    def test_colors(self) -> None:
        self.session.start_question("v")
        lines = b"v 0 ffa500", b"v 31 00FF00 and more", b"v 32 ffffff", b"v 1 fff", b"v 1 0x1234", b"vision:9 1 ffffff", b"v 1"
        events(self.session, block("Y", b"\n".join((b"v", *lines))) + reply(""))
        found = self.session.finish_colors()
        self.assertEqual(found, [("v", 0, 0xFFA500), ("v", 31, 0x00FF00)])
        self.assertEqual(found[0].hex, "#ffa500")

    def test_codes(self) -> None:
        codes = [self.session.code_of(name) for name in ("laser", "laser:0", "laser:1", "imu")]
        self.assertEqual(codes, ["l", "l", "\x80", "\x82"])
        with self.assertRaises(NoDevice) as caught:
            self.session.code_of("gps")
        self.assertEqual(caught.exception.name, "gps:0")
        self.assertIn("laser:1, imu:0", str(caught.exception))
        self.list(b"")  # an older server
        self.assertEqual(self.session.code_of("sonar"), "s")
        self.assertRaises(NoDevice, self.session.code_of, "sonar:1")
        self.assertRaises(NoDevice, self.session.code_of, "gps")

    def test_refused(self) -> None:
        self.session.start_request("\x82rlr")
        events(self.session, reply("\x82ele"))
        self.assertTrue(self.session.explain("\x82rlr"))
        events(self.session, block("Y", b"e\nimu:0 hardware unplugged") + block("Y", b"e\nl off it is") + reply(""))
        with self.assertRaises(AccessRefused) as caught:
            self.session.finish_request("\x82rlr")
        self.assertEqual(caught.exception.reasons, {"imu:0": ("hardware", "unplugged"), "l": ("off", "it is")})
        self.assertIn("device imu:0 asked 'r' granted 'e': unplugged; device l asked", str(caught.exception))

    def test_parts(self) -> None:
        self.session.start_question("g")
        answer = b"g\nlaser:1 0 1 2 3 4 5 6 7\nlaser:7 0 1 2 3 4 5 6 7\nl 0 0 0 0 0 0 0 0"
        events(self.session, block("Y", answer) + reply(""))
        self.assertEqual([part.device for part in self.session.finish_geometry()], ["laser:1", "l"])


class Compact(unittest.TestCase):
    def test_golden(self) -> None:
        lines = GOLDEN.read_text().split()
        self.assertGreater(len(lines), 10)
        for packed, plain in zip(lines[::2], lines[1::2]):
            items = compact.blocks(bytes.fromhex(packed), lambda code: INTERFACES.get(chr(code), ""))
            self.assertEqual(b"".join(block(chr(code), payload) for code, payload in items).hex(), plain)

    # A round that is not whole is one block less; the next one is read.
    def test_wrong(self) -> None:
        session = opened("srzr")
        for item in (b"z\x05", b"z\x07\0", b"z\x05\2", b"z", b"g\x09\2\2", b"z" + 12 * b"\xff", b"l\x12\0\0\1\1"):
            with self.assertRaises(ProtocolError):
                events(session, block("Z", b"s\0" + item))
            self.assertEqual(events(session, block("Z", b"s\0z\x0d\0\2\1")), ["sz"])
        self.assertEqual(session.ptz, (0, 1, -1))


class Messages(unittest.TestCase):
    def test_other_messages(self) -> None:
        sent: list[bytes] = []
        session = Session(sent.append)
        session.start_request("ga")
        events(session, reply("ga"))
        session.set_gripper(1)
        session.configure("s", b"s")
        self.assertEqual(sent[1:], [b"cg\0\2\1\0", b"xs\0\1s"])

    def test_usage(self) -> None:
        sent: list[bytes] = []
        session: Any = Session(sent.append)
        for call in (
            lambda: session.set_speed(1, 1),
            lambda: session.start_request("s"),
            lambda: session.start_request("\u0442r"),
            lambda: session.set_frequency(0),
            lambda: session.set_frequency(65536),
            lambda: session.set_frequency(math.nan),
            lambda: session.set_frequency(1.5),
            lambda: session.set_speed(math.nan, 0),
            lambda: session.set_speed(0, math.inf),
            lambda: session.set_ptz(-math.inf, 0, 0),
            lambda: session.set_command_lifetime(math.nan),
            lambda: session.set_command_lifetime(math.inf),
            lambda: session.set_gripper(256),
            lambda: session.set_gripper(1.5),
            lambda: session.set_gripper(math.nan),
            lambda: session.has(""),
            lambda: session.has("imu"),
            lambda: session.has("sonar:1"),
            lambda: session.access(""),
            lambda: session.command("position", b""),
            lambda: session.configure("imu", b"R"),
            lambda: session.imu,
            lambda: session.lasers[0],
            lambda: session.configure("", b"R"),
            lambda: session.set_fresh(True),
            lambda: session.configure("y", bytes(513)),
        ):
            self.assertRaises(UsageError, call)
        self.assertEqual(sent, [])


class World(unittest.TestCase):
    def test_mover(self) -> None:
        r0 = Mover("r0", True, 1, -0.5, 90)
        state = SimulationState(1.5, 0, True, False, 7, [r0])
        self.assertEqual((state.mover("r0"), r0.sees), (r0, ()))
        self.assertRaises(KeyError, state.mover, "r2")


if __name__ == "__main__":
    unittest.main()
