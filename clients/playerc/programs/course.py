# A program as courses had them, in Python 2: it goes ahead until something is a metre ahead.
import sys, math
from playerc import *

robot = playerc_client(None, sys.argv[1], int(sys.argv[2]))
if robot.connect() != 0:
    raise Exception, playerc_error_str()
wheels = playerc_position2d(robot, 0)
if wheels.subscribe(PLAYERC_OPEN_MODE) != 0:
    raise Exception, playerc_error_str()
laser = playerc_laser(robot, 0)
if laser.subscribe(PLAYERC_OPEN_MODE) != 0:
    print >> sys.stderr, playerc_error_str()
    sys.exit(1)

seen = {}
wheels.enable(1)
for i in xrange(600):
    if robot.read() is None:
        raise Exception, playerc_error_str()
    ahead = laser.ranges[laser.scan_count // 2]
    seen[`int(ahead)`] = True
    if ahead <> 0 and ahead < 1.0:
        break
    wheels.set_cmd_vel(0.3, 0.0, 0.0, 1)
wheels.set_cmd_vel(0, 0, 0, 1)
robot.read()
try:
    playerc_laser(robot, 0).subscribe("rubbish")
except Exception, e:
    print "refused", e.__class__.__name__
if seen.has_key("2") and not seen.has_key("7"):
    print "seen", ",".join(sorted(seen.keys()))
print "ahead %.3f" % ahead
print "pose", wheels.px, wheels.py, math.degrees(wheels.pa)
