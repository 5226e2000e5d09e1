// SPDX-License-Identifier: Apache-2.0
//
// Follow drives along the wall on its right with the laser: it keeps 600 mm from
// it, and turns left where something is ahead. Arguments: [host [port [rounds]]].
#include "arguments.hpp"

using namespace std::chrono_literals;

constexpr int distance = 600;  // from the wall, mm
constexpr int ahead = 900;     // an obstacle ahead that is nearer is turned away from, mm
constexpr int speed = 200;     // mm/s
constexpr int turn = 30;       // the highest turn rate, deg/s

int main(int argc, char **argv) {
  return run(argv[0], [&] {
    Arguments a(argc, argv);
    player::Client robot(a.host, a.port);
    auto laser = robot.laser();
    auto wheels = robot.position();
    robot.command_lifetime(1s);  // a program that hangs does not leave the robot driving
    // The nearest range between two directions: degrees, from 0 at the right to 180 at the left.
    auto nearest = [&](int from, int to) { return int{*std::min_element(laser.ranges_mm().begin() + 2 * from, laser.ranges_mm().begin() + 2 * to + 1)}; };
    while (a.rounds-- > 0) {
      robot.read();
      if (!laser.has_data()) continue;  // the laser has no scan yet
      if (nearest(60, 120) < ahead)
        wheels.drive(0, turn);
      else  // 1 deg/s for each 15 mm, to the left if too near
        wheels.drive(speed, std::clamp((distance - nearest(0, 60)) / 15, -turn, turn));
    }
  });
}
