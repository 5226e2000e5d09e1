// Bumps with its left side into a wall, with the bumpers of a Pioneer, of a Create, and two.
#include <libplayerc++/playerc++.h>
#include <stdlib.h>
#include <iostream>
using namespace PlayerCc;

struct Robot {
  PlayerClient client;
  BumperProxy bumpers;
  Robot(char **argv) : client(argv[1], atoi(argv[2])), bumpers(&client, 0) {}
};

int main(int argc, char **argv) {
  setenv("PLAYERC_BUMPERS", "all", 1);
  Robot pioneer(argv);
  setenv("PLAYERC_BUMPERS", "create", 1);
  Robot create(argv);
  setenv("PLAYERC_BUMPERS", "two", 1);
  Robot two(argv);
  Position2dProxy pp(&pioneer.client, 0);
  SimulationProxy sim(&pioneer.client, 0);
  create.bumpers.RequestBumperConfig();
  sim.SetPose2d((char *)"r0", 0, 2.3, dtor(45));
  for (int i = 0; i < 100 && !pioneer.bumpers.IsAnyBumped(); i++) {
    pp.SetSpeed(0.2, 0);
    pioneer.client.Read();
    create.client.Read();
    two.client.Read();
  }
  std::cout << "pioneer " << pioneer.bumpers.GetCount();
  for (int i = 0; i < 10; i++) std::cout << " " << pioneer.bumpers.IsBumped(i);
  std::cout << std::endl << "create " << create.bumpers.GetCount() << " " << create.bumpers[0] << " " << create.bumpers[1] << std::endl;
  std::cout << "two " << two.bumpers.GetCount() << " " << two.bumpers[0] << " " << two.bumpers[1] << std::endl;
  return 0;
}
