"""The core, from inside: what the cases of clients/conformance do not have."""

from __future__ import annotations

import math
import unittest
from typing import List

from playerclient import AccessRefused, Event, Mover, Session, SimulationState, UsageError

from .blocks import NO_BLOBS, block, reply


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
        for _ in range(1000):  # memory is bounded: what was used is dropped
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

    def test_nothing_to_read(self) -> None:
        session = Session(lambda _: None)
        self.assertRaises(UsageError, session.check_readable)
        session.start_request("sr")  # its reply may still come
        session.check_readable()
        events(session, reply("se"))
        self.assertRaises(UsageError, session.check_readable)


class Messages(unittest.TestCase):
    def test_other_messages(self) -> None:
        sent: List[bytes] = []
        session = Session(sent.append)
        session.start_request("ga")
        events(session, reply("ga"))
        session.set_gripper(1)
        session.configure("s", b"s")
        self.assertEqual(sent[1:], [b"cg\0\2\1\0", b"xs\0\1s"])

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


class World(unittest.TestCase):
    def test_mover(self) -> None:
        r0 = Mover("r0", True, 1, -0.5, 90)
        state = SimulationState(1.5, 0, True, False, 7, [r0])
        self.assertEqual((state.mover("r0"), r0.sees), (r0, ()))
        self.assertRaises(KeyError, state.mover, "r2")


if __name__ == "__main__":
    unittest.main()
