// Goes to poses, while it only reads.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  pp.GoTo(1, 1, M_PI / 2);
  for (int i = 0; i < 300; i++) robot.Read();
  std::cout << "first " << pp.GetXPos() << " " << pp.GetYPos() << " " << pp.GetYaw() << std::endl;
  player_pose2d_t home = {0, 0, M_PI}, speed = {0.2, 0, 0.5};
  double fastest = 0;
  pp.GoTo(home, speed);
  for (int i = 0; i < 400; i++) {
    robot.Read();
    fastest = max(fastest, pp.GetXSpeed());
  }
  std::cout << "home " << pp.GetXPos() << " " << pp.GetYPos() << " " << fabs(pp.GetYaw()) << " " << fastest << std::endl;
  pp.GoTo(2, 0, 0);
  for (int i = 0; i < 10; i++) robot.Read();
  pp.SetSpeed(0, 0); // ends it
  for (int i = 0; i < 30; i++) robot.Read();
  std::cout << "stopped " << pp.GetXSpeed() << " " << pp.GetYawSpeed() << std::endl;
  return 0;
}
