"""The core: every block, every split, rounds, ages and messages."""

from __future__ import annotations

import math
import operator
import unittest
from typing import Any, List

from playerclient import AccessRefused, Event, GripperCommand, ProtocolError, Session, UsageError
from playerclient.data import decode_vision

from .blocks import DATA, LASER, MISC, NO_BLOBS, POSITION, PTZ_, SONAR, VISION, aged, block, reply


def value(session: Session, attribute: str) -> Any:
    got = operator.attrgetter(attribute)(session)
    if attribute in ("sonar", "laser"):
        return list(got)
    if attribute == "freshness":
        return got._replace(ages=list(got.ages))
    return got


def events(session: Session, *pieces: bytes) -> List[str]:
    """Returns the new devices of each round, and the text of each reply."""
    found: List[str] = []
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


P, S, L, M, Z = (block(letter, payload) for letter, payload in (("p", POSITION), ("s", SONAR), ("l", LASER), ("m", MISC), ("z", PTZ_)))

# What the server sent, and what follows from it.
SESSIONS = [
    ("in the order of the request", reply("zrprlr") + 2 * (Z + P + L), ["reply", "lpz", "lpz"]),
    ("incremental opening", reply("lr") + L + reply("sr") + L + S + reply("pr") + L + S + P,
     ["reply", "l", "reply", "ls", "reply", "lps"]),
    ("a closed device", reply("srprzr") + S + P + Z + reply("sc") + P + Z + reply("lr") + P + Z + L,
     ["reply", "psz", "reply", "pz", "reply", "lpz"]),
    ("write-only in between", reply("srpwzr") + S + Z + reply("pa") + S + P + Z, ["reply", "sz", "reply", "psz"]),
    ("failed in between", reply("srqepr") + S + P, ["reply", "ps"]),
    ("a round that broke off", reply("srpr") + S + S + P, ["reply", "ps"]),
    ("a reply within a round", reply("srprmr") + S + reply("sc") + P + M, ["reply", "reply", "mp"]),
    ("unknown letters", reply("XrUr") + block("X", b"\7") + block("Q", b"12345") + block("U", b""), ["reply", "UX"]),
    ("with y", reply("sryrpr") + 2 * (aged(16, 1, 2) + S + P), ["reply", "psy", "psy"]),
    ("only y", reply("yr") + aged(16) + aged(32), ["reply", "y", "y"]),
    ("only new data", reply("yrsrpr") + aged(16, 1) + S + aged(32, 2) + P, ["reply", "sy", "py"]),
    ("y closed again", reply("yrsr") + aged(16, 1) + S + reply("yc") + S, ["reply", "sy", "reply", "s"]),
]  # fmt: skip


class Parsing(unittest.TestCase):
    def test_every_block(self) -> None:
        for letter, (payload, attribute, want) in DATA.items():
            with self.subTest(letter):
                session = opened(letter + "r")
                self.assertFalse(session.has(letter))
                self.assertEqual(events(session, block(letter, payload)), [letter])
                self.assertEqual(value(session, attribute), want)
                self.assertTrue(session.has(letter))
                self.assertEqual(session.raw(letter), payload)

    def test_every_split(self) -> None:
        every = "".join(letter + "r" for letter in DATA if letter != "y")
        whole = reply(every) + b"".join(block(letter, DATA[letter][0]) for letter in every[::2])
        for at in range(len(whole)):
            session = Session(lambda _: None)
            session.start_request(every)
            self.assertEqual(events(session, whole[:at], whole[at:]), ["reply", "gjlmpsvz"], at)
            for letter in every[::2]:
                self.assertEqual(value(session, DATA[letter][1]), DATA[letter][2], (at, letter))

    def test_rounds_in_pieces(self) -> None:
        for name, stream, want in SESSIONS:
            for size in (1, 2, 3, 7, len(stream)):
                with self.subTest(name, size=size):
                    pieces = [stream[i : i + size] for i in range(0, len(stream), size)]
                    self.assertEqual(events(Session(lambda _: None), *pieces), want)

    def test_no_data_yet(self) -> None:
        session = opened("srvr")
        self.assertEqual(events(session, block("s", b"") + block("v", NO_BLOBS)), ["sv"])
        self.assertFalse(session.has("s"))
        self.assertTrue(session.has("v"))
        self.assertEqual(session.vision.active_channels, [])
        self.assertEqual(list(session.sonar), [0] * 16)
        self.assertIsNone(session.raw("p"))

    def test_wrong_sizes(self) -> None:
        for letter, (payload, _, _) in DATA.items():
            for wrong in (payload[:-1], payload + b"\1"):
                with self.subTest(letter, size=len(wrong)):
                    session = opened(letter + "r")
                    session.receive(2 * block(letter, wrong) + block(letter, payload))
                    for _ in range(2):
                        self.assertRaises(ProtocolError, session.next_event)
                        self.assertFalse(session.has(letter))
                    self.assertIs(session.next_event(), Event.ROUND)
                    self.assertTrue(session.has(letter))

    def test_vision_that_is_none(self) -> None:
        for change in ((0, 2), (7, 0), (7, 12), (64, 0), (64, 65), (68, 0)):
            broken = bytearray(VISION)
            broken[change[0]] = change[1]
            self.assertRaises(ProtocolError, decode_vision, bytes(broken))

    def test_large_blocks(self) -> None:
        session = opened("Xr")
        self.assertEqual(events(session, block("X", bytes(65535))), ["X"])
        self.assertEqual(session.raw("X"), bytes(65535))
        for _ in range(1000):  # memory is bounded: what was used is dropped
            events(session, block("X", b"12")[:4], block("X", b"12")[4:])
        self.assertLess(len(session._buffer), 10)  # pyright: ignore[reportPrivateUsage]

    def test_gripper_bits(self) -> None:
        gripper = opened("gr").gripper._replace(state=0b10000001, beams=0b00100100)
        self.assertTrue(gripper.paddles_open and gripper.lift_error and gripper.outer_beam_obstructed and gripper.right_paddle_open)
        self.assertFalse(gripper.paddles_closed or gripper.lift_up or gripper.inner_beam_obstructed or gripper.grip_limit_reached)


class Ages(unittest.TestCase):
    def test_ages(self) -> None:
        session = opened("yrsrpr")
        self.assertIsNone(session.age_us("s"))
        events(session, aged(1000, 7, 0xFFFFFFFF) + S + block("p", b""))
        self.assertEqual((session.age_us("s"), session.age_us("p"), session.age_us("y")), (7, None, None))
        events(session, aged(1500, 1) + P)  # the data of sonar is older now
        self.assertEqual((session.age_us("s"), session.age_us("p")), (507, 1))
        self.assertEqual((session.new, session.freshness.time), ("py", 1500))
        events(session, reply("yc"))
        self.assertIsNone(session.age_us("s"))

    def test_wrong_order(self) -> None:
        session = opened("yrsr")
        for wrong in (S, block("y", b""), block("y", b"1234567"), block("y", bytes(9))):
            session.receive(wrong)
            self.assertRaises(ProtocolError, session.next_event)
        self.assertEqual(events(session, aged(16, 1) + S), ["sy"])


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
        sent: List[bytes] = []
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

    def test_superset(self) -> None:
        session = opened("sr")
        session.start_request("sw")
        self.assertEqual(events(session, reply("sa")), ["reply"])
        self.assertFalse(session.explain("sw"))
        self.assertEqual(session.finish_request("sw"), "sa")

    def test_late_reply(self) -> None:
        session = Session(lambda _: None)
        session.start_request("sr")
        session.start_request("pa")  # the first one timed out
        self.assertEqual(events(session, reply("sr") + S + reply("pa")), ["s", "reply"])
        self.assertEqual(session.finish_request("pa"), "pa")

    def test_reply_of_another_request(self) -> None:
        session = opened("sr")
        self.assertRaises(ProtocolError, session.finish_request, "pr")
        self.assertRaises(ProtocolError, session.finish_request, "srpr")

    def test_nothing_to_read(self) -> None:
        session = Session(lambda _: None)
        self.assertRaises(UsageError, session.check_readable)
        session.start_request("sr")  # its reply may still come
        session.check_readable()
        events(session, reply("se"))
        self.assertRaises(UsageError, session.check_readable)


class Messages(unittest.TestCase):
    def test_every_message(self) -> None:
        sent: List[bytes] = []
        session = Session(sent.append)
        session.start_request("pazaga")
        session.receive(reply("pazaga"))
        session.next_event()
        for send, want in (
            (lambda: session.start_request("yr"), "64720002 7972"),
            (lambda: session.set_speed(100, -20), "63700004 0064 FFEC"),
            (lambda: session.set_speed(99999, -99999), "63700004 7FFF 8000"),
            (lambda: session.set_ptz(-30, 10, 512), "637A0006 FFE2 000A 0200"),
            (lambda: session.set_gripper(GripperCommand.GRIP_PRESS, 20), "63670002 10 14"),
            (lambda: session.set_gripper(1), "63670002 01 00"),
            (lambda: session.set_data_mode(1), "78790002 72 01"),
            (lambda: session.set_frequency(1000), "78790003 66 03E8"),
            (lambda: session.request_data(), "78790001 64"),
            (lambda: session.change_motor_state(True), "78700002 6D 01"),
            (lambda: session.reset_position(), "78700001 52"),
            (lambda: session.change_velocity_control(1), "78700002 76 01"),
            (lambda: session.set_fresh(False), "78790002 6E 00"),
            (lambda: session.configure("s", b"s"), "78730001 73"),
        ):
            send()
            self.assertEqual(sent[-1], bytes.fromhex(want))

    def test_usage(self) -> None:
        sent: List[bytes] = []
        session = Session(sent.append)
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
            lambda: session.has("sonar"),
            lambda: session.access(""),
            lambda: session.command("position", b""),
            lambda: session.configure("position", b"R"),
            lambda: session.configure("", b"R"),
            lambda: session.set_fresh(True),
            lambda: session.configure("y", bytes(513)),
        ):
            self.assertRaises(UsageError, call)
        self.assertEqual(sent, [])


if __name__ == "__main__":
    unittest.main()
