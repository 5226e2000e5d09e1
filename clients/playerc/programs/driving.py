# Drives in every way that the wheels have.
import math
from device import *


def pose(name):
    print("%s %g %g %g %g %g" % (name, p.px, p.py, p.pa, p.vx, p.va))


c = connected()
p, sim = subscribed(playerc_position2d(c, 0), playerc_simulation(c, 0))
p.enable(1)
p.set_cmd_vel(0.2, 0, 0, 1)
read(c, 30)
pose("ahead")
p.set_cmd_car(0.2, 0.3)
read(c, 20)
print("curve %g %g" % (p.vx, p.va))
p.set_cmd_vel(0.2, 0, 0.1, 0)
read(c, 10)
pose("stands")
p.set_cmd_vel_head(0, 0, -math.pi / 2, 1)
read(c, 60)
pose("head")
p.set_odom(2, 3, math.pi / 2)
p.set_cmd_vel(0.2, 0, 0, 1)
read(c, 30)
p.set_cmd_vel(0, 0, 0, 1)
read(c, 10)
pose("driven")
p.set_cmd_pose(2.8, 3.2, math.pi, 1)
read(c, 200)
pose("there")
print("truth %g %g %g" % sim.get_pose2d("r0")[1:])
p.unsubscribe()
c.disconnect()
