// Prints what every proxy of a complete robot reports.
#include <libplayerc++/playerc++.h>

#include <iostream>

using namespace PlayerCc;
using namespace std;

int main(int argc, char **argv) {
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
  RangerProxy ranger0(&robot, 0);
  RangerProxy ranger1(&robot, 1);
  Graphics2dProxy graphics(&robot, 0);
  pp.RequestGeom();
  sp.RequestGeom();
  lp.RequestGeom();
  ranger1.RequestConfigure();
  ranger1.RequestGeom();

  // Before the first Read there is nothing, and nothing that looks like a wall.
  cout << "before " << pp.GetXPos() << " " << lp.GetCount() << " " << sp.GetCount() << " " << bf.GetCount() << " " << ranger0.GetRangeCount() << " "
       << pp.IsValid() << " " << (lp[180] == lp.GetMaxRange()) << " " << (sp[3] >= 5) << endl;
  robot.Read();
  cout << "valid " << pp.IsValid() << lp.IsValid() << sp.IsValid() << bp.IsValid() << power.IsValid() << gp.IsValid() << ptz.IsValid() << bf.IsValid()
       << ranger0.IsValid() << ranger1.IsValid() << endl;
  cout << "position " << pp.GetXPos() << " " << pp.GetYPos() << " " << pp.GetYaw() << " " << pp.GetXSpeed() << " " << pp.GetYSpeed() << " " << pp.GetYawSpeed()
       << " " << pp.GetStall() << endl;
  cout << "size " << pp.GetSize().sl << " " << pp.GetSize().sw << " " << pp.GetOffset().px << endl;
  cout << "laser " << lp.GetCount() << " " << lp.GetRange(0) << " " << lp[180] << " " << lp[360] << endl;
  cout << "bearing " << lp.GetBearing(0) << " " << lp.GetBearing(180) << " " << lp.GetBearing(360) << " " << lp.GetScanRes() << " " << lp.GetMinAngle() << " "
       << lp.GetMaxAngle() << endl;
  cout << "halves " << lp.MinLeft() << " " << lp.GetMinLeft() << " " << lp.MinRight() << " " << lp.GetMinRight() << endl;
  cout << "point " << lp.GetPoint(180).px << " " << lp.GetPoint(360).py << endl;
  cout << "outside " << lp[100000] << " " << sp[16] << " " << ir[1000] << " " << ranger0[99] << " " << bp[7] << " " << bf[50].area << endl;
  cout << "sonar " << sp.GetCount() << " " << sp[0] << " " << sp.GetScan(7) << " " << sp[4] << " " << sp.GetPoseCount() << " " << sp.GetPose(0).pyaw << " "
       << sp.GetPose(7).pyaw << endl;
  cout << "ir " << ir.GetCount() << " " << ir.GetRange(0) - sp[0] << endl;
  cout << "bumper " << bp.GetCount() << " " << bp[0] << " " << bp[1] << " " << bp.IsAnyBumped() << endl;
  cout << "power " << power.GetCharge() << " " << power.GetPercent() << endl;
  cout << "gripper " << gp.GetState() << " " << gp.GetBeams() << endl;
  cout << "ptz " << ptz.GetPan() << " " << ptz.GetTilt() << " " << ptz.GetZoom() << endl;
  cout << "blobs " << bf.GetCount() << " " << bf.GetWidth() << " " << bf.GetHeight() << endl;
  for (uint i = 0; i < bf.GetCount(); i++) {
    playerc_blobfinder_blob_t b = bf[i];
    cout << "blob" << i << " " << b.color << " " << b.x << " " << b.range << " " << (b.left <= b.x && b.x <= b.right && b.top <= b.y && b.y <= b.bottom) << " "
         << b.area << endl;
  }
  cout << "ranger0 " << ranger0.GetRangeCount() << " " << ranger0.GetElementCount() << " " << ranger0.GetElementPose(3).pyaw << " " << ranger0[0] - sp[0] << endl;
  cout << "ranger1 " << ranger1.GetRangeCount() << " " << ranger1.GetMinAngle() << " " << ranger1.GetMaxAngle() << " " << ranger1.GetAngularRes() << " "
       << ranger1[180] - lp[180] << endl;
  cout << "who " << pp.GetInterfaceStr() << " " << pp.GetIndex() << " " << (pp.GetPlayerClient() == &robot) << " " << robot.GetPort() - atoi(argv[2]) << " "
       << robot.LookupCode("laser") - lp.GetInterface() << " " << robot.LookupName(PLAYER_SONAR_CODE) << endl;
  return 0;
}
