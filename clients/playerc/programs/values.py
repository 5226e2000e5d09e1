# Drives a little, and prints what the devices report.
import sys
import math
from playerc import *

c = playerc_client(None, sys.argv[1], int(sys.argv[2]))
if c.connect() != 0:
    raise Exception(playerc_error_str())
p = playerc_position2d(c, 0)
if p.subscribe(PLAYERC_OPEN_MODE) != 0:
    raise Exception(playerc_error_str())
p.get_geom()
print("size %.3f %.3f %.3f" % (p.size[0], p.size[1], p.pose[0]))
l = playerc_laser(c, 0)
if l.subscribe(PLAYERC_OPEN_MODE) != 0:
    raise Exception(playerc_error_str())
s, r, b = playerc_sonar(c, 0), playerc_ranger(c, 1), playerc_blobfinder(c, 0)
g, bumper, power, ptz, sim = playerc_gripper(c, 0), playerc_bumper(c, 0), playerc_power(c, 0), playerc_ptz(c, 0), playerc_simulation(c, 0)
for d in (s, r, b, g, bumper, power, ptz, sim):
    if d.subscribe(PLAYERC_OPEN_MODE) != 0:
        raise Exception(playerc_error_str())
print("before %d %d" % (l.scan_count, len(l.ranges)))
if c.read() is None:
    raise Exception(playerc_error_str())
print("laser %d %g %g %g %g %g" % (l.scan_count, l.ranges[0], l.scan[180][0], l.scan[360][1], l.point[180].px, l.max_range))
print("halves %g %g" % (l.min_left, l.min_right))
print("sonar %d %g %g" % (s.scan_count, s.scan[4], s.poses[0].pyaw))
print("ranger %d %d %g %g" % (r.ranges_count, len(r.ranges), r.ranges[180], r.max_angle))
print("blobs %d %d %d %g" % (len(b.blobs), b.width, b.blobs[0].color, b.blobs[0].range))
print("rest %d %d %g %g %g" % (g.state, len(bumper.bumpers), power.charge, power.percent, ptz.zoom))
p.enable(1)
p.set_cmd_vel(0.2, 0, 0, 1)
for i in range(30):
    c.read()
print("position %g %g %g %d" % (p.px, p.pa, p.vx, p.stall))
p.set_cmd_vel(0, 0, 0, 1)
for i in range(5):
    c.read()
result, x, y, a = sim.get_pose2d("r0")
print("true %d %g %g" % (result, x - p.px, y))
print("moved %d" % sim.set_pose2d("puck", -1, 2, 0))
print("unknown %d %s" % (sim.get_pose2d("nobody")[0], playerc_error_str()))
lost = playerc_laser(c, 300)
print("missing %d %s" % (lost.subscribe(PLAYERC_OPEN_MODE), playerc_error_str()))
print(p)
p.unsubscribe()
c.disconnect()
