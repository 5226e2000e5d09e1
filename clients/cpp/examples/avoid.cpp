// SPDX-License-Identifier: Apache-2.0
//
// Avoid drives around obstacles with the sonars, as in appendix C of the Player
// manual: the nearer an obstacle, the slower it drives; it turns towards the side
// with more room; without room it backs off. Arguments: [host [port [rounds]]].
#include "arguments.h"

// Returns how much one side drives the robot on: -100 at the wall, 0 at 300 mm,
// 150 from 750 mm on. A sonar that has not fired yet reads 0; a side on which none
// has fired does not drive.
static int push(const unsigned short *from, const unsigned short *to) {
  int nearest = 0;
  for (; from != to; from++)
    if (*from != 0 && (nearest == 0 || *from < nearest)) nearest = *from;
  return nearest == 0 ? 0 : std::min(100 * nearest / 300 - 100, 150);
}

int main(int argc, char **argv) {
  CRobot robot;
  int rounds = start(robot, argc, argv, "srpw");
  for (; rounds > 0 && !robot.Read(); rounds--) {
    if (!robot.Has('s')) continue; // the sonars have not fired yet
    // Sonars 1 to 3 look ahead and to the left, 4 to 6 to the right.
    int left = push(robot.sonar + 1, robot.sonar + 4), right = push(robot.sonar + 4, robot.sonar + 7);
    // Room on both sides adds up to speed, the difference to turning.
    if (robot.SetSpeed(left + right, left - right)) break;
  }
  if (rounds > 0) std::fprintf(stderr, "%s: %s\n", argv[0], robot.Error());
  return rounds > 0;
}
