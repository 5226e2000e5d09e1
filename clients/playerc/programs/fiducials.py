# Turns to a marked thing that the fiducial finder sees, and drives up to it.
import sys
import math
from playerc import *

c = playerc_client(None, sys.argv[1], int(sys.argv[2]))
if c.connect() != 0:
    raise Exception(playerc_error_str())
p, f = playerc_position2d(c, 0), playerc_fiducial(c, 0)
for d in (p, f):
    if d.subscribe(PLAYERC_OPEN_MODE) != 0:
        raise Exception(playerc_error_str())
f.get_geom()
print("geometry %g %g" % (f.fiducial_geom.pose.px, f.fiducial_geom.fiducial_size.sw))
print("before %d %d" % (f.fiducials_count, len(f.fiducials)))
c.read()
print("first %d %d %g %g" % (f.fiducials_count, f.fiducials[0].id, f.fiducials[0].pose.px, f.fiducials[0].pose.py))
print("fresh %d %d" % (f.info.fresh, f.info.datatime > 0))
for i in range(300):
    if c.read() is None:
        raise Exception(playerc_error_str())
    if f.fiducials_count == 0:
        break
    item = f.fiducials[0].pose
    bearing = math.atan2(item.py, item.px)
    if math.hypot(item.px, item.py) < 0.8:
        break
    p.set_cmd_vel(0.3 if abs(bearing) < 0.2 else 0, 0, 1.5 * bearing, 1)
p.set_cmd_vel(0, 0, 0, 1)
for i in range(10):
    c.read()
print("last %g %d" % (math.hypot(f.fiducials[0].pose.px, f.fiducials[0].pose.py), len(f.fiducials) - 1))
lost = playerc_fiducial(c, 300)
print("missing %d %s" % (lost.subscribe(PLAYERC_OPEN_MODE), playerc_error_str()))
c.disconnect()
