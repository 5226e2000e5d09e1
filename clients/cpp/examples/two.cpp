// SPDX-License-Identifier: Apache-2.0
//
// Two drives two robots, one port each and a thread each: both turn away from what is near.
// Arguments: [host [port [rounds]]]; the second robot has the next port.
#include "arguments.hpp"

#include <thread>

using namespace std::chrono_literals;

static void drive(const Arguments &a, int port) {
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
}

int main(int argc, char **argv) {
  Arguments a(argc, argv);
  int other = 0, one = 0;
  std::thread second([&] { other = run(argv[0], [&] { drive(a, a.port + 1); }); });
  one = run(argv[0], [&] { drive(a, a.port); });
  second.join();
  return one || other;
}
