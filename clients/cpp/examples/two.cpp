// SPDX-License-Identifier: Apache-2.0
//
// Two drives two robots, one port and one thread each: both turn away from near things. In the end it prints how far
// each is from where its odometry began.
// Arguments: [host [port [rounds [port]]]]; the second robot has the next port, or the last one.
#include "arguments.hpp"

#include <thread>

using namespace std::chrono_literals;

static void drive(const Arguments &a, int n, int port) {
  player::Client robot(a.host, port);
  auto sonar = robot.sonar();
  auto wheels = robot.position();
  robot.command_lifetime(1s);  // a program that hangs does not leave the robot driving
  for (int i = 0; i < a.rounds; i++) {
    robot.read();
    if (!sonar.has_data()) continue;  // the sonars have not fired yet
    auto mm = sonar.ranges_mm();
    if (mm[3] < 700 || mm[4] < 700)
      wheels.drive(0, 30);
    else
      wheels.drive(200, 0);
  }
  std::printf("robot %d: %.0f mm\n", n, std::hypot(wheels.x_mm(), wheels.y_mm()));
}

int main(int argc, char **argv) {
  Arguments a(argc, argv);
  int port = argc > 4 ? std::atoi(argv[4]) : a.port + 1, failed = 0;
  std::thread second([&] { failed = run(argv[0], [&] { drive(a, 1, port); }); });
  int first = run(argv[0], [&] { drive(a, 0, a.port); });
  second.join();
  return first || failed;
}
