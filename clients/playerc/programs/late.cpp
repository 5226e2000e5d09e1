// Does not read while it drives: what comes then is not old.
#include "libplayerc++/playerc++.h"
#include <unistd.h>
#include <iostream>
using namespace PlayerCc;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  SimulationProxy sim(&robot, 0);
  robot.Read();
  pp.SetSpeed(0.3, 0);
  usleep(1500000);
  pp.SetSpeed(0, 0);
  double x = 0, last, y, a;
  do { // until it stands
    last = x;
    usleep(300000);
    sim.GetPose2d((char *)"r0", x, y, a);
  } while (x != last);
  robot.Read();
  std::cout << "late " << pp.GetXPos() << " " << pp.GetXSpeed() << std::endl;
  return 0;
}
