# Does the same as the programs readings, driving and things, with the names of C++.
import sys
from math import pi
from playercpp import *

robot = PlayerClient(sys.argv[1], int(sys.argv[2]))
robot.SetDataMode(PLAYER_DATAMODE_PULL)
robot.SetReplaceRule(True, PLAYER_MSGTYPE_DATA, -1, -1)
pos, laser, sonar = Position2dProxy(robot, 0), LaserProxy(robot, 0), SonarProxy(robot, 0)
ranger, ring, bumper = RangerProxy(robot, 1), RangerProxy(robot, 0), BumperProxy(robot, 0)
power, gripper, ptz = PowerProxy(robot, 0), GripperProxy(robot, 0), PtzProxy(robot, 0)
blobs, finder, sim = BlobfinderProxy(robot, 0), FiducialProxy(robot, 0), SimulationProxy(robot, 0)


def read(n):
    for i in range(n):
        robot.Read()


def pose(name):
    print("%s %g %g %g %g %g %d %g" % (name, pos.GetXPos(), pos.GetYPos(), pos.GetYaw(), pos.GetXSpeed(), pos.GetYawSpeed(), pos.GetStall(), pos.GetYSpeed()))


def where(name, thing):
    print("%s %g %g %g" % ((name,) + sim.GetPose2d(thing)))


for proxy in (pos, laser, sonar, ranger, ring):
    proxy.RequestGeom()
ranger.RequestConfigure()
finder.RequestGeometry()
print("before %d %d %d %d %d" % (laser.GetCount(), sonar.GetCount(), blobs.GetCount(), ring.GetCount(), pos.IsFresh()))
print("empty %g %g" % (laser[180], sonar[3]))
robot.Read()
print("fresh %d %d" % (pos.IsFresh(), pos.IsValid()))
pos.NotFresh()
print("seen %d" % pos.IsFresh())
print("client %s %d %d" % (robot.GetHostname(), robot.GetPort() - int(sys.argv[2]), robot.Connected()))
pose("position")
print("laser %d %g %g %g %g" % (laser.GetCount(), laser.GetRange(0), laser[180], laser[360], laser.GetMaxRange()))
print("bearing %g %g %g %g" % (laser.GetBearing(0), laser.GetBearing(180), laser.GetBearing(360), laser.GetScanRes()))
print("config %g %g" % (laser.GetMinAngle(), laser.GetMaxAngle()))
print("halves %g %g" % (laser.MinLeft(), laser.MinRight()))
print("point %g %g" % (laser.GetPoint(180).px, laser.GetPoint(360).py))
print("outside %g %g" % (laser[9999], sonar[99]))
print("sonar %d %g %g %d %g" % (sonar.GetCount(), sonar[0], sonar.GetScan(4), sonar.GetPoseCount(), sonar.GetPose(0).pyaw))
print("ring %d %d %g" % (ring.GetRangeCount(), ring.GetElementCount(), ring[0]))
print("ranger %d %g %g" % (ranger.GetRangeCount(), ranger.GetRange(180), ranger.GetMaxRange()))
print("angle %g %g %g %g" % (ranger.GetMinAngle(), ranger.GetMaxAngle(), ranger.GetAngularRes(), ring.GetElementPose(3).pyaw))
print("bumper %d %d %d %d" % (bumper.GetCount(), bumper.IsBumped(0), bumper[1], bumper.IsAnyBumped()))
print("power %g %g" % (power.GetCharge(), power.GetPercent()))
print("gripper %d %d" % (gripper.GetState(), gripper.GetBeams()))
print("ptz %g %g %g" % (ptz.GetPan(), ptz.GetTilt(), ptz.GetZoom()))
print("blobs %d %d %d %d" % (blobs.GetCount(), blobs.GetWidth(), blobs.GetHeight(), blobs.GetBlob(0).color))
print("blob %g" % blobs[0].range)
seen = finder.GetFiducialItem(0)
print("first %d %d %g %g %d %d" % (finder.GetCount(), seen.id, seen.pose.px, seen.pose.py, finder.GetFiducialItem(9).id, finder.IsValid()))

pos.SetMotorEnable(True)
pos.SetSpeed(player_pose2d_t(0.2, 0, 0))
read(30)
pose("ahead")
pos.SetCarlike(0.2, 0.3)
read(20)
print("curve %g %g" % (pos.GetXSpeed(), pos.GetYawSpeed()))
pos.SetSpeed(0, 0, 0)
read(10)
pose("stands")
while abs(normalize(dtor(-90) - pos.GetYaw())) > 0.01:
    robot.Read()
    error = normalize(dtor(-90) - pos.GetYaw())
    pos.SetSpeed(0, -0.5 if error < -0.2 else limit(error / 2, -0.01, 0.01))
pos.SetSpeed(0, 0)
robot.Read()
pose("head")
pos.SetOdometry(2, 3, pi / 2)
pos.SetSpeed(0.2, 0, 0)
read(30)
pos.SetSpeed(0, 0)
while not robot.Peek(20):
    pass
robot.ReadIfWaiting()
read(10)
pose("driven")
pos.GoTo(2.8, 3.2, pi)
read(200)
pose("there")
where("truth", "r0")
pos.ResetOdometry()
robot.Read()
pose("reset")

sim.SetPose2d("puck", -1, 2, 0)
where("puck", "puck")
gripper.Close()
read(30)
print("shut %d" % (gripper.GetState() == PLAYER_GRIPPER_STATE_CLOSED))
gripper.Store()
gripper.Retrieve()
gripper.Open()
gripper.Stop()
sim.SetProperty("r0", "color", [0, 1, 1, 1])
print("color %g %g %g %g" % tuple(sim.GetProperty("r0", "color")))
ptz.SetCam(dtor(45), dtor(-10), 0.3)
read(60)
print("turned %g %g %g" % (ptz.GetPan(), ptz.GetTilt(), ptz.GetZoom()))
try:
    LaserProxy(robot, 300)
except PlayerError as e:
    print("missing %s" % e)

# A copy outlives its device.
seen, ranges = finder.GetFiducialItem(0), laser._d.scan
before = "%g %g" % (seen.pose.px, ranges[180][0])
laser._d.destroy()
finder._d.destroy()
destroyed = 0
for use in (lambda: laser.GetRange(0), lambda: laser._d.scan, lambda: laser._d.subscribe(), laser._d.destroy):
    try:
        use()
    except ValueError:
        destroyed += 1
print("destroyed %d" % destroyed)
print("kept %d" % (before == "%g %g" % (seen.pose.px, ranges[180][0])))
