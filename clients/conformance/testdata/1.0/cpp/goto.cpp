// SPDX-License-Identifier: Apache-2.0
//
// Goto drives to a point around obstacles, with the laser, or with the sonars if the robot
// has none (docs/GOTO.md). The point is in metres from where the odometry began.
// Arguments: [-addr host:port] [-step] [-sonar] [-n rounds] [--] x y. With -step the robot
// is in a world in step, which waits for this program.
#include "../playerclient.h"
#include "../vfh.hpp"

#include <cstdlib>

int main(int argc, char **argv) {
  std::string address = "localhost:6665";
  bool step = false, sonar = false;
  int rounds = 3000;
  while (argc > 3) {
    std::string option = argv[1];
    int used = 1;
    if (option == "-step") step = true;
    else if (option == "-sonar") sonar = true;
    else if (option == "-addr") address = argv[used++ + 1];
    else if (option == "-n") rounds = std::atoi(argv[used++ + 1]);
    else if (option != "--") break;
    argc -= used;
    argv += used;
  }
  if (argc != 3) {
    std::fprintf(stderr, "goto: give x and y in metres, as goto 4.5 -1.2\n");
    return 2;
  }
  int x = static_cast<int>(std::atof(argv[1]) * 1000), y = static_cast<int>(std::atof(argv[2]) * 1000);
  CRobot robot;
  auto failed = [&] {
    std::fprintf(stderr, "goto: %s\n", robot.Error());
    return 1;
  };
  robot.timeout = std::chrono::seconds(30);
  auto colon = address.rfind(':');
  if (robot.Connect(address.substr(0, colon).c_str(), colon == std::string::npos ? PLAYER_PORT : std::atoi(address.c_str() + colon + 1))) return 1;
  if (step && robot.SetDataMode(REQUESTREPLY)) return failed();
  // In step, devices that are opened in one request have data from the first round on.
  sonar = sonar || robot.Request("palr");
  if (sonar && robot.Request("pasr")) return failed();
  std::vector<player_part> parts;
  robot.Geometry(parts); // an older server does not answer
  player_part laser{};
  laser.x = 80; // as on a Pioneer
  for (const player_part &p : parts)
    if (p.device == 'l') laser = p;
  if (robot.SetCommandLifetime(std::chrono::seconds(1))) return failed(); // if this program hangs the robot stops
  player::Way way(player::ConfigOf(parts), x, y);
  for (int round = 0; round < rounds; round++) {
    if (step && robot.RequestData()) return failed();
    if (robot.Read()) return failed();
    if (!robot.Has('p') || !robot.Has(sonar ? 's' : 'l')) continue; // nothing yet
    auto command = way.Next(*robot.position, sonar ? player::SonarBeams(parts, robot.sonar) : player::LaserBeams(laser, robot.laser));
    if (command.arrived) {
      std::printf("arrived=1 time=%.1f\n", round / 10.0);
      return robot.SetSpeed(0, 0);
    }
    if (robot.SetSpeed(command.speed, command.turn)) return failed();
  }
  std::printf("arrived=0 time=%.1f\n", rounds / 10.0);
  return robot.SetSpeed(0, 0);
}
