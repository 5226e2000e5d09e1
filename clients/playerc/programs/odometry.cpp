// Sets and resets the odometry.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  robot.Read();
  pp.SetOdometry(2, 3, M_PI / 2);
  std::cout << "set " << pp.GetXPos() << " " << pp.GetYPos() << " " << pp.GetYaw() << std::endl;
  player_pose2d_t ahead = {0.2, 0, 0};
  for (int i = 0; i < 30; i++) {
    pp.SetSpeed(ahead);
    robot.Read();
  }
  pp.SetSpeed(0, 0, 0);
  for (int i = 0; i < 10; i++) robot.Read();
  std::cout << "driven " << pp.GetXPos() << " " << pp.GetYPos() << " " << pp.GetYaw() << std::endl;
  pp.ResetOdometry();
  for (int i = 0; i < 5; i++) robot.Read();
  std::cout << "reset " << pp.GetXPos() << " " << pp.GetYPos() << " " << pp.GetYaw() << std::endl;
  return 0;
}
