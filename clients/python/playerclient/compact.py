"""Compact rounds (PROTOCOL 8.4): the blocks that a block of letter Z stands for."""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Callable, Iterator

from .errors import ProtocolError

_LASER_READINGS = 361
_SONARS = 16
_MAX_READINGS = 8192
"""Of a ranger (PROTOCOL 7.9)."""
_CHANNELS = 32
_BLOB = 10
_LAYOUTS = {"position": "IiiHhhHB", "ptz": "hhh", "joystick": "Ihhhhhhhh"}
"""Payloads of numbers, in the letters of module struct."""
_NUMBER = 10
"""Bytes at most: of 64 bits."""
_SWAP = sys.byteorder == "little"


def blocks(payload: bytes, interface: Callable[[int], str]) -> Iterator[tuple[int, bytes]]:
    """Yields the byte of the device and the payload of each block that the payload of a block Z stands for (8.4.2).

    interface returns the interface of a device by its byte, "freshness" for y. Readings that the server did not send
    (8.4.7) are 0. Raises ProtocolError for an item that is none, and ends with it.
    """
    at = 0
    while at < len(payload):
        try:
            letter = payload[at]
            head, at = _number(payload, at + 1)
            code, form = payload[at : at + (head >> 2)], head & 3
            at += head >> 2
            if at > len(payload) or form == 3:
                raise ValueError
            if form == 1:
                code = _decode(interface(letter), code)
            elif form == 2:
                code = _selected(code)
        except (IndexError, ValueError, struct.error):
            raise ProtocolError("a compact block has an item without a meaning") from None
        yield letter, code


def _number(code: bytes, at: int) -> tuple[int, int]:
    """Returns the number at code[at], and where it ends (8.4.2)."""
    value = 0
    for i in range(_NUMBER):
        value |= (code[at + i] & 127) << (7 * i)
        if code[at + i] < 128:
            return value, at + i + 1
    raise ValueError


def _numbers(code: bytes) -> list[int]:
    at, values = 0, []
    while at < len(code):
        value, at = _number(code, at)
        values.append(value)
    return values


def _decode(interface: str, code: bytes) -> bytes:
    """Returns the payload of a code of form 1 (8.4.3)."""
    if interface == "laser":
        return _readings(code, _LASER_READINGS)
    if interface == "sonar":
        return _readings(code, _SONARS)
    if interface == "ranger":
        unit, at = _number(code, 0)
        count, at = _number(code, at)
        if count > _MAX_READINGS:
            raise ValueError
        return struct.pack(">H", unit) + _readings(code[at:], count)
    if interface == "vision":
        return _vision(code)
    if interface == "freshness":
        time, *ages = _numbers(code)
        if any(age > 0xFFFFFFFF for age in ages):
            raise ValueError
        return struct.pack(f">Q{len(ages)}I", time, *((age - 1) & 0xFFFFFFFF for age in ages))
    layout = _LAYOUTS.get(interface)
    if layout is None:
        raise ValueError
    values = _numbers(code)
    for i, kind in enumerate(layout):
        if kind in "hi":
            values[i] = values[i] >> 1 ^ -(values[i] & 1)
    return struct.pack(">" + layout, *values)


def _vision(code: bytes) -> bytes:
    header, blobs, at = bytearray(), 0, 0
    for channel in range(1, _CHANNELS + 1):
        count = 0
        if code[at] == channel:
            count, at = code[at + 1], at + 2
        header += bytes([min(1 + blobs, 255), 1 + count])
        blobs += count
    if code[at] != 0 or len(code) != at + 1 + blobs * _BLOB:
        raise ValueError
    return bytes(header) + code[at + 1 :]


def _selected(code: bytes) -> bytes:
    """Returns the whole laser scan of a code of form 2 (8.4.7)."""
    first, at = _number(code, 0)
    step, at = _number(code, at)
    count, at = _number(code, at)
    unit, at = _number(code, at)
    if step == 0 or count > _LASER_READINGS or (count and first + (count - 1) * step >= _LASER_READINGS):
        raise ValueError
    scan = [0] * _LASER_READINGS
    for i, reading in enumerate(struct.unpack(f">{count}H", _readings(code[at:], count))):
        scan[first + i * step] = min(reading * unit, 0xFFFF)
    return struct.pack(f">{_LASER_READINGS}H", *scan)


def _readings(code: bytes, count: int) -> bytes:
    """Returns the payload of count readings in a code (8.4.5)."""
    bits = _Bits(code)
    straight = bits.plain(1)
    last = before = slope = 0
    spread = 480
    same = [_Chance() for _ in range(18)]
    counts = [[_Chance() for _ in range(4)] for _ in range(2)]
    long = [_Chance() for _ in range(17)]
    found = array("H")
    for _ in range(count):
        guess = 2 * last - before if straight else last + ((slope + 128) >> 8)
        guess = 0 if guess < 0 else 0xFFFF if guess > 0xFFFF else guess
        level = 0
        if spread >= 16:
            k = spread.bit_length() - 5
            level = min(2 * k + (spread >> (k + 3) & 1), 17)
        difference = 0
        if not bits.chance(same[level]):
            difference = _difference(bits, counts[level & 1], long, level >> 1)
        reading = guess + difference
        if not 0 <= reading <= 0xFFFF:
            raise ValueError
        size = abs(difference)
        if size > 400:
            slope, before = 0, reading
        else:
            spread += ((16 * size - spread) * 3) >> 3
            slope += (256 * (reading - last) - slope) >> 2
            before = last
        last = reading
        found.append(reading)
    if _SWAP:
        found.byteswap()
    return found.tobytes()


def _difference(bits: _Bits, count: list[_Chance], long: list[_Chance], low: int) -> int:
    """Returns a difference that is not 0 (8.4.6)."""
    negative = bits.plain(1)
    steps = 0
    while steps < 4 and not bits.chance(count[steps]):
        steps += 1
    if steps == 4:
        b = 1
        while not bits.chance(long[b]):
            b += 1
            if b == 17:
                raise ValueError
        steps = 3 + (1 << (b - 1)) + bits.plain(b - 1)
    size = (steps << low) + bits.plain(low) + 1
    return -size if negative else size


class _Chance:
    """The probability that a bit is 1."""

    __slots__ = ("p", "n")

    def __init__(self) -> None:
        self.p, self.n = 32768, 0


class _Bits:
    """The range decoder (8.4.4)."""

    __slots__ = ("_source", "_at", "_width", "_code")

    def __init__(self, source: bytes) -> None:
        self._source = source + bytes(4)
        self._at = 4
        self._width = 0xFFFFFFFF
        self._code = int.from_bytes(self._source[:4], "big")

    def chance(self, c: _Chance) -> bool:
        p, n = c.p, c.n
        bound = (self._width * p) >> 16
        bit = self._code < bound
        rate = 327680 // (5 * n + 8)
        if bit:
            self._width = bound
            p += ((65536 - p) * rate) >> 16
        else:
            self._code -= bound
            self._width -= bound
            p -= (p * rate) >> 16
        c.p = 32 if p < 32 else 65504 if p > 65504 else p
        if n < 40:
            c.n = n + 1
        if self._width < 1 << 24:
            self._normalize()
        return bit

    def plain(self, k: int) -> int:
        self._width >>= k
        value = min(self._code // self._width, (1 << k) - 1)
        self._code -= value * self._width
        self._normalize()
        return value

    def _normalize(self) -> None:
        while self._width < 1 << 24:
            more = self._source[self._at] if self._at < len(self._source) else 0
            self._code = (self._code << 8 | more) & 0xFFFFFFFF
            self._at += 1
            self._width <<= 8
