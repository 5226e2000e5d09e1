// Prints what every device of a complete robot reports while the robot stands. Without a robot it prints what
// needs none; PLAYER_HOSTNAME is used before main runs.
#include <libplayerc++/playerc++.h>
#include <replace.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

std::string gHostname(PlayerCc::PLAYER_HOSTNAME);
uint32_t gPort(PlayerCc::PLAYER_PORTNUM);
uint32_t gDataMode(PLAYER_DATAMODE_PUSH);

static void helpers() {
  player_pose2d_t pose = {1, 2, 3};
  struct player_pose3d pose3 = player_pose3d_t();
  player_point_2d_t point = {4, 5};
  player_color_t red = {255, 255, 0, 0};
  cout << "host " << gHostname << " " << gPort << endl;
  cout << "angles " << dtor(180) - M_PI << " " << rtod(M_PI / 2) << " " << normalize(3 * M_PI / 2) << " " << RTOD(M_PI) << " " << DTOR(90) << endl;
  cout << "limit " << limit(5, 0, 3) << " " << limit(-2.0, -1.0, 1.0) << " " << min(1, 2) << " " << max(1.5, 2.5) << endl;
  cout << "pose " << pose << " " << pose3 << " " << point << " " << (int)red.red << endl;
}

int main(int argc, char **argv) {
  helpers();
  if (argc < 3) return 0;
  PlayerClient robot(argv[1], atoi(argv[2]));
  robot.SetDataMode(PLAYER_DATAMODE_PULL);
  robot.SetReplaceRule(true, PLAYER_MSGTYPE_DATA, -1, -1);
  Position2dProxy pp(&robot, 0);
  LaserProxy lp(&robot, 0);
  SonarProxy sp(&robot, 0);
  IrProxy ir(&robot, 0);
  BumperProxy bp(&robot, 0);
  PowerProxy power(&robot, 0);
  GripperProxy gp(&robot, 0);
  PtzProxy ptz(&robot, 0);
  BlobfinderProxy bf(&robot, 0);
  RangerProxy ring(&robot, 0), ranger(&robot, 1);
  pp.RequestGeom();
  lp.RequestGeom();
  lp.RequestConfigure();
  lp.RequestID();
  sp.RequestGeom();
  ranger.RequestConfigure();
  ranger.RequestGeom();
  gp.RequestGeometry();
  bp.RequestBumperConfig();

  // Before the first Read there is nothing, and nothing that looks like a wall.
  cout << "before " << lp.GetCount() << " " << sp.GetCount() << " " << bf.GetCount() << " " << ring.GetRangeCount() << " " << pp.IsValid() << " " << pp.GetXPos() << endl;
  cout << "empty " << lp[180] << " " << sp[3] << endl;
  robot.Read();
  cout << "valid " << pp.IsValid() << lp.IsValid() << sp.IsValid() << bp.IsValid() << power.IsValid() << gp.IsValid() << ptz.IsValid() << bf.IsValid()
       << ring.IsValid() << ranger.IsValid() << endl;
  cout << "position " << pp.GetXPos() << " " << pp.GetYPos() << " " << pp.GetYaw() << " " << pp.GetXSpeed() << " " << pp.GetYawSpeed() << " " << pp.GetStall()
       << " " << pp.GetYSpeed() << endl;
  cout << "size " << pp.GetSize().sl << " " << pp.GetSize().sw << " " << pp.GetOffset().px << " " << pp.GetPose().pyaw << endl;
  cout << "laser " << lp.GetCount() << " " << lp.GetRange(0) << " " << lp[180] << " " << lp[360] << " " << lp.GetMaxRange() << endl;
  cout << "bearing " << lp.GetBearing(0) << " " << lp.GetBearing(180) << " " << lp.GetBearing(360) << " " << lp.GetScanRes() << endl;
  cout << "config " << lp.GetMinAngle() << " " << lp.GetMaxAngle() << " " << lp.GetConfMinAngle() << " " << lp.GetConfMaxAngle() << " " << lp.GetRangeRes() << " "
       << lp.GetScanningFrequency() << " " << lp.IntensityOn() << " " << lp.GetIntensity(3) << " " << lp.GetID() << endl;
  cout << "mount " << lp.GetPose().px << " " << lp.GetPose().py << " " << lp.GetPose().pyaw << " " << lp.GetRobotPose().px << " " << lp.GetSize().sl << endl;
  cout << "halves " << lp.MinLeft() << " " << lp.MinRight() << " " << lp.GetMinLeft() << " " << lp.GetMinRight() << endl;
  cout << "point " << lp.GetPoint(180).px << " " << lp.GetPoint(360).py << endl;
  cout << "outside " << lp[100000] << " " << sp[16] << " " << ir[1000] << " " << ring[99] << " " << bp[7] << " " << bf[50].area << " " << bp.IsBumped(77) << endl;
  cout << "sonar " << sp.GetCount() << " " << sp[0] << " " << sp[4] << " " << sp.GetPoseCount() << " " << sp.GetPose(0).pyaw << " " << sp.GetScan(7) << " "
       << sp.GetPose(7).pyaw << endl;
  cout << "sonar2 " << sp.GetPose(2).px << " " << sp.GetPose(2).py << " " << sp.GetPose(2).pyaw << endl;
  cout << "ring " << ring.GetRangeCount() << " " << ring.GetElementCount() << " " << ring[0] << " " << ir.GetCount() << endl;
  cout << "ranger " << ranger.GetRangeCount() << " " << ranger.GetRange(180) << " " << ranger.GetMaxRange() << endl;
  cout << "same " << ir.GetRange(0) - sp[0] << " " << ring[0] - sp[0] << " " << ranger[180] - lp[180] << endl;
  cout << "angle " << ranger.GetMinAngle() << " " << ranger.GetMaxAngle() << " " << ranger.GetAngularRes() << " " << ring.GetElementPose(3).pyaw << endl;
  cout << "sensor " << ranger.GetDevicePose().px << " " << ranger.GetDeviceSize().sl << " " << ranger.GetElementSize(0).sl << " " << ranger.GetMinRange() << " "
       << ranger.GetRangeRes() << " " << ranger.GetFrequency() << " " << ranger.GetIntensityCount() << endl;
  cout << "bumper " << bp.GetCount() << " " << bp[0] << " " << bp[1] << " " << bp.IsAnyBumped() << " " << bp.GetPoseCount() - 2 << endl;
  cout << "power " << power.GetCharge() << " " << power.GetPercent() << endl;
  cout << "gripper " << gp.GetState() << " " << gp.GetBeams() << endl;
  cout << "paddles " << gp.GetPose().px << " " << gp.GetInnerSize().sl << " " << gp.GetInnerSize().sw << " " << (gp.GetOuterSize().sw > gp.GetInnerSize().sw) << " "
       << gp.GetNumBeams() << " " << gp.GetCapacity() << " " << gp.GetStored() << endl;
  cout << "ptz " << ptz.GetPan() << " " << ptz.GetTilt() << " " << ptz.GetZoom() << endl;
  playerc_blobfinder_blob_t b = bf[0];
  cout << "blobs " << bf.GetCount() << " " << bf.GetWidth() << " " << bf.GetHeight() << " " << b.color << endl;
  cout << "blob " << b.range << " " << (b.left <= b.x && b.x <= b.right && b.top <= b.y && b.y <= b.bottom) << endl << "centre " << b.x << endl;
  cout << "who " << pp.GetInterfaceStr() << " " << pp.GetIndex() << " " << (pp.GetPlayerClient() == &robot) << " " << robot.GetPort() - atoi(argv[2]) << " "
       << robot.LookupCode("laser") - lp.GetInterface() << " " << robot.LookupName(PLAYER_SONAR_CODE) << endl;
  return 0;
}
