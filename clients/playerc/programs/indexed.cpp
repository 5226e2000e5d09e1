// Drives the second robot as position2d:1 of one client.
#include <libplayerc++/playerc++.h>
#include <iostream>
using namespace PlayerCc;

int main(int argc, char **argv) {
  PlayerClient client(argv[1], atoi(argv[2]));
  Position2dProxy first(&client, 0), second(&client, 1);
  SonarProxy sonar(&client, 1);
  for (int i = 0; i < 30; i++) {
    client.Read();
    first.SetSpeed(0.1, 0);
    second.SetSpeed(0.2, 0);
  }
  std::cout << "first " << first.GetXPos() << std::endl << "second " << second.GetXPos() << " " << sonar.GetCount() << std::endl;
  return 0;
}
