// SPDX-License-Identifier: Apache-2.0
//
// Watch prints what is new, with the age of each device's data when the server
// sent it, and connects again when the server is gone. It never touches the
// robot. Arguments: [host [port [rounds]]].
#include "arguments.h"

#include <thread>

int main(int argc, char **argv) {
  CRobot robot;
  int rounds = start(robot, argc, argv, "yrprsrlrmr");
  robot.timeout = std::chrono::seconds(5);
  robot.SetFresh(true);
  while (rounds-- > 0) {
    int r = robot.Read();
    if (r == PLAYER_CLOSED || r == PLAYER_TIMEOUT) {
      std::fprintf(stderr, "%s: %s, connecting again\n", argv[0], robot.Error());
      if (robot.Reconnect()) std::this_thread::sleep_for(std::chrono::seconds(1));
      continue;
    }
    if (r) {
      std::fprintf(stderr, "%s: %s\n", argv[0], robot.Error());
      return 1;
    }
    std::printf("%.3f s:", static_cast<double>(robot.ServerTime().count()) / 1e6);
    for (char device : std::string("pslm"))
      if (auto age = robot.Age(device); age && robot.New(device)) std::printf(" %c %.1f ms old", device, static_cast<double>(age->count()) / 1e3);
    std::printf("\n");
    if (robot.New('p')) std::printf("  x %d y %d heading %d\n", robot.position->xpos, robot.position->ypos, robot.position->heading);
    if (robot.New('s')) std::printf("  sonar ahead %d left %d right %d\n", robot.sonar[3], robot.sonar[0], robot.sonar[7]);
    if (robot.New('l')) std::printf("  laser ahead %d left %d right %d\n", robot.laser[180], robot.laser[360], robot.laser[0]);
    if (robot.New('m')) std::printf("  battery %.1f V\n", robot.misc->voltage / 10.0);
  }
}
