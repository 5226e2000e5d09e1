// SPDX-License-Identifier: Apache-2.0
//
// Goto drives to a point around obstacles: the server has the planner (docs/GOTO.md). The point
// is in metres from where the odometry began.
// Arguments: [-addr host:port] [-step] [-n tenths] [--] x y. It gives up after so many tenths of
// a second. With -step the robot is in a world in step, which waits for this program.
#include "../playerclient.h"

#include <cstdlib>
#include <ctime>

int main(int argc, char **argv) {
  std::string address = "localhost:6665";
  bool step = false;
  unsigned limit = 3000;
  while (argc > 3) {
    std::string option = argv[1];
    int used = 1;
    if (option == "-step") step = true;
    else if (option == "-addr") address = argv[used++ + 1];
    else if (option == "-n") limit = static_cast<unsigned>(std::atoi(argv[used++ + 1]));
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
  player::CDevice<player_goto> drive;
  if (robot.Request("pr") || robot.Open("goto", 'a', drive)) return failed(); // a server has goto with -goto
  if (robot.SetCommandLifetime(std::chrono::seconds(1))) return failed(); // if this program hangs the robot stops
  player_goal goal{x, y, PLAYER_ANY_HEADING, 0, 0, 0, 0, static_cast<uint16_t>(std::time(nullptr))};
  unsigned begin = 0, tenths = 0; // as the robot counts them
  while (tenths < limit) {
    if (robot.SetGoal(drive, goal)) return failed(); // repeated for the lifetime's sake
    if (step && robot.RequestData()) return failed();
    if (robot.Read()) return failed();
    if (robot.Has('p') && begin == 0) begin = robot.position->time;
    if (robot.Has('p')) tenths = (robot.position->time - begin) / 100;
    if (!robot.Has(drive) || drive->tag != goal.tag || drive->x != x || drive->y != y) continue; // not yet of this goal
    if (drive->state == PLAYER_GOTO_ARRIVED) {
      std::printf("arrived=1 time=%.1f\n", tenths / 10.0);
      return 0;
    }
    if (drive->state == PLAYER_GOTO_STOPPED) {
      std::fprintf(stderr, "goto: %s\n", player_goto_reason(drive->reason));
      break;
    }
  }
  std::printf("arrived=0 time=%.1f\n", tenths / 10.0);
  return robot.StopGoal(drive);
}
