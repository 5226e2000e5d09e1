// SPDX-License-Identifier: Apache-2.0
//
// Hello is figure 3 of the Player manual with player::Client: the robot drives around, turns away from the nearer
// obstacle, and stands still while something is close ahead. Arguments: [host [port [rounds]]]. When it ends in any
// way, the server stops the robot.
#include "arguments.hpp"

using namespace std::chrono_literals;

int main(int argc, char **argv) {
  return run(argv[0], [&] {
    Arguments a(argc, argv);
    player::Client robot(a.host, a.port);
    auto sonar = robot.sonar();
    auto wheels = robot.position();
    robot.command_lifetime(1s);  // a program that hangs does not leave the robot driving
    while (a.rounds-- > 0) {
      robot.read();
      if (!sonar.has_data()) continue;  // the sonars have not fired yet
      auto mm = sonar.ranges_mm();
      std::printf("sonar (mm)");
      for (int range : mm) std::printf(" %d", range);
      std::printf("\n");
      // Sonars 0 and 1 look to the left, 6 and 7 to the right.
      int turn = mm[0] + mm[1] < mm[6] + mm[7] ? -20 : 20;  // deg/s
      wheels.drive(mm[3] < 500 ? 0 : 100, turn);            // mm/s
    }
  });
}
