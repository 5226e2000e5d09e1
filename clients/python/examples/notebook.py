"""A run of the robot, looked at afterwards: the messages in the log, how far it went, how near it came
to things, and a map of its laser's readings. Jupyter and VS Code run the cells below one by one.

    player -stage room & player record localhost -o run.mcap -for 1m    # and drive
    python3 -m examples.notebook run.mcap map.svg
"""

# %% Read the log.
from __future__ import annotations

import math
import sys
from bisect import bisect_right

import player_log

if len(sys.argv) != 3:
    sys.exit(__doc__)
log = player_log.read(sys.argv[1])
for topic in log.topics:
    table = log[topic]
    print(f"{topic}: {len(table)} messages")
for damage in log.damage:
    print("damaged:", damage)

# %% How far, and how fast? Columns are lists.
position = log["/position"]
path = list(zip(position["x_mm"], position["y_mm"]))
distance = sum(math.dist(a, b) for a, b in zip(path, path[1:]))
print(f"{distance / 1000:.2f} m in {position['time_s'][-1] - position['time_s'][0]:.1f} s")
print(f"at most {max(abs(speed) for speed in position['speed_mm_per_s'])} mm/s; {sum(position['stall'])} messages with stalled wheels")

# %% The same with pandas, if it is installed.
try:
    print(position.frame()[["x_mm", "y_mm", "speed_mm_per_s"]].describe())
except ImportError:
    print("pandas is not installed")

# %% What the laser saw, in the frame of the odometry: each scan from where the robot was then.
laser = log["/laser"]
mount = laser.geometry or player_log.Geometry(80, 0, 0, 0, 0)  # as on the simulated robot
NO_ECHO = 8000  # mm
times: list[float] = position["time_s"]
dots: list[tuple[float, float]] = []
nearest = NO_ECHO
for time, _, *ranges in laser.rows[::5]:
    nearest = min(nearest, *ranges)
    _, _, _, x, y, heading, *_ = position.rows[max(0, bisect_right(times, time) - 1)]
    c, s = math.cos(math.radians(heading)), math.sin(math.radians(heading))
    laser_x, laser_y = x + c * mount.x_mm - s * mount.y_mm, y + s * mount.x_mm + c * mount.y_mm
    for i, r in enumerate(ranges[::3]):
        if r < NO_ECHO:
            angle = math.radians(heading + mount.heading_deg - 90 + 1.5 * i)
            dots.append((laser_x + r * math.cos(angle), laser_y + r * math.sin(angle)))
print(f"nearest thing: {nearest} mm")

# %% The map.
log.plot(sys.argv[2], dots=dots)
print(sys.argv[2])
