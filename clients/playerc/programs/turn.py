# Turns by a right angle and drives, with the names of C++.
import sys
from playercpp import *

robot = PlayerClient(sys.argv[1], int(sys.argv[2]))
pos = Position2dProxy(robot, 0)
laser = LaserProxy(robot, 0)
sonar = SonarProxy(robot, 0)
ranger = RangerProxy(robot, 1)
bumper = BumperProxy(robot, 0)
gripper = GripperProxy(robot, 0)
blobs = BlobfinderProxy(robot, 0)
sim = SimulationProxy(robot, 0)
marks = FiducialProxy(robot, 0)
pos.SetMotorEnable(True)
robot.Read()
print("values %d %g %g %d %g %d %d %d %d" % (laser.GetCount(), laser[180], sonar[99], ranger.GetRangeCount(), ranger.GetRange(180),
                                           bumper[0], gripper.GetState(), blobs.GetCount(), blobs[0].color))
mark = marks.GetFiducialItem(0)
print("mark %d %d %g %g %d %d" % (marks.GetCount(), mark.id, mark.pose.px, mark.pose.py, marks.GetFiducialItem(9).id, marks.IsValid()))
goal = normalize(pos.GetYaw() + dtor(90))
while abs(normalize(goal - pos.GetYaw())) > 0.01:
    robot.Read()
    error = normalize(goal - pos.GetYaw())
    pos.SetSpeed(0, 0.5 if error > 0.2 else limit(error / 2, -0.01, 0.01))
pos.SetSpeed(0.2, 0, 0)
for i in range(30):
    robot.Read()
pos.SetSpeed(0, 0)
robot.Read()
print("pose %g %g %g" % (pos.GetXPos(), pos.GetYPos(), pos.GetYaw()))
print("truth %g %g %g" % sim.GetPose2d("r0"))
try:
    LaserProxy(robot, 300)
except PlayerError as e:
    print("missing %s" % e)
