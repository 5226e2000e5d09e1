"""player_log against logs that the real server wrote, and against logs made by hand."""

from __future__ import annotations

import csv
import struct
import subprocess
import sys
import tempfile
import types
import unittest
import unittest.mock
import zlib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import player_log
from playerclient import PlayerClient

from .blocks import NO_BLOBS, POSITION, VISION
from .server import LIMIT, REPOSITORY, RealServer

SCHEMAS = {
    "/position": "u32 server_time_ms\ni32 x_mm\ni32 y_mm\nu16 heading_deg\ni16 speed_mm_per_s\ni16 turn_rate_deg_per_s\n"
    "u16 compass_deg\nu8 stall",
    "/vision": "blobs",
    "/gripper": "bits8 open closed\nchar letter\nu16[2] range#_mm\nrest more",
    "/strange": "f64 no_such_type",
}


def record(kind: int, content: bytes) -> bytes:
    return struct.pack("<BQ", kind, len(content)) + content


def string(text: str) -> bytes:
    return struct.pack("<I", len(text.encode())) + text.encode()


def message(topic: str, nanoseconds: int, payload: bytes) -> bytes:
    number = list(SCHEMAS).index(topic) + 1
    return record(5, struct.pack("<HIQQ", number, 0, nanoseconds, nanoseconds) + payload)


def chunk(content: bytes, compression: str = "", crc: int = 0) -> bytes:
    head = struct.pack("<QQQI", 0, 0, len(content), crc or zlib.crc32(content))
    return record(6, head + string(compression) + struct.pack("<Q", len(content)) + content)


def channels() -> bytes:
    made = b""
    for number, (topic, schema) in enumerate(SCHEMAS.items(), 1):
        made += record(3, struct.pack("<H", number) + string("player" + topic) + string("player") + string(schema))
        made += record(4, struct.pack("<HH", number, number) + string(topic) + string("player") + string(""))
    return made


HEADER = player_log.MAGIC + record(1, string("player") + string("test"))
P = message("/position", 2_000_000_000, POSITION)


class ByHand(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def read(self, *parts: bytes) -> player_log.Log:
        path = self.folder / "run.mcap"
        path.write_bytes(HEADER + b"".join(parts))
        return player_log.read(str(path))

    def test_types(self) -> None:
        log = self.read(
            chunk(
                channels() + P + message("/gripper", 1_500_000_000, b"\2G\0\7\1\0xyz") + message("/gripper", 2_500_000_000, b"\1\7\0")
                + message("/vision", 2_000_000_000, VISION) + message("/vision", 2_000_000_000, NO_BLOBS)
                + message("/vision", 2_000_000_000, VISION[:-1]) + message("/strange", 2_000_000_000, b"\1\2")
            ),
            record(15, bytes(4)), player_log.MAGIC,
        )  # fmt: skip
        self.assertEqual(log.damage, [])
        self.assertEqual(log.topics, ["/position", "/gripper", "/vision", "/strange"])
        self.assertEqual(log["/position"].rows, [[0.5, 2.0, 123456, 1111, -2222, 45, 100, -20, 270, 1]])
        self.assertEqual(log["/gripper"].columns, "time_s unix_s open closed letter range0_mm range1_mm more".split())
        self.assertEqual(log["/gripper"].rows, [[0, 1.5, 0, 1, "G", 7, 256, b"xyz"], [1, 2.5, 1, 0, 7, None, None, b""]])
        self.assertEqual(
            [row[2:] for row in log["/vision"].rows],
            [[3, 1234, 80, 60, 70, 90, 50, 60], [3, 2**24 - 1, 254, 0, 254, 0, 254, 0], [None] * 8, [None] * 8],
        )
        self.assertEqual(log["/strange"]["payload"], [b"\1\2"])

    def test_fields_that_repeat(self) -> None:
        columns, decode = player_log.parse_schema("u8 kind\nrepeat\ni16 x#_mm\nu8 state#")
        self.assertEqual(columns(8), ["kind", "x0_mm", "state0", "x1_mm", "state1"])
        self.assertEqual(decode(b"\7\0\1\2\xff\xff\3\x09"), [[7, 1, 2, -1, 3]])
        for schema in ("repeat", "repeat\nrest x", "repeat\nu8[3] x#"):
            self.assertEqual(player_log.parse_schema(schema)[0](9), ["payload"])

    def test_damage(self) -> None:
        good = chunk(channels() + P)
        for parts, rows in (
            ([good, chunk(P, crc=1), chunk(P)], 2),  # a damaged chunk
            ([good, chunk(P[:-1])], 1),
            ([good, chunk(P)[:-5]], 1),  # the server was killed
            ([good, b"\6\1"], 1),
            ([good, struct.pack("<BQ", 6, 1 << 60)], 1),
            ([good, record(6, b"short")], 1),
            ([good, chunk(record(5, b"short") + P)], 2),
            ([good, chunk(record(5, struct.pack("<HIQQ", 99, 0, 0, 0)) + P)], 2),
            ([good, chunk(record(4, struct.pack("<HHI", 9, 1, 1000)) + P)], 2),
        ):
            log = self.read(*parts)
            self.assertEqual((len(log["/position"]), len(log.damage)), (rows, 1), log.damage)

    def test_damaged_first_chunk(self) -> None:
        body = chunk(channels() + P, crc=1) + chunk(P) + chunk(P) + record(15, bytes(4))
        begin = len(HEADER + body)
        footer = struct.pack("<BQQQ", 2, 20, begin, 0)
        crc = zlib.crc32(channels() + footer)
        for said, rows, damage in ((crc, 2, 1), (0, 2, 1), (crc + 1, 0, 3)):  # zero: there is none
            log = self.read(body, channels(), footer, struct.pack("<I", said), player_log.MAGIC)
            self.assertEqual((sum(map(len, log.tables.values())), len(log.damage)), (rows, damage), log.damage)

    def test_every_end(self) -> None:
        whole = chunk(channels() + P) + chunk(P)
        for end in range(len(whole)):
            log = self.read(whole[:end])
            self.assertLessEqual(sum(len(table) for table in log.tables.values()), 1)
        self.assertEqual(len(self.read(whole)["/position"]), 2)

    def test_no_log(self) -> None:
        path = self.folder / "text"
        path.write_text("no log")
        self.assertRaises(player_log.LogError, player_log.read, str(path))
        self.assertRaises(player_log.LogError, self.read, chunk(b"", compression="snappy"))
        with unittest.mock.patch.dict(sys.modules, {"zstandard": None}):
            with self.assertRaisesRegex(player_log.LogError, "pip install zstandard"):
                self.read(chunk(b"", compression="zstd"))

    # A damaged chunk has errors of the library's own, and sizes that no memory has.
    def test_damaged_compression(self) -> None:
        class ZstdError(Exception):
            pass

        library: Any = types.ModuleType("zstandard")
        library.ZstdDecompressor = unittest.mock.Mock(side_effect=ZstdError("no frame"))
        with unittest.mock.patch.dict(sys.modules, {"zstandard": library}):
            if sys.version_info < (3, 14):  # from then on it is Python's own library, with its own text
                self.assertEqual(self.read(chunk(b"x", compression="zstd")).damage, ["a chunk: zstd: no frame"])
        large = bytearray(chunk(b"x"))
        large[9 + 16 : 9 + 24] = struct.pack("<Q", 1 << 62)
        self.assertEqual(self.read(bytes(large)).damage, [f"a chunk: {1 << 62} bytes are not a size"])

    def test_empty(self) -> None:
        log = self.read(chunk(channels()))
        self.assertEqual((log.topics, log.damage), ([], []))

    def test_topic_of_a_stranger(self) -> None:
        topic = "/a\x1b[2J\u202e"
        path = self.folder / "run.mcap"
        path.write_bytes(
            HEADER + record(3, struct.pack("<H", 1) + string("s") + string("player") + string("u8 a"))
            + record(4, struct.pack("<HH", 1, 1) + string(topic) + string("player") + string(""))
            + record(5, struct.pack("<HIQQ", 1, 0, 1, 1) + b"\7")
        )
        shown = subprocess.run([sys.executable, player_log.__file__, str(path)], stdout=subprocess.PIPE, check=True, timeout=LIMIT)
        self.assertEqual(shown.stdout.decode(), "/a\\x1b[2J\\u202e: 1 rows, 3 columns, 0.000 to 0.000 s\n")

    def test_plot(self) -> None:
        moved = [struct.pack(">Iii", 0, 2000 * i, -500 * i) + POSITION[12:] for i in range(3)]
        log = self.read(chunk(channels() + b"".join(message("/position", i, payload) for i, payload in enumerate(moved))))
        picture = self.folder / "path.svg"
        log.plot(str(picture))
        with self.assertRaisesRegex(player_log.LogError, "/vision has no x_mm"):
            self.read(chunk(channels() + message("/vision", 1, VISION))).plot(str(picture), "/vision")
        root = ElementTree.parse(picture).getroot()
        line = root.find("{http://www.w3.org/2000/svg}polyline")
        assert line is not None
        # 540 pixels are 4 m; y grows downward in a picture.
        self.assertEqual(line.get("points"), "30.0,435.0 300.0,502.5 570.0,570.0")
        self.assertEqual(root.findtext("{http://www.w3.org/2000/svg}text"), "1 m")
        ElementTree.fromstring(player_log.draw([]))
        dotted = ElementTree.fromstring(player_log.draw([(0, 0), (4000, 0)], [(2000, 0), (2000.4, 0), (0, 4000)]))
        path = dotted.find("{http://www.w3.org/2000/svg}path")
        assert path is not None
        self.assertEqual(path.get("d"), "M30 30h2M300 570h2")

    def test_geometry(self) -> None:
        for text, want in (
            ("80 -1.5 180 156 155", player_log.Geometry(80, -1.5, 180, 156, 155)),
            ("80 0 0", None),
            ("far out of the way up", None),
        ):
            pairs = string("other") + string("1") + string("geometry") + string(text)
            channel = struct.pack("<HH", 1, 0) + string("/laser") + string("player") + struct.pack("<I", len(pairs)) + pairs
            log = self.read(chunk(record(4, channel) + message("/position", 1, b"")))
            self.assertEqual((log["/laser"].geometry, log.damage), (want, []))

    def test_frame(self) -> None:
        made: list[Any] = []

        class DataFrame:
            def __init__(self, rows: Any, columns: Any) -> None:
                made.append((rows, columns))

            def set_index(self, column: str) -> str:
                return "indexed by " + column

        pandas = types.SimpleNamespace(DataFrame=DataFrame)
        table = self.read(chunk(channels() + P))["/position"]
        with unittest.mock.patch.dict(sys.modules, {"pandas": pandas}):
            self.assertEqual(table.frame(), "indexed by time_s")
        self.assertEqual(made, [(table.rows, table.columns)])


class Real(unittest.TestCase):
    """The tables equal the output of player export."""

    def test_export(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder, "record.cfg")
            devices = " ".join(f'"{name}:0"' for name in ("position", "sonar", "laser", "misc", "gripper", "vision", "ptz"))
            config.write_text(
                f'driver ( name "stage" world "{REPOSITORY}/simulation/worlds/room.world" )\n'
                f'driver ( name "writelog" file "run.mcap" requires [{devices}] )\n'
            )
            server = RealServer(str(config))
            self.addCleanup(server.close)
            with PlayerClient("localhost", server.port) as robot:
                robot.request("srlrmrgrvrzapa", LIMIT)
                robot.change_motor_state(True)
                for i in range(15):
                    robot.read(LIMIT)
                    robot.set_speed(200, 10 * i)
                robot.set_ptz(10, 5, 100)
            server.stop()
            path = str(Path(folder, "run.mcap"))
            subprocess.run([server.program, "export", path, folder], check=True, capture_output=True)
            log = player_log.read(path)
            self.assertEqual(log.damage, [])
            picture = Path(folder, "map.svg")
            notebook = [sys.executable, "-m", "examples.notebook", path, str(picture)]
            printed = subprocess.run(notebook, cwd=Path(__file__).parents[1], check=True, capture_output=True, text=True, timeout=LIMIT).stdout
            self.assertRegex(printed, r"nearest thing: [1-9]\d* mm")
            self.assertIn("h2M", ElementTree.parse(picture).getroot()[1].get("d", ""))
            tables: dict[str, list[list[str]]] = {}
            for file in Path(folder).glob("*.csv"):
                with file.open(newline="") as f:
                    tables["/" + file.stem.replace("-", "/")] = list(csv.reader(f))
            self.assertEqual(sorted(log.topics), sorted(tables))
            self.assertIn("/position/command", tables)
            self.assertIn("/position/configuration", tables)
            for topic, (columns, *rows) in tables.items():
                self.assertEqual(log[topic].columns, columns)
                self.assertEqual(len(log[topic]), len(rows), topic)
                for got, want in zip(log[topic].rows, rows):
                    for i in range(2):  # cut to microseconds
                        self.assertAlmostEqual(got[i], float(want[i]), delta=2e-6)
                    self.assertEqual([csv_text(value) for value in got[2:]], want[2:], topic)


def csv_text(value: Any) -> str:
    if value is None:
        return ""
    return value.hex() if isinstance(value, bytes) else str(value)


if __name__ == "__main__":
    unittest.main()
