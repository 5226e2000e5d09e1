// Drives to a goal without reading, also when the server was gone meanwhile.
#include <libplayerc++/playerc++.h>
#include <iostream>
#include <unistd.h>
using namespace PlayerCc;

int main(int argc, char **argv) {
  PlayerClient robot(argv[1], atoi(argv[2]));
  Position2dProxy pp(&robot, 0);
  robot.SetRetryLimit(-1);
  robot.SetRetryTime(0.05);
  robot.Read();
  pp.GoTo(0, 0, 0.6);
  std::cout << "end" << std::endl;
  while (robot.Connected()) usleep(1000); // the server ends
  std::cout << "lost" << std::endl;
  std::cin.get(); // it is there again
  for (int i = 0; i < 400 && !robot.Connected(); i++) usleep(50000);
  std::cout << "connected " << robot.Connected() << std::endl;
  return 0;
}
