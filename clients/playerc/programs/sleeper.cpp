// Turns to a heading while it sleeps.
#include <libplayerc++/playerc++.h>
#include <iostream>
#include <unistd.h>
using namespace PlayerCc;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  robot.Read();
  pp.GoTo(0, 0, 0.6);
  for (int i = 0; i < 200 && fabs(pp.GetYaw() - 0.6) > 0.02; i++) usleep(50000);
  std::cout << "there " << pp.GetYaw() << std::endl;
  return 0;
}
