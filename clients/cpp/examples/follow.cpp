// SPDX-License-Identifier: Apache-2.0
//
// Follow drives along the wall on its right with the laser: it keeps 600 mm from
// it, and turns left where something is ahead. Arguments: [host [port [rounds]]].
#include "arguments.h"

constexpr int distance = 600; // from the wall, mm
constexpr int ahead = 900;    // an obstacle ahead that is nearer is turned away from, mm
constexpr int speed = 200;    // mm/s
constexpr int turn = 30;      // the highest turn rate, deg/s

int main(int argc, char **argv) {
  CRobot robot;
  int rounds = start(robot, argc, argv, "lrpw");
  // The nearest range between two directions: degrees, from 0 at the right to 180
  // at the left.
  auto nearest = [&](int from, int to) { return int(*std::min_element(robot.laser + 2 * from, robot.laser + 2 * to + 1)); };
  for (; rounds > 0 && !robot.Read(); rounds--) {
    if (!robot.Has('l')) continue; // the laser has no scan yet
    int failed;
    if (nearest(60, 120) < ahead)
      failed = robot.SetSpeed(0, turn);
    else // 1 deg/s for each 15 mm, to the left if too near
      failed = robot.SetSpeed(speed, std::clamp((distance - nearest(0, 60)) / 15, -turn, turn));
    if (failed) break;
  }
  if (rounds > 0) std::fprintf(stderr, "%s: %s\n", argv[0], robot.Error());
  return rounds > 0;
}
