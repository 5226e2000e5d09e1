// Drives until it bumps, backs off, and turns: the loop of a vacuum cleaner.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;

PlayerClient *robot;

int main(int argc, char **argv) {
  robot = new PlayerClient(argv[1], atoi(argv[2]));
  Position2dProxy pp(robot, 0);
  BumperProxy bp(robot, 0);
  int both = 0;
  pp.SetMotorEnable(true);
  for (int i = 0; i < 600; i++) {
    robot->Read();
    pp.SetSpeed(0.3, 0);
    if (bp[0] || bp[1]) {
      both = bp[0] && bp[1];
      std::cout << "bumped " << bp[0] << " " << bp[1] << " " << bp.IsAnyBumped() << " " << pp.GetXPos() << std::endl;
      break;
    }
  }
  for (int i = 0; i < 20; i++) {
    pp.SetSpeed(-0.2, 0);
    robot->Read();
  }
  pp.SetSpeed(0, 0);
  std::cout << "free " << bp[0] << " " << bp[1] << std::endl << "both " << both << std::endl;
  return 0;
}
