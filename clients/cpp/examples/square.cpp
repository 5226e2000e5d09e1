// SPDX-License-Identifier: Apache-2.0
//
// Square drives a square of a metre: ahead, and a quarter turn to the left, four times, by
// its odometry. Arguments: [host [port [rounds]]].
#include "arguments.hpp"

using namespace std::chrono_literals;

constexpr double side = 1000;       // mm
constexpr int corner = 90;          // degrees
constexpr int speed = 200;          // mm/s
constexpr int turn = 20, slow = 5;  // deg/s; near the end of a turn

int main(int argc, char **argv) {
  return run(argv[0], [&] {
    Arguments a(argc, argv);
    player::Client robot(a.host, a.port);
    auto wheels = robot.position();
    robot.command_lifetime(1s);  // a program that hangs does not leave the robot driving
    while (!wheels.has_data()) robot.read();
    for (int n = 1; n <= 4; n++) {
      int x = wheels.x_mm(), y = wheels.y_mm();
      while (std::hypot(wheels.x_mm() - x, wheels.y_mm() - y) < side) {
        wheels.drive(speed, 0);
        robot.read();
        if (a.rounds-- <= 0) return;
      }
      for (int turned = 0, before = wheels.heading_deg(); turned < corner - 1;) {
        wheels.drive(0, turned < corner - turn ? turn : slow);
        robot.read();
        turned += (wheels.heading_deg() - before + 540) % 360 - 180;  // also over 359
        before = wheels.heading_deg();
        if (a.rounds-- <= 0) return;
      }
      std::printf("corner %d at %d %d\n", n, wheels.x_mm(), wheels.y_mm());
    }
    wheels.stop();
  });
}
