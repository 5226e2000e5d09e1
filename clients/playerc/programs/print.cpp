// Prints the client and the proxies themselves.
#include <libplayerc++/playerc++.h>
#include <iostream>
int main(int argc, char **argv) {
  using namespace PlayerCc;
  PlayerClient *client = new PlayerClient(argv[1], atoi(argv[2]));
  Position2dProxy *pos = new Position2dProxy(client, 0);
  SonarProxy *sonar = new SonarProxy(client, 0);
  LaserProxy *laser = new LaserProxy(client);
  RangerProxy ranger(client);
  GripperProxy gripper(client);
  PtzProxy ptz(client);
  BlobfinderProxy blobs(client);
  BumperProxy bumper(client);
  PowerProxy power(client);
  client->Read();
  std::cout << *client << std::endl;
  std::cout << *pos << *sonar << *laser << ranger << gripper << ptz << blobs << bumper << power;
  gripper.Store();
  gripper.Retrieve();
  // Programs delete in any order.
  delete client;
  delete laser;
  delete sonar;
  delete pos;
  return 0;
}
