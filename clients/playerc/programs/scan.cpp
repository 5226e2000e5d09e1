// Uses a laser of 180 readings, as constants of other simulators have it.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  LaserProxy lp(&robot, 0);
  RangerProxy rp(&robot, 0);
  BlobfinderProxy bf(&robot, 0);
  BumperProxy bp(&robot, 0);
  robot.Read();
  std::cout << "scan " << lp.GetCount() << " " << lp[0] << " " << lp[lp.GetCount() / 2] << " " << lp[lp.GetCount() - 1] << " " << lp.GetBearing(0) << std::endl;
  std::cout << "ranger " << rp.GetRangeCount() << std::endl;
  std::cout << "image " << bf.GetWidth() << " " << bf.GetHeight() << std::endl;
  for (uint i = 0; i < bf.GetCount(); i++) std::cout << "blob" << i << " " << bf[i].x << " " << bf[i].area << " " << bf[i].range << std::endl;
  std::cout << "bumpers " << bp.GetCount() << std::endl;
  CameraProxy camera(&robot, 0); // PLAYERC_MISSING=warn
  std::cout << "camera " << camera.GetWidth() << " " << camera.IsValid() << std::endl;
  return 0;
}
