// Prints where the parts of two robots are, and how large they are.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  Position2dProxy small(&robot, 2);
  LaserProxy lp(&robot, 0);
  SonarProxy sp(&robot, 0);
  RangerProxy rp(&robot, 1);
  GripperProxy gp(&robot, 0);
  BumperProxy bp(&robot, 0);
  pp.RequestGeom();
  small.RequestGeom();
  lp.RequestGeom();
  lp.RequestConfigure();
  lp.RequestID();
  sp.RequestGeom();
  rp.RequestGeom();
  gp.RequestGeometry();
  bp.RequestBumperConfig();
  robot.Read();
  cout << "body " << pp.GetSize().sl << " " << pp.GetSize().sw << " " << pp.GetOffset().px << " " << pp.GetPose().pyaw << endl;
  cout << "small " << small.GetSize().sl << " " << small.GetSize().sw << " " << small.GetOffset().px << endl;
  cout << "laser " << lp.GetPose().px << " " << lp.GetPose().py << " " << lp.GetPose().pyaw << " " << lp.GetRobotPose().px << " " << lp.GetSize().sl << endl;
  cout << "config " << lp.GetConfMinAngle() << " " << lp.GetConfMaxAngle() << " " << lp.GetRangeRes() << " " << lp.GetScanningFrequency() << " " << lp.IntensityOn()
       << " " << lp.GetIntensity(3) << " " << lp.GetID() << endl;
  cout << "sonar2 " << sp.GetPose(2).px << " " << sp.GetPose(2).py << " " << sp.GetPose(2).pyaw << endl;
  cout << "ranger " << rp.GetDevicePose().px << " " << rp.GetDeviceSize().sl << " " << rp.GetElementSize(0).sl << " " << rp.GetMinRange() << " " << rp.GetRangeRes()
       << " " << rp.GetFrequency() << " " << rp.GetIntensityCount() << endl;
  cout << "gripper " << gp.GetPose().px << " " << gp.GetInnerSize().sl << " " << gp.GetInnerSize().sw << " " << (gp.GetOuterSize().sw > gp.GetInnerSize().sw) << " "
       << gp.GetNumBeams() << " " << gp.GetCapacity() << " " << gp.GetStored() << endl;
  cout << "bumper " << bp.IsBumped(0) << bp.IsBumped(1) << bp.IsBumped(77) << " " << bp.GetPoseCount() << endl;
  return 0;
}
