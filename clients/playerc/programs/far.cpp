// Has a laser of 666 readings over 240 degrees, and drives where nothing is.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;
using namespace std;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  LaserProxy lp(&robot, 0);
  RangerProxy rp(&robot, 1);
  SonarProxy sp(&robot, 0);
  BlobfinderProxy bf(&robot, 0);
  SimulationProxy sim(&robot, 0);
  lp.Configure(lp.GetMinAngle(), lp.GetMaxAngle(), 1, 1, false, 10);
  rp.Configure(-1, 1, 0.01, 0, 8, 0.001, 10);
  rp.SetPower(true);
  rp.SetIntensityData(false);
  robot.Read();
  cout << "wide " << lp.GetCount() << " " << lp[458] * sin(lp.GetBearing(458)) << " " << lp.GetBearing(0) << " " << lp.GetBearing(665) << endl;
  cout << "outside " << (lp[0] == lp.GetMaxRange()) << " " << (lp[80] == lp.GetMaxRange()) << " " << (lp[665] == lp.GetMaxRange()) << " "
       << (lp[90] < lp.GetMaxRange()) << endl;
  sim.SetPose2d("r0", -100, -100, 0);
  for (int i = 0; i < 3; i++) robot.Read();
  int echoes = 0;
  for (uint i = 0; i < lp.GetCount(); i++) echoes += lp[i] != lp.GetMaxRange();
  for (uint i = 0; i < rp.GetRangeCount(); i++) echoes += rp[i] != rp.GetMaxRange();
  for (uint i = 0; i < sp.GetCount(); i++) echoes += sp[i] != 5;
  cout << "far " << lp.GetCount() << " " << rp.GetRangeCount() << " " << sp.GetCount() << " " << echoes << " " << lp.MinLeft() << " " << bf.GetCount() << endl;
  return 0;
}
