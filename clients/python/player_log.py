"""Reads a log of the driver writelog (docs/LOGS.md) into lists. One file without dependencies:
copy it next to your notebook.

    import player_log
    log = player_log.read("run.mcap")
    log.topics                                 # ["/laser", "/position", "/position/command"]
    position = log["/position"]
    position.columns                           # ["time_s", "unix_s", "server_time_ms", "x_mm", ...]
    position.rows[0]                           # [0.0, 1763798400.1, 1520, 0, ...]
    position["x_mm"]                           # a column as a list
    position.frame()                           # a pandas DataFrame, if pandas is installed
    position.geometry                          # the device's place on the robot, if it was declared
    log.plot("path.svg")                       # the path of the robot as a picture

    python3 player_log.py run.mcap             # prints the topics
    python3 player_log.py run.mcap path.svg    # draws the path

The tables equal the output of `player export`: time_s is the time since the first message of the log,
unix_s since 1970, and the other columns have their unit in the name. A vision message has a row
for each blob, or one without values. Missing values are None.
"""

from __future__ import annotations

import importlib
import io
import re
import struct
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

MAGIC = b"\x89MCAP0\r\n"
# Records of MCAP (https://mcap.dev/spec).
FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK = 0x02, 0x03, 0x04, 0x05, 0x06
LARGEST_RECORD = 1 << 30
"""Bytes. A larger size is a damaged one: logs have chunks of some 100 KB."""


class LogError(Exception):
    """The file is not a log, or this program cannot read it."""


class Geometry(NamedTuple):
    """A device's place on the robot: forward and to the left of its centre of rotation, the
    direction counterclockwise, and the size."""

    x_mm: float
    """mm ahead of the centre of rotation."""
    y_mm: float
    """mm to the left of it."""
    heading_deg: float
    """deg, counterclockwise."""
    length_mm: float
    """mm along its heading."""
    width_mm: float
    """mm across its heading."""


class Table:
    """The messages of one topic. geometry is None if the configuration did not declare it."""

    def __init__(self, topic: str, columns: list[str], geometry: Geometry | None = None) -> None:
        self.topic = topic
        self.columns = columns
        self.geometry = geometry
        self.rows: list[list[Any]] = []

    def __getitem__(self, column: str) -> list[Any]:
        """Returns a column."""
        at = self.columns.index(column)
        return [row[at] for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def frame(self) -> Any:
        """Returns a pandas DataFrame with time_s as its index."""
        pandas: Any = importlib.import_module("pandas")  # only for those who call this
        return pandas.DataFrame(self.rows, columns=self.columns).set_index("time_s")


Point = tuple[float, float]


class Log:
    """The tables of a log by topic, in the order of their first message. damage lists what could
    not be read: the parts of a damaged file, or the end of one that was not closed."""

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self.damage: list[str] = []

    @property
    def topics(self) -> list[str]:
        """The topics, for example /position, in the order of their first message."""
        return list(self.tables)

    def __getitem__(self, topic: str) -> Table:
        return self.tables[topic]

    def plot(self, path: str, topic: str = "/position", dots: Sequence[Point] = ()) -> None:
        """Writes an SVG picture of the robot's path: odometry, x to the right, with its start (a
        circle), its end (a dot) and a scale, and dots at other points in mm."""
        table = self.tables[topic]
        if not {"x_mm", "y_mm"} <= set(table.columns):
            raise LogError(f"{topic} has no x_mm and y_mm")
        points = [(x, y) for x, y in zip(table["x_mm"], table["y_mm"]) if x is not None and y is not None]
        with open(path, "w", encoding="utf-8") as file:
            file.write(draw(points, dots))


def read(path: str) -> Log:
    """Reads a log. Damaged parts are left out: see Log.damage. A log may be read while it is
    being written."""
    log = Log()
    first: int | None = None
    decoders: dict[int, tuple[Table, Columns, Decoder]] = {}
    for channel, topic, schema, geometry, nanoseconds, payload in messages(path, log.damage):
        if channel not in decoders:
            columns, decode = parse_schema(schema)
            table = log.tables.setdefault(topic, Table(topic, ["time_s", "unix_s", *columns(len(payload))], geometry))
            decoders[channel] = table, columns, decode
        table, columns, decode = decoders[channel]
        first = nanoseconds if first is None else min(first, nanoseconds)
        for values in decode(payload):
            table.rows.append([nanoseconds, nanoseconds / 1e9, *values])
            if len(values) + 2 > len(table.columns):  # a ranger has more readings since its driver was started anew
                table.columns[2:] = columns(len(payload))
    for table in log.tables.values():
        for row in table.rows:
            row[0] = (row[0] - first) / 1e9
            row += [None] * (len(table.columns) - len(row))
    return log


class Message(NamedTuple):
    """One message of a log."""

    channel: int
    """The number of its channel in the file."""
    topic: str
    """For example /position."""
    schema: str
    """The content of the payload; empty: it is not known."""
    geometry: Geometry | None
    """The device's place on the robot, if it was declared."""
    nanoseconds: int
    """ns since 1970: when it was recorded."""
    payload: bytes
    """The payload that the device sent."""


def messages(path: str, damage: list[str]) -> Iterator[Message]:
    """Reads the messages of a log in the order of the file, one chunk at a time. It appends parts that
    could not be read to damage."""
    schemas: dict[int, str] = {0: ""}
    channels: dict[int, tuple[str, str, Geometry | None]] = {}
    asked = False  # the summary was read

    def describe(kind: int, content: bytes) -> None:
        if kind == SCHEMA:
            (number,), at = struct.unpack_from("<H", content), 2
            _, at = text(content, at)
            encoding, at = text(content, at)
            schemas[number] = text(content, at)[0] if encoding == "player" else ""
        elif kind == CHANNEL:
            number, schema = struct.unpack_from("<HH", content)
            topic, at = text(content, 4)
            _, at = text(content, at)
            channels[number] = topic, schemas.get(schema, ""), parse_geometry(content[at:])

    with open(path, "rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise LogError(f"{path} is not an MCAP file")
        for outer, record in records(file, damage):
            for kind, content in chunk(record, damage) if outer == CHUNK else [(outer, record)]:
                try:
                    describe(kind, content)
                    if kind == MESSAGE:
                        number, _, nanoseconds = struct.unpack_from("<HIQ", content)
                        if number not in channels and not asked:  # they were in a damaged chunk
                            asked = True
                            for repeated in summary(file):
                                describe(*repeated)
                        if number not in channels:
                            damage.append(f"a message of the unknown channel {number}")
                            continue
                        yield Message(number, *channels[number], nanoseconds, content[22:])
                except (struct.error, UnicodeDecodeError) as e:
                    damage.append(f"a record of kind {kind}: {e}")


def summary(file: BinaryIO) -> list[tuple[int, bytes]]:
    """Returns the records that a closed log repeats at its end, none if that is damaged."""
    if not file.seekable():
        return []
    here, size = file.tell(), file.seek(0, 2)
    try:
        end = size - len(MAGIC) - 29
        file.seek(max(end, 0))
        footer = file.read(29)
        kind, _, begin, _, crc = struct.unpack("<BQQQI", footer)
        if kind != FOOTER or not 0 < begin <= end:
            return []
        file.seek(begin)
        content = file.read(end - begin)
        if crc and zlib.crc32(footer[:25], zlib.crc32(content)) != crc:
            return []
        return list(records(io.BytesIO(content), []))
    except struct.error:
        return []
    finally:
        file.seek(here)


def parse_geometry(pairs: bytes) -> Geometry | None:
    """Returns the geometry in the metadata of a channel: keys and values."""
    at = 4
    while at < len(pairs):
        key, at = text(pairs, at)
        value, at = text(pairs, at)
        if key == "geometry":
            words = value.split()
            try:
                return Geometry(*map(float, words))
            except (TypeError, ValueError):
                return None
    return None


def records(file: BinaryIO, damage: list[str]) -> Iterator[tuple[int, bytes]]:
    """Reads records until the end of the file, or the second magic."""
    while True:
        header = file.read(9)
        if not header or header.startswith(MAGIC):
            return
        kind, size = struct.unpack("<BQ", header) if len(header) == 9 else (0, 0)
        content = file.read(size) if 0 < size <= LARGEST_RECORD else b""
        if len(header) < 9 or len(content) < size:
            damage.append("the file ends within a record")
            return
        yield kind, content


def chunk(record: bytes, damage: list[str]) -> Iterator[tuple[int, bytes]]:
    """Returns the records of a chunk."""
    try:
        size, crc = struct.unpack_from("<QI", record, 16)
        compression, at = text(record, 28)
        (length,) = struct.unpack_from("<Q", record, at)
        if size > LARGEST_RECORD:
            raise ValueError(f"{size} bytes are not a size")
        content = decompress(compression, record[at + 8 : at + 8 + length], size)
    except (struct.error, ValueError) as e:
        damage.append(f"a chunk: {e}")
        return
    if len(content) != size or (crc and zlib.crc32(content) != crc):
        damage.append("a chunk does not have its checksum")
        return
    at = 0
    while at + 9 <= len(content):
        kind, length = struct.unpack_from("<BQ", content, at)
        at += 9 + length
        if at > len(content):
            damage.append("a chunk ends within a record")
            return
        yield kind, content[at - length : at]


def decompress(compression: str, content: bytes, size: int) -> bytes:
    """Python itself has neither zstd (before 3.14) nor lz4. A log is compressed with zstd if its
    recorder was started so, and with either by other programs."""
    if compression == "":
        return content
    if compression not in ("zstd", "lz4"):
        raise LogError(f"the log is compressed with {compression}, which is unknown")
    try:
        if compression == "lz4":
            library: Any = importlib.import_module("lz4.frame")
        else:
            library = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "zstandard")
    except ImportError as e:
        raise LogError(f"the log is compressed with {compression}: pip install {e.name}") from e
    try:
        if library.__name__ == "lz4.frame":
            return bytes(library.LZ4FrameDecompressor().decompress(content, max_length=size))
        if library.__name__ == "compression.zstd":
            return bytes(library.ZstdDecompressor().decompress(content, max_length=size))
        return bytes(library.ZstdDecompressor().stream_reader(content).read(size))
    except Exception as e:  # each library has its own, which are no ValueError
        raise ValueError(f"{compression}: {e}") from e


def text(content: bytes, at: int) -> tuple[str, int]:
    """Returns a string with its length before it, and where it ends."""
    (size,) = struct.unpack_from("<I", content, at)
    if at + 4 + size > len(content):
        raise struct.error("a string ends behind its record")
    return content[at + 4 : at + 4 + size].decode(), at + 4 + size


Decoder = Callable[[bytes], list[list[Any]]]
"""Returns the rows of a payload, without times."""

Columns = Callable[[int], list[str]]
"""Returns the names of the columns of payloads of a size, without the times."""

TYPES = {"u8": ">B", "u16": ">H", "u32": ">I", "u64": ">Q", "i16": ">h", "i32": ">i"}
LINE = re.compile(r"([a-z]+[0-9]*)(?:\[([0-9]{1,4})\])?((?: [A-Za-z0-9_#]+)+)")
BLOB_COLUMNS = ["channel", "area_px", "x_px", "y_px", "left_px", "right_px", "top_px", "bottom_px"]


Value = Callable[[bytes], list[Any]]
"""Decodes the bytes of one field into the values of its columns."""


def bits(count: int) -> Value:
    """Decodes the lowest bits of a byte."""
    return lambda field: [field[0] >> i & 1 for i in range(count)]


def integer(code: str) -> Value:
    decode = struct.Struct(code).unpack
    return lambda field: list(decode(field))


def letter(field: bytes) -> list[Any]:
    """Decodes a character; other bytes than letters are numbers."""
    return [field.decode()] if field.isalpha() else [field[0]]


def rest(field: bytes) -> list[Any]:
    return [field]


def parse_schema(schema: str) -> tuple[Columns, Decoder]:
    """Returns the columns and the decoder of a schema (docs/LOGS.md). Payloads of an unknown one
    are bytes."""
    if schema == "blobs":
        return lambda size: BLOB_COLUMNS, decode_blobs
    columns: list[str] = []
    fields: list[tuple[int, int, Value]] = []  # size (0: the rest), number of values, decoder
    repeats: list[tuple[str, int, Value]] = []  # column, size, decoder
    repeating = False
    for line in schema.splitlines():
        if line == "repeat" and not repeating:
            repeating = True
            continue
        match = LINE.fullmatch(line)
        if not match:
            return unknown()
        kind, names = match[1], match[3].split()
        count = int(match[2] or 1)
        if repeating:
            if len(names) != 1 or match[2] or kind not in TYPES:
                return unknown()
            repeats.append((names[0], struct.calcsize(TYPES[kind]), integer(TYPES[kind])))
            continue
        if kind == "bits8" and not match[2] and len(names) <= 8:
            columns += names
            fields.append((1, len(names), bits(len(names))))
            continue
        if len(names) != 1:
            return unknown()
        columns += [names[0].replace("#", str(i)) for i in range(count)] if match[2] else names
        if kind in TYPES:
            fields += [(struct.calcsize(TYPES[kind]), 1, integer(TYPES[kind]))] * count
        elif kind == "char":
            fields += [(1, 1, letter)] * count
        elif kind == "rest":
            fields += [(0, 1, rest)] * count
        else:
            return unknown()
    if not columns and not repeats:
        return unknown()
    once = sum(size for _, size, _ in repeats)

    def columns_of(size: int) -> list[str]:
        times = max(0, size - sum(size for size, _, _ in fields)) // once if once else 0
        return columns + [name.replace("#", str(i)) for i in range(times) for name, _, _ in repeats]

    def decode(payload: bytes) -> list[list[Any]]:
        row: list[Any] = []
        for size, values, value in fields:
            size = size or len(payload)
            if size > len(payload):  # and all that follow are missing
                row += [None] * values
                payload = b""
                continue
            row += value(payload[:size])
            payload = payload[size:]
        while repeats and len(payload) >= once:
            for _, size, value in repeats:
                row += value(payload[:size])
                payload = payload[size:]
        return [row]

    return columns_of, decode


def unknown() -> tuple[Columns, Decoder]:
    return lambda size: ["payload"], lambda payload: [[payload]]


def decode_blobs(payload: bytes) -> list[list[Any]]:
    """Decodes an image of ACTS (PROTOCOL 7.7). Every byte stores its value plus one."""
    nothing: list[list[Any]] = [[None] * len(BLOB_COLUMNS)]
    if len(payload) < 64:
        return nothing
    counts = [payload[2 * channel + 1] - 1 for channel in range(32)]
    if min(counts) < 0 or max(counts) > 10 or len(payload) != 64 + 10 * sum(counts):
        return nothing
    rows: list[list[Any]] = []
    at = 64
    for channel, count in enumerate(counts):
        for _ in range(count):
            digits = [byte - 1 for byte in payload[at : at + 10]]
            if min(digits) < 0 or max(digits[:4]) > 63:
                return nothing
            area = digits[0] << 18 | digits[1] << 12 | digits[2] << 6 | digits[3]
            rows.append([channel, area, *digits[4:]])
            at += 10
    return rows or nothing


def draw(points: Sequence[Point], dots: Sequence[Point] = (), size: int = 600, margin: int = 30) -> str:
    """Returns an SVG picture of a path and of dots, all in mm, size pixels wide and high."""
    everything = [*points, *dots]
    left, right = min((x for x, _ in everything), default=0), max((x for x, _ in everything), default=0)
    low, high = min((y for _, y in everything), default=0), max((y for _, y in everything), default=0)
    scale = (size - 2 * margin) / max(right - left, high - low, 1000)  # pixels a mm; at least a metre

    def pixel(point: Point) -> Point:
        return margin + (point[0] - left) * scale, size - margin - (point[1] - low) * scale

    pixels = [pixel(point) for point in points]
    spots = "".join(f"M{x} {y}h2" for x, y in sorted({(2 * round(x / 2), 2 * round(y / 2)) for x, y in map(pixel, dots)}))
    length = 1000 * 10 ** max(0, len(str(int(max(right - left, high - low) // 2000))) - 1)  # mm, of the scale
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in pixels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" viewBox="0 0 {size} {size}">',
        '<rect width="100%" height="100%" fill="white"/>',
        f'<path d="{spots}" stroke="#999" stroke-width="2"/>',
        f'<polyline points="{line}" fill="none" stroke="#1f5fa8" stroke-width="2"/>',
        f'<path d="M{margin} 15h{length * scale:.1f}" stroke="black" stroke-width="2"/>',
        f'<text x="{margin + length * scale + 8:.1f}" y="20" font-family="sans-serif" font-size="14">{length // 1000} m</text>',
    ]
    if pixels:
        (x, y), (end_x, end_y) = pixels[0], pixels[-1]
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="none" stroke="#1f5fa8" stroke-width="2"/>')
        parts.append(f'<circle cx="{end_x:.1f}" cy="{end_y:.1f}" r="5" fill="#1f5fa8"/>')
    return "\n".join([*parts, "</svg>", ""])


def legible(text: str) -> str:
    """Returns a text of a file with the characters escaped that a terminal may obey."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def main() -> None:
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: player_log.py FILE.mcap [PATH.svg]")
    try:
        log = read(sys.argv[1])
        if len(sys.argv) == 3:
            log.plot(sys.argv[2])
    except (LogError, OSError) as e:
        sys.exit(f"player_log: {legible(str(e))}")
    except KeyError as e:
        sys.exit(f"player_log: no topic {e}")
    for table in log.tables.values():
        print(f"{legible(table.topic)}: {len(table)} rows, {len(table.columns)} columns, {table.rows[0][0]:.3f} to {table.rows[-1][0]:.3f} s")
    for damage in log.damage:
        print(f"damaged: {legible(damage)}", file=sys.stderr)


if __name__ == "__main__":
    main()
