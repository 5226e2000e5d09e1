"""Servers for the tests: a scripted one, and the real one."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading
import unittest
from collections.abc import Callable
from pathlib import Path


LIMIT = 30.0
"""Seconds after which a wait has failed."""
REPOSITORY = Path(__file__).parents[3]


class Script:
    """A server of which each connection is served by the next function. The functions run
    in a thread; done reports their errors."""

    def __init__(self, *serve: Callable[[socket.socket], None]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(LIMIT)
        self.port: int = self._listener.getsockname()[1]
        self._errors: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, args=serve, daemon=True)
        self._thread.start()

    def _run(self, *serve: Callable[[socket.socket], None]) -> None:
        try:
            for function in serve:
                connection, _ = self._listener.accept()
                connection.settimeout(LIMIT)
                with connection:
                    function(connection)
        except BaseException as e:
            self._errors.append(e)

    def done(self) -> None:
        """Waits for the end of the script."""
        self._thread.join(LIMIT)
        self._listener.close()
        if self._errors:
            raise self._errors[0]
        if self._thread.is_alive():
            raise AssertionError("the script has not ended")


def take(connection: socket.socket, size: int) -> bytes:
    """Returns the next bytes of the client, fewer at its end."""
    got = b""
    while len(got) < size:
        more = connection.recv(size - len(got))
        if not more:
            break
        got += more
    return got


def expect(connection: socket.socket, want: bytes) -> None:
    got = take(connection, len(want))
    if got != want:
        raise AssertionError(f"the client sent {got.hex()}, want {want.hex()}")


def expect_end(connection: socket.socket) -> None:
    expect(connection, b"")
    if connection.recv(1):
        raise AssertionError("the client has not closed the connection")


def free_port() -> int:
    """Returns a port that was free a moment ago, below those that the kernel gives to clients."""
    while True:
        port = random.randrange(20000, 30000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def certify(folder: str) -> None:
    """Makes certificates by the commands of docs/TLS.md."""
    script = (REPOSITORY / "docs" / "TLS.md").read_text().split("<!-- certificates -->")[1]
    commands = "\n".join(line for line in script.splitlines() if line.startswith("    "))
    subprocess.run(["sh", "-ec", commands], cwd=folder, check=True, capture_output=True, timeout=LIMIT)


class RealServer:
    """The program of this repository, by default with a simulated robot. Its path is in the
    environment variable PLAYER, otherwise it is built."""

    def __init__(self, *arguments: str, http: str = "off") -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._process: subprocess.Popen[str] | None = None
        program = os.environ.get("PLAYER")
        if not program:
            if not shutil.which("go") and "CI" not in os.environ:
                raise unittest.SkipTest("neither PLAYER nor go")
            program = str(Path(self._folder.name, "player"))
            subprocess.run(["go", "build", "-o", program, "."], cwd=REPOSITORY, check=True)
        self.program: str = program
        for _ in range(10):  # another program may take a free port before the server does
            self.port = free_port()
            self._process = subprocess.Popen(
                [program, *(arguments or ("-stage", "simulation/worlds/room.world")), "-http", http, "-gp", str(self.port)],
                cwd=REPOSITORY, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            )  # fmt: skip
            assert self._process.stderr
            if any('"serving"' in line for line in self._process.stderr):
                threading.Thread(target=self._process.stderr.read, daemon=True).start()
                return
            self._process.wait()
            self._process.stderr.close()
        raise AssertionError("the server does not start")

    def stop(self) -> None:
        """Ends the program and waits until it has."""
        if self._process:
            self._process.terminate()
            self._process.wait(LIMIT)
            if self._process.stderr:
                self._process.stderr.close()
            self._process = None

    def close(self) -> None:
        self.stop()
        self._folder.cleanup()
