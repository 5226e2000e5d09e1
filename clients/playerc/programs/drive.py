# Drives in every way that the wheels have, and moves gripper and camera.
import sys
import math
from playerc import *

c = playerc_client(None, sys.argv[1], int(sys.argv[2]))
if c.connect() != 0:
    raise Exception(playerc_error_str())
p, g, z, r = playerc_position2d(c, 0), playerc_gripper(c, 0), playerc_ptz(c, 0), playerc_ranger(c, 0)
for d in (p, g, z, r):
    if d.subscribe(PLAYERC_OPEN_MODE) != 0:
        raise Exception(playerc_error_str())
print("ranger %d" % r.power_config(1))


def read(n):
    for i in range(n):
        if c.read() is None:
            raise Exception(playerc_error_str())


read(1)
print("opened %d" % (g.state == PLAYER_GRIPPER_STATE_OPEN))
result = g.close_cmd()
z.set(DTOR(20), 0, 0.5)
read(30)
print("closed %d %d" % (result, g.state == PLAYER_GRIPPER_STATE_CLOSED))
print("pan %g" % RTOD(z.pan))
print("gripper %d %d %d %d" % (g.open_cmd(), g.stop_cmd(), g.store_cmd(), g.retrieve_cmd()))
p.set_odom(7, 8, 0)
p.set_cmd_pose(7.5, 8, 0, 1)
read(150)
print("pose %g %g" % (p.px, p.py))
p.set_cmd_vel_head(0, 0, math.pi / 2, 1)
read(60)
print("head %g" % NORMALIZE(p.pa))
p.set_cmd_car(0.2, 0)
read(20)
print("car %g %g" % (p.vx, p.va))
p.set_cmd_vel(0, 0, 0, 0)
read(10)
print("stopped %g %g" % (p.vx, p.py - 8 > 0.3))
