"""Drives a robot to a point around obstacles, from its odometry and its laser or its sonars:

    way = Way(PIONEER, 3000, 1500)  # mm, as the odometry counts
    while True:
        robot.read()
        speed, turn, arrived = way.next(robot.position, laser_beams(mount, robot.laser))

Deprecated: programs of version 1.0 have it. Others call go_to, which has the server's goto device
drive (docs/GOTO.md).

It is the Vector Field Histogram of I. Ulrich and J. Borenstein ("VFH+: Reliable Obstacle
Avoidance for Fast Mobile Robots", ICRA 1998) for a robot that turns on the spot, and steers to
the next corner of the shortest way through a map of what the beams have met.
"""

from __future__ import annotations

import heapq
from math import asin, atan2, cos, floor, isqrt, pi
from typing import Dict, Iterable, List, NamedTuple, Sequence, Tuple

from .data import LASER_READINGS, SONARS, Part, Position

# The map: a square of cells around the place where the robot was when it was begun.
CELL, SIDE, BORDER, ROOM = 100, 400, 50, 12  # mm, cells
CERTAIN, OCCUPIED, SHADOW = 15, 8, 150
LASER_FAR, SONAR_FAR = 4000, 1400  # mm: further away the cone of a sonar is wider than a door
# The way through the map.
PERIOD, TURNING, PATIENCE = 5, 40, 40000
STRAIGHT, DIAGONAL, SOFT, DETOUR, OWN, AHEAD, LEG = 10, 14, 300, 3, 400, 1500, 50
# The histogram.
WIDTH, SECTORS, WINDOW, LEAST, HIGH, LOW, WIDE = 5, 72, 1200, 400, 30, 15, 80
TO_GOAL, TO_TURN, TO_LAST = 5, 2, 2
# The commands.
MAX_TURN, PIVOT, NEAR, NEAR_BY, FRONT, CREEP, RETREAT, BACK = 60, 45, 500, 20, 30, 40, 10, 150

COSINES = [floor(cos(i * pi / 360) * 65536 + 0.5) for i in range(720)]

NEIGHBOURS = [
    (1, 0, STRAIGHT), (0, 1, STRAIGHT), (-1, 0, STRAIGHT), (0, -1, STRAIGHT),
    (1, 1, DIAGONAL), (-1, 1, DIAGONAL), (-1, -1, DIAGONAL), (1, -1, DIAGONAL),
]


class Config(NamedTuple):
    """A robot and how it is to drive."""

    radius: int  # mm: half of the narrowest gap that it is to pass
    front: int  # mm from the centre of rotation to the front
    max_speed: int  # mm/s
    tolerance: int  # mm from the goal, where the robot has arrived


PIONEER = Config(250, 180, 400, 50)
"""A Pioneer 2-DX, which is 380 mm wide."""


def config_of(parts: Iterable[Part]) -> Config:
    """Returns the configuration of a robot with these parts, of which that of position is its
    body (PROTOCOL 8.9.3), or that of a Pioneer."""
    margin = 60  # mm from obstacles
    c = PIONEER
    for p in parts:
        if p.device == "p" and p.width > 0 and p.length > 0:
            c = c._replace(radius=int(p.width / 2) + margin, front=int(p.x + p.length / 2))
    return c


class Beam(NamedTuple):
    """A reading of a sensor, in mm and half degrees in the robot's frame."""

    x: int  # of the sensor
    y: int
    bearing: int
    range: int  # of what is free; 0: nothing is known
    echo: bool


def laser_beams(mount: Part, ranges: Sequence[int]) -> List[Beam]:
    """Returns the beams of a scan by a laser that is mounted so."""
    x, y, heading = _whole(mount.x), _whole(mount.y), _whole(2 * mount.heading)
    return [
        Beam(x, y, heading - 180 + i, min(ranges[i], LASER_FAR), ranges[i] < LASER_FAR)
        for i in range(0, LASER_READINGS, 2)
    ]


def sonar_beams(mounts: Iterable[Part], ranges: Sequence[int]) -> List[Beam]:
    """Returns the beams of sonars. Those without a mount are left out."""
    return [
        Beam(_whole(m.x), _whole(m.y), _whole(2 * m.heading), min(ranges[m.number], SONAR_FAR),
             ranges[m.number] < SONAR_FAR)
        for m in mounts
        if m.device == "s" and 0 <= m.number < SONARS
    ]


class Way:
    """The way of a robot to a goal, in mm as the odometry counts."""

    def __init__(self, config: Config, goal_x: int, goal_y: int) -> None:
        self._c = config
        self._goal = goal_x, goal_y
        self._begun = self._pivoting = False
        self._inner: List[int] = []  # offsets of cells within the radius
        self._outer: List[int] = []  # and beyond it
        reach = (config.radius + SOFT) // CELL
        for y in range(-reach, reach + 1):
            for x in range(-reach, reach + 1):
                d = (x * x + y * y) * CELL * CELL
                if d <= config.radius**2:
                    self._inner.append(y * SIDE + x)
                elif d <= (config.radius + SOFT) ** 2:
                    self._outer.append(y * SIDE + x)
        self._aim = 0, 0
        self._wait = self._last = self._backing = 0
        self._blocked = [False] * SECTORS

    def next(self, p: Position, beams: Sequence[Beam]) -> Tuple[int, int, bool]:
        """Takes what the robot reports and returns what it is to do: a speed in mm/s, a turn
        rate in deg/s, and whether it has arrived. It expects ten reports in a second."""
        x, y, heading = p.x, p.y, p.heading
        if not self._begun or not _within(self._index(x, y), BORDER):
            self._begin(x, y)
        self._see(x, y, heading, beams)
        if _distance(self._goal[0] - x, self._goal[1] - y) <= self._c.tolerance:
            return 0, 0, True
        if p.stall and self._backing == 0:  # it has met what the beams do not
            self._backing = RETREAT
            dx, dy = _turned(self._c.front + CELL, 2 * heading)
            self._set(self._index(x + dx, y + dy), CERTAIN)
        if self._backing > 0:
            self._backing -= 1
            self._wait = 0
            return -BACK, 0, False
        self._wait -= 1
        if self._wait < 0 or not self._pivoting and self._wait < TURNING - PERIOD:
            self._plan(x, y)
            self._wait = TURNING - 1
        speed, turn = self._steer(x, y, heading)
        return speed, turn, False

    # The map

    def _begin(self, x: int, y: int) -> None:
        self._begun = True
        self._x0, self._y0 = x - SIDE * CELL // 2, y - SIDE * CELL // 2
        self._cells, self._hard, self._soft = bytearray(SIDE * SIDE), bytearray(SIDE * SIDE), bytearray(SIDE * SIDE)
        self._wait = 0

    def _index(self, x: int, y: int) -> int:
        """Returns the cell of a place, or -1 outside of the map."""
        if not self._begun:
            return -1
        x -= self._x0
        y -= self._y0
        if x < 0 or y < 0 or x >= SIDE * CELL or y >= SIDE * CELL:
            return -1
        return y // CELL * SIDE + x // CELL

    def _centre(self, i: int) -> Tuple[int, int]:
        return self._x0 + i % SIDE * CELL + CELL // 2, self._y0 + i // SIDE * CELL + CELL // 2

    def _see(self, x: int, y: int, heading: int, beams: Sequence[Beam]) -> None:
        """Draws beams into the map: first what is free, then the echoes."""
        cells, index = self._cells, self._index
        places = []
        for b in beams:
            ax, ay = _turned(b.x, 2 * heading)
            bx, by = _turned(b.y, 2 * heading + 180)
            places.append((x + ax + bx, y + ay + by))
        for b, (sx, sy) in zip(beams, places):
            at = (b.bearing + 2 * heading) % 720
            c, s = COSINES[at], COSINES[(at + 540) % 720]
            for r in range(0, b.range - SHADOW + 1, CELL):
                i = index(sx + ((r * c + 32768) >> 16), sy + ((r * s + 32768) >> 16))
                if i >= 0 and cells[i] > 0:
                    self._set(i, cells[i] - 1)
        for b, (sx, sy) in zip(beams, places):
            if b.echo and b.range > 0:
                dx, dy = _turned(b.range, b.bearing + 2 * heading)
                self._set(index(sx + dx, sy + dy), CERTAIN)

    def _set(self, i: int, value: int) -> None:
        """Changes a cell. What is near an obstacle is counted."""
        if not _within(i, ROOM):
            return
        before, now = self._cells[i] >= OCCUPIED, value >= OCCUPIED
        self._cells[i] = value
        if before != now:
            change = 1 if now else -1
            for o in self._inner:
                self._hard[i + o] += change
            for o in self._outer:
                self._soft[i + o] += change

    # The way

    def _plan(self, x: int, y: int) -> None:
        """Chooses what is steered for: the furthest place on the shortest way (A*) that can be
        reached in a straight line, or the goal if there is no way."""
        self._aim = self._goal
        start = self._index(x, y)
        column, row = _clip(self._goal[0] - self._x0), _clip(self._goal[1] - self._y0)
        goal = row * SIDE + column
        cost = {goal: 1}  # below zero: done
        parent: Dict[int, int] = {}
        open = [(0, goal)]
        for _ in range(PATIENCE):
            if not open:
                break
            at = heapq.heappop(open)[1]
            if at == start:
                self._follow(x, y, start, goal, parent)
                return
            g = cost[at]
            if g < 0:
                continue
            cost[at] = -g
            for dx, dy, step in NEIGHBOURS:
                following = at + dy * SIDE + dx
                known = cost.get(following, 0)
                if known < 0 or not _within(following, ROOM) or not self._passable(following, start, goal):
                    continue
                if self._soft[following] or self._hard[following]:
                    step *= DETOUR
                if known == 0 or g + step < known:
                    cost[following] = g + step
                    parent[following] = at
                    u, v = abs(following % SIDE - start % SIDE), abs(following // SIDE - start // SIDE)
                    estimate = STRAIGHT * max(u, v) + (DIAGONAL - STRAIGHT) * min(u, v)
                    heapq.heappush(open, (g + step + estimate, following))

    def _passable(self, i: int, start: int, goal: int) -> bool:
        """Reports whether the robot's centre may be in a cell."""
        if not self._hard[i]:
            return True
        return self._cells[i] < OCCUPIED and (_apart(i, start) < OWN or _apart(i, goal) < OWN)

    def _follow(self, x: int, y: int, start: int, goal: int, parent: Dict[int, int]) -> None:
        """Steers for the furthest cell of the way that is in sight."""
        best = i = start
        while True:
            cx, cy = self._centre(i)
            if _distance(cx - x, cy - y) > AHEAD:
                break
            if self._in_sight(x, y, cx, cy, start, goal):
                best = i
            if i == goal:
                break
            i = parent[i]
        if best == start and start != goal:
            best = parent[start]
        if best != goal:
            self._aim = self._centre(best)

    def _in_sight(self, x: int, y: int, to_x: int, to_y: int, start: int, goal: int) -> bool:
        """Reports whether the robot's centre may take the straight line."""
        n = _distance(to_x - x, to_y - y) // LEG + 1
        x0, y0 = self._x0, self._y0
        for k in range(1, n + 1):
            i = self._index(x0 + ((x - x0) * (n - k) + (to_x - x0) * k) // n, y0 + ((y - y0) * (n - k) + (to_y - y0) * k) // n)
            if i < 0 or not self._passable(i, start, goal):
                return False
        return True

    # The histogram

    def _steer(self, x: int, y: int, heading: int) -> Tuple[int, int]:
        """Returns the command that drives towards what is steered for."""
        target, clear = _direction(self._aim[0] - x, self._aim[1] - y), self._histogram(x, y, heading)
        self._last = self._choose(target, heading)
        wrong, remaining = _wrap(self._last - heading), _distance(self._goal[0] - x, self._goal[1] - y)
        spot = NEAR_BY if remaining < NEAR else PIVOT
        turn = min(abs(wrong) * 3 // 2, MAX_TURN) * (1 if wrong > 0 else -1)
        self._pivoting = abs(wrong) >= spot
        if self._pivoting:
            return 0, turn
        speed = min(self._c.max_speed, max(clear - self._c.front - CELL, CREEP), max(remaining, CREEP))
        return speed * (spot - abs(wrong)) // spot, turn

    def _histogram(self, x: int, y: int, heading: int) -> int:
        """Blocks the directions in which the robot would meet obstacles. Returns how far away
        the nearest one ahead is, from the robot's centre."""
        radius = min(max(_distance(self._aim[0] - x, self._aim[1] - y) + CELL, LEAST), WINDOW)
        clear, density = WINDOW, [0] * SECTORS
        cx, cy, reach = (x - self._x0) // CELL, (y - self._y0) // CELL, radius // CELL + 1
        for row in range(cy - reach, cy + reach + 1):
            for i in range(row * SIDE + cx - reach, row * SIDE + cx + reach + 1):
                if self._cells[i] < OCCUPIED:
                    continue
                px, py = self._centre(i)
                d = max(_distance(px - x, py - y), 1)
                if d > radius:
                    continue
                at = _direction(px - x, py - y)
                if abs(_wrap(at - heading)) <= FRONT:
                    clear = min(clear, d)
                # The obstacle is made larger by the robot: the robot becomes a point.
                half = floor(asin(self._c.radius / d) * 180 / pi + 0.5) if d > self._c.radius else 90
                weight = 100 - 100 * d * d // (WINDOW * WINDOW)
                for s in range(-((half - at) // WIDTH), (at + half) // WIDTH + 1):  # within half of at
                    density[s % SECTORS] += weight
        for s, m in enumerate(density):
            if m > HIGH:
                self._blocked[s] = True
            elif m < LOW:
                self._blocked[s] = False
        return clear

    def _choose(self, target: int, heading: int) -> int:
        """Returns the best direction: in the middle of a narrow opening, at one side of a wide
        one, or straight to the target."""
        blocked = self._blocked
        if True not in blocked:
            return target
        first = blocked.index(True)
        tries: List[int] = []
        i = 0
        while i < SECTORS:
            begin, n = first + i, 0
            while not blocked[(begin + n) % SECTORS]:
                n += 1
            i += n + 1
            if n == 0:
                continue
            start, end = begin * WIDTH, (begin + n - 1) * WIDTH
            if end - start < WIDE:
                tries.append((start + end) // 2)
                continue
            tries += [start + WIDE // 2, end - WIDE // 2]
            if WIDE // 2 <= (target - start) % 360 <= end - start - WIDE // 2:
                tries.append(target)
        if not tries:
            return target
        return min(tries, key=lambda d: TO_GOAL * abs(_wrap(d - target)) + TO_TURN * abs(_wrap(d - heading))
                   + TO_LAST * abs(_wrap(d - self._last))) % 360


# Numbers


def _whole(v: float) -> int:
    return floor(v + 0.5)


def _distance(x: int, y: int) -> int:
    """Returns the length of a vector, rounded down."""
    return isqrt(x * x + y * y)


def _direction(x: int, y: int) -> int:
    """Returns the angle of a vector, 0 to 359 degrees."""
    return (floor(atan2(y, x) * 180 / pi + 0.5) + 360) % 360


def _wrap(d: int) -> int:
    """Returns an angle as -180 to 179 degrees."""
    return (d + 180) % 360 - 180


def _turned(length: int, bearing: int) -> Tuple[int, int]:
    """Returns a vector of a length that points to a bearing in half degrees."""
    return (length * COSINES[bearing % 720] + 32768) >> 16, (length * COSINES[(bearing + 540) % 720] + 32768) >> 16


def _apart(a: int, b: int) -> int:
    """Returns the distance of two cells, mm."""
    return CELL * _distance(a % SIDE - b % SIDE, a // SIDE - b // SIDE)


def _clip(v: int) -> int:
    """Returns the column or row of a place, or the nearest one of the map."""
    return min(max(v // CELL, ROOM), SIDE - 1 - ROOM)


def _within(i: int, margin: int) -> bool:
    """Reports whether a cell is so far within the map."""
    return i >= 0 and margin <= i % SIDE < SIDE - margin and margin <= i // SIDE < SIDE - margin
