# Drives to a marked thing that the fiducial finder sees, fetches a puck with the gripper, and puts things elsewhere.
import math
from device import *


def where(name, thing):
    result, x, y, a = sim.get_pose2d(thing)
    print("%s %g %g %g %d" % (name, x, y, a, result))


c = connected()
p, f, g, z, sim = subscribed(playerc_position2d(c, 0), playerc_fiducial(c, 0), playerc_gripper(c, 0), playerc_ptz(c, 0), playerc_simulation(c, 0))
f.get_geom()
print("geometry %g %g" % (f.fiducial_geom.pose.px, f.fiducial_geom.fiducial_size.sw))
print("before %d %d" % (f.fiducials_count, len(f.fiducials)))
read(c, 1)
print("first %d %d %g %g %d" % (f.fiducials_count, f.fiducials[0].id, f.fiducials[0].pose.px, f.fiducials[0].pose.py, len(f.fiducials) - 1))
print("fresh %d %d" % (f.info.fresh, f.info.datatime > 0))
for i in range(300):
    item = f.fiducials[0].pose
    bearing = math.atan2(item.py, item.px)
    if math.hypot(item.px, item.py) < 0.8:
        break
    p.set_cmd_vel(0.3 if abs(bearing) < 0.2 else 0, 0, 1.5 * bearing, 1)
    read(c, 1)
p.set_cmd_vel(0, 0, 0, 1)
read(c, 10)
print("post %g" % math.hypot(f.fiducials[0].pose.px, f.fiducials[0].pose.py))
where("there", "r0")
sim.set_pose2d("r0", -1, 1.5, -math.pi / 2)
where("moved", "r0")
sim.set_pose2d("r0", -2, 0, 0)
print("put %d" % sim.set_pose2d("puck", -1, 0, 0))
g.open_cmd()
z.set(DTOR(45), DTOR(-10), 0.3)
read(c, 60)
print("ptz %g %g %g %d" % (z.pan, z.tilt, z.zoom, z.status))
print("angles %g %g" % (RTOD(z.pan), NORMALIZE(z.pan + 2 * math.pi)))
print("open %d %d" % (g.state == PLAYER_GRIPPER_STATE_OPEN, g.beams))
for i in range(300):
    if g.beams & 2:
        break
    p.set_cmd_vel(0.1, 0, 0, 1)
    read(c, 1)
print("inner %d" % (g.beams & 2))
p.set_cmd_vel(0, 0, 0, 1)
g.close_cmd()
read(c, 30)
print("closed %d %d" % (g.state == PLAYER_GRIPPER_STATE_CLOSED, g.beams != 0))
where("fetched", "puck")
p.set_cmd_vel(-0.2, 0, 0, 1)
read(c, 30)
p.set_cmd_vel(0, 0, 0, 1)
read(c, 10)
where("carried", "puck")
print("gripper %d %d %d %d" % (g.open_cmd(), g.store_cmd(), g.retrieve_cmd(), g.stop_cmd()))
sim.set_pose2d("yellow", -100, -100, 0)
where("taken", "yellow")
print("unknown %d %s" % (sim.get_pose2d("nobody")[0], playerc_error_str()))
