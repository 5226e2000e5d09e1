#!/usr/bin/env python3
"""Turns compact blocks into the plain blocks that they stand for.

It follows the text of docs/PROTOCOL.md (8.4), which is enough to read compact frames
in any language; numbers are its clauses. Each line of the input is the payload of a block Z
in hex; each line of the output is the plain blocks, or "error".
"""
import struct
import sys


class Bits:
    """The range decoder of 8.4.4."""

    def __init__(self, code):
        self.rest = iter(code)
        self.width = 0xFFFFFFFF
        self.code = 0
        for _ in range(4):
            self.code = self.code << 8 | next(self.rest, 0)

    def chance(self, c):
        bound = (self.width * c.p) >> 16
        bit = self.code < bound
        if bit:
            self.width = bound
        else:
            self.code -= bound
            self.width -= bound
        self.normalize()
        rate = 327680 // (5 * c.n + 8)
        if bit:
            c.p += ((65536 - c.p) * rate) >> 16
        else:
            c.p -= (c.p * rate) >> 16
        c.p = max(32, min(c.p, 65504))
        c.n = min(c.n + 1, 40)
        return bit

    def plain(self, k):
        self.width >>= k
        v = min(self.code // self.width, 2**k - 1)
        self.code -= v * self.width
        self.normalize()
        return v

    def normalize(self):
        while self.width < 1 << 24:
            self.code = (self.code << 8 | next(self.rest, 0)) & 0xFFFFFFFF
            self.width <<= 8


class Chance:
    def __init__(self):
        self.p, self.n = 32768, 0


def readings(code, count):
    """8.4.5"""
    bits = Bits(code)
    straight = bits.plain(1)
    last = before = slope = 0
    spread = 480
    same = [Chance() for _ in range(18)]
    counts = [[Chance() for _ in range(4)] for _ in range(2)]
    long = [Chance() for _ in range(17)]
    out = []
    for _ in range(count):
        guess = 2 * last - before if straight else last + ((slope + 128) >> 8)
        guess = max(0, min(guess, 65535))
        level = 0
        if spread >= 16:
            k = spread.bit_length() - 5
            level = min(2 * k + (spread >> (k + 3) & 1), 17)
        difference = get_difference(bits, same[level], counts[level % 2], long, level >> 1)
        reading = guess + difference
        if not 0 <= reading <= 65535:
            raise ValueError("reading")
        size = abs(difference)
        if size > 400:
            slope, before = 0, reading
        else:
            spread += ((16 * size - spread) * 3) >> 3
            slope += (256 * (reading - last) - slope) >> 2
            before = last
        last = reading
        out.append(reading)
    return out


def get_difference(bits, same, count, long, low):
    """8.4.6"""
    if bits.chance(same):
        return 0
    negative = bits.plain(1)
    c = 0
    while c < 4 and not bits.chance(count[c]):
        c += 1
    if c == 4:
        b = 1
        while not bits.chance(long[b]):
            b += 1
            if b == 17:
                raise ValueError("difference")
        c = 3 + 2 ** (b - 1) + bits.plain(b - 1)
    size = c * 2**low + bits.plain(low) + 1
    return -size if negative else size


def number(b, at):
    """The number at b[at], and where it ends (8.4.2)."""
    v = shift = 0
    while True:
        v |= (b[at] & 127) << shift
        shift += 7
        at += 1
        if b[at - 1] < 128:
            return v, at


def numbers(code):
    at, out = 0, []
    while at < len(code):
        v, at = number(code, at)
        out.append(v)
    return out


def fields(layout, code):
    """A payload of the numbers of code: layout is of module struct."""
    values = numbers(code)
    for i, kind in enumerate(layout):
        if kind in "hi":
            values[i] = values[i] // 2 if values[i] % 2 == 0 else -(values[i] + 1) // 2
    return struct.pack(">" + layout, *values)


def ranges(values):
    return struct.pack(f">{len(values)}H", *values)


def vision(code):
    counts = [0] * 32
    at = 0
    while code[at]:
        counts[code[at] - 1] = code[at + 1]
        at += 2
    header, blobs = bytearray(), 0
    for count in counts:
        header += bytes([min(1 + blobs, 255), 1 + count])
        blobs += count
    return bytes(header) + code[at + 1 :]


def coded(letter, code):
    """8.4.3"""
    if letter == "l":
        return ranges(readings(code, 361))
    if letter == "s":
        return ranges(readings(code, 16))
    if letter == "R":
        unit, at = number(code, 0)
        count, at = number(code, at)
        if unit > 65535 or count > 8192:
            raise ValueError("ranger")
        return struct.pack(">H", unit) + ranges(readings(code[at:], count))
    if letter == "p":
        return fields("IiiHhhHB", code)
    if letter == "z":
        return fields("hhh", code)
    if letter == "j":
        return fields("Ihhhhhhhh", code)
    if letter == "v":
        return vision(code)
    if letter == "y":
        time, *ages = numbers(code)
        return struct.pack(f">Q{len(ages)}I", time, *((age - 1) % 2**32 for age in ages))
    raise ValueError("letter")


def selected(code):
    """8.4.7. The readings that were not selected are 0."""
    first, at = number(code, 0)
    step, at = number(code, at)
    count, at = number(code, at)
    unit, at = number(code, at)
    scan = [0] * 361
    for i, r in enumerate(readings(code[at:], count)):
        scan[first + i * step] = min(r * unit, 65535)
    return ranges(scan)


def blocks(payload):
    """8.4.2"""
    at, out = 0, b""
    while at < len(payload):
        letter = payload[at]
        n, at = number(payload, at + 1)
        code, at = payload[at : at + n // 4], at + n // 4
        if at > len(payload):
            raise ValueError("size")
        if n % 4 == 1:
            code = coded(chr(letter), code)
        elif n % 4 == 2:
            code = selected(code)
        elif n % 4 == 3:
            raise ValueError("form")
        out += struct.pack(">BH", letter, len(code)) + code
    return out


for line in sys.stdin:
    try:
        print(blocks(bytes.fromhex(line)).hex())
    except (ValueError, IndexError, struct.error):
        print("error")
