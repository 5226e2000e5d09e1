// SPDX-License-Identifier: Apache-2.0
//
// Hello is figure 3 of the Player manual: the robot drives around, turns away
// from the nearer obstacle, and stands still while something is close ahead.
// Arguments: [host [port [rounds]]]. When it ends in any way, the server stops
// the robot.
#include "arguments.h"

int main(int argc, char **argv) {
  CRobot robot;
  int rounds = start(robot, argc, argv, "srpw");
  for (int i = 0; i < rounds; i++) {
    if (robot.Read()) {
      std::fprintf(stderr, "%s: %s\n", argv[0], robot.Error());
      return 1;
    }
    if (!robot.Has('s')) continue; // the sonars have not fired yet
    robot.Print();

    if (robot.sonar[0] + robot.sonar[1] < robot.sonar[6] + robot.sonar[7])
      robot.newturnrate = -20; // turn 20 degrees per second
    else
      robot.newturnrate = 20;
    if (robot.sonar[3] < 500)
      robot.newspeed = 0;
    else
      robot.newspeed = 100;
    if (robot.Write()) return 1;
  }
  return robot.Request("scpc"); // close everything
}
