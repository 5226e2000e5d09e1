"""The simulation, against a scripted server. The conformance suite has the real one."""

from __future__ import annotations

import json
import socket
import unittest
from typing import Callable, Type
from urllib.parse import unquote

from playerclient import (
    ConnectionClosed,
    Mover,
    PlayerError,
    ProtocolError,
    Sighting,
    Simulation,
    SimulationRefused,
    TimedOut,
)

from .server import Script

STATE = {"time": 1.5, "speed": 0, "paused": True, "finished": False, "seed": 7, "later": "more",
         "movers": [{"name": "r0", "robot": True, "x": 1, "y": -0.5, "heading": 90, "later": 1},
                    {"name": "r1", "robot": True, "x": 1, "y": 2, "heading": 0,
                     "sees": [{"name": "r0", "id": 7, "range": 2.5, "bearing": -90, "later": 2}]}]}  # fmt: skip


def answering(status: str, text: str, want: str = "") -> Callable[[socket.socket], None]:
    """A server that wants a request to begin with a text, and answers it."""
    return sending(f"HTTP/1.1 {status}\r\nContent-Length: {len(text.encode())}\r\n\r\n{text}", want)


def sending(reply: str, want: str = "") -> Callable[[socket.socket], None]:
    def serve(connection: socket.socket) -> None:
        got = b""
        while b"\r\n\r\n" not in got:
            got += connection.recv(4096)
        if not unquote(got.decode()).startswith(want):
            raise AssertionError(f"got {got!r}, want {want}")
        connection.sendall(reply.encode())

    return serve


class Simulating(unittest.TestCase):
    def test_state(self) -> None:
        script = Script(answering("200 OK", json.dumps(STATE), "GET /simulation HTTP/1.1"))
        state = Simulation("127.0.0.1", script.port).state()
        self.assertEqual(state[:5], (1.5, 0, True, False, 7))
        self.assertEqual(state.mover("r0"), Mover("r0", True, 1, -0.5, 90))
        self.assertEqual(state.mover("r1").sees, (Sighting("r0", 7, 2.5, -90),))
        self.assertRaises(KeyError, state.mover, "r2")
        script.done()

    def test_order(self) -> None:
        want = (
            'POST /simulation?order={"reset":true,"step":5,"seed":7,"move":[{"name":"a b&c","x":1,"y":2.5,"heading":-90}],'
            '"speed":0,"pause":false} HTTP/1.1'
        )
        script = Script(answering("200 OK", json.dumps(STATE), want))
        world = Simulation("127.0.0.1", script.port)
        world.order(reset=True, seed=7, move={"a b&c": (1, 2.5, -90)}, speed=0, pause=False, step=5)
        script.done()

    def test_errors(self) -> None:
        cases = [
            (answering("409 Conflict", "there is no room for r0\n"), SimulationRefused, "there is no room for r0"),
            (answering("409 Conflict", "no\x1b[2J\u202e"), SimulationRefused, "no?[2J?"),
            (answering("400 Bad Request", "write step 0 to 1000"), SimulationRefused, "write step"),
            (answering("404 Not Found", "404 page not found"), PlayerError, "start the server with -stage and -http"),
            (answering("403 Forbidden", "your computer may read"), PlayerError, "403 your computer may read"),
            (answering("200 OK", "<html>"), ProtocolError, "is no dashboard of Player"),
            (answering("200 OK", "[]"), ProtocolError, "is no dashboard of Player"),
            (sending(""), ConnectionClosed, "without response"),
            (sending("pr" * 20), ConnectionClosed, "pr" * 20),
        ]
        for serve, kind, text in cases:
            script = Script(serve)
            self.fails(kind, text, Simulation("127.0.0.1", script.port))
            script.done()
        with socket.create_server(("127.0.0.1", 0)) as silent:
            port = silent.getsockname()[1]
            self.fails(TimedOut, "did not answer in 0.05 s", Simulation("127.0.0.1", port, timeout=0.05))
        self.fails(ConnectionClosed, "refused", Simulation("127.0.0.1", port))

    def fails(self, kind: Type[PlayerError], text: str, world: Simulation) -> None:
        with self.assertRaises(PlayerError) as caught:
            world.order(reset=True)
        self.assertIs(type(caught.exception), kind)
        self.assertIn(text, str(caught.exception))
