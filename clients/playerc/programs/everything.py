# Asks every device for all that it has, with the names of C++.
import sys
from playercpp import *

robot = PlayerClient(sys.argv[1], int(sys.argv[2]))
robot.SetDataMode(PLAYER_DATAMODE_PULL)
robot.SetReplaceRule(True, PLAYER_MSGTYPE_DATA, -1, -1)
pos, laser, sonar = Position2dProxy(robot, 0), LaserProxy(robot, 0), SonarProxy(robot, 0)
ranger, ring, bumper = RangerProxy(robot, 1), RangerProxy(robot, 0), BumperProxy(robot, 0)
power, gripper, ptz = PowerProxy(robot, 0), GripperProxy(robot, 0), PtzProxy(robot, 0)
blobs, marks, sim = BlobfinderProxy(robot, 0), FiducialProxy(robot, 0), SimulationProxy(robot, 0)
for proxy in (pos, laser, sonar, ranger, ring):
    proxy.RequestGeom()
ranger.RequestConfigure()
marks.RequestGeometry()
print("before %d %d %d" % (laser.GetCount(), sonar.GetCount(), pos.IsFresh()))
robot.Read()
print("fresh %d %d" % (pos.IsFresh(), pos.IsValid()))
pos.NotFresh()
print("seen %d" % pos.IsFresh())
print("client %s %d %d" % (robot.GetHostname(), robot.GetPort() - int(sys.argv[2]), robot.Connected()))
print("laser %d %g %g %g %g %g" % (laser.GetCount(), laser.GetRange(180), laser.GetMaxRange(), laser.GetBearing(360), laser.GetPoint(180).px, laser[9999]))
print("scan %g %g %g %g %g" % (laser.GetScanRes(), laser.GetMinAngle(), laser.GetMaxAngle(), laser.MinLeft(), laser.MinRight()))
print("sonar %d %g %d %g" % (sonar.GetCount(), sonar.GetScan(4), sonar.GetPoseCount(), sonar.GetPose(0).pyaw))
print("ranger %d %g %g %g %g %g" % (ranger.GetRangeCount(), ranger.GetMinAngle(), ranger.GetMaxAngle(), ranger.GetAngularRes(), ranger.GetMaxRange(), ranger[180]))
print("ring %d %g" % (ring.GetElementCount(), ring.GetElementPose(0).pyaw))
print("bumper %d %d" % (bumper.IsBumped(0), bumper.IsAnyBumped()))
print("power %g %g" % (power.GetCharge(), power.GetPercent()))
print("blobs %d %d %d %d" % (blobs.GetCount(), blobs.GetWidth(), blobs.GetHeight(), blobs.GetBlob(0).color))
print("gripper %d %d" % (gripper.GetState(), gripper.GetBeams()))
gripper.Close()
for i in range(30):
    robot.Read()
print("closed %d" % (gripper.GetState() == PLAYER_GRIPPER_STATE_CLOSED))
gripper.Open()
gripper.Stop()
ptz.SetCam(0.5, -0.1, 0.4)
for i in range(30):
    robot.Read()
print("ptz %g %g %g" % (ptz.GetPan(), ptz.GetTilt(), ptz.GetZoom()))
pos.SetSpeed(player_pose2d_t(0.2, 0, 0))
for i in range(20):
    robot.Read()
print("speed %g %g %g %d" % (pos.GetXSpeed(), pos.GetYSpeed(), pos.GetYawSpeed(), pos.GetStall()))
pos.SetSpeed(0, 0)
pos.SetCarlike(0, 0)
while not robot.Peek(20):
    pass
robot.ReadIfWaiting()
pos.SetOdometry(5, 6, 0)
robot.Read()
print("odometry %g %g" % (pos.GetXPos(), pos.GetYPos()))
pos.ResetOdometry()
pos.GoTo(0.5, 0, 0)
for i in range(150):
    robot.Read()
print("there %g %g" % (pos.GetXPos(), pos.GetYaw()))
sim.SetPose2d("puck", -1, 2, 0)
print("puck %g %g %g" % sim.GetPose2d("puck"))
marked, ranges = marks.GetFiducialItem(0), laser._d.scan
before = "%g %g" % (marked.pose.px, ranges[180][0])
laser._d.destroy()
marks._d.destroy()
destroyed = 0
for use in (lambda: laser.GetRange(0), lambda: laser._d.scan, lambda: laser._d.subscribe(), laser._d.destroy):
    try:
        use()
    except ValueError:
        destroyed += 1
print("destroyed %d" % destroyed)
print("kept %d" % (before == "%g %g" % (marked.pose.px, ranges[180][0])))
